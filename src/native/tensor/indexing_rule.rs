//! The derivatives of operations that take parts of tensors, replace them, and join them.

use super::builder::{Builder, constant, sizes};
use super::evaluator::TensorValue;
use super::operation::{Evaluation, Operation};
use crate::native::library::{Failure, internal};
use crate::tensor::{Index, Shape};
use std::rc::Rc;

/// Returns the adjoint of an operand.
pub(super) fn adjoint(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let shape = of.operand(k)?.tensor.shape();
    match operation {
        Operation::Slice(lower, _) => b.one(Operation::SliceAdjoint(shape.clone(), lower.clone()), adjoint),
        Operation::SliceAdjoint(_, lower) => b.one(Operation::Slice(lower.clone(), sizes(shape)), adjoint),
        Operation::Index(indices) => b.one(Operation::IndexAdjoint(shape.clone(), indices.clone()), adjoint),
        Operation::IndexAdjoint(_, indices) => b.one(Operation::Index(indices.clone()), adjoint),
        Operation::Assign(indices) if k == 0 => {
            let zero = constant(adjoint.tensor.kind(), 0.0);
            b.two(Operation::Assign(indices.clone()), adjoint, zero)
        }
        Operation::Assign(indices) => b.one(Operation::Index(indices.clone()), adjoint),
        Operation::Concatenate(axis) => {
            let at = of.result.tensor.shape().axis("concatenate", *axis)?;
            let before: usize = of.operands[..k].iter().map(|operand| operand.tensor.shape()[at]).sum();
            let range =
                Index::Range { start: Some(before as isize), end: Some((before + shape[at]) as isize), step: 1 };
            b.one(Operation::Index(along(at, range)), adjoint)
        }
        Operation::Stack(axis) => {
            let at = of.result.tensor.shape().axis("stack", *axis)?;
            b.one(Operation::Index(along(at, Index::At(k as isize))), adjoint)
        }
        Operation::Gather(indices, axis, batches) => {
            b.one(Operation::ScatterAdd(shape.clone(), Rc::clone(indices), *axis, *batches), adjoint)
        }
        Operation::ScatterAdd(_, indices, axis, batches) => {
            b.one(Operation::Gather(Rc::clone(indices), *axis, *batches), adjoint)
        }
        Operation::GatherFlat(positions) => {
            b.one(Operation::ScatterAddFlat(shape.clone(), Rc::clone(positions)), adjoint)
        }
        Operation::ScatterAddFlat(_, positions) => b.one(Operation::GatherFlat(Rc::clone(positions)), adjoint),
        _ => Err(internal()),
    }
    .map(Some)
}

/// Returns the index expression that applies an index to one axis.
pub(super) fn along(axis: usize, index: Index) -> Vec<Index> {
    std::iter::repeat_n(Index::ALL, axis).chain([index]).collect()
}

/// Returns the tensor with its scalars moved by one place along an axis; the free places get a number.
pub(super) fn moved(
    value: TensorValue,
    axis: usize,
    is_forward: bool,
    number: f64,
    b: &mut Builder<'_>,
) -> Result<TensorValue, Failure> {
    let shape: Shape = value.tensor.shape().clone();
    if shape[axis] == 0 {
        return Ok(value);
    }
    let size = shape[axis] as isize;
    let (start, end) = if is_forward { (0, size - 1) } else { (1, size) };
    let rest =
        b.one(Operation::Index(along(axis, Index::Range { start: Some(start), end: Some(end), step: 1 })), value)?;
    let filling = b.broadcast(constant(rest.tensor.kind(), number), &shape.with_size(axis, 1))?;
    let (first, second) = if is_forward { (filling, rest) } else { (rest, filling) };
    b.two(Operation::Concatenate(axis as isize), first, second)
}
