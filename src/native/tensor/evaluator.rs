//! Evaluator: applies operations of tensors to values that may vary in levels of differentiation.

use super::operation::Operation;
use super::scalars::{pack, unpack};
use crate::native::library::Failure;
use crate::tensor::{Comparison, ScalarKind, Shape, Tensor};
use crate::value::Slot;
use smallvec::SmallVec;
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

    /// Whether another value has the same kind of scalars and the same shape.
    #[inline]
    pub(super) fn is_like(&self, other: &TensorValue) -> bool {
        self.tensor.kind() == other.tensor.kind() && self.tensor.shape() == other.tensor.shape()
    }
}

/// The operands of an operation. Most operations have one or two, which take no memory of their own.
pub type Operands = SmallVec<[TensorValue; 2]>;

/// The application of operations. The rules by which operations are differentiated apply further operations through
/// this interface, so that the derivatives can be differentiated as well.
pub trait Evaluator {
    /// Applies an operation to its operands.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation, or if the operation cannot be recorded.
    fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure>;
}

/// An evaluator that also converts between tensors and numbers that may vary.
pub trait Recorder: Evaluator + std::fmt::Debug {
    /// Returns a tensor of real numbers, each with its slot.
    ///
    /// # Errors
    /// Fails if the number of scalars does not match the shape, or if the operation cannot be recorded.
    fn pack_numbers(&mut self, kind: ScalarKind, shape: Shape, numbers: &[(f64, Slot)])
    -> Result<TensorValue, Failure>;

    /// Returns the scalars of a tensor of real numbers with their slots, in row-major order.
    ///
    /// # Errors
    /// Fails if the scalars are not real, or if the operation cannot be recorded.
    fn unpack_numbers(&mut self, value: &TensorValue) -> Result<Vec<(f64, Slot)>, Failure>;

    /// Informs the recorder of a comparison of tensors and its result, which may be used as a mask.
    ///
    /// # Errors
    /// Fails if the tensors cannot be compared.
    fn compared(
        &mut self,
        comparison: Comparison,
        operands: [&TensorValue; 2],
        mask: &TensorValue,
    ) -> Result<(), Failure> {
        let _ = (comparison, operands, mask);
        Ok(())
    }

    /// Informs the recorder of a mask that was computed from another one.
    fn derived_mask(&mut self, from: &Rc<Tensor>, mask: &TensorValue) {
        let _ = (from, mask);
    }
}

/// The evaluator outside of all levels: it computes values.
#[derive(Debug)]
pub struct PlainEvaluator;

impl Evaluator for PlainEvaluator {
    fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure> {
        operation.evaluate_constant(operands)
    }
}

impl Recorder for PlainEvaluator {
    fn pack_numbers(
        &mut self,
        kind: ScalarKind,
        shape: Shape,
        numbers: &[(f64, Slot)],
    ) -> Result<TensorValue, Failure> {
        let numbers: Vec<f64> = numbers.iter().map(|(x, _)| *x).collect();
        Ok(TensorValue::constant(pack(kind, shape, &numbers)?))
    }

    fn unpack_numbers(&mut self, value: &TensorValue) -> Result<Vec<(f64, Slot)>, Failure> {
        Ok(unpack(&value.tensor)?.into_iter().map(|x| (x, Slot::NONE)).collect())
    }
}
