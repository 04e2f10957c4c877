//! Solver: type variables, the constraints on them, and defaulting.

pub(crate) mod coercion;
pub(crate) mod defaulting;
pub(crate) mod function_strength;
pub(crate) mod implicitly_unwrapped;
pub(crate) mod pending;
pub(crate) mod requirements;
pub(crate) mod substitution;
pub(crate) mod tangent_array;
pub(crate) mod widening;
