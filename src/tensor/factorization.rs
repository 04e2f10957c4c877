//! Factorizations of matrices and what follows from them. Axes before the last two are batches. Everything is computed in double
//! precision, also for tensors of `Float`.

use super::cancellation;
use super::elimination::Pivots;
use super::error::{Result, TensorError};
use super::matmul::matrix_starts;
use super::scalar::ScalarKind;
use super::shape::Shape;
use super::strided::Tensor;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatRef, Par, Side};

/// Matrices of a batch in double precision.
struct Matrices {
    scalars: Vec<f64>,
    batch: Shape,
    rows: usize,
    columns: usize,
}

impl Matrices {
    fn new(operation: &'static str, tensor: &Tensor) -> Result<Matrices> {
        let rank = tensor.matrix_rank(operation)?;
        if !tensor.kind().is_real() {
            return Err(TensorError::Kind { operation, kind: tensor.kind() });
        }
        let scalars = tensor.cast(ScalarKind::F64)?.to_vec::<f64>()?;
        let (batch, sizes) = tensor.shape.split_at(rank - 2);
        Ok(Matrices { scalars, batch: Shape::from(batch), rows: sizes[0], columns: sizes[1] })
    }

    fn square(operation: &'static str, tensor: &Tensor) -> Result<Matrices> {
        let matrices = Matrices::new(operation, tensor)?;
        if matrices.rows != matrices.columns {
            let problem = format!("a {}×{} matrix is not square", matrices.rows, matrices.columns);
            return Err(TensorError::shape(
                operation,
                None,
                &[&tensor.shape],
                problem,
                "needs as many rows as columns",
            ));
        }
        Ok(matrices)
    }

    /// Checks that all numbers are finite, without which an iteration does not end in a result.
    fn finite(self, operation: &'static str) -> Result<Matrices> {
        if self.scalars.iter().all(|x| x.is_finite()) {
            return Ok(self);
        }
        Err(TensorError::value(operation, "the matrix contains numbers that are not finite"))
    }

    fn count(&self) -> usize {
        self.batch.scalar_count()
    }

    fn at(&self, number: usize) -> MatRef<'_, f64> {
        cancellation::check();
        let size = self.rows * self.columns;
        MatRef::from_row_major_slice(&self.scalars[number * size..(number + 1) * size], self.rows, self.columns)
    }

    fn iter(&self) -> impl Iterator<Item = MatRef<'_, f64>> {
        (0..self.count()).map(|number| self.at(number))
    }
}

/// Results that are collected matrix by matrix.
#[derive(Default)]
struct Collector(Vec<f64>);

impl Collector {
    fn push(&mut self, matrix: MatRef<'_, f64>) {
        for row in 0..matrix.nrows() {
            self.0.extend((0..matrix.ncols()).map(|column| matrix[(row, column)]));
        }
    }

    /// Returns the tensor of all results, which have the given sizes each.
    fn tensor(self, kind: ScalarKind, batch: &Shape, sizes: &[usize]) -> Result<Tensor> {
        let shape = batch.iter().chain(sizes).copied().collect();
        Tensor::new(shape, self.0)?.cast(kind)
    }
}

/// Returns the first columns of a matrix that has at least as many.
fn first_columns(matrix: MatRef<'_, f64>, count: usize) -> MatRef<'_, f64> {
    matrix.subcols(0, count.min(matrix.ncols()))
}

impl Tensor {
    /// Returns the lower triangular factors `l` with `l · lᵀ` = this symmetric, positive definite matrix, of which the lower triangle is
    /// read.
    pub fn cholesky(&self) -> Result<Tensor> {
        let operation = "cholesky";
        let matrices = Matrices::square(operation, self)?;
        let mut factors = Collector::default();
        for matrix in matrices.iter() {
            let Ok(factor) = matrix.llt(Side::Lower) else {
                return Err(TensorError::value(operation, "the matrix is not positive definite"));
            };
            factors.push(factor.L());
        }
        factors.tensor(self.kind(), &matrices.batch, &[matrices.rows, matrices.rows])
    }

    /// Returns the inverse.
    pub fn inverse(&self) -> Result<Tensor> {
        let operation = "inverse";
        let matrices = Matrices::square(operation, self)?;
        let mut inverses = Collector::default();
        for matrix in matrices.iter() {
            let lu = matrix.partial_piv_lu();
            if Pivots::with_factors(matrix, &lu).is_singular() {
                return Err(TensorError::value(operation, "the matrix is singular"));
            }
            inverses.push(lu.inverse().as_ref());
        }
        inverses.tensor(self.kind(), &matrices.batch, &[matrices.rows, matrices.rows])
    }

    /// Returns the signs of the determinants, and the logarithms of their absolute values.
    pub fn sign_and_log_determinant(&self) -> Result<(Tensor, Tensor)> {
        let matrices = Matrices::square("slogdet", self)?;
        let results = matrices.iter().map(|matrix| Pivots::new(matrix).sign_and_logarithm());
        let (signs, logarithms) = results.unzip();
        let tensor = |results| Collector(results).tensor(self.kind(), &matrices.batch, &[]);
        Ok((tensor(signs)?, tensor(logarithms)?))
    }

    /// Returns the determinants.
    pub fn determinant(&self) -> Result<Tensor> {
        let matrices = Matrices::square("det", self)?;
        let results = matrices.iter().map(|matrix| Pivots::new(matrix).determinant()).collect();
        Collector(results).tensor(self.kind(), &matrices.batch, &[])
    }

    /// Returns the solutions `x` of `self · x = right`; batches broadcast.
    pub fn solve(&self, right: &Tensor) -> Result<Tensor> {
        self.solve_by("solve(matrix:rhs:)", right, |operation, matrix, right| {
            let lu = matrix.partial_piv_lu();
            if Pivots::with_factors(matrix, &lu).is_singular() {
                return Err(TensorError::value(operation, "the matrix is singular"));
            }
            lu.solve_in_place(right.as_mut());
            Ok(())
        })
    }

    /// Returns the solutions `x` of `self · x = right` (or `selfᵀ · x = right` for `adjoint`), where only the lower or upper triangle of
    /// this matrix is read; batches broadcast.
    pub fn triangular_solve(&self, right: &Tensor, is_lower: bool, adjoint: bool) -> Result<Tensor> {
        self.solve_by("triangularSolve(matrix:rhs:)", right, |operation, matrix, right| {
            if (0..matrix.nrows()).any(|at| matrix[(at, at)] == 0.0) {
                return Err(TensorError::value(operation, "the matrix is singular"));
            }
            match (is_lower, adjoint) {
                (true, false) => solve_lower_triangular_in_place(matrix, right.as_mut(), Par::Seq),
                (false, false) => solve_upper_triangular_in_place(matrix, right.as_mut(), Par::Seq),
                (true, true) => solve_upper_triangular_in_place(matrix.transpose(), right.as_mut(), Par::Seq),
                (false, true) => solve_lower_triangular_in_place(matrix.transpose(), right.as_mut(), Par::Seq),
            }
            Ok(())
        })
    }

    fn solve_by(
        &self,
        operation: &'static str,
        right: &Tensor,
        solve: impl Fn(&'static str, MatRef<'_, f64>, &mut Mat<f64>) -> Result<()>,
    ) -> Result<Tensor> {
        let left = Matrices::square(operation, self)?;
        let sides = Matrices::new(operation, right)?;
        if left.rows != sides.rows || self.kind() != right.kind() {
            return Err(TensorError::shape(
                operation,
                right.rank().checked_sub(2),
                &[&self.shape, &right.shape],
                format!("cannot solve a {0}×{0} matrix for a {1}×{2} matrix", left.rows, sides.rows, sides.columns),
                format!("needs rows of the first ({}) = rows of the second ({})", left.rows, sides.rows),
            ));
        }
        let batch = left.batch.broadcast(operation, &sides.batch)?;
        let shape: Shape = batch.iter().copied().chain([sides.rows, sides.columns]).collect();
        shape.checked_count(operation, size_of::<f64>())?;
        let mut results = Collector::default();
        // The numbers of the matrices of a broadcast batch are their positions divided by their sizes.
        let numbers = |batch_of: &Shape| {
            let sizes = batch_of.iter().copied().chain([1, 1]).collect();
            Tensor::zeros(ScalarKind::Bool, sizes).map(|zeros| matrix_starts(&zeros.with_row_major_strides(), &batch))
        };
        for (left_at, right_at) in numbers(&left.batch)?.into_iter().zip(numbers(&sides.batch)?) {
            let mut side = sides.at(right_at).to_owned();
            solve(operation, left.at(left_at), &mut side)?;
            results.push(side.as_ref());
        }
        results.tensor(self.kind(), &batch, &[sides.rows, sides.columns])
    }

    /// Returns a tensor of which only shape and strides matter, with the strides of a contiguous one.
    fn with_row_major_strides(mut self) -> Tensor {
        self.strides = self.shape.strides();
        self
    }

    /// Returns `q` with orthonormal columns and the upper triangular `r` with `q · r` = this matrix; `q` is square if `is_full`.
    pub fn qr(&self, is_full: bool) -> Result<(Tensor, Tensor)> {
        let matrices = Matrices::new("qrDecomposition(fullMatrices:)", self)?;
        let (rows, columns) = (matrices.rows, matrices.columns);
        let inner = if is_full { rows } else { rows.min(columns) };
        let (mut q, mut r) = (Collector::default(), Collector::default());
        for matrix in matrices.iter() {
            let factors = matrix.qr();
            let basis = if is_full { factors.compute_Q() } else { factors.compute_thin_Q() };
            q.push(basis.as_ref());
            let thin = factors.thin_R();
            let element = |row: usize, column: usize| {
                if row < thin.nrows() && row <= column { thin[(row, column)] } else { 0.0 }
            };
            r.push(Mat::from_fn(inner, columns, element).as_ref());
        }
        let kind = self.kind();
        Ok((q.tensor(kind, &matrices.batch, &[rows, inner])?, r.tensor(kind, &matrices.batch, &[inner, columns])?))
    }

    /// Returns the singular values in descending order, and `u` and `v` with `u · diag(s) · vᵀ` = this matrix; `u` and `v` are square if
    /// `is_full`.
    pub fn svd(&self, is_full: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let operation = "svd(computeUV:fullMatrices:)";
        let matrices = Matrices::new(operation, self)?.finite(operation)?;
        let (rows, columns) = (matrices.rows, matrices.columns);
        let count = rows.min(columns);
        let (mut s, mut u, mut v) = (Collector::default(), Collector::default(), Collector::default());
        let (left, right) = if is_full { (rows, columns) } else { (count, count) };
        for matrix in matrices.iter() {
            let Ok(factors) = (if is_full { matrix.svd() } else { matrix.thin_svd() }) else {
                return Err(TensorError::value(operation, "the iteration did not converge"));
            };
            s.0.extend(factors.S().column_vector().iter());
            u.push(first_columns(factors.U(), left));
            v.push(first_columns(factors.V(), right));
        }
        let (kind, batch) = (self.kind(), &matrices.batch);
        Ok((
            s.tensor(kind, batch, &[count])?,
            u.tensor(kind, batch, &[rows, left])?,
            v.tensor(kind, batch, &[columns, right])?,
        ))
    }

    /// Returns the eigenvalues in ascending order and the eigenvectors (as columns) of this symmetric matrix, of which the lower triangle
    /// is read.
    pub fn symmetric_eigen(&self) -> Result<(Tensor, Tensor)> {
        let operation = "eigh";
        let matrices = Matrices::square(operation, self)?.finite(operation)?;
        let size = matrices.rows;
        let (mut values, mut vectors) = (Collector::default(), Collector::default());
        for matrix in matrices.iter().filter(|matrix| matrix.nrows() > 0) {
            let Ok(factors) = matrix.self_adjoint_eigen(Side::Lower) else {
                return Err(TensorError::value(operation, "the iteration did not converge"));
            };
            values.0.extend(factors.S().column_vector().iter());
            vectors.push(factors.U());
        }
        let (kind, batch) = (self.kind(), &matrices.batch);
        Ok((values.tensor(kind, batch, &[size])?, vectors.tensor(kind, batch, &[size, size])?))
    }
}
