//! Observer: code that is informed of the operations of levels, and of their ends.
//!
//! Levels hold observers without naming them. `watch` looks for numbers that are not finite and for kinks, `series`
//! stores the primitives of one level, and `escape` logs the stores in inner levels. Without an observer, the general rule
//! costs one additional check per operation, and the special cases cost nothing.

use super::Num;
use super::node::{Pool, RecordError};
use crate::native::PrimitiveId;
use crate::value::Slot;
use std::any::Any;
use std::fmt::Debug;

/// The events that an observer observes, and those at which the program stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ObserverOptions {
    /// Whether to observe numbers that are not finite.
    pub not_finite: bool,
    /// Whether the program stops at the first of them, instead of where it affects a derivative.
    pub stops_at_first: bool,
    /// Whether to observe kinks.
    pub kinks: bool,
    /// Whether the program stops at the first of them.
    pub stops_at_kinks: bool,
    /// Whether to observe kinks of the first steps only: those of a long run are not needed.
    pub is_brief: bool,
    /// Whether to observe every step, for an explanation of the derivative.
    pub steps: bool,
}

/// One operation on varied numbers, as an observer has recorded it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ObservedStep {
    /// Its place in the program, by the machine's numbering.
    pub place: u32,
    /// Its number among the operations at that place since the outermost level was opened.
    pub time: u32,
    /// The operation.
    pub id: PrimitiveId,
    /// Its operands.
    pub x: [f64; 3],
    /// The number of operands.
    pub operands: u8,
    /// Their nodes; 0 for one that does not vary.
    pub nodes: [u32; 3],
    /// The integer operand of an operation that has one.
    pub n: i64,
    /// Its result.
    pub result: f64,
}

/// An operation that is about to be recorded in a level.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The primitive.
    pub id: PrimitiveId,
    /// Its operands.
    pub x: &'a [Num],
    /// Their nodes; 0 for one that does not vary in the level.
    pub nodes: [u32; 3],
    /// The integer operand.
    pub n: i64,
    /// The result.
    pub result: f64,
    /// The epoch of the level.
    pub epoch: u64,
}

/// An operation that was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The primitive.
    pub id: PrimitiveId,
    /// The integer operand.
    pub n: i64,
    /// Its operands: nodes, or 0 for a constant, and their representations in the levels outside.
    pub operands: Vec<(u32, Num)>,
    /// The number of nodes that it took.
    pub nodes: usize,
    /// The last of these nodes, which is its result.
    pub node: u32,
}

/// Code that is informed of the operations of levels. By default it ignores everything.
pub trait Observer: Any + Debug {
    /// Returns its options.
    fn options(&self) -> ObserverOptions {
        ObserverOptions::default()
    }

    /// Returns the current place in the program, as far as it is known.
    fn place(&self) -> u32 {
        0
    }

    /// Called when the outermost level opens.
    fn opened(&mut self) {}

    /// Called when an operation is computed; returns it as a step if it must be stored.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn computed(&mut self, operation: &Operation<'_>) -> Result<Option<ObservedStep>, RecordError> {
        let _ = operation;
        Ok(None)
    }

    /// Called when the tangent of a step is computed from those of its operands.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn propagated(&mut self, step: &ObservedStep, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        let _ = (step, of, tangent);
        Ok(())
    }

    /// Called when an operation was recorded.
    ///
    /// # Errors
    /// [`RecordError`] when there is no memory to store it.
    fn recorded(&mut self, operation: Recorded, pool: &mut Pool) -> Result<(), RecordError> {
        let _ = (operation, pool);
        Ok(())
    }

    /// Called when the level at that position ends; `outside` maps a slot to the slot that it represents outside of the level.
    fn closed(&mut self, level: usize, outside: &dyn Fn(Slot) -> Slot) {
        let _ = (level, outside);
    }

    /// Called when all levels from that position on have ended at once, after a failure.
    fn abandoned(&mut self, from: usize) {
        let _ = from;
    }
}

impl dyn Observer {
    /// Returns the observer as its concrete type.
    pub(super) fn of<T: Observer>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// Returns the observer as its concrete type, mutable.
    pub(super) fn of_mut<T: Observer>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}
