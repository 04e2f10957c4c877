//! The construction of tensors, and their properties.

use super::super::NativeFunction;
use super::super::context::Failure;
use super::{Call, constant, scalar, shape, size, sizes};
use crate::tensor::{ScalarKind, Seed, Shape, Tensor};
use crate::value::printing::{full_tensor_description, tensor_description};

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.shape", call: shape_of },
    NativeFunction { name: "tensor.rank", call: |c| property(c, Tensor::rank) },
    NativeFunction { name: "tensor.count", call: |c| property(c, Tensor::scalar_count) },
    NativeFunction { name: "tensor.describe", call: describe },
    NativeFunction { name: "tensor.describeAll", call: describe_all },
    NativeFunction { name: "tensor.range", call: range },
    NativeFunction { name: "tensor.linearSpace", call: linear_space },
    NativeFunction { name: "tensor.oneHot", call: one_hot },
    NativeFunction { name: "tensor.eye", call: eye },
    NativeFunction { name: "tensor.randomUniform", call: |c| random(c, Tensor::random_uniform) },
    NativeFunction { name: "tensor.randomNormal", call: |c| random(c, Tensor::random_normal) },
    NativeFunction { name: "tensor.randomTruncatedNormal", call: |c| random(c, Tensor::random_truncated_normal) },
    NativeFunction { name: "tensor.randomIntegers", call: random_integers },
    NativeFunction { name: "tensor.randomCategorical", call: random_categorical },
];

fn shape_of(c: Call<'_, '_>) -> Result<(), Failure> {
    let sizes = c.tensor()?.tensor.shape().iter().map(|&size| size as i64).collect();
    c.return_integers(sizes)
}

fn property(c: Call<'_, '_>, property: fn(&Tensor) -> usize) -> Result<(), Failure> {
    let number = property(&c.tensor()?.tensor);
    c.return_integer(number as i64)
}

fn describe(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = tensor_description(&c.tensor()?.tensor);
    c.return_text(text)
}

fn describe_all(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = full_tensor_description(&c.tensor()?.tensor);
    c.return_text(text)
}

fn range(c: Call<'_, '_>) -> Result<(), Failure> {
    let (start, end, step) = (scalar(c)?, scalar(c)?, scalar(c)?);
    constant(c, Tensor::range_between(&start, &end, &step)?)
}

fn linear_space(c: Call<'_, '_>) -> Result<(), Failure> {
    let (start, end, count) = (scalar(c)?, scalar(c)?, size(c.integer())?);
    constant(c, Tensor::linear_space_between(&start, &end, count)?)
}

fn one_hot(c: Call<'_, '_>) -> Result<(), Failure> {
    // Integers of the scalars are read between the other ones.
    let (indices, depth) = (c.tensor()?, size(c.integer())?);
    let (on, off, axis) = (scalar(c)?, scalar(c)?, c.integer());
    constant(c, Tensor::one_hot_of(&indices.tensor, depth, (&on, &off), axis as isize)?)
}

fn eye(c: Call<'_, '_>) -> Result<(), Failure> {
    let kind = c.scalar_kind(0)?;
    let (rows, columns, batch) = (size(c.integer())?, size(c.integer())?, sizes(c)?);
    constant(c, Tensor::eye(kind, rows, columns, &batch)?)
}

/// Reads a seed; only the low 32 bits of its two numbers count.
fn seed(c: Call<'_, '_>) -> Seed {
    Seed(c.integer() as i32, c.integer() as i32)
}

fn random(c: Call<'_, '_>, fill: fn(ScalarKind, Shape, Seed) -> crate::tensor::Result<Tensor>) -> Result<(), Failure> {
    let (kind, shape, seed) = (c.scalar_kind(0)?, shape(c)?, seed(c));
    constant(c, fill(kind, shape, seed)?)
}

fn random_integers(c: Call<'_, '_>) -> Result<(), Failure> {
    let (kind, shape, low, high) = (c.scalar_kind(0)?, shape(c)?, c.integer(), c.integer());
    let seed = seed(c);
    constant(c, Tensor::random_integers(kind, shape, low, high, seed)?)
}

fn random_categorical(c: Call<'_, '_>) -> Result<(), Failure> {
    let (logits, count, seed) = (c.tensor()?, size(c.integer())?, seed(c));
    let result = logits.tensor.random_categorical(count, seed)?;
    constant(c, result)
}
