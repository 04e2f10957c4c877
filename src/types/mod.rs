//! Type checker: turns syntax trees into typed trees by name resolution, inference, conformance checks and synthesis of
//! tangent vectors.
//!
//! In: the syntax trees of a module's files, and the prelude. Out: a [`TypeContext`] of declarations, with a checked
//! `model::typed_tree::Body` for each function, and diagnostics.
//!
//! Promises: generic bodies are checked once; no exponential search; a body with an error is never passed to later
//! stages.
//! Not here: which parts of a body are differentiable (`diff`), concrete types (`ir`).

pub(crate) mod check;
pub(crate) mod conform;
pub(crate) mod declare;
pub(crate) mod derivative;
pub(crate) mod flow;
pub(crate) mod generics;
pub(crate) mod infer;
pub(crate) mod model;
pub(crate) mod module_check;
pub(crate) mod names;
pub(crate) mod nominal;
pub(crate) mod resolved_declarations;
pub mod signature_help;
pub(crate) mod synthesize;

pub use crate::types::model::differentiability::Differentiability;
pub use crate::types::model::display::closest;
pub use crate::types::model::type_context::TypeContext;
pub use crate::types::module_check::{Checked, check_module, context_with_prelude, operators};

#[cfg(test)]
mod tests;
