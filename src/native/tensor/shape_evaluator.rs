//! Shape evaluator: applies operations to tensors of zeros, of which only the shapes matter, to find operands that do not
//! fit before a program runs.

use super::evaluator::{Evaluator, Operands, PlainEvaluator, Recorder, TensorValue};
use super::operation::{Channels, Operation};
use crate::native::library::{Failure, FailureKind, internal};
use crate::tensor::{ScalarKind, Shape, Tensor};
use crate::value::{Ref, Slot};
use std::rc::Rc;

/// The number of scalars that all executed operations may have together.
const MAX_WORK: usize = 1 << 21;

/// An evaluator whose results are zeros with the right shapes. It fails with [`FailureKind::Shapes`] for shapes that do
/// not fit, and with another kind where the shape of the result would take long to find or depends on the scalars.
#[derive(Debug)]
pub struct ShapeEvaluator {
    /// The number of scalars that operations may still have.
    work_left: usize,
}

impl Default for ShapeEvaluator {
    fn default() -> ShapeEvaluator {
        ShapeEvaluator { work_left: MAX_WORK }
    }
}

impl Evaluator for ShapeEvaluator {
    fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure> {
        let tensors: Vec<Rc<Tensor>> = operands.into_iter().map(|operand| operand.tensor).collect();
        let (kind, shape) = match (&operation, tensors.as_slice()) {
            (Operation::Unary(_) | Operation::Cast(_), [x]) => {
                (kind_of_result(&operation, &tensors)?, x.shape().clone())
            }
            (Operation::Binary(_), [a, b]) => {
                (kind_of_result(&operation, &tensors)?, a.shape().broadcast(operation.name(), b.shape())?)
            }
            (Operation::Matmul(left, right), [a, b]) => (a.kind(), a.shape_of_product(*left, b, *right)?),
            (Operation::Convolution(Channels::Joined, _), [image, filter]) if channels_fit(image, filter) => {
                let last = filter.rank() - 1;
                let small = [without_axes(image, &[0, image.rank() - 1])?, without_axes(filter, &[last - 1, last])?];
                let mut shape = self.executed(&operation, small.into())?.shape().clone();
                let sizes = shape.sizes_mut();
                (sizes[0], sizes[last]) = (image.shape()[0], filter.shape()[last]);
                (image.kind(), shape)
            }
            (Operation::MaxPool(..) | Operation::AveragePool(..), [image]) if image.rank() > 2 => {
                let last = image.rank() - 1;
                let mut shape = self.executed(&operation, vec![without_axes(image, &[0, last])?])?.shape().clone();
                let sizes = shape.sizes_mut();
                (sizes[0], sizes[last]) = (image.shape()[0], image.shape()[last]);
                (image.kind(), shape)
            }
            _ => {
                let result = self.executed(&operation, tensors)?;
                (result.kind(), result.shape().clone())
            }
        };
        Ok(TensorValue::constant(Tensor::zeros(kind, shape)?))
    }
}

impl ShapeEvaluator {
    /// Executes an operation, if that takes little time and memory.
    fn executed(&mut self, operation: &Operation, tensors: Vec<Rc<Tensor>>) -> Result<Tensor, Failure> {
        self.work_left = self.work_left.checked_sub(work(operation, &tensors)).ok_or_else(internal)?;
        operation.evaluate(tensors)
    }
}

/// Whether the channels of images are those that the filter of a convolution expects.
fn channels_fit(image: &Tensor, filter: &Tensor) -> bool {
    image.rank() > 2
        && image.rank() == filter.rank()
        && image.shape()[image.rank() - 1] == filter.shape()[filter.rank() - 2]
}

/// Returns zeros of the shape of a tensor, except that some axes have the size 1.
fn without_axes(tensor: &Tensor, axes: &[usize]) -> Result<Rc<Tensor>, Failure> {
    let size = |(axis, &size): (usize, &usize)| if axes.contains(&axis) { size.min(1) } else { size };
    let shape = tensor.shape().iter().enumerate().map(size).collect();
    Ok(Rc::new(Tensor::zeros(tensor.kind(), shape)?))
}

impl Recorder for ShapeEvaluator {
    fn pack_numbers(
        &mut self,
        kind: ScalarKind,
        shape: Shape,
        numbers: &[(f64, Slot)],
    ) -> Result<TensorValue, Failure> {
        PlainEvaluator.pack_numbers(kind, shape, numbers)
    }

    /// Fails, because the scalars are not known.
    fn unpack_numbers(&mut self, _: &TensorValue) -> Result<Vec<(f64, Slot)>, Failure> {
        Err(internal())
    }
}

/// Returns a tensor of zeros with the kind and the shape of a tensor; another reference is returned as it is.
///
/// # Errors
/// Fails if the tensor would be too large.
pub fn without_scalars(reference: Ref) -> Result<Ref, Failure> {
    match reference {
        Ref::Tensor(tensor) => Ok(Ref::Tensor(Rc::new(Tensor::zeros(tensor.kind(), tensor.shape().clone())?))),
        other => Ok(other),
    }
}

/// Returns a tensor of zeros with the given sizes.
///
/// # Errors
/// Fails if a size is negative, or if the tensor would be too large.
pub fn zeros_of_shape(kind: ScalarKind, sizes: &[i64]) -> Result<Ref, Failure> {
    let size =
        |size: &i64| usize::try_from(*size).map_err(|_| Failure::new(FailureKind::Precondition, "a size is negative"));
    let shape = sizes.iter().map(size).collect::<Result<Shape, Failure>>()?;
    Ok(Ref::Tensor(Rc::new(Tensor::zeros(kind, shape)?)))
}

/// Returns the kind of scalars of the result of an operation on corresponding scalars.
fn kind_of_result(operation: &Operation, tensors: &[Rc<Tensor>]) -> Result<ScalarKind, Failure> {
    let scalar = |tensor: &Rc<Tensor>| Ok(Rc::new(Tensor::ones(tensor.kind(), Shape::default())?));
    Ok(operation.evaluate(tensors.iter().map(scalar).collect::<Result<Vec<_>, Failure>>()?)?.kind())
}

/// Returns how many scalars an operation computes with, approximately.
fn work(operation: &Operation, tensors: &[Rc<Tensor>]) -> usize {
    let product = |sizes: &mut dyn Iterator<Item = usize>| sizes.fold(1, usize::saturating_mul);
    let count = tensors.iter().fold(0usize, |count, tensor| count.saturating_add(tensor.scalar_count()));
    let factor = match operation {
        // These are views, which take no time.
        Operation::Broadcast(_) | Operation::ExpandAxes(_) | Operation::Squeeze(_) | Operation::Transpose(_) => 0,
        Operation::Tile(multiples) => product(&mut multiples.iter().copied()),
        Operation::Pad(sizes, _) => {
            product(&mut sizes.iter().map(|(before, after)| before.saturating_add(*after).saturating_add(1)))
        }
        Operation::Resize(height, width, _) => height.saturating_mul(*width),
        Operation::Convolution(Channels::Joined, _) => tensors.get(1).map_or(1, |filter| filter.scalar_count()),
        Operation::Diagonal
        | Operation::Convolution(..)
        | Operation::ConvolutionInput(..)
        | Operation::ConvolutionFilter(..)
        | Operation::Solve
        | Operation::TriangularSolve(..)
        | Operation::Cholesky
        | Operation::Inverse
        | Operation::Determinant
        | Operation::LogDeterminant => count,
        _ => 1,
    };
    count.saturating_mul(factor)
}

/// The largest number of scalars of the operand of a function that computes its result itself.
const MAX_COMPUTED: usize = 1 << 12;

/// Whether a native function of tensors may be called with a [`ShapeEvaluator`]: its result does not depend on the
/// scalars, except for their number, and it takes little time and memory.
pub fn has_known_shape(function: &str, operands: &[Ref]) -> bool {
    let Some(name) = function.strip_prefix("tensor.") else { return false };
    let is_small = |operand: &Ref| !matches!(operand, Ref::Tensor(tensor) if tensor.scalar_count() > MAX_COMPUTED);
    match name {
        // The results of these functions have no shape, or one that depends on scalars or on numbers.
        "scalars" | "scalar" | "describe" | "describeAll" | "nonZeroIndices" => false,
        "range" | "linearSpace" | "eye" | "oneHot" | "randomCategorical" => false,
        // These functions compute their results themselves.
        "argMax" | "argMin" | "sorted" | "topK" | "qr" | "svd" | "eigh" | "signOfDeterminant" | "outer" => {
            operands.iter().all(is_small)
        }
        _ => true,
    }
}
