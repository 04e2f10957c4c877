//! Reductions, cumulative operations, and functions of rows.

use super::super::NativeFunction;
use super::super::context::Failure;
use super::{Call, constant, flag, one, returned, two};
use crate::native::tensor::{Axes, Direction, Operation};
use crate::tensor::Fold;
use smallvec::smallvec;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.sum", call: |c| reduced(c, |axes| Operation::Reduce(Fold::Sum, axes)) },
    NativeFunction { name: "tensor.product", call: |c| reduced(c, |axes| Operation::Reduce(Fold::Product, axes)) },
    NativeFunction { name: "tensor.max", call: |c| reduced(c, |axes| Operation::Reduce(Fold::Max, axes)) },
    NativeFunction { name: "tensor.min", call: |c| reduced(c, |axes| Operation::Reduce(Fold::Min, axes)) },
    NativeFunction { name: "tensor.mean", call: |c| reduced(c, Operation::Mean) },
    NativeFunction { name: "tensor.variance", call: |c| reduced(c, Operation::Variance) },
    NativeFunction { name: "tensor.logSumExp", call: |c| reduced(c, Operation::LogSumExp) },
    NativeFunction { name: "tensor.argMax", call: |c| extremum(c, Fold::Max) },
    NativeFunction { name: "tensor.argMin", call: |c| extremum(c, Fold::Min) },
    NativeFunction { name: "tensor.cumulativeSum", call: |c| cumulative(c, Operation::CumulativeSum) },
    NativeFunction { name: "tensor.cumulativeProduct", call: |c| cumulative(c, Operation::CumulativeProduct) },
    NativeFunction { name: "tensor.softmax", call: |c| one(c, Operation::Softmax) },
    NativeFunction { name: "tensor.logSoftmax", call: |c| one(c, Operation::LogSoftmax) },
    NativeFunction { name: "tensor.softmaxCrossEntropy", call: cross_entropy },
    NativeFunction {
        name: "tensor.softmaxCrossEntropyOfProbabilities",
        call: |c| two(c, Operation::CrossEntropyOfProbabilities),
    },
];

/// Reduces a tensor over a list of axes, or over all.
fn reduced(c: Call<'_, '_>, operation: fn(Axes) -> Operation) -> Result<(), Failure> {
    let (x, axes, all, keeps) = (c.tensor()?, super::axes(c)?, flag(c), flag(c));
    let axes = Axes { axes: (!all).then_some(axes), keeps };
    returned(c, operation(axes), smallvec![x])
}

fn extremum(c: Call<'_, '_>, fold: Fold) -> Result<(), Failure> {
    let (x, axis, all) = (c.tensor()?, c.integer() as isize, flag(c));
    let result = x.tensor.arg_extremum(fold, (!all).then_some(axis))?;
    constant(c, result)
}

fn cumulative(c: Call<'_, '_>, operation: fn(Direction) -> Operation) -> Result<(), Failure> {
    let (x, axis, is_exclusive, is_reversed) = (c.tensor()?, c.integer() as isize, flag(c), flag(c));
    returned(c, operation(Direction { axis, is_exclusive, is_reversed }), smallvec![x])
}

fn cross_entropy(c: Call<'_, '_>) -> Result<(), Failure> {
    let (logits, labels) = (c.tensor()?, c.tensor()?);
    returned(c, Operation::CrossEntropy(labels.tensor), smallvec![logits])
}
