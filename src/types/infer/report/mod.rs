//! Reports: diagnostics for expressions that do not type-check.

pub(crate) mod access_level;
pub(crate) mod mismatch;
pub(crate) mod nearest_call;
pub(crate) mod no_matching_call;
pub(crate) mod no_matching_operator;
pub(crate) mod no_member;
pub(crate) mod too_many_arguments;
pub(crate) mod untyped_parameter;
