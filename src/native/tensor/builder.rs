//! Builder: short forms of the operations that the rules of differentiation apply.

use super::evaluator::{Evaluator, Operands, TensorValue};
use super::operation::{Axes, Operation};
use super::propagation::Propagation;
use super::unvaried;
use crate::native::library::Failure;
use crate::tensor::{Binary, Chain, Comparison, Fold, Node, ScalarKind, Shape, Steps, Tensor, Unary};
use smallvec::smallvec;
use std::rc::Rc;

/// The result of a rule: a value, or a failure of the evaluator.
pub(super) type Built = Result<TensorValue, Failure>;

/// Applies operations through an evaluator.
pub(super) struct Builder<'a> {
    evaluator: &'a mut dyn Evaluator,
    /// What the rule propagates.
    pub(super) propagation: Propagation,
}

/// Returns the sizes of a shape as the argument of a reshape.
pub(super) fn sizes(shape: &Shape) -> Vec<isize> {
    shape.iter().map(|&size| size as isize).collect()
}

/// Returns a constant of rank 0 in a kind of real numbers.
pub(super) fn constant(kind: ScalarKind, value: f64) -> TensorValue {
    TensorValue::constant(match kind {
        ScalarKind::F32 => Tensor::scalar(value as f32),
        _ => Tensor::scalar(value),
    })
}

/// Whether a tensor of real numbers contains a NaN, or infinities of both signs.
pub(super) fn has_nan(tensor: &Tensor) -> bool {
    let sum = tensor.sum(None, false).and_then(|sum| sum.cast(ScalarKind::F64)?.scalarized::<f64>());
    sum.is_ok_and(f64::is_nan)
}

impl<'a> Builder<'a> {
    /// Creates a builder.
    pub(super) fn new(evaluator: &'a mut dyn Evaluator, propagation: Propagation) -> Builder<'a> {
        Builder { evaluator, propagation }
    }

    /// Applies an operation to several operands.
    pub(super) fn apply(&mut self, operation: Operation, operands: Operands) -> Built {
        self.evaluator.apply(operation, operands)
    }

    /// Applies an operation to one operand.
    pub(super) fn one(&mut self, operation: Operation, a: TensorValue) -> Built {
        self.evaluator.apply(operation, smallvec![a])
    }

    /// Applies an operation to two operands.
    pub(super) fn two(&mut self, operation: Operation, a: TensorValue, b: TensorValue) -> Built {
        self.evaluator.apply(operation, smallvec![a, b])
    }

    /// Applies an elementwise function.
    pub(super) fn unary(&mut self, function: Unary, a: TensorValue) -> Built {
        self.one(Operation::Unary(function), a)
    }

    /// Applies an elementwise function of two operands.
    pub(super) fn binary(&mut self, function: Binary, a: TensorValue, b: TensorValue) -> Built {
        self.two(Operation::Binary(function), a, b)
    }

    /// Returns `a + b`.
    pub(super) fn add(&mut self, a: TensorValue, b: TensorValue) -> Built {
        self.binary(Binary::Add, a, b)
    }

    /// Returns `a - b`.
    pub(super) fn subtract(&mut self, a: TensorValue, b: TensorValue) -> Built {
        self.binary(Binary::Subtract, a, b)
    }

    /// Returns `a · b`.
    pub(super) fn multiply(&mut self, a: TensorValue, b: TensorValue) -> Built {
        self.binary(Binary::Multiply, a, b)
    }

    /// Returns `-a`.
    pub(super) fn negate(&mut self, a: TensorValue) -> Built {
        self.unary(Unary::Negate, a)
    }

    /// Returns `a · factor`.
    pub(super) fn scaled(&mut self, a: TensorValue, factor: f64) -> Built {
        let factor = constant(a.tensor.kind(), factor);
        self.multiply(a, factor)
    }

    /// Returns `a + number`.
    pub(super) fn plus(&mut self, a: TensorValue, number: f64) -> Built {
        let number = constant(a.tensor.kind(), number);
        self.add(a, number)
    }

    /// Returns the sum of two values, of which a missing one is zero.
    pub(super) fn sum_of(
        &mut self,
        a: Option<TensorValue>,
        b: Option<TensorValue>,
    ) -> Result<Option<TensorValue>, Failure> {
        match (a, b) {
            (Some(a), Some(b)) => self.add(a, b).map(Some),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// Returns a value with another number where a mask is true.
    pub(super) fn select(&mut self, mask: Tensor, a: TensorValue, number: f64) -> Built {
        let number = constant(a.tensor.kind(), number);
        self.two(Operation::Select(Rc::new(mask)), a, number)
    }

    /// Returns a value in the shape and the kind of another one, to which it broadcasts.
    pub(super) fn fitted(&mut self, value: TensorValue, target: &TensorValue) -> Built {
        let mut value = value;
        if value.tensor.kind() != target.tensor.kind() {
            value = self.one(Operation::Cast(target.tensor.kind()), value)?;
        }
        self.broadcast(value, target.tensor.shape())
    }

    /// Returns a value repeated to a shape.
    pub(super) fn broadcast(&mut self, value: TensorValue, shape: &Shape) -> Built {
        if value.tensor.shape() == shape {
            return Ok(value);
        }
        self.one(Operation::Broadcast(shape.clone()), value)
    }

    /// Returns a value summed to a shape.
    pub(super) fn unbroadcast(&mut self, value: TensorValue, shape: &Shape) -> Built {
        if value.tensor.shape() == shape {
            return Ok(value);
        }
        self.one(Operation::Unbroadcast(shape.clone()), value)
    }

    /// Returns a value in another shape of the same number of scalars.
    pub(super) fn reshape(&mut self, value: TensorValue, shape: &Shape) -> Built {
        if value.tensor.shape() == shape {
            return Ok(value);
        }
        self.one(Operation::Reshape(sizes(shape)), value)
    }

    /// Returns the sum over axes.
    pub(super) fn sum(&mut self, value: TensorValue, axes: &Axes) -> Built {
        self.linear(Operation::Reduce(Fold::Sum, axes.clone()), smallvec![value])
    }

    /// Returns the sums over the last axis, which stays with size 1.
    pub(super) fn sum_of_rows(&mut self, value: TensorValue) -> Built {
        self.sum(value, &Axes { axes: Some(vec![-1]), keeps: true })
    }

    /// Returns the sum of the products `a · b` over axes.
    pub(super) fn weighted_sum(&mut self, a: TensorValue, b: TensorValue, axes: &Axes) -> Built {
        let product = self.product(a, b)?;
        self.sum(product, axes)
    }

    /// Returns the zeros of the shape and kind of a value, which are not propagated.
    pub(super) fn zeros_like(&mut self, value: &TensorValue) -> Built {
        let (kind, shape) = (value.tensor.kind(), value.tensor.shape().clone());
        Ok(TensorValue::constant(match self.propagation {
            Propagation::Tangent => unvaried::zeros(kind, shape)?,
            Propagation::Adjoint => Tensor::zeros(kind, shape)?,
        }))
    }

    /// Returns the products of matrices.
    pub(super) fn matmul(&mut self, a: TensorValue, is_a: bool, b: TensorValue, is_b: bool) -> Built {
        self.two(Operation::Matmul(is_a, is_b), a, b)
    }

    /// Returns the matrices with rows and columns exchanged.
    pub(super) fn transposed(&mut self, a: TensorValue) -> Built {
        let mut order: Vec<isize> = (0..a.tensor.rank() as isize).collect();
        if let [.., row, column] = order.as_mut_slice() {
            std::mem::swap(row, column);
        }
        self.one(Operation::Transpose(order), a)
    }
}

/// Returns the value of an elementwise formula of values that are constant in every level. It is computed in one pass over memory, in
/// that of the first value if nothing else uses it; the steps of small tensors are computed at once.
pub(super) fn in_one_pass<const REST: usize>(
    first: TensorValue,
    rest: [&TensorValue; REST],
    formula: impl Fn(&mut dyn Steps, Node, [Node; REST]) -> Result<Node, Failure>,
) -> Built {
    let rest = rest.map(|value| &*value.tensor);
    if let Some(result) = first.tensor.small_formula(rest, &formula)? {
        return Ok(TensorValue::constant(result));
    }
    let mut chain = Chain::new();
    let node = chain.input();
    let nodes = rest.map(|_| chain.input());
    let result = formula(&mut chain, node, nodes)?;
    chain.give(result);
    let first = Rc::try_unwrap(first.tensor).unwrap_or_else(|shared| (*shared).clone());
    Ok(TensorValue::constant(chain.apply(first, &rest)?))
}

/// Returns where the scalars of a tensor equal a number.
pub(super) fn is_equal_to(tensor: &Tensor, number: f64) -> Result<Tensor, Failure> {
    compared(tensor, Comparison::Equal, number)
}

/// Compares the scalars of a tensor with a number.
pub(super) fn compared(tensor: &Tensor, comparison: Comparison, number: f64) -> Result<Tensor, Failure> {
    Ok(tensor.compare(comparison, &constant(tensor.kind(), number).tensor)?)
}

/// Returns 1 where the first tensor is larger (or smaller), 0.5 where both are equal, and 0 elsewhere.
pub(super) fn share(a: &TensorValue, comparison: Comparison, b: &TensorValue) -> Built {
    in_one_pass(a.clone(), [b], |steps, left, [right]| {
        let wins = steps.compare(comparison, left, right);
        let ties = steps.compare(Comparison::Equal, left, right);
        let half = steps.constant(0.5);
        let half = steps.binary(Binary::Multiply, ties, half);
        Ok(steps.binary(Binary::Add, wins, half))
    })
}
