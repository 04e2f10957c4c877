//! Lost tangents: marks where tangents are lost while derivative code runs: a number becomes an integer or a string,
//! which has no tangent, and the integer or string becomes a number again.
//!
//! In: a function. Out: the same function, in which each integer or string on such a path has a register beside it for
//! its *origin*, the number that it was computed from, and an operator `LoseTangent` marks the number at the end of the
//! path. Where the origin varies, that number has no derivative, and a program that uses it gets an error with the
//! source location of the loss.
//! - Operations on integers, and joins of control flow, combine the origins of their operands (`JoinOrigins`).
//! - A store into an object stores the origin beside the object (`StoreOrigin`), and a load finds it again by the content
//!   (`LoadOrigin`).
//! - Calls transfer the origins of arguments (`SendArgumentOrigin`, `ReceiveArgumentOrigin`) and of results (`SendResultOrigin`,
//!   `ReceiveResultOrigin`).
//!
//! Promises: a selection (a condition, an index, a count, the length of a loop) is not such a path; a function without
//! such paths (`reachability`) is unchanged. Losses that are certain in a function that is asserted to be
//! differentiable have been reported before the program runs (`differentiability_check`); this analysis covers all
//! others.
//! Not here: the effect on the levels (`tape`), the wording (`vm`).

mod links;
mod marking;
mod reachability;

pub(crate) use crate::diff::lost_tangent::links::carried;
use crate::diff::lost_tangent::marking::Marking;
use crate::diff::lost_tangent::reachability::Reachability;
use crate::ir::{Function, FunctionId, Program};
use crate::value::shape::TangentKind;
use std::cell::OnceCell;

/// The analysis that marks lost tangents.
pub struct LostTangents<'p> {
    program: &'p Program,
    reachability: OnceCell<Reachability>,
}

impl<'p> LostTangents<'p> {
    /// Creates the analysis for the functions of a program.
    pub fn new(program: &'p Program) -> LostTangents<'p> {
        LostTangents { program, reachability: OnceCell::new() }
    }

    /// Whether a tangent can be lost anywhere in the program.
    pub fn may_lose_tangents(&self) -> bool {
        !self.reachability().is_empty()
    }

    fn reachability(&self) -> &Reachability {
        self.reachability.get_or_init(|| Reachability::of(self.program))
    }

    /// Returns a function with its lost tangents marked; `None` when it has none.
    pub fn marked(&self, id: FunctionId, f: &Function) -> Option<Function> {
        let number = self.program.tangents.find(|tangent| tangent.kind == TangentKind::Number)?;
        let reachability = self.reachability();
        if reachability.is_empty() {
            return None;
        }
        Marking::of(self.program, reachability, (id, f), number).function()
    }
}

#[cfg(test)]
mod tests;
