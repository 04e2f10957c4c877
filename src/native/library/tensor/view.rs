//! Other shapes of tensors.

use super::super::NativeFunction;
use super::super::context::{Failure, internal};
use super::{Call, axes, one, shape, size, sizes};
use crate::native::tensor::Operation;
use crate::tensor::{PaddingMode, ScalarKind, Shape, Tensor};
use crate::value::Slot;
use smallvec::smallvec;
use std::rc::Rc;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.reshape", call: |c| of_axes(c, Operation::Reshape) },
    NativeFunction { name: "tensor.expandAxes", call: |c| of_axes(c, Operation::ExpandAxes) },
    NativeFunction { name: "tensor.squeeze", call: |c| of_axes(c, Operation::Squeeze) },
    NativeFunction { name: "tensor.transpose", call: |c| of_axes(c, Operation::Transpose) },
    NativeFunction { name: "tensor.reverse", call: |c| of_axes(c, Operation::Reverse) },
    NativeFunction { name: "tensor.broadcast", call: broadcast },
    NativeFunction { name: "tensor.unbroadcast", call: unbroadcast },
    NativeFunction { name: "tensor.tile", call: tile },
    NativeFunction { name: "tensor.pad", call: pad },
    NativeFunction { name: "tensor.spaceToDepth", call: |c| blocks(c, Operation::SpaceToDepth) },
    NativeFunction { name: "tensor.depthToSpace", call: |c| blocks(c, Operation::DepthToSpace) },
];

// Arguments of different banks are read in any order: the tensor last, when its operation is known.

fn of_axes(c: Call<'_, '_>, operation: fn(Vec<isize>) -> Operation) -> Result<(), Failure> {
    let x = c.tensor()?;
    let axes = axes(c)?;
    super::returned(c, operation(axes), smallvec![x])
}

fn broadcast(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    let shape = shape(c)?;
    super::returned(c, Operation::Broadcast(shape), smallvec![x])
}

fn unbroadcast(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    let shape = shape(c)?;
    super::returned(c, Operation::Unbroadcast(shape), smallvec![x])
}

fn tile(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    let multiples = sizes(c)?;
    super::returned(c, Operation::Tile(multiples), smallvec![x])
}

/// Pads a tensor by pairs of sizes. The modes: 0 a constant, 1 the reflected scalars, 2 the reflected scalars with the
/// edge.
fn pad(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    let (value, slot) = c.num();
    let pairs: Vec<(usize, usize)> =
        sizes(c)?.chunks(2).map(|pair| (pair[0], pair.get(1).copied().unwrap_or(0))).collect();
    let mode = match c.integer() {
        0 => PaddingMode::Constant(value),
        1 => PaddingMode::Reflect,
        2 => PaddingMode::Symmetric,
        _ => return Err(internal()),
    };
    if slot == Slot::NONE {
        return super::returned(c, Operation::Pad(pairs, mode), smallvec![x]);
    }
    // The padding varies: it replaces zeros.
    let (kind, shape) = (x.tensor.kind(), x.tensor.shape().clone());
    let mask = Tensor::zeros(ScalarKind::Bool, shape)?.pad(&pairs, PaddingMode::Constant(1.0))?;
    let padded = c.apply(Operation::Pad(pairs, PaddingMode::Constant(0.0)), smallvec![x])?;
    let padding = c.recorder().pack_numbers(kind, Shape::default(), &[(value, slot)])?;
    super::returned(c, Operation::Select(Rc::new(mask)), smallvec![padded, padding])
}

fn blocks(c: Call<'_, '_>, operation: fn(usize) -> Operation) -> Result<(), Failure> {
    let block = size(c.integer())?;
    one(c, operation(block))
}
