//! Observer: code that is informed of the operations of levels, and of their ends.
//!
//! Levels hold observers without naming them. `watch` looks for numbers that are not finite and for kinks, `series`
//! remembers the primitives of one level, and `escape` logs what was stored in inner levels. Without an observer, the
//! general rule pays for one check an operation, and the shorter ways for nothing.

use super::Num;
use super::node::{Pool, RecordError};
use crate::native::PrimitiveId;
use crate::value::Slot;
use std::any::Any;
use std::fmt::Debug;

/// The objects of an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ObserverOptions {
    /// Numbers that are not finite.
    pub not_finite: bool,
    /// Whether the program stops at the first of them, and not where it affects a derivative.
    pub stops_at_first: bool,
    /// Kinks.
    pub kinks: bool,
    /// Whether the program stops at the first of those.
    pub stops_at_kinks: bool,
    /// Whether to observe kinks of the first steps only: those of a long run are not needed.
    pub is_brief: bool,
    /// Every step, for an explanation of the derivative.
    pub steps: bool,
}

/// One operation on numbers that move, as an observer has seen it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
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
    /// Their nodes; 0 for one that does not move in the level.
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
    /// How many nodes it took.
    pub nodes: usize,
    /// The last of them, its result.
    pub node: u32,
}

/// Code that is informed of what happens in levels. By default it ignores everything.
pub trait Observer: Any + Debug {
    /// What it looks for.
    fn options(&self) -> ObserverOptions {
        ObserverOptions::default()
    }

    /// Where the program is, as it knows.
    fn place(&self) -> u32 {
        0
    }

    /// The outermost level opens.
    fn opened(&mut self) {}

    /// An operation is computed; gives it as a step, if that is to be kept.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn computed(&mut self, operation: &Operation<'_>) -> Result<Option<Step>, RecordError> {
        let _ = operation;
        Ok(None)
    }

    /// The tangent of a step is computed, of those of its operands.
    ///
    /// # Errors
    /// [`RecordError`] when the program is to stop there.
    fn propagated(&mut self, step: &Step, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        let _ = (step, of, tangent);
        Ok(())
    }

    /// An operation was recorded.
    ///
    /// # Errors
    /// [`RecordError`] when there is no memory to remember it.
    fn recorded(&mut self, operation: Recorded, pool: &mut Pool) -> Result<(), RecordError> {
        let _ = (operation, pool);
        Ok(())
    }

    /// The level at that position ends; `outside` says what a slot stands for outside of it.
    fn closed(&mut self, level: usize, outside: &dyn Fn(Slot) -> Slot) {
        let _ = (level, outside);
    }

    /// All levels from that position on have ended at once, after a failure.
    fn abandoned(&mut self, from: usize) {
        let _ = from;
    }
}

impl dyn Observer {
    /// The observer as the type that it was made as.
    pub(super) fn of<T: Observer>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The same, mutable.
    pub(super) fn of_mut<T: Observer>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}
