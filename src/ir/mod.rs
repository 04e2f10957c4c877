//! Intermediate representation: control-flow graphs of typed instructions, lowering to them, and the passes over them.
//!
//! In: checked functions ([`crate::types`]) with concrete types instead of generic parameters. Out: a [`Function`] per
//! list of concrete types; values are split into registers of three banks.
//!
//! Promises: every register has one bank; blocks end with exactly one terminator; a reference that is modified in
//! place is moved out of its storage, so that an array with one owner is never copied.
//! Not here: derivatives (`diff`), machine registers (`emit`).

pub mod analysis;
pub mod differentiability;
pub mod graph;
pub mod layout;
pub mod listing;
pub mod lower;
mod program;
pub mod verifier;

pub mod passes;

pub use crate::ir::analysis::global_reads::global_reads;
pub use crate::ir::analysis::known_functions::{ClosureOrigin, Writers, returns_literal_closure};
pub use crate::ir::passes::fallback::Fallback;
pub use graph::*;
pub use lower::Lowering;
pub use program::*;
