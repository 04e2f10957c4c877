//! Lost tangents: chains that break while derivative code runs. A number becomes something that has no tangent, and that becomes a
//! number again.
//!
//! In: a function. Out: the same function, where beside each integer or text that such a chain may lead through a
//! number is that it was made of, and an operator `LoseTangent` where there is a number again. Where the first one moves, the
//! second has no derivative, and a program that uses it gets an error with the place where the chain broke.
//! - What is computed of integers, and where paths meet, is done to the numbers beside them, too (`JoinOrigins`).
//! - What is stored in an object leaves its number beside the object (`StoreOrigin`), and what is read there finds it
//!   again by its content (`LoadOrigin`).
//! - Calls pass on the numbers of arguments (`SendArgumentOrigin`, `ReceiveArgumentOrigin`) and of results (`SendResultOrigin`, `ReceiveResultOrigin`).
//!
//! Promises: a selection (a condition, an index, a count, the length of a loop) is not a chain; a function that no chain
//! can lead through from a number to a number (`reachability`) is left alone. What is certain of a function that is promised to be
//! differentiable has been refused before the program runs (`check`); this is for all others.
//! Not here: what happens to the levels (`tape`), the words (`vm`).

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

    /// Returns the function with its lost tangents marked; `None` when it has none.
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
