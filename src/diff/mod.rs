//! What moves and what does not: activity, derivative code, and what is said when a promise cannot be kept.
//!
//! In: the graph of a function ([`crate::ir`]). Out: its derivative code (the same graph, where steps that touch
//! numbers also move and combine tangent slots), the diagnostics of differentiation, and a function as a formula.
//!
//! Promises: derivative code computes the same values by the same steps; a step that is not active is copied unchanged,
//! so that inactive code costs nothing; a diagnostic speaks only of certain dependence, in the code as written, never
//! across dynamic calls or storage that the body may write.
//! Not here: how slots combine (`tape`), machine registers (`emit`), types of tangents (`types`).

mod activity;
mod broken;
mod check;
mod dataflow;
mod dependence;
pub mod derivative;
mod flow;
pub mod formula;
mod linear;
pub mod listing;
mod own_tangent;
mod possible;
mod report;
#[cfg(test)]
mod testing;
pub mod threshold;
pub mod transform;
mod wrt;

pub use broken::Chains;
pub use check::{Checker, check};
pub use derivative::{derivative, entry};
pub use own_tangent::mark_own_tangents;
