//! The derivatives of operations on windows. A convolution and its two adjoints are bilinear, and the adjoints of each
//! one are the others.

use super::builder::Builder;
use super::evaluator::TensorValue;
use super::operation::{Evaluation, Operation};
use crate::native::library::{Failure, internal};
use std::rc::Rc;

/// Returns the tangent of maxima: the tangents of the scalars that are the maxima.
pub(super) fn tangent(
    operation: &Operation,
    of: Evaluation<'_>,
    tangents: &[Option<TensorValue>],
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let (Operation::MaxPool(size, to), [Some(tangent)]) = (operation, tangents) else { return Err(internal()) };
    let (_, positions) = of.operand(0)?.tensor.max_pool(size, &to.window())?;
    b.one(Operation::GatherFlat(Rc::new(positions)), tangent.clone()).map(Some)
}

/// Returns the adjoint of an operand.
pub(super) fn adjoint(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let shape = of.operand(k)?.tensor.shape().clone();
    let other = || of.operand(1 - k).cloned();
    match (operation, k) {
        (Operation::Convolution(channels, to), 0) => {
            b.bilinear(Operation::ConvolutionInput(*channels, to.clone(), shape), [adjoint, other()?], 0)
        }
        (Operation::Convolution(channels, to), _) => {
            b.bilinear(Operation::ConvolutionFilter(*channels, to.clone(), shape), [other()?, adjoint], 1)
        }
        (Operation::ConvolutionInput(channels, to, _), 0) => {
            b.bilinear(Operation::Convolution(*channels, to.clone()), [adjoint, other()?], 0)
        }
        (Operation::ConvolutionInput(channels, to, _), _) => {
            b.bilinear(Operation::ConvolutionFilter(*channels, to.clone(), shape), [adjoint, other()?], 0)
        }
        (Operation::ConvolutionFilter(channels, to, _), 0) => {
            b.bilinear(Operation::ConvolutionInput(*channels, to.clone(), shape), [other()?, adjoint], 1)
        }
        (Operation::ConvolutionFilter(channels, to, _), _) => {
            b.bilinear(Operation::Convolution(*channels, to.clone()), [other()?, adjoint], 1)
        }
        (Operation::MaxPool(size, to), _) => {
            let (_, positions) = of.operand(0)?.tensor.max_pool(size, &to.window())?;
            b.one(Operation::ScatterAddFlat(shape, Rc::new(positions)), adjoint)
        }
        (Operation::AveragePool(size, to), _) => {
            b.one(Operation::AveragePoolAdjoint(size.clone(), to.clone(), shape), adjoint)
        }
        (Operation::AveragePoolAdjoint(size, to, _), _) => {
            b.one(Operation::AveragePool(size.clone(), to.clone()), adjoint)
        }
        (Operation::Resize(_, _, method), _) => b.one(Operation::ResizeAdjoint(shape, *method), adjoint),
        (Operation::ResizeAdjoint(_, method), _) => match shape[..] {
            [_, height, width, _] => b.one(Operation::Resize(height, width, *method), adjoint),
            _ => Err(internal()),
        },
        _ => Err(internal()),
    }
    .map(Some)
}
