//! Evaluator: applies operations of tensors to values that may vary in levels of differentiation.

use super::operation::Operation;
use crate::native::library::Failure;
use crate::tensor::Tensor;
use crate::value::Slot;
use std::rc::Rc;

/// A tensor with its tangent slot, which belongs to the tensor as a whole.
#[derive(Clone, Debug)]
pub struct TensorValue {
    /// The tensor.
    pub tensor: Rc<Tensor>,
    /// The tangent slot of the tensor.
    pub slot: Slot,
}

impl TensorValue {
    /// Returns a tensor that is constant in every level.
    pub fn constant(tensor: Tensor) -> TensorValue {
        TensorValue { tensor: Rc::new(tensor), slot: Slot::NONE }
    }
}

/// The application of operations. The rules by which operations are differentiated apply further operations through
/// this interface, so that the derivatives can be differentiated as well.
pub trait Evaluator {
    /// Applies an operation to its operands.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation, or if the operation cannot be recorded.
    fn apply(&mut self, operation: Operation, operands: Vec<TensorValue>) -> Result<TensorValue, Failure>;
}

/// The evaluator outside of all levels: it computes values.
#[derive(Debug)]
pub struct PlainEvaluator;

impl Evaluator for PlainEvaluator {
    fn apply(&mut self, operation: Operation, operands: Vec<TensorValue>) -> Result<TensorValue, Failure> {
        let operands = operands.into_iter().map(|operand| operand.tensor).collect();
        Ok(TensorValue::constant(operation.evaluate(operands)?))
    }
}
