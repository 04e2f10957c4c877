//! Observer: code that is informed of the operations of levels, and of their ends.
//!
//! Levels hold observers without naming them. `step_observer` looks for numbers that are not finite and for kinks,
//! `taylor_series` stores the primitives of one level, and `escape` logs the stores in inner levels. Without an
//! observer, the general rule costs one additional check per operation, and the special cases cost nothing.

use super::Num;
use super::node::{Pool, RecordError};
use crate::native::PrimitiveId;
use crate::native::tensor::TensorKink;
use crate::tensor::Tensor;
use crate::value::Slot;
use std::any::Any;
use std::fmt::Debug;
use std::rc::Rc;

/// The options of an observer: the events that it observes, and the events at which the program stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ObserverOptions {
    /// Whether to observe numbers that are not finite.
    pub not_finite: bool,
    /// Whether the program stops at the first number that is not finite, instead of where it affects a derivative.
    pub stops_at_first: bool,
    /// Whether to observe operations at kinks.
    pub kinks: bool,
    /// Whether the program stops at the first kink.
    pub stops_at_kinks: bool,
    /// Whether to observe kinks in the first steps of a run only, because later kinks are not reported.
    pub is_brief: bool,
    /// Whether to observe every step, for an explanation of the derivative.
    pub steps: bool,
}

/// One operation on varied numbers, as an observer has recorded it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ObservedStep {
    /// The number that the machine assigns to the source location of the operation.
    pub place: u32,
    /// The number of the operation among the operations at this source location since the outermost level was opened.
    pub time: u32,
    /// The primitive that was computed.
    pub id: PrimitiveId,
    /// The values of the operands.
    pub x: [f64; 3],
    /// The number of operands of the operation.
    pub operands: u8,
    /// The nodes of the operands; 0 for an operand that does not vary.
    pub nodes: [u32; 3],
    /// The integer operand of an operation that has one.
    pub n: i64,
    /// The result of the operation.
    pub result: f64,
}

/// An operation that is about to be recorded in a level.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The primitive that is computed.
    pub id: PrimitiveId,
    /// The operands of the operation.
    pub x: &'a [Num],
    /// The nodes of the operands; 0 for an operand that does not vary in the level.
    pub nodes: [u32; 3],
    /// The integer operand of the operation, if it has one.
    pub n: i64,
    /// The result of the operation.
    pub result: f64,
    /// The epoch of the level in which the operation is recorded.
    pub epoch: u64,
}

/// An operation that was recorded in a level.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The primitive that was recorded.
    pub id: PrimitiveId,
    /// The integer operand of the operation, if it has one.
    pub n: i64,
    /// The operands of the operation: their nodes, or 0 for a constant, and their representations in the outer levels.
    pub operands: Vec<(u32, Num)>,
    /// The number of nodes that the operation took.
    pub nodes: usize,
    /// The last node of the operation, which is its result.
    pub node: u32,
}

/// What an operation of tensors computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorPart {
    /// The result of the operation.
    Value,
    /// The tangent of the result.
    Tangent,
    /// The adjoint of an operand.
    Adjoint,
}

/// A number that an operation of tensors has computed from finite numbers, and which is not finite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NonFiniteScalar {
    /// The number that the machine assigns to the source location of the operation.
    pub place: u32,
    /// The name of the operation.
    pub name: &'static str,
    /// What was computed.
    pub part: TensorPart,
    /// The number.
    pub number: f64,
}

/// Code that is informed of the operations of levels. By default an observer ignores every event.
pub trait Observer: Any + Debug {
    /// Returns the options of the observer.
    fn options(&self) -> ObserverOptions {
        ObserverOptions::default()
    }

    /// Returns the number of the current source location, as far as it is known.
    fn place(&self) -> u32 {
        0
    }

    /// Informs the observer that the outermost level opens.
    fn opened(&mut self) {}

    /// Informs the observer that an operation is computed; returns the operation as a step if it must be stored.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn computed(&mut self, operation: &Operation<'_>) -> Result<Option<ObservedStep>, RecordError> {
        let _ = operation;
        Ok(None)
    }

    /// Informs the observer that the tangent of a step is computed from the tangents of its operands.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn propagated(&mut self, step: &ObservedStep, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        let _ = (step, of, tangent);
        Ok(())
    }

    /// Informs the observer of the first number in a tensor that is not finite.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn lost(&mut self, scalar: NonFiniteScalar) -> Result<(), RecordError> {
        let _ = scalar;
        Ok(())
    }

    /// Informs the observer of scalars of tensors at a kink, in an operation at a source location.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn met_kink(&mut self, kink: TensorKink, place: u32) -> Result<(), RecordError> {
        let _ = (kink, place);
        Ok(())
    }

    /// Informs the observer of a mask that was computed by comparing equal scalars of which one varies.
    fn compared_tensors(&mut self, mask: &Rc<Tensor>, kink: TensorKink, place: u32) {
        let _ = (mask, kink, place);
    }

    /// Informs the observer of a mask that was computed from another one.
    fn derived_mask(&mut self, from: &Rc<Tensor>, mask: &Rc<Tensor>) {
        let _ = (from, mask);
    }

    /// Informs the observer of a mask that selects scalars.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn used_mask(&mut self, mask: &Rc<Tensor>) -> Result<(), RecordError> {
        let _ = mask;
        Ok(())
    }

    /// Informs the observer of the slot of a result that does not vary, because the operation is at a jump.
    fn computed_flat(&mut self, slot: Slot, kink: TensorKink, place: u32) {
        let _ = (slot, kink, place);
    }

    /// Returns the kink at which the result with a slot was computed.
    fn flat_result(&self, slot: Slot) -> Option<(TensorKink, u32)> {
        let _ = slot;
        None
    }

    /// Informs the observer that a number or a tensor with a slot is used.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn used(&mut self, slot: Slot) -> Result<(), RecordError> {
        match self.flat_result(slot) {
            Some((kink, place)) => self.met_kink(kink, place),
            None => Ok(()),
        }
    }

    /// Informs the observer that an operation was recorded.
    ///
    /// # Errors
    /// [`RecordError`] when there is no memory to store the operation.
    fn recorded(&mut self, operation: Recorded, pool: &mut Pool) -> Result<(), RecordError> {
        let _ = (operation, pool);
        Ok(())
    }

    /// Informs the observer that the level with the index `level` ends; `outside` maps a slot to the slot that it
    /// represents outside of the level.
    fn closed(&mut self, level: usize, outside: &dyn Fn(Slot) -> Slot) {
        let _ = (level, outside);
    }

    /// Informs the observer that all levels from the index `from` on have ended at once, after a failure.
    fn abandoned(&mut self, from: usize) {
        let _ = from;
    }
}

impl dyn Observer {
    /// Returns the observer as a reference to its concrete type.
    pub(super) fn of<T: Observer>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// Returns the observer as a mutable reference to its concrete type.
    pub(super) fn of_mut<T: Observer>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}
