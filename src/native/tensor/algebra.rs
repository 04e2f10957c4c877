//! Algebra: the elementwise operations in which partials are written, once for values that may vary, and once for constant
//! values, of which the whole formula is computed in one pass over memory, or at once if they are small.

use super::builder::{Builder, compared, constant};
use super::evaluator::TensorValue;
use crate::native::library::Failure;
use crate::tensor::{Binary, Comparison, Node, ScalarKind, Steps, Unary};

/// The elementwise operations of formulas of one variable.
pub(super) trait Algebra {
    /// A value of a formula.
    type Value: Clone;

    /// Applies a function of one operand.
    fn unary(&mut self, function: Unary, a: Self::Value) -> Result<Self::Value, Failure>;

    /// Applies a function of two operands.
    fn binary(&mut self, function: Binary, a: Self::Value, b: Self::Value) -> Result<Self::Value, Failure>;

    /// Returns a constant.
    fn number(&mut self, number: f64) -> Self::Value;

    /// Returns `a`, and a number where `x` compares to a bound.
    fn replaced(
        &mut self,
        a: Self::Value,
        x: &Self::Value,
        condition: (Comparison, f64),
        number: f64,
    ) -> Result<Self::Value, Failure>;

    /// Returns `-a`.
    fn negate(&mut self, a: Self::Value) -> Result<Self::Value, Failure> {
        self.unary(Unary::Negate, a)
    }

    /// Returns `a²`.
    fn squared(&mut self, a: Self::Value) -> Result<Self::Value, Failure> {
        self.unary(Unary::Squared, a)
    }

    /// Returns `a + b`.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Failure> {
        self.binary(Binary::Add, a, b)
    }

    /// Returns `a · b`.
    fn multiply(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Failure> {
        self.binary(Binary::Multiply, a, b)
    }

    /// Returns `a · factor`.
    fn scaled(&mut self, a: Self::Value, factor: f64) -> Result<Self::Value, Failure> {
        let factor = self.number(factor);
        self.multiply(a, factor)
    }

    /// Returns `a + number`.
    fn plus(&mut self, a: Self::Value, number: f64) -> Result<Self::Value, Failure> {
        let number = self.number(number);
        self.add(a, number)
    }

    /// Returns `number - a`.
    fn minus_from(&mut self, number: f64, a: Self::Value) -> Result<Self::Value, Failure> {
        let number = self.number(number);
        self.binary(Binary::Subtract, number, a)
    }

    /// Returns `a` where `x` lies between two bounds, and a number elsewhere.
    fn within(
        &mut self,
        a: Self::Value,
        (x, number): (&Self::Value, f64),
        low: f64,
        high: f64,
    ) -> Result<Self::Value, Failure> {
        let a = self.replaced(a, x, (Comparison::LessEqual, low), number)?;
        self.replaced(a, x, (Comparison::GreaterEqual, high), number)
    }
}

/// Values that may vary.
pub(super) struct Varied<'a, 'b> {
    pub(super) builder: &'a mut Builder<'b>,
    pub(super) kind: ScalarKind,
}

impl Algebra for Varied<'_, '_> {
    type Value = TensorValue;

    fn unary(&mut self, function: Unary, a: TensorValue) -> Result<TensorValue, Failure> {
        self.builder.unary(function, a)
    }

    fn binary(&mut self, function: Binary, a: TensorValue, b: TensorValue) -> Result<TensorValue, Failure> {
        self.builder.binary(function, a, b)
    }

    fn number(&mut self, number: f64) -> TensorValue {
        constant(self.kind, number)
    }

    fn replaced(
        &mut self,
        a: TensorValue,
        x: &TensorValue,
        (comparison, bound): (Comparison, f64),
        number: f64,
    ) -> Result<TensorValue, Failure> {
        self.builder.select(compared(&x.tensor, comparison, bound)?, a, number)
    }
}

/// Values that are constant in every level.
pub(super) struct Constants<'a>(pub(super) &'a mut dyn Steps);

impl Algebra for Constants<'_> {
    type Value = Node;

    fn unary(&mut self, function: Unary, a: Node) -> Result<Node, Failure> {
        Ok(self.0.unary(function, a))
    }

    fn binary(&mut self, function: Binary, a: Node, b: Node) -> Result<Node, Failure> {
        Ok(self.0.binary(function, a, b))
    }

    fn number(&mut self, number: f64) -> Node {
        self.0.constant(number)
    }

    fn replaced(
        &mut self,
        a: Node,
        x: &Node,
        (comparison, bound): (Comparison, f64),
        number: f64,
    ) -> Result<Node, Failure> {
        let (bound, number) = (self.0.constant(bound), self.0.constant(number));
        let holds = self.0.compare(comparison, *x, bound);
        Ok(self.0.select(holds, number, a))
    }
}
