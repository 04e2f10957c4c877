//! The construction of tensors, and their properties.

use super::super::NativeFunction;
use super::super::context::Failure;
use super::{Call, constant, flag, returned, scalar, shape, size, sizes};
use crate::native::tensor::{Operation, TensorValue, pack};
use crate::tensor::{Binary, ScalarKind, Seed, Shape, Tensor};
use crate::value::Slot;
use crate::value::printing::{styled_tensor_description, tensor_description};
use smallvec::smallvec;
use std::rc::Rc;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.shape", call: shape_of },
    NativeFunction { name: "tensor.rank", call: |c| property(c, Tensor::rank) },
    NativeFunction { name: "tensor.count", call: |c| property(c, Tensor::scalar_count) },
    NativeFunction { name: "tensor.describe", call: describe },
    NativeFunction { name: "tensor.describeStyled", call: describe_styled },
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

fn describe_styled(c: Call<'_, '_>) -> Result<(), Failure> {
    let (value, width, edge, is_summary) = (c.tensor()?, size(c.integer())?, size(c.integer())?, flag(c));
    let text = styled_tensor_description(&value.tensor, is_summary.then_some(edge), width);
    c.return_text(text)
}

fn range(c: Call<'_, '_>) -> Result<(), Failure> {
    let (start, end, step) = (scalar(c)?, scalar(c)?, scalar(c)?);
    let range = Tensor::range_between(&start.tensor, &end.tensor, &step.tensor)?;
    // The number of scalars is locally constant, so the end has no part in the derivative.
    let (kind, count) = (range.kind(), range.scalar_count());
    let partials = [(start, pack_with(kind, count, |_| 1.0)), (step, pack_with(kind, count, |at| at as f64))];
    linear(c, range, partials)
}

fn linear_space(c: Call<'_, '_>) -> Result<(), Failure> {
    let (start, end, count) = (scalar(c)?, scalar(c)?, size(c.integer())?);
    let space = Tensor::linear_space_between(&start.tensor, &end.tensor, count)?;
    let kind = space.kind();
    let fraction = move |at: usize| if at == 0 { 0.0 } else { at as f64 / (count - 1) as f64 };
    let partials =
        [(start, pack_with(kind, count, move |at| 1.0 - fraction(at))), (end, pack_with(kind, count, fraction))];
    linear(c, space, partials)
}

/// A function that creates a tensor when it is needed.
type TensorMaker = Box<dyn FnOnce() -> Result<Tensor, Failure>>;

/// Returns a function that creates a vector of real numbers.
fn pack_with(kind: ScalarKind, count: usize, number: impl Fn(usize) -> f64 + 'static) -> TensorMaker {
    Box::new(move || pack(kind, Shape::from([count]), &(0..count).map(number).collect::<Vec<f64>>()))
}

/// Returns a tensor that depends linearly on scalars, which are given with functions that create the tensors of partials.
fn linear<const N: usize>(
    c: Call<'_, '_>,
    value: Tensor,
    partials: [(TensorValue, TensorMaker); N],
) -> Result<(), Failure> {
    let mut result = TensorValue::constant(value);
    for (scalar, partial) in partials {
        if scalar.slot != Slot::NONE {
            // The difference is 0, so the value does not change.
            let primal = TensorValue::constant(Tensor::clone(&scalar.tensor));
            let difference = c.apply(Operation::Binary(Binary::Subtract), smallvec![scalar, primal])?;
            let partial = TensorValue::constant(partial()?);
            let term = c.apply(Operation::Binary(Binary::Multiply), smallvec![difference, partial])?;
            result = c.apply(Operation::Binary(Binary::Add), smallvec![result, term])?;
        }
    }
    c.return_tensor(result)
}

fn one_hot(c: Call<'_, '_>) -> Result<(), Failure> {
    // Integers of the scalars are read between the other ones.
    let (indices, depth) = (c.tensor()?.tensor, size(c.integer())?);
    let (on, off, axis) = (scalar(c)?, scalar(c)?, c.integer() as isize);
    if on.slot == Slot::NONE && off.slot == Slot::NONE {
        return constant(c, Tensor::one_hot_of(&indices, depth, (&on.tensor, &off.tensor), axis)?);
    }
    let mask = Tensor::one_hot(&indices, depth, true, false, axis)?;
    returned(c, Operation::Select(Rc::new(mask)), smallvec![off, on])
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
