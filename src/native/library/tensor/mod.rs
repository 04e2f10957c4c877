//! Tensors: native functions that apply operations of tensors.
//!
//! In: storages of tensors, and numbers and arrays of integers for axes, sizes and indices, unchecked as they come from a
//! program. Out: storages of tensors, and failures with the reason.
//! Not here: loops over numbers (`crate::tensor`), derivatives (`crate::native::tensor`).

mod construction;
mod elementwise;
mod indexing;
mod matrix;
mod reduction;
mod scalars;
#[cfg(test)]
mod tests;
mod view;
mod window;

pub(super) use construction::TABLE as CONSTRUCTION;
pub(super) use elementwise::TABLE as ELEMENTWISE;
pub(super) use indexing::TABLE as INDEXING;
pub(super) use matrix::TABLE as MATRIX;
pub(super) use reduction::TABLE as REDUCTION;
pub(super) use scalars::TABLE as SCALARS;
pub(super) use view::TABLE as VIEW;
pub(super) use window::TABLE as WINDOW;

use super::context::{Failure, FailureKind, NativeContext, internal};
use crate::native::tensor::{Operands, Operation, TensorValue};
use crate::tensor::{ScalarKind, Shape, Tensor};
use crate::value::Slot;
use smallvec::smallvec;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

/// Reads a flag.
fn flag(c: Call<'_, '_>) -> bool {
    c.integer() != 0
}

/// Reads an array of axes or of sizes that may be negative.
fn axes(c: Call<'_, '_>) -> Result<Vec<isize>, Failure> {
    Ok(c.integers()?.into_iter().map(|axis| axis as isize).collect())
}

/// Converts a size; fails if it is negative.
fn size(size: i64) -> Result<usize, Failure> {
    usize::try_from(size).map_err(|_| Failure::new(FailureKind::Precondition, format!("a size cannot be {size}")))
}

/// Reads an array of sizes, which are not negative.
fn sizes(c: Call<'_, '_>) -> Result<Vec<usize>, Failure> {
    c.integers()?.into_iter().map(size).collect()
}

/// Reads a shape.
fn shape(c: Call<'_, '_>) -> Result<Shape, Failure> {
    Ok(sizes(c)?.into_iter().collect())
}

/// Reads a scalar of the generic argument as a tensor of rank 0.
fn scalar(c: Call<'_, '_>) -> Result<TensorValue, Failure> {
    let kind = c.scalar_kind(0)?;
    let argument = c.value(c.shapes.layout(c.type_at(0)?))?;
    let parts = c.components(argument);
    match (parts.f, parts.i) {
        ([x], _) => {
            let number = (*x, parts.slots.first().copied().unwrap_or(Slot::NONE));
            c.recorder().pack_numbers(kind, Shape::default(), &[number])
        }
        (_, [n]) => Ok(TensorValue::constant(Tensor::of_integers(kind, Shape::default(), &[*n])?)),
        _ => Err(internal()),
    }
}

/// Returns the result of an operation with one operand, which is read last.
fn one(c: Call<'_, '_>, operation: Operation) -> Result<(), Failure> {
    let operand = c.tensor()?;
    returned(c, operation, smallvec![operand])
}

/// Returns the result of an operation with two operands.
fn two(c: Call<'_, '_>, operation: Operation) -> Result<(), Failure> {
    let (a, b) = pair(c)?;
    returned(c, operation, smallvec![a, b])
}

/// Returns the result of an operation.
fn returned(c: Call<'_, '_>, operation: Operation, operands: Operands) -> Result<(), Failure> {
    let result = c.apply(operation, operands)?;
    c.return_tensor(result)
}

/// Returns a tensor that is constant in every level.
fn constant(c: Call<'_, '_>, tensor: Tensor) -> Result<(), Failure> {
    c.return_tensor(TensorValue::constant(tensor))
}

/// Whether a value is the zero of unknown kind that the null reference stands for.
fn is_null(value: &TensorValue) -> bool {
    let tensor = &value.tensor;
    tensor.rank() == 0 && tensor.kind() == ScalarKind::F64 && tensor.scalarized::<f64>() == Ok(0.0)
}

/// Reads two tensors of the same kind: a zero of unknown kind gets that of the other tensor.
fn pair(c: Call<'_, '_>) -> Result<(TensorValue, TensorValue), Failure> {
    let (a, b) = (c.tensor()?, c.tensor()?);
    alike(c, a, b)
}

/// Returns two tensors of the same kind: a zero of unknown kind gets that of the other tensor.
fn alike(c: Call<'_, '_>, a: TensorValue, b: TensorValue) -> Result<(TensorValue, TensorValue), Failure> {
    let (of_a, of_b) = (a.tensor.kind(), b.tensor.kind());
    if of_a == of_b {
        return Ok((a, b));
    }
    if is_null(&a) {
        return Ok((c.apply(Operation::Cast(of_b), smallvec![a])?, b));
    }
    if is_null(&b) {
        return Ok((a, c.apply(Operation::Cast(of_a), smallvec![b])?));
    }
    Ok((a, b))
}

/// Fails for a tensor that varies, because the operation has no derivative.
fn require_constant(operation: &str, value: &TensorValue) -> Result<(), Failure> {
    if value.slot == Slot::NONE {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Precondition, format!("{operation} has no derivative")))
}
