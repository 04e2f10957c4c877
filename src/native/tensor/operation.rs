//! Operation: the differentiable operations of tensors, with their values and their derivatives.

use super::evaluator::{Evaluator, TensorValue};
use crate::native::library::{Failure, FailureKind};
use crate::tensor::{Binary, Shape, Tensor, TensorError, Unary};
use std::rc::Rc;

/// An operation of tensors, with the arguments that are not tensors.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An elementwise function of one tensor.
    Unary(Unary),
    /// An elementwise function of two tensors, which are broadcast.
    Binary(Binary),
    /// The operand with a larger shape, to which it is broadcast.
    Broadcast(Shape),
    /// The sum over the axes along which a shape is broadcast to that of the operand.
    Unbroadcast(Shape),
}

impl From<TensorError> for Failure {
    fn from(error: TensorError) -> Failure {
        Failure::new(FailureKind::Precondition, error.to_string())
    }
}

/// The operands of an operation and its result.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The operands of the operation.
    pub operands: &'a [TensorValue],
    /// The result of the operation.
    pub result: &'a TensorValue,
}

impl Operation {
    /// Returns the name of the operation.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Unary(function) => function.name(),
            Operation::Binary(function) => function.name(),
            Operation::Broadcast(_) => "broadcasted",
            Operation::Unbroadcast(_) => "unbroadcasted",
        }
    }

    /// Computes the result of the operation.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation.
    pub fn evaluate(&self, operands: Vec<Rc<Tensor>>) -> Result<Tensor, Failure> {
        let mut operands = operands.into_iter().map(|operand| Rc::try_unwrap(operand).unwrap_or_else(|o| (*o).clone()));
        let mut next = || operands.next().ok_or_else(crate::native::library::internal);
        Ok(match self {
            Operation::Unary(function) => next()?.unary(*function)?,
            Operation::Binary(function) => next()?.binary(*function, next()?)?,
            Operation::Broadcast(shape) => next()?.broadcast_to(shape)?,
            Operation::Unbroadcast(shape) => next()?.unbroadcast_to(shape)?,
        })
    }

    /// Returns the tangent of the result, given those of the operands; `None` stands for a zero tangent.
    ///
    /// # Errors
    /// Fails if a tangent does not fit its operand.
    pub fn tangent(
        &self,
        of: Evaluation<'_>,
        tangents: &[Option<TensorValue>],
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<TensorValue>, Failure> {
        let _ = (of, tangents, evaluator);
        Ok(None)
    }

    /// Returns the adjoint of the operand with the index `k`, given that of the result; `None` stands for a zero
    /// adjoint.
    ///
    /// # Errors
    /// Fails if the adjoint does not fit the result.
    pub fn adjoint(
        &self,
        k: usize,
        of: Evaluation<'_>,
        adjoint: &TensorValue,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<TensorValue>, Failure> {
        let _ = (k, of, adjoint, evaluator);
        Ok(None)
    }
}
