//! Differentiation: activity, derivative code, tangent and adjoint code, and diagnostics.
//!
//! In: the graph of a function ([`crate::ir`]). Out: its derivative code (the same graph, in which steps that operate
//! on numbers also move and combine tangent slots), the diagnostics of differentiation, and a function as a formula.
//!
//! Promises: derivative code computes the same values by the same steps; a step that is not active is copied unchanged,
//! so that inactive code costs nothing; a diagnostic reports only certain dependence, in the code as written, never
//! across dynamic calls or storage that the body may write.
//! Not here: the combination of slots (`tape`), machine registers (`emit`), types of tangents (`types`).

pub(crate) mod active_registers;
mod activity;
mod dependence;
pub(crate) mod dependence_transfer;
pub mod derivative;
mod diagnostics;
mod differentiability_check;
mod differentiation_parameters;
pub mod formula;
pub(crate) mod linear_tangent;
mod linearity;
pub mod listing;
pub(crate) mod lost_tangent;
#[cfg(test)]
mod test_graphs;
pub mod thresholds;
pub mod transform;

pub use crate::diff::linear_tangent::mark_own_tangents;
pub use crate::diff::lost_tangent::LostTangents;
pub use derivative::{derivative, entry};
pub use differentiability_check::{Checker, check};
