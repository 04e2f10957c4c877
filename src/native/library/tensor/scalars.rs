//! Scalars: native functions that convert between tensors and the numbers of a program.

use super::{Call, shape};
use crate::native::library::NativeFunction;
use crate::native::library::context::{Failure, internal};
use crate::native::tensor::Operation;
use crate::native::tensor::TensorValue;
use crate::tensor::{Shape, Tensor};
use crate::value::{Cells, Ref, Slot};
use smallvec::smallvec;
use std::rc::Rc;

pub(in crate::native::library) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.ofScalars", call: of_scalars },
    NativeFunction { name: "tensor.repeating", call: repeating },
    NativeFunction { name: "tensor.scalars", call: scalars },
    NativeFunction { name: "tensor.scalar", call: scalar },
];

/// Creates a tensor from an array of scalars and a shape.
fn of_scalars(c: Call<'_, '_>) -> Result<(), Failure> {
    let kind = c.scalar_kind(0)?;
    let layout = c.shapes.layout(c.type_at(0)?);
    let array = c.array(layout)?;
    let shape = shape(c)?;
    let value = if kind.is_real() {
        let numbers: Vec<(f64, Slot)> = array.f.iter().enumerate().map(|(k, x)| (*x, array.slot(k))).collect();
        c.recorder().pack_numbers(kind, shape, &numbers)?
    } else {
        TensorValue::constant(Tensor::of_integers(kind, shape, &array.i)?)
    };
    c.return_tensor(value)
}

/// Creates a tensor whose scalars are all the same.
fn repeating(c: Call<'_, '_>) -> Result<(), Failure> {
    let kind = c.scalar_kind(0)?;
    let scalar = c.value(c.shapes.layout(c.type_at(0)?))?;
    let shape = shape(c)?;
    shape.checked_count("Tensor(repeating:shape:)", kind.size())?;
    let parts = c.components(scalar);
    let value = match (parts.f, parts.i) {
        ([x], _) => {
            let number = (*x, parts.slots.first().copied().unwrap_or(Slot::NONE));
            let one = c.recorder().pack_numbers(kind, Shape::default(), &[number])?;
            if shape.rank() == 0 { one } else { c.apply(Operation::Broadcast(shape), smallvec![one])? }
        }
        (_, [n]) => TensorValue::constant(Tensor::of_integers(kind, Shape::default(), &[*n])?.broadcast_to(&shape)?),
        _ => return Err(internal()),
    };
    c.return_tensor(value)
}

/// Returns the scalars of a tensor as an array.
fn scalars(c: Call<'_, '_>) -> Result<(), Failure> {
    let value = c.tensor()?;
    let mut cells = Cells::empty();
    cells.len = value.tensor.scalar_count();
    if value.tensor.kind().is_real() {
        for (x, slot) in c.recorder().unpack_numbers(&value)? {
            cells.push_num(x, slot);
        }
    } else {
        cells.i.extend(value.tensor.integers()?);
    }
    c.return_reference(Ref::Cells(Rc::new(cells)))
}

/// Returns the only scalar of a tensor.
fn scalar(c: Call<'_, '_>) -> Result<(), Failure> {
    let value = c.tensor()?;
    if value.tensor.scalar_count() != 1 {
        let problem = format!("a tensor of the shape {} has not exactly one scalar", value.tensor.shape());
        return Err(crate::tensor::TensorError::value("scalarized", problem).into());
    }
    if value.tensor.kind().is_real() {
        let numbers = c.recorder().unpack_numbers(&value)?;
        let (x, slot) = numbers.first().copied().ok_or_else(internal)?;
        return c.return_num(x, slot);
    }
    let integer = value.tensor.integers()?.first().copied().ok_or_else(internal)?;
    c.return_integer(integer)
}
