//! Parts of tensors, and joined tensors.

use super::super::NativeFunction;
use super::super::context::{Failure, internal};
use super::{Call, alike, axes, constant, flag, returned, shape, size, sizes};
use crate::native::tensor::{Operation, TensorValue};
use crate::tensor::{Index, ScalarKind, Tensor};
use smallvec::smallvec;
use std::rc::Rc;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.index", call: index },
    NativeFunction { name: "tensor.assign", call: assign },
    NativeFunction { name: "tensor.slice", call: slice },
    NativeFunction { name: "tensor.gather", call: gather },
    NativeFunction { name: "tensor.gatherWhere", call: gather_where },
    NativeFunction { name: "tensor.gatherFlat", call: gather_flat },
    NativeFunction { name: "tensor.scatterAdd", call: scatter_add },
    NativeFunction { name: "tensor.scatterAddFlat", call: scatter_add_flat },
    NativeFunction { name: "tensor.nonZeroIndices", call: non_zero_indices },
    NativeFunction { name: "tensor.concatenate", call: |c| joined(c, Operation::Concatenate) },
    NativeFunction { name: "tensor.stack", call: |c| joined(c, Operation::Stack) },
    NativeFunction { name: "tensor.unstack", call: unstack },
    NativeFunction { name: "tensor.split", call: split },
    NativeFunction { name: "tensor.splitEvenly", call: split_evenly },
    NativeFunction { name: "tensor.sorted", call: sorted },
    NativeFunction { name: "tensor.topK", call: top_k },
];

/// Decodes an index expression: four integers for each component, its kind, its bounds, and its step; the least integer
/// stands for a missing bound.
fn decoded(numbers: &[i64]) -> Result<Vec<Index>, Failure> {
    let bound = |bound: i64| (bound != i64::MIN).then_some(bound as isize);
    let component = |numbers: &[i64]| match *numbers {
        [0, at, _, _] => Ok(Index::At(at as isize)),
        [1, start, end, step] => {
            Ok(Index::Range { start: bound(start), end: bound(end), step: bound(step).unwrap_or(1) })
        }
        [2, ..] => Ok(Index::NewAxis),
        [3, ..] => Ok(Index::Ellipsis),
        [4, ..] => Ok(Index::SqueezeAxis),
        _ => Err(internal()),
    };
    numbers.chunks(4).map(component).collect()
}

fn index(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, indices) = (c.tensor()?, c.integers()?);
    returned(c, Operation::Index(decoded(&indices)?), smallvec![x])
}

fn assign(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, indices, value) = (c.tensor()?, c.integers()?, c.tensor()?);
    let (x, value) = alike(c, x, value)?;
    returned(c, Operation::Assign(decoded(&indices)?), smallvec![x, value])
}

fn slice(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, lower, sizes) = (c.tensor()?, axes(c)?, axes(c)?);
    returned(c, Operation::Slice(lower, sizes), smallvec![x])
}

fn gather(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, indices, axis, batches) = (c.tensor()?, c.tensor()?, c.integer(), size(c.integer())?);
    returned(c, Operation::Gather(indices.tensor, axis as isize, batches), smallvec![x])
}

/// Gathers the parts where a mask is true; the axes that the mask covers are joined first.
fn gather_where(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, mask, axis) = (c.tensor()?, c.tensor()?.tensor, c.integer() as isize);
    let own = x.tensor.shape();
    let at = own.axis("gathering(where:alongAxis:)", axis)?;
    let end = at + mask.rank();
    if mask.rank() == 0 || own.get(at..end) != Some(&mask.shape()[..]) {
        // The kernel reports the shapes.
        let result = x.tensor.gather_where(&mask, axis)?;
        return constant(c, result);
    }
    let outside =
        own[..at].iter().chain([&mask.scalar_count()]).chain(&own[end..]).map(|&size| size as isize).collect();
    let indices = Rc::new(mask.flattened().indices_of_mask()?);
    let joined = if mask.rank() == 1 { x } else { c.apply(Operation::Reshape(outside), smallvec![x])? };
    returned(c, Operation::Gather(indices, at as isize, 0), smallvec![joined])
}

fn gather_flat(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, positions) = (c.tensor()?, c.tensor()?);
    returned(c, Operation::GatherFlat(positions.tensor), smallvec![x])
}

fn scatter_add(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, shape, indices) = (c.tensor()?, shape(c)?, c.tensor()?);
    let (axis, batches) = (c.integer() as isize, size(c.integer())?);
    returned(c, Operation::ScatterAdd(shape, indices.tensor, axis, batches), smallvec![x])
}

fn scatter_add_flat(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, shape, positions) = (c.tensor()?, shape(c)?, c.tensor()?);
    returned(c, Operation::ScatterAddFlat(shape, positions.tensor), smallvec![x])
}

fn non_zero_indices(c: Call<'_, '_>) -> Result<(), Failure> {
    let result = c.tensor()?.tensor.non_zero_indices()?;
    constant(c, result)
}

fn joined(c: Call<'_, '_>, operation: fn(isize) -> Operation) -> Result<(), Failure> {
    let (mut parts, axis) = (c.tensors()?, c.integer() as isize);
    // A zero of unknown kind gets the kind of the others.
    if let Some(kind) = parts.iter().map(|part| part.tensor.kind()).find(|kind| *kind != ScalarKind::F64) {
        for part in &mut parts {
            if super::is_null(part) {
                *part = c.apply(Operation::Cast(kind), smallvec![part.clone()])?;
            }
        }
    }
    returned(c, operation(axis), parts.into())
}

/// Returns the parts of a tensor that indices of one axis choose.
fn parts(c: Call<'_, '_>, x: &TensorValue, axis: usize, indices: Vec<Index>) -> Result<(), Failure> {
    let mut results = Vec::with_capacity(indices.len());
    for index in indices {
        let expression = std::iter::repeat_n(Index::ALL, axis).chain([index]).collect();
        results.push(c.apply(Operation::Index(expression), smallvec![x.clone()])?);
    }
    c.return_tensors(results)
}

fn unstack(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, axis) = (c.tensor()?, c.integer() as isize);
    let at = x.tensor.shape().axis("unstacked(alongAxis:)", axis)?;
    let indices = (0..x.tensor.shape()[at] as isize).map(Index::At).collect();
    parts(c, &x, at, indices)
}

fn split(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, sizes, axis) = (c.tensor()?, sizes(c)?, c.integer() as isize);
    let kernel_parts = x.tensor.split(&sizes, axis)?;
    ranges(c, &x, axis, &kernel_parts)
}

fn split_evenly(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, count, axis) = (c.tensor()?, size(c.integer())?, c.integer() as isize);
    let kernel_parts = x.tensor.split_evenly(count, axis)?;
    ranges(c, &x, axis, &kernel_parts)
}

/// Returns consecutive parts of a tensor, of the sizes of the given tensors.
fn ranges(c: Call<'_, '_>, x: &TensorValue, axis: isize, of: &[Tensor]) -> Result<(), Failure> {
    let at = x.tensor.shape().axis("split(sizes:alongAxis:)", axis)?;
    let mut start = 0;
    let range = |part: &Tensor| {
        let first = start;
        start += part.shape()[at] as isize;
        Index::Range { start: Some(first), end: Some(start), step: 1 }
    };
    let indices = of.iter().map(range).collect();
    parts(c, x, at, indices)
}

/// Returns the sorted scalars along an axis, and the indices from which they come.
fn sorted(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, axis, descends) = (c.tensor()?, c.integer() as isize, flag(c));
    let (positions, indices) = x.tensor.sorted_positions(axis, descends)?;
    let values = c.apply(Operation::GatherFlat(Rc::new(positions)), smallvec![x])?;
    c.return_tensor(values)?;
    constant(c, indices)
}

/// Returns the largest scalars along the last axis in descending order, and the indices from which they come.
fn top_k(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, count) = (c.tensor()?, size(c.integer())?);
    let (positions, indices) = x.tensor.top_positions(count)?;
    let values = c.apply(Operation::GatherFlat(Rc::new(positions)), smallvec![x])?;
    c.return_tensor(values)?;
    constant(c, indices)
}
