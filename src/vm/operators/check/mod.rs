//! Checks: detects kinks, lost tangents and non-finite values, and compares derivatives with finite differences.

pub(crate) mod derivative_check;
pub(crate) mod derivative_mismatch;
pub mod finite_difference;
pub(crate) mod kink;
pub(crate) mod lost_tangent;
pub(crate) mod non_finite_value;
pub(crate) mod origins;
pub(crate) mod provenance;
mod scalars;
pub(crate) mod trace_recorder;
