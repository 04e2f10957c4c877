//! Gaussian elimination with row exchanges: the pivots of a square matrix, from which its determinant follows.

use faer::MatRef;
use faer::linalg::solvers::PartialPivLu;

/// The size of the largest matrix that is eliminated here, one rounded operation after the other. The fused operations of a
/// factorization of a large matrix leave a small pivot in a singular matrix of integers, instead of zero.
const LARGEST: usize = 32;

/// The pivots of a matrix.
pub(super) struct Pivots {
    /// The sign of the order of the rows.
    sign: f64,
    /// The pivots, up to the first one that is zero.
    pivots: Vec<f64>,
}

impl Pivots {
    pub(super) fn new(matrix: MatRef<'_, f64>) -> Pivots {
        if matrix.nrows() <= LARGEST { Self::of_small(matrix) } else { Self::of_factors(&matrix.partial_piv_lu()) }
    }

    /// The pivots of a matrix whose factorization is known.
    pub(super) fn with_factors(matrix: MatRef<'_, f64>, factors: &PartialPivLu<f64>) -> Pivots {
        if matrix.nrows() <= LARGEST { Self::of_small(matrix) } else { Self::of_factors(factors) }
    }

    fn of_small(matrix: MatRef<'_, f64>) -> Pivots {
        let size = matrix.nrows();
        let mut rows: Vec<Vec<f64>> =
            (0..size).map(|row| (0..size).map(|column| matrix[(row, column)]).collect()).collect();
        let mut found = Pivots { sign: 1.0, pivots: vec![] };
        for at in 0..size {
            let largest = (at + 1..size)
                .fold(at, |best, row| if rows[row][at].abs() > rows[best][at].abs() { row } else { best });
            if largest != at {
                rows.swap(at, largest);
                found.sign = -found.sign;
            }
            let (above, below) = rows.split_at_mut(at + 1);
            let pivot_row = &above[at];
            found.pivots.push(pivot_row[at]);
            if pivot_row[at] == 0.0 {
                break;
            }
            for row in below {
                let factor = row[at] / pivot_row[at];
                for column in at + 1..size {
                    row[column] -= factor * pivot_row[column];
                }
            }
        }
        found
    }

    fn of_factors(lu: &PartialPivLu<f64>) -> Pivots {
        let mut order = lu.P().arrays().0.to_vec();
        let mut sign = 1.0;
        for at in 0..order.len() {
            while order[at] != at {
                let other = order[at];
                order.swap(at, other);
                sign = -sign;
            }
        }
        let mut pivots: Vec<f64> = (0..lu.U().nrows()).map(|at| lu.U()[(at, at)]).collect();
        if let Some(zero) = pivots.iter().position(|pivot| *pivot == 0.0) {
            // What follows has been divided by zero.
            pivots.truncate(zero + 1);
        }
        Pivots { sign, pivots }
    }

    /// Whether the matrix has no inverse.
    pub(super) fn is_singular(&self) -> bool {
        self.pivots.last() == Some(&0.0)
    }

    pub(super) fn determinant(&self) -> f64 {
        if self.is_singular() { 0.0 } else { self.pivots.iter().fold(self.sign, |product, pivot| product * pivot) }
    }

    /// Returns the sign of the determinant, and the logarithm of its absolute value.
    pub(super) fn sign_and_logarithm(&self) -> (f64, f64) {
        if self.is_singular() {
            return (0.0, f64::NEG_INFINITY);
        }
        let add = |(sign, logarithm): (f64, f64), pivot: &f64| (sign * pivot.signum(), logarithm + pivot.abs().ln());
        self.pivots.iter().fold((self.sign, 0.0), add)
    }
}
