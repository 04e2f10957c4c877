//! Intermediate representation: typed tree to control-flow graph of typed instructions, and the passes over it.
//!
//! In: checked functions ([`crate::types`]) with concrete types in the place of generic parameters.
//! Out: a [`Function`] per list of concrete types; values are spread over registers of three banks.
//!
//! Promises: every register has one bank; blocks end with exactly one terminator; a reference that is modified in
//! place was moved there, so that an array with one owner is never copied.
//! Not here: derivatives (`diff`), machine registers (`emit`).

pub mod analysis;
pub mod differentiability;
pub mod graph;
pub mod layout;
pub mod listing;
pub mod lower;
pub mod verify;

pub mod passes;

pub use crate::ir::analysis::global_reads::global_reads;
pub use crate::ir::analysis::known_functions::{ClosureOrigin, Writers, returns_literal_closure};
pub use crate::ir::passes::fallback::Fallback;
pub use graph::*;
pub use lower::Lowering;
