//! Typed tree to control-flow graph of typed instructions, and the passes over it.
//!
//! In: checked functions ([`crate::types`]) with concrete types in the place of generic parameters.
//! Out: a [`Function`] per list of concrete types; values are spread over registers of three banks.
//!
//! Promises: every register has one bank; blocks end with exactly one terminator; a reference that is modified in
//! place was moved there, so that an array with one owner is never copied.
//! Not here: derivatives (`diff`), machine registers (`emit`).

pub mod exclusive;
pub mod graph;
pub mod layout;
pub mod listing;
pub mod live;
pub mod lower;
pub mod tangent;
pub mod verify;

mod blocks;
mod copies;
mod dead;
pub mod flatten;
mod global_reads;
mod inline;
mod release;
mod repeat;
mod simplify;
mod writers;

pub use copies::count;
pub use dead::is_pure;
pub use global_reads::global_reads;
pub use graph::*;
pub use lower::Lowering;
pub use writers::{Made, Writers, gives_what_is_written};
