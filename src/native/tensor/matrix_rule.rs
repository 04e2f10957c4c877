//! The derivatives of operations on matrices. Axes before the last two are batches, which broadcast.

use super::builder::{Builder, Built, is_equal_to};
use super::evaluator::TensorValue;
use super::operation::{Axes, Evaluation, Operation};
use crate::native::library::{Failure, internal};
use crate::tensor::{Fold, Shape, Tensor};

/// Returns the tangent of an operation that is neither linear nor bilinear.
pub(super) fn tangent(
    operation: &Operation,
    of: Evaluation<'_>,
    tangents: &[Option<TensorValue>],
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let matrix = of.operand(0)?.clone();
    let result = of.result.clone();
    match (operation, tangents) {
        (Operation::Inverse, [Some(tangent)]) => {
            let product = b.matmul(result.clone(), false, tangent.clone(), false)?;
            let product = b.matmul(product, false, result, false)?;
            b.negate(product).map(Some)
        }
        (Operation::Cholesky, [Some(tangent)]) => {
            // L · Φ(L⁻¹ · A' · L⁻ᵀ), where Φ takes the lower triangle with half of the diagonal.
            let symmetric = symmetric(tangent.clone(), b)?;
            let half = b.two(Operation::TriangularSolve(true, false), result.clone(), symmetric)?;
            let half = b.transposed(half)?;
            let inner = b.two(Operation::TriangularSolve(true, false), result.clone(), half)?;
            let lower = lower_half(inner, b)?;
            b.matmul(result, false, lower, false).map(Some)
        }
        (Operation::Determinant | Operation::LogDeterminant, [Some(tangent)]) => {
            let partial = of_determinant(operation, matrix, result, b)?;
            b.weighted_sum(tangent.clone(), partial, &Axes { axes: Some(vec![-2, -1]), keeps: false }).map(Some)
        }
        (Operation::Solve | Operation::TriangularSolve(..), [of_matrix, of_right]) => {
            let mut change = of_right.clone();
            if let Some(tangent) = of_matrix {
                let tangent = part_of_matrix(operation, tangent.clone(), b)?;
                let is_adjoint = matches!(operation, Operation::TriangularSolve(_, true));
                let product = b.matmul(tangent, is_adjoint, result, false)?;
                let product = b.negate(product)?;
                change = b.sum_of(change, Some(product))?;
            }
            change.map(|change| b.two(operation.clone(), matrix, change)).transpose()
        }
        _ => Err(internal()),
    }
}

/// Returns the adjoint of an operand, which may have more batches than the operand.
pub(super) fn adjoint(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let result = of.result.clone();
    let operand = of.operand(k)?;
    match operation {
        Operation::Matmul(left, right) => matmul(k, (*left, *right), of, adjoint, b),
        Operation::Dot => b.product(adjoint, of.operand(1 - k)?.clone()),
        Operation::Diagonal => b.one(Operation::DiagonalPart, adjoint),
        Operation::DiagonalPart => {
            let zeros = b.zeros_like(operand)?;
            b.two(Operation::WithDiagonal, zeros, adjoint)
        }
        Operation::WithDiagonal if k == 0 => {
            let zero = b.zeros_like(of.operand(1)?)?;
            b.two(Operation::WithDiagonal, adjoint, zero)
        }
        Operation::WithDiagonal => b.one(Operation::DiagonalPart, adjoint),
        Operation::BandPart(below, above) => b.one(Operation::BandPart(*below, *above), adjoint),
        Operation::Inverse => {
            let product = b.matmul(result.clone(), true, adjoint, false)?;
            let product = b.matmul(product, false, result, true)?;
            b.negate(product)
        }
        Operation::Cholesky => {
            // The symmetric part of L⁻ᵀ · Φ(Lᵀ · L') · L⁻¹.
            let lower = b.one(Operation::BandPart(-1, 0), adjoint)?;
            let product = b.matmul(result.clone(), true, lower, false)?;
            let inner = lower_half(product, b)?;
            let half = b.two(Operation::TriangularSolve(true, true), result.clone(), inner)?;
            let half = b.transposed(half)?;
            let whole = b.two(Operation::TriangularSolve(true, true), result, half)?;
            symmetric(whole, b)
        }
        Operation::Determinant | Operation::LogDeterminant => {
            let partial = of_determinant(operation, operand.clone(), result, b)?;
            let matrices = b.one(Operation::ExpandAxes(vec![-2, -1]), adjoint)?;
            b.product(matrices, partial)
        }
        Operation::Solve | Operation::TriangularSolve(..) => {
            let matrix = of.operand(0)?.clone();
            let right = match operation {
                Operation::TriangularSolve(is_lower, is_adjoint) => {
                    b.two(Operation::TriangularSolve(*is_lower, !is_adjoint), matrix, adjoint)?
                }
                _ => {
                    let transposed = b.transposed(matrix)?;
                    b.two(Operation::Solve, transposed, adjoint)?
                }
            };
            if k == 1 {
                return Ok(Some(right));
            }
            let product = if let Operation::TriangularSolve(_, true) = operation {
                b.matmul(result, false, right, true)?
            } else {
                b.matmul(right, false, result, true)?
            };
            let product = b.negate(product)?;
            part_of_matrix(operation, product, b)
        }
        _ => Err(internal()),
    }
    .map(Some)
}

fn matmul(
    k: usize,
    (left, right): (bool, bool),
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Built {
    let other = of.operand(1 - k)?.clone();
    // A matrix that multiplies all matrices of a batch: the batch becomes additional rows, so that one product sums it.
    let rank = adjoint.tensor.rank();
    let is_single = of.operand(k)?.tensor.rank() == 2 && rank > 2 && k == 1 && !left && other.tensor.rank() == rank;
    if is_single && adjoint.tensor.shape()[..rank - 2] == other.tensor.shape()[..rank - 2] {
        let flat = |value: &TensorValue| {
            let shape = value.tensor.shape();
            Shape::from([shape[..rank - 1].iter().product(), shape[rank - 1]])
        };
        let (rows, adjoints) = (flat(&other), flat(&adjoint));
        let other = b.reshape(other, &rows)?;
        let adjoint = b.reshape(adjoint, &adjoints)?;
        let operation = Operation::Matmul(true, false);
        return if right {
            b.bilinear(operation, [adjoint, other], 0)
        } else {
            b.bilinear(operation, [other, adjoint], 1)
        };
    }
    match (k, left, right) {
        (0, false, _) => b.bilinear(Operation::Matmul(false, !right), [adjoint, other], 0),
        (0, true, _) => b.bilinear(Operation::Matmul(right, true), [other, adjoint], 1),
        (_, _, false) => b.bilinear(Operation::Matmul(!left, false), [other, adjoint], 1),
        (_, _, true) => b.bilinear(Operation::Matmul(true, left), [adjoint, other], 0),
    }
}

/// The size up to which the partials of the determinant of a singular matrix are computed from minors.
const LARGEST_SINGULAR: usize = 12;

/// Returns the partials of a determinant or of its logarithm: the inverse transposed, times the determinant.
fn of_determinant(operation: &Operation, matrix: TensorValue, result: TensorValue, b: &mut Builder<'_>) -> Built {
    let size = matrix.tensor.shape().last().copied().unwrap_or(0);
    let is_determinant = matches!(operation, Operation::Determinant);
    if is_determinant && size <= LARGEST_SINGULAR {
        let is_singular = is_equal_to(&result.tensor, 0.0)?.fold(Fold::Max, None, false)?.scalarized::<bool>()?;
        if is_singular {
            return cofactors(matrix, size, b);
        }
    }
    let inverse = b.one(Operation::Inverse, matrix)?;
    let transposed = b.transposed(inverse)?;
    if !is_determinant {
        return Ok(transposed);
    }
    let result = b.one(Operation::ExpandAxes(vec![-2, -1]), result)?;
    b.multiply(transposed, result)
}

/// Returns the cofactors: the determinants of the matrices in which the row and the column of a scalar are replaced by those
/// of the unit matrix.
fn cofactors(matrix: TensorValue, size: usize, b: &mut Builder<'_>) -> Built {
    let (kind, batch) = (matrix.tensor.kind(), matrix.tensor.rank().saturating_sub(2));
    let place = |at: usize| (at / size / size / size, at / size / size % size, at / size % size, at % size);
    let is_kept = |at: usize| matches!(place(at), (i, j, row, column) if row != i && column != j);
    let is_one = |at: usize| matches!(place(at), (i, j, row, column) if row == i && column == j);
    let constant = |is: &dyn Fn(usize) -> bool| -> Built {
        let scalars: Vec<f64> = (0..size.pow(4)).map(|at| f64::from(u8::from(is(at)))).collect();
        Ok(TensorValue::constant(Tensor::new(Shape::from([size, size, size, size]), scalars)?.cast(kind)?))
    };
    let (kept, ones) = (constant(&is_kept)?, constant(&is_one)?);
    let matrix = b.one(Operation::ExpandAxes(vec![batch as isize, batch as isize + 1]), matrix)?;
    let minors = b.multiply(kept, matrix)?;
    let minors = b.add(minors, ones)?;
    b.one(Operation::Determinant, minors)
}

/// Returns the part of a matrix that an operation reads.
fn part_of_matrix(operation: &Operation, matrix: TensorValue, b: &mut Builder<'_>) -> Built {
    match operation {
        Operation::TriangularSolve(true, _) => b.one(Operation::BandPart(-1, 0), matrix),
        Operation::TriangularSolve(false, _) => b.one(Operation::BandPart(0, -1), matrix),
        _ => Ok(matrix),
    }
}

/// Returns half of the sum of matrices and their transposes.
fn symmetric(matrix: TensorValue, b: &mut Builder<'_>) -> Built {
    let transposed = b.transposed(matrix.clone())?;
    let sum = b.add(matrix, transposed)?;
    b.scaled(sum, 0.5)
}

/// Returns the lower triangles of square matrices, with half of the diagonal.
fn lower_half(matrix: TensorValue, b: &mut Builder<'_>) -> Built {
    let size = matrix.tensor.shape().last().copied().unwrap_or(0);
    let weight = |at: usize| match (at / size, at % size) {
        (row, column) if row > column => 1.0,
        (row, column) if row == column => 0.5,
        _ => 0.0,
    };
    let weights: Vec<f64> = (0..size * size).map(weight).collect();
    let weights = Tensor::new(Shape::from([size, size]), weights)?.cast(matrix.tensor.kind())?;
    b.multiply(matrix, TensorValue::constant(weights))
}
