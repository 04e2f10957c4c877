//! Propagation: the products of tangents and adjoints with partials, and which zeros end the propagation.
//!
//! | | times a zero | times an infinite partial |
//! | --- | --- | --- |
//! | a tangent | 0, whatever the tangent | NaN for a tangent of 0, and 0 for an [unvaried](super::unvaried) scalar |
//! | an adjoint | NaN for an infinite adjoint | 0 for an adjoint of 0 |
//!
//! The two rows are the same products in opposite orders: what is a partial in a later step for a tangent is an adjoint for
//! the earlier step.

use super::builder::{Builder, Built, compared, constant, has_nan, in_one_pass, is_equal_to};
use super::evaluator::{Operands, TensorValue};
use super::operation::Operation;
use super::unvaried;
use crate::native::library::Failure;
use crate::tensor::{Binary, Comparison, Fold, Kept, Logical, Node, Steps, Tensor, Test};
use crate::value::Slot;
use std::rc::Rc;

/// What a rule propagates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Propagation {
    /// Tangents, from the operands to the result.
    Tangent,
    /// Adjoints, from the result to the operands.
    Adjoint,
}

impl Propagation {
    /// Adds `g · partial` to the steps of a formula.
    pub(super) fn product(self, steps: &mut dyn Steps, g: Node, partial: Node) -> Node {
        let product = steps.binary(Binary::Multiply, g, partial);
        self.kept(steps, product, g, (Kept::Zero, partial))
    }

    /// Adds `g / divisor` to the steps of a formula.
    pub(super) fn quotient(self, steps: &mut dyn Steps, g: Node, divisor: Node) -> Node {
        let quotient = steps.binary(Binary::Divide, g, divisor);
        self.kept(steps, quotient, g, (Kept::Infinite, divisor))
    }

    fn kept(self, steps: &mut dyn Steps, value: Node, g: Node, (rule, other): (Kept, Node)) -> Node {
        if self == Propagation::Adjoint {
            return steps.keep_zero(value, g);
        }
        let value = steps.keep(rule, value, other);
        steps.keep(Kept::NegativeZero, value, g)
    }

    /// Returns the number of a tangent or an adjoint that is not propagated.
    pub(super) fn nothing(self) -> f64 {
        if self == Propagation::Tangent { -0.0 } else { 0.0 }
    }
}

impl Builder<'_> {
    /// Returns `g · partial`.
    pub(super) fn product(&mut self, g: TensorValue, partial: TensorValue) -> Built {
        if g.slot == Slot::NONE && partial.slot == Slot::NONE {
            let propagation = self.propagation;
            return in_one_pass(g, [&partial], |steps, g, [other]| Ok(propagation.product(steps, g, other)));
        }
        let product = self.multiply(g.clone(), partial.clone())?;
        if self.propagation == Propagation::Tangent {
            let is_zero = is_equal_to(&partial.tensor, 0.0)?;
            return self.along((g, partial), product, &is_zero, Builder::multiply);
        }
        if !has_nan(&product.tensor) {
            return Ok(product);
        }
        let is_zero = is_equal_to(&g.tensor, 0.0)?;
        let is_undefined = partial.tensor.test(Test::IsFinite)?.logical_not()?;
        let mask = is_zero.logical(Logical::And, &is_undefined)?;
        let partial = self.select(mask, partial, 0.0)?;
        self.multiply(g, partial)
    }

    /// Returns `g / divisor`.
    pub(super) fn quotient(&mut self, g: TensorValue, divisor: TensorValue) -> Built {
        if g.slot == Slot::NONE && divisor.slot == Slot::NONE {
            let propagation = self.propagation;
            return in_one_pass(g, [&divisor], |steps, g, [other]| Ok(propagation.quotient(steps, g, other)));
        }
        let divide = |b: &mut Self, g, divisor| b.binary(Binary::Divide, g, divisor);
        let quotient = divide(self, g.clone(), divisor.clone())?;
        if self.propagation == Propagation::Tangent {
            let is_infinite = divisor.tensor.test(Test::IsInfinite)?;
            return self.along((g, divisor), quotient, &is_infinite, divide);
        }
        if !has_nan(&quotient.tensor) {
            return Ok(quotient);
        }
        let is_zero = is_equal_to(&g.tensor, 0.0)?;
        let not_a_number = divisor.tensor.test(Test::IsNan)?;
        let is_undefined = is_equal_to(&divisor.tensor, 0.0)?.logical(Logical::Or, &not_a_number)?;
        let mask = is_zero.logical(Logical::And, &is_undefined)?;
        let divisor = self.select(mask, divisor, 1.0)?;
        divide(self, g, divisor)
    }

    /// Returns `-g`.
    pub(super) fn negative(&mut self, g: TensorValue) -> Built {
        match self.propagation {
            Propagation::Adjoint => self.negate(g),
            Propagation::Tangent => {
                let minus = constant(g.tensor.kind(), -1.0);
                self.product(g, minus)
            }
        }
    }

    /// Returns a tangent or an adjoint that is not propagated where a mask is true.
    pub(super) fn blocked(&mut self, mask: Tensor, g: TensorValue) -> Built {
        let nothing = self.propagation.nothing();
        self.select(mask, g, nothing)
    }

    /// Returns the recorded result of an operation on a tangent and a factor, with its zeros. A zero that varies in a level
    /// is none.
    fn along(
        &mut self,
        (tangent, factor): (TensorValue, TensorValue),
        result: TensorValue,
        is_zero: &Tensor,
        apply: impl Fn(&mut Self, TensorValue, TensorValue) -> Built,
    ) -> Built {
        if tangent.slot == Slot::NONE
            && let Some(mask) = unvaried::unvaried(&tangent.tensor)?
        {
            return self.select(mask, result, -0.0);
        }
        if factor.slot != Slot::NONE || !has_nan(&result.tensor) {
            return Ok(result);
        }
        let tangent = self.broadcast(tangent, result.tensor.shape())?;
        let tangent = self.select(is_zero.clone(), tangent, 0.0)?;
        apply(self, tangent, factor)
    }

    /// Applies an operation that is linear in all operands together to tangents: where a result is a sum of unvaried scalars,
    /// or is none, it is unvaried as well.
    pub(super) fn linear(&mut self, operation: Operation, tangents: Operands) -> Built {
        let is_plain = tangents.iter().all(|tangent| tangent.slot == Slot::NONE);
        let tensors: Vec<_> = tangents.iter().map(|tangent| Rc::clone(&tangent.tensor)).collect();
        let result = self.apply(operation.clone(), tangents)?;
        let is_affected = operation.fills() || operation.adds() && tensors.iter().any(|t| unvaried::has_unvaried(t));
        if self.propagation == Propagation::Adjoint || !is_plain || !is_affected {
            return Ok(result);
        }
        let weights: Vec<Tensor> = tensors.iter().map(|tensor| unvaried::weights(tensor)).collect::<Result<_, _>>()?;
        let counts = operation.evaluate(weights.into_iter().map(Rc::new))?;
        self.without_sources(result, &counts)
    }

    /// Returns a tangent that is unvaried where no scalar contributes to it.
    fn without_sources(&mut self, tangent: TensorValue, counts: &Tensor) -> Built {
        let is_none = is_equal_to(counts, 0.0)?;
        if !is_any(&is_none)? {
            return Ok(tangent);
        }
        self.select(is_none, tangent, -0.0)
    }

    /// Applies an operation that is linear in each of two operands, of which one, with the index `g`, is a tangent or an
    /// adjoint.
    pub(super) fn bilinear(&mut self, operation: Operation, operands: [TensorValue; 2], g: usize) -> Built {
        let result = self.apply(operation.clone(), operands.iter().cloned().collect())?;
        let ending = if self.propagation == Propagation::Tangent { 1 - g } else { g };
        let result = match has_nan(&result.tensor) && operands[ending].slot == Slot::NONE {
            true => self.ended(&operation, &operands, ending, result)?,
            false => result,
        };
        let tangent = &operands[g];
        if self.propagation == Propagation::Adjoint || tangent.slot != Slot::NONE {
            return Ok(result);
        }
        if !unvaried::has_unvaried(&tangent.tensor) {
            return Ok(result);
        }
        let other = &operands[1 - g].tensor;
        let weights = unvaried::weights(&tangent.tensor)?;
        let ones = Tensor::ones(other.kind(), other.shape().clone())?;
        let counts = in_order(&operation, g == 0, &weights, &ones)?;
        self.without_sources(result, &counts)
    }

    /// Returns the result of a bilinear operation in which the zeros of the operand `ending` end the propagation, so that
    /// they are not multiplied by numbers of the other operand that are not finite.
    fn ended(
        &mut self,
        operation: &Operation,
        operands: &[TensorValue; 2],
        ending: usize,
        result: TensorValue,
    ) -> Built {
        let (factor, other) = (&operands[ending].tensor, &operands[1 - ending].tensor);
        let is_not_finite = other.test(Test::IsFinite)?.logical_not()?;
        if !is_any(&is_not_finite)? || !is_any(&is_equal_to(factor, 0.0)?)? {
            return Ok(result);
        }
        let kind = result.tensor.kind();
        let ones = |mask: Tensor| mask.cast(kind);
        let plus = ones(compared(other, Comparison::Equal, f64::INFINITY)?)?;
        let minus = ones(compared(other, Comparison::Equal, f64::NEG_INFINITY)?)?;
        let undefined = ones(other.test(Test::IsNan)?)?;
        let positive = ones(compared(factor, Comparison::Greater, 0.0)?)?;
        let negative = ones(compared(factor, Comparison::Less, 0.0)?)?;
        let nonzero = ones(compared(factor, Comparison::NotEqual, 0.0)?)?;
        let count = |factor: &Tensor, other: &Tensor| in_order(operation, ending == 0, factor, other);
        let above = count(&positive, &plus)?.binary(Binary::Add, count(&negative, &minus)?)?;
        let below = count(&positive, &minus)?.binary(Binary::Add, count(&negative, &plus)?)?;
        let undefined = count(&nonzero, &undefined)?;
        let mut finite = operands.clone();
        finite[1 - ending] = self.select(is_not_finite, finite[1 - ending].clone(), 0.0)?;
        let mut sum = self.apply(operation.clone(), finite.into_iter().collect())?;
        for (counts, number) in [(above, f64::INFINITY), (below, f64::NEG_INFINITY), (undefined, f64::NAN)] {
            let is_some = is_equal_to(&counts, 0.0)?.logical_not()?;
            let zeros = TensorValue::constant(Tensor::zeros(kind, counts.shape().clone())?);
            let part = self.select(is_some, zeros, number)?;
            sum = self.add(sum, part)?;
        }
        Ok(sum)
    }
}

/// Returns the result of an operation on two tensors, of which the first one is the first operand if the flag says so.
fn in_order(operation: &Operation, is_first: bool, one: &Tensor, other: &Tensor) -> Result<Tensor, Failure> {
    let (a, b) = if is_first { (one, other) } else { (other, one) };
    operation.evaluate([Rc::new(a.clone()), Rc::new(b.clone())])
}

/// Whether some element of a mask is true.
fn is_any(mask: &Tensor) -> Result<bool, Failure> {
    Ok(mask.scalar_count() > 0 && mask.fold(Fold::Max, None, false)?.scalarized::<bool>()?)
}
