//! The derivatives of reductions and of cumulative operations.

use super::builder::{Builder, sizes};
use super::evaluator::TensorValue;
use super::indexing_rule::moved;
use super::operation::{Axes, Direction, Evaluation, Operation};
use super::view_rule::kept_shape;
use crate::native::library::{Failure, internal};
use crate::tensor::{Binary, Comparison, Fold, Shape, Unary};

type Values<'a> = &'a [Option<TensorValue>];

/// Returns the tangent of an operation that is not linear.
pub(super) fn tangent(
    operation: &Operation,
    of: Evaluation<'_>,
    tangents: Values<'_>,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    match operation {
        Operation::Reduce(_, axes) | Operation::Variance(axes) | Operation::LogSumExp(axes) => {
            let [Some(tangent)] = tangents else { return Err(internal()) };
            let partial = partial(operation, axes, of, b)?;
            b.weighted_sum(tangent.clone(), partial, axes).map(Some)
        }
        Operation::CumulativeProduct(direction) => {
            let [Some(tangent)] = tangents else { return Err(internal()) };
            cumulative_product_tangent(*direction, of, tangent.clone(), b).map(Some)
        }
        Operation::Recurrence(axis, is_reversed) => {
            let [a, bias] = tangents else { return Err(internal()) };
            let before = moved(of.result.clone(), *axis, !is_reversed, 0.0, b)?;
            let product = a.clone().map(|a| b.product(a, before)).transpose()?;
            let Some(sum) = b.sum_of(product, bias.clone())? else { return Ok(None) };
            b.two(operation.clone(), of.operand(0)?.clone(), sum).map(Some)
        }
        _ => Err(internal()),
    }
}

/// Returns the adjoint of an operand.
pub(super) fn adjoint(
    operation: &Operation,
    k: usize,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let shape = of.operand(k)?.tensor.shape();
    match operation {
        Operation::Reduce(Fold::Sum, axes) => {
            let kept = b.reshape(adjoint, &kept_shape(shape, axes)?)?;
            b.broadcast(kept, shape)
        }
        Operation::Mean(axes) => {
            let kept = kept_shape(shape, axes)?;
            let count = shape.scalar_count() as f64 / kept.scalar_count().max(1) as f64;
            let share = b.scaled(adjoint, 1.0 / count)?;
            let share = b.reshape(share, &kept)?;
            b.broadcast(share, shape)
        }
        Operation::Reduce(_, axes) | Operation::Variance(axes) | Operation::LogSumExp(axes) => {
            let partial = partial(operation, axes, of, b)?;
            let kept = b.reshape(adjoint, &kept_shape(shape, axes)?)?;
            let kept = b.broadcast(kept, shape)?;
            b.product(kept, partial)
        }
        Operation::CumulativeSum(direction) => {
            let opposite = Direction { is_reversed: !direction.is_reversed, ..*direction };
            b.one(Operation::CumulativeSum(opposite), adjoint)
        }
        Operation::CumulativeProduct(direction) => cumulative_product_adjoint(*direction, of, adjoint, b),
        Operation::Recurrence(axis, is_reversed) => {
            // The adjoint of the bias runs in the opposite direction, by the factors of the next scalars.
            let factors = moved(of.operand(0)?.clone(), *axis, *is_reversed, 0.0, b)?;
            let bias = b.two(Operation::Recurrence(*axis, !is_reversed), factors, adjoint)?;
            if k == 1 {
                return Ok(Some(bias));
            }
            let before = moved(of.result.clone(), *axis, !is_reversed, 0.0, b)?;
            b.product(bias, before)
        }
        _ => Err(internal()),
    }
    .map(Some)
}

/// Returns the partials of a reduction, in the shape of the operand.
fn partial(
    operation: &Operation,
    axes: &Axes,
    of: Evaluation<'_>,
    b: &mut Builder<'_>,
) -> Result<TensorValue, Failure> {
    let x = of.operand(0)?.clone();
    let shape = x.tensor.shape().clone();
    let kept = kept_shape(&shape, axes)?;
    match operation {
        Operation::Reduce(Fold::Product, _) => products_of_others(x, axes, b),
        Operation::Reduce(..) => {
            // Equal scalars share equally.
            let extremum = of.result.tensor.reshape(&sizes(&kept))?;
            let is_extremum = x.tensor.compare(Comparison::Equal, &extremum)?.cast(x.tensor.kind())?;
            let count = is_extremum.sum(axes.axes.as_deref(), true)?;
            Ok(TensorValue::constant(is_extremum.binary(Binary::Divide, count)?))
        }
        Operation::Variance(_) => {
            let count = shape.scalar_count() as f64 / kept.scalar_count().max(1) as f64;
            let mean = b.one(Operation::Mean(Axes { keeps: true, ..axes.clone() }), x.clone())?;
            let difference = b.subtract(x, mean)?;
            b.scaled(difference, 2.0 / count)
        }
        Operation::LogSumExp(_) => {
            let total = b.reshape(of.result.clone(), &kept)?;
            let difference = b.subtract(x, total)?;
            b.unary(Unary::Exp, difference)
        }
        _ => Err(internal()),
    }
}

/// Returns for each scalar the product of the others over axes, which needs no division.
fn products_of_others(x: TensorValue, axes: &Axes, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let shape = x.tensor.shape().clone();
    let kept = kept_shape(&shape, axes)?;
    let is_reduced = |axis: &usize| kept[*axis] != shape[*axis];
    let order: Vec<usize> =
        (0..shape.rank()).filter(|axis| !is_reduced(axis)).chain((0..shape.rank()).filter(is_reduced)).collect();
    let mut inverse = vec![0isize; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        inverse[axis] = at as isize;
    }
    let outer: usize = order.iter().filter(|axis| !is_reduced(axis)).map(|&axis| shape[axis]).product();
    let inner: usize = order.iter().filter(|axis| is_reduced(axis)).map(|&axis| shape[axis]).product();
    let ordered: Shape = order.iter().map(|&axis| shape[axis]).collect();
    let rows = if shape.rank() > 1 {
        b.one(Operation::Transpose(order.iter().map(|&axis| axis as isize).collect()), x)?
    } else {
        x
    };
    let rows = b.reshape(rows, &Shape::from([outer, inner]))?;
    let direction = Direction { axis: 1, is_exclusive: true, is_reversed: false };
    let before = b.one(Operation::CumulativeProduct(direction), rows.clone())?;
    let after = b.one(Operation::CumulativeProduct(Direction { is_reversed: true, ..direction }), rows)?;
    let product = b.multiply(before, after)?;
    let product = b.reshape(product, &ordered)?;
    if shape.rank() > 1 { b.one(Operation::Transpose(inverse), product) } else { Ok(product) }
}

/// The factors of a cumulative product, as the operand of one that is not exclusive: for an exclusive one the factors
/// are moved by one place.
fn factors(direction: Direction, axis: usize, x: TensorValue, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    if direction.is_exclusive { moved(x, axis, !direction.is_reversed, 1.0, b) } else { Ok(x) }
}

fn cumulative_product_tangent(
    direction: Direction,
    of: Evaluation<'_>,
    tangent: TensorValue,
    b: &mut Builder<'_>,
) -> Result<TensorValue, Failure> {
    let x = of.operand(0)?.clone();
    let axis = x.tensor.shape().axis("cumulativeProduct", direction.axis)?;
    let x = factors(direction, axis, x, b)?;
    let tangent = if direction.is_exclusive { moved(tangent, axis, !direction.is_reversed, 0.0, b)? } else { tangent };
    let exclusive = Direction { is_exclusive: true, ..direction };
    let before = b.one(Operation::CumulativeProduct(exclusive), x.clone())?;
    let bias = b.multiply(tangent, before)?;
    b.two(Operation::Recurrence(axis, direction.is_reversed), x, bias)
}

fn cumulative_product_adjoint(
    direction: Direction,
    of: Evaluation<'_>,
    adjoint: TensorValue,
    b: &mut Builder<'_>,
) -> Result<TensorValue, Failure> {
    let x = of.operand(0)?.clone();
    let axis = x.tensor.shape().axis("cumulativeProduct", direction.axis)?;
    let x = factors(direction, axis, x, b)?;
    let exclusive = Direction { is_exclusive: true, ..direction };
    let before = b.one(Operation::CumulativeProduct(exclusive), x.clone())?;
    let next = moved(x, axis, direction.is_reversed, 0.0, b)?;
    let sums = b.two(Operation::Recurrence(axis, !direction.is_reversed), next, adjoint)?;
    let result = b.multiply(sums, before)?;
    if direction.is_exclusive { moved(result, axis, direction.is_reversed, 0.0, b) } else { Ok(result) }
}
