//! Solver: type variables, the constraints on them, and defaulting.

pub(crate) mod array_literal;
mod bridged_string;
pub(crate) mod coercion;
mod converted_result;
mod default_literals;
pub(crate) mod defaulting;
pub(crate) mod hashable_value;
mod implicitly_unwrapped_optional;
pub(crate) mod joined_type;
pub(crate) mod nested_differentiability;
pub(crate) mod operand_beside_int;
pub(crate) mod pending_expression;
pub(crate) mod requirements;
pub(crate) mod substitution;
pub(crate) mod tangent_array;
pub(crate) mod throwing_conversion;
pub(crate) mod widening;
