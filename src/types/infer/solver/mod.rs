//! Solver: inference variables, constraints between them, and defaults.

pub(crate) mod coercion;
pub(crate) mod defaulting;
pub(crate) mod function_strength;
pub(crate) mod implicitly_unwrapped;
pub(crate) mod pending;
pub(crate) mod requirements;
pub(crate) mod substitution;
