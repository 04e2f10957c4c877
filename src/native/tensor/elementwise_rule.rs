//! The derivatives of elementwise operations. The partials are numbers of the same position, so tangents and adjoints
//! are multiplied by the same ones.

use super::builder::{Builder, compared, constant, is_equal_to, only_result, share};
use super::evaluator::TensorValue;
use super::operation::{Evaluation, Operation};
use super::propagation::Propagation;
use super::unary_rule;
use crate::native::library::{Failure, internal};
use crate::tensor::{Binary, Chain, Comparison, Logical, Tensor, Unary};
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
    let (x, y, result) = (x.clone(), y.clone(), of.result.clone());
    if let Some(product) = in_one_pass(function, k, &g, [&x, &y, &result], b.propagation)? {
        return Ok(product);
    }
    match (function, k) {
        (Binary::Add, _) | (Binary::Subtract | Binary::Remainder, 0) => Ok(g),
        (Binary::Subtract, _) => b.negative(g),
        (Binary::Multiply, 0) => b.product(g, y),
        (Binary::Multiply, _) => b.product(g, x),
        (Binary::Divide, 0) => b.quotient(g, y),
        (Binary::Divide, _) => {
            let negative = b.negate(result)?;
            let share = b.product(g, negative)?;
            b.quotient(share, y)
        }
        (Binary::Remainder, _) => {
            // The integer quotient, which is constant between its steps.
            let multiple = (*x.tensor).clone().binary(Binary::Subtract, (*result.tensor).clone())?;
            let steps = multiple.binary(Binary::Divide, (*y.tensor).clone())?.unary(Unary::Round)?;
            b.product(g, TensorValue::constant(steps.unary(Unary::Negate)?))
        }
        (Binary::Max, 0) => b.product(g, share(&x.tensor, Comparison::Greater, &y.tensor)?),
        (Binary::Max, _) => b.product(g, share(&y.tensor, Comparison::Greater, &x.tensor)?),
        (Binary::Min, 0) => b.product(g, share(&x.tensor, Comparison::Less, &y.tensor)?),
        (Binary::Min, _) => b.product(g, share(&y.tensor, Comparison::Less, &x.tensor)?),
        (Binary::SquaredDifference, _) => {
            let difference = if k == 0 { b.subtract(x, y)? } else { b.subtract(y, x)? };
            let twice = b.scaled(difference, 2.0)?;
            b.product(g, twice)
        }
        (Binary::Pow, 0) => {
            let is_constant = is_equal_to(&y.tensor, 0.0)?;
            let exponent = b.plus(y.clone(), -1.0)?;
            // The partial for the exponent 0 is 0 also where the power is infinite.
            let exponent = b.select(is_constant, exponent, 0.0)?;
            let power = b.binary(Binary::Pow, x, exponent)?;
            let partial = b.multiply(power, y)?;
            b.product(g, partial)
        }
        (Binary::Pow, _) => {
            let logarithm = logarithm(x, b)?;
            let partial = b.multiply(logarithm, result)?;
            b.product(g, partial)
        }
        (Binary::Atan2, _) => {
            let (first, second) = (b.unary(Unary::Squared, x.clone())?, b.unary(Unary::Squared, y.clone())?);
            let sum = b.add(first, second)?;
            let other = if k == 0 { y } else { b.negate(x)? };
            let product = b.product(g, other)?;
            b.quotient(product, sum)
        }
        (Binary::Hypot, _) => {
            let is_zero = is_equal_to(&result.tensor, 0.0)?;
            let divisor = b.select(is_zero, result, 1.0)?;
            let partial = b.binary(Binary::Divide, if k == 0 { x } else { y }, divisor)?;
            b.product(g, partial)
        }
        (Binary::Root, 0) => {
            let exponent = b.plus(y.clone(), -1.0)?;
            let power = b.binary(Binary::Pow, result, exponent)?;
            let divisor = b.multiply(power, y)?;
            b.quotient(g, divisor)
        }
        (Binary::Root, _) => {
            let logarithm = logarithm(x, b)?;
            let product = b.multiply(logarithm, result)?;
            let square = b.unary(Unary::Squared, y)?;
            let partial = b.binary(Binary::Divide, product, square)?;
            let partial = b.negate(partial)?;
            b.product(g, partial)
        }
        (Binary::LeakyRelu, 0) => {
            let positive = compared(&x.tensor, Comparison::Greater, 0.0)?;
            let partial = b.select(positive, y, 1.0)?;
            b.product(g, partial)
        }
        (Binary::Polygamma, 0) => {
            let order = b.plus(y, 1.0)?;
            let partial = b.binary(Binary::Polygamma, x, order)?;
            b.product(g, partial)
        }
        // The order is a constant integer.
        (Binary::Polygamma, _) => Err(internal()),
        (Binary::LeakyRelu, _) => {
            let positive = compared(&x.tensor, Comparison::Greater, 0.0)?;
            let partial = b.select(positive, x, 0.0)?;
            b.product(g, partial)
        }
    }
}

/// Returns `g` times the partial for operands that are constant in every level, computed in one pass over memory; `None`
/// for other operands and functions.
fn in_one_pass(
    function: Binary,
    k: usize,
    g: &TensorValue,
    [x, y, result]: [&TensorValue; 3],
    propagation: Propagation,
) -> Result<Option<TensorValue>, Failure> {
    let all = [g, x, y, result];
    let is_known = matches!((function, k), (Binary::Divide, 1) | (Binary::SquaredDifference, _));
    if !is_known || all.iter().any(|value| value.slot != Slot::NONE) {
        return Ok(None);
    }
    let mut chain = Chain::new();
    let [at_g, at_x, at_y, at_result] = all.map(|_| chain.input());
    let product = match (function, k) {
        (Binary::Divide, 1) => {
            let negative = chain.unary(Unary::Negate, at_result);
            let share = propagation.product(&mut chain, at_g, negative);
            propagation.quotient(&mut chain, share, at_y)
        }
        (Binary::SquaredDifference, _) => {
            let (first, second) = if k == 0 { (at_x, at_y) } else { (at_y, at_x) };
            let difference = chain.binary(Binary::Subtract, first, second);
            let two = chain.constant(2.0);
            let twice = chain.binary(Binary::Multiply, difference, two);
            propagation.product(&mut chain, at_g, twice)
        }
        _ => return Ok(None),
    };
    chain.give(product);
    only_result(&chain, g.clone(), &[x, y, result]).map(Some)
}

/// Returns the logarithms of numbers, and zeros where the numbers are not positive.
fn logarithm(x: TensorValue, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let mask: Tensor = compared(&x.tensor, Comparison::LessEqual, 0.0)?;
    let positive = b.select(mask, x, 1.0)?;
    b.unary(Unary::Log, positive)
}
