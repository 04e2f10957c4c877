//! The derivatives of operations that move, repeat and sum scalars.

use super::builder::{Builder, sizes};
use super::evaluator::TensorValue;
use super::operation::{Axes, Evaluation, Operation};
use crate::native::library::{Failure, internal};
use crate::tensor::{Fold, PaddingMode, Shape, Tensor};
use smallvec::smallvec;
use std::rc::Rc;

/// Returns the tangent of a padded tensor, of which the constant scalars have zero tangents.
pub(super) fn tangent(
    operation: &Operation,
    _of: Evaluation<'_>,
    tangents: &[Option<TensorValue>],
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let (Operation::Pad(sizes, mode), [Some(tangent)]) = (operation, tangents) else { return Err(internal()) };
    let mode = if let PaddingMode::Constant(_) = mode { PaddingMode::Constant(0.0) } else { *mode };
    b.linear(Operation::Pad(sizes.clone(), mode), smallvec![tangent.clone()]).map(Some)
}

/// Returns the adjoint of the operand.
pub(super) fn adjoint(
    operation: &Operation,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let shape = of.operand(0)?.tensor.shape();
    match operation {
        Operation::Broadcast(_) => b.unbroadcast(adjoint, shape),
        Operation::Unbroadcast(_) => {
            // The shape of the result may have fewer axes, and then it broadcasts from the last one.
            b.broadcast(adjoint, shape)
        }
        Operation::Reshape(_) | Operation::ExpandAxes(_) | Operation::Squeeze(_) => b.reshape(adjoint, shape),
        Operation::Transpose(order) => {
            let rank = shape.rank() as isize;
            let mut inverse = vec![0; if order.is_empty() { 0 } else { shape.rank() }];
            for (at, &axis) in order.iter().enumerate() {
                let axis = if axis < 0 { axis + rank } else { axis };
                *inverse.get_mut(axis as usize).ok_or_else(internal)? = at as isize;
            }
            b.one(Operation::Transpose(inverse), adjoint)
        }
        Operation::Reverse(axes) => b.one(Operation::Reverse(axes.clone()), adjoint),
        Operation::Tile(multiples) => {
            // Each axis becomes two, of which the first one is summed.
            let parts: Vec<isize> =
                multiples.iter().zip(shape.iter()).flat_map(|(&m, &size)| [m as isize, size as isize]).collect();
            let axes = (0..multiples.len() as isize).map(|axis| 2 * axis).collect();
            let parts = b.one(Operation::Reshape(parts), adjoint)?;
            b.sum(parts, &Axes { axes: Some(axes), keeps: false })
        }
        Operation::Pad(before, PaddingMode::Constant(_)) => {
            let lower = before.iter().map(|&(before, _)| before as isize).collect();
            b.one(Operation::Slice(lower, sizes(shape)), adjoint)
        }
        Operation::Pad(before, mode) => {
            // The positions of the scalars that were repeated.
            let count = shape.scalar_count();
            let numbers = Tensor::new(shape.clone(), (0..count as i64).collect::<Vec<_>>())?;
            let positions = Rc::new(numbers.pad(before, *mode)?);
            b.one(Operation::ScatterAddFlat(shape.clone(), positions), adjoint)
        }
        Operation::SpaceToDepth(block) => b.one(Operation::DepthToSpace(*block), adjoint),
        Operation::DepthToSpace(block) => b.one(Operation::SpaceToDepth(*block), adjoint),
        _ => Err(internal()),
    }
    .map(Some)
}

/// Returns the shape after a reduction that keeps the reduced axes.
pub(super) fn kept_shape(shape: &Shape, axes: &Axes) -> Result<Shape, Failure> {
    let marked = match &axes.axes {
        Some(axes) => shape.axes(Fold::Sum.name(), axes)?,
        None => std::iter::repeat_n(true, shape.rank()).collect(),
    };
    Ok(shape.reduced(&marked, true))
}
