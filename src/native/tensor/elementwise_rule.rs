//! The derivatives of elementwise operations. The partials are numbers of the same position, so tangents and adjoints
//! are multiplied by the same ones.

use super::builder::{Builder, compared, constant, in_one_pass, is_equal_to, share};
use super::evaluator::TensorValue;
use super::operation::{Evaluation, Operation};
use super::unary_rule;
use crate::native::library::{Failure, internal};
use crate::tensor::{Binary, Comparison, Logical, Tensor, Unary};
use crate::value::Slot;
use std::rc::Rc;

/// Returns the tangent of an operation that is not linear.
pub(super) fn tangent(
    operation: &Operation,
    of: Evaluation<'_>,
    tangents: &[Option<TensorValue>],
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let mut sum = None;
    for (k, tangent) in tangents.iter().enumerate() {
        if let Some(tangent) = tangent {
            let part = contribution(operation, k, of, tangent.clone(), b)?;
            sum = b.sum_of(sum, part)?;
        }
    }
    Ok(sum)
}

/// Returns the adjoint of an operand before it is summed to the shape of the operand.
pub(super) fn adjoint(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    match operation {
        Operation::Select(mask) => {
            let zero = constant(adjoint.tensor.kind(), 0.0);
            let operation = Operation::Select(Rc::clone(mask));
            if k == 0 { b.two(operation, adjoint, zero) } else { b.two(operation, zero, adjoint) }.map(Some)
        }
        Operation::Cast(_) => b.one(Operation::Cast(of.operand(0)?.tensor.kind()), adjoint).map(Some),
        _ => contribution(operation, k, of, adjoint, b),
    }
}

/// Returns `g` times the partial of an operand.
fn contribution(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    g: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    match operation {
        Operation::Unary(function) => unary_rule::apply(*function, g, of.operand(0)?, of.result, b),
        Operation::Binary(function) => binary(*function, k, of, g, b).map(Some),
        Operation::Clip => clip(k, of, g, b).map(Some),
        _ => Err(internal()),
    }
}

fn clip(k: usize, of: Evaluation<'_>, g: TensorValue, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let [x, low, high] = of.operands else { return Err(internal()) };
    let is_below = x.tensor.compare(Comparison::Less, &low.tensor)?;
    let raised = (*x.tensor).clone().binary(Binary::Max, (*low.tensor).clone())?;
    let is_above = raised.compare(Comparison::Greater, &high.tensor)?;
    let is_blocked = match k {
        0 => is_below.logical(Logical::Or, &is_above)?,
        1 => is_below.logical_not()?.logical(Logical::Or, &is_above)?,
        _ => is_above.logical_not()?,
    };
    b.blocked(is_blocked, g)
}

fn binary(
    function: Binary,
    k: usize,
    of: Evaluation<'_>,
    g: TensorValue,
    b: &mut Builder<'_>,
) -> Result<TensorValue, Failure> {
    let [x, y] = of.operands else { return Err(internal()) };
    let (result, propagation) = (of.result, b.propagation);
    let is_constant = [&g, x, y, result].iter().all(|value| value.slot == Slot::NONE);
    match (function, k) {
        (Binary::Add, _) | (Binary::Subtract | Binary::Remainder, 0) => Ok(g),
        (Binary::Subtract, _) => b.negative(g),
        (Binary::Multiply, 0) => b.product(g, y.clone()),
        (Binary::Multiply, _) => b.product(g, x.clone()),
        (Binary::Divide, 0) => b.quotient(g, y.clone()),
        (Binary::Divide, _) if is_constant => in_one_pass(g, [y, result], |steps, g, [y, result]| {
            let negative = steps.unary(Unary::Negate, result);
            let share = propagation.product(steps, g, negative);
            Ok(propagation.quotient(steps, share, y))
        }),
        (Binary::Divide, _) => {
            let negative = b.negate(result.clone())?;
            let share = b.product(g, negative)?;
            b.quotient(share, y.clone())
        }
        (Binary::Remainder, _) => {
            // The integer quotient, which is constant between its steps.
            let multiple = (*x.tensor).clone().binary(Binary::Subtract, (*result.tensor).clone())?;
            let steps = multiple.binary(Binary::Divide, (*y.tensor).clone())?.unary(Unary::Round)?;
            b.product(g, TensorValue::constant(steps.unary(Unary::Negate)?))
        }
        (Binary::Max, 0) => b.product(g, share(x, Comparison::Greater, y)?),
        (Binary::Max, _) => b.product(g, share(y, Comparison::Greater, x)?),
        (Binary::Min, 0) => b.product(g, share(x, Comparison::Less, y)?),
        (Binary::Min, _) => b.product(g, share(y, Comparison::Less, x)?),
        (Binary::SquaredDifference, _) if is_constant => in_one_pass(g, [x, y], |steps, g, [x, y]| {
            let (first, second) = if k == 0 { (x, y) } else { (y, x) };
            let difference = steps.binary(Binary::Subtract, first, second);
            let two = steps.constant(2.0);
            let twice = steps.binary(Binary::Multiply, difference, two);
            Ok(propagation.product(steps, g, twice))
        }),
        (Binary::SquaredDifference, _) => {
            let difference = if k == 0 { b.subtract(x.clone(), y.clone())? } else { b.subtract(y.clone(), x.clone())? };
            let twice = b.scaled(difference, 2.0)?;
            b.product(g, twice)
        }
        (Binary::Pow, 0) => {
            let is_constant = is_equal_to(&y.tensor, 0.0)?;
            let exponent = b.plus(y.clone(), -1.0)?;
            // The partial for the exponent 0 is 0 also where the power is infinite.
            let exponent = b.select(is_constant, exponent, 0.0)?;
            let power = b.binary(Binary::Pow, x.clone(), exponent)?;
            let partial = b.multiply(power, y.clone())?;
            b.product(g, partial)
        }
        (Binary::Pow, _) => {
            let logarithm = logarithm(x.clone(), b)?;
            let partial = b.multiply(logarithm, result.clone())?;
            b.product(g, partial)
        }
        (Binary::Atan2, _) => {
            let (first, second) = (b.unary(Unary::Squared, x.clone())?, b.unary(Unary::Squared, y.clone())?);
            let sum = b.add(first, second)?;
            let other = if k == 0 { y.clone() } else { b.negate(x.clone())? };
            let product = b.product(g, other)?;
            b.quotient(product, sum)
        }
        (Binary::Hypot, _) => {
            let is_zero = is_equal_to(&result.tensor, 0.0)?;
            let divisor = b.select(is_zero, result.clone(), 1.0)?;
            let partial = b.binary(Binary::Divide, if k == 0 { x.clone() } else { y.clone() }, divisor)?;
            b.product(g, partial)
        }
        (Binary::Root, 0) => {
            let exponent = b.plus(y.clone(), -1.0)?;
            let power = b.binary(Binary::Pow, result.clone(), exponent)?;
            let divisor = b.multiply(power, y.clone())?;
            b.quotient(g, divisor)
        }
        (Binary::Root, _) => {
            let logarithm = logarithm(x.clone(), b)?;
            let product = b.multiply(logarithm, result.clone())?;
            let square = b.unary(Unary::Squared, y.clone())?;
            let partial = b.binary(Binary::Divide, product, square)?;
            let partial = b.negate(partial)?;
            b.product(g, partial)
        }
        (Binary::LeakyRelu, 0) => {
            let positive = compared(&x.tensor, Comparison::Greater, 0.0)?;
            let partial = b.select(positive, y.clone(), 1.0)?;
            b.product(g, partial)
        }
        (Binary::Polygamma, 0) => {
            let order = b.plus(y.clone(), 1.0)?;
            let partial = b.binary(Binary::Polygamma, x.clone(), order)?;
            b.product(g, partial)
        }
        // The order is a constant integer.
        (Binary::Polygamma, _) => Err(internal()),
        (Binary::LeakyRelu, _) => {
            let positive = compared(&x.tensor, Comparison::Greater, 0.0)?;
            let partial = b.select(positive, x.clone(), 0.0)?;
            b.product(g, partial)
        }
    }
}

/// Returns the logarithms of numbers, and zeros where the numbers are not positive.
fn logarithm(x: TensorValue, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let mask: Tensor = compared(&x.tensor, Comparison::LessEqual, 0.0)?;
    let positive = b.select(mask, x, 1.0)?;
    b.unary(Unary::Log, positive)
}
