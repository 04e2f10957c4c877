//! The derivatives of the functions of rows.

use super::builder::Builder;
use super::evaluator::TensorValue;
use super::operation::{Axes, Evaluation, Operation};
use crate::native::library::{Failure, internal};
use crate::tensor::{Tensor, Unary};
use crate::value::Slot;

fn last() -> Axes {
    Axes { axes: Some(vec![-1]), keeps: false }
}

/// Returns the tangent of the result.
pub(super) fn tangent(
    operation: &Operation,
    of: Evaluation<'_>,
    tangents: &[Option<TensorValue>],
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let y = of.result.clone();
    match (operation, tangents) {
        (Operation::Softmax, [Some(tangent)]) => softmax(y, tangent.clone(), b).map(Some),
        (Operation::LogSoftmax, [Some(tangent)]) => {
            let weights = b.unary(Unary::Exp, y)?;
            let product = b.product(tangent.clone(), weights)?;
            let mean = b.sum_of_rows(product)?;
            b.subtract(tangent.clone(), mean).map(Some)
        }
        (Operation::CrossEntropy(_) | Operation::CrossEntropyOfProbabilities, _) => {
            let mut sum = None;
            for (k, tangent) in tangents.iter().enumerate() {
                let Some(tangent) = tangent else { continue };
                let partial = partial(operation, k, of, b)?;
                let part = b.weighted_sum(tangent.clone(), partial, &last())?;
                sum = b.sum_of(sum, Some(part))?;
            }
            Ok(sum)
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
    let y = of.result.clone();
    match operation {
        Operation::Softmax => softmax(y, adjoint, b),
        Operation::LogSoftmax => {
            let sum = b.sum_of_rows(adjoint.clone())?;
            let weights = b.unary(Unary::Exp, y)?;
            let product = b.product(sum, weights)?;
            b.subtract(adjoint, product)
        }
        _ => {
            let partial = partial(operation, k, of, b)?;
            let columns = b.one(Operation::ExpandAxes(vec![-1]), adjoint)?;
            b.product(columns, partial)
        }
    }
    .map(Some)
}

/// Returns the derivative of softmax in a direction, which is a symmetric function: `y · (t - Σ t · y)`.
fn softmax(y: TensorValue, tangent: TensorValue, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let product = b.multiply(tangent.clone(), y.clone())?;
    let mean = b.sum_of_rows(product)?;
    let difference = b.subtract(tangent, mean)?;
    b.multiply(difference, y)
}

/// Returns the partials of a cross entropy in an operand.
fn partial(operation: &Operation, k: usize, of: Evaluation<'_>, b: &mut Builder<'_>) -> Result<TensorValue, Failure> {
    let logits = of.operand(0)?.clone();
    if k == 1 {
        let logarithms = b.one(Operation::LogSoftmax, logits)?;
        return b.negate(logarithms);
    }
    if of.operands.iter().all(|operand| operand.slot == Slot::NONE) {
        // The kernel computes the partials of constant operands together with the losses.
        let (_, partial) = match operation {
            Operation::CrossEntropy(labels) => logits.tensor.softmax_cross_entropy(labels)?,
            _ => logits.tensor.softmax_cross_entropy_of_probabilities(&of.operand(1)?.tensor)?,
        };
        return Ok(TensorValue::constant(partial));
    }
    let classes = logits.tensor.shape().last().copied().unwrap_or(0);
    let kind = logits.tensor.kind();
    let softmax = b.one(Operation::Softmax, logits)?;
    match operation {
        Operation::CrossEntropy(labels) => {
            let expected = Tensor::one_hot(labels, classes, 1.0f64, 0.0, -1)?.cast(kind)?;
            b.subtract(softmax, TensorValue::constant(expected))
        }
        _ => {
            let probabilities = of.operand(1)?.clone();
            let total = b.sum_of_rows(probabilities.clone())?;
            let weighted = b.multiply(softmax, total)?;
            b.subtract(weighted, probabilities)
        }
    }
}
