//! Reports: diagnostics for expressions that do not type-check.

pub(crate) mod access_level;
pub(crate) mod address;
pub(crate) mod array_parameter;
pub(crate) mod availability;
pub(crate) mod constant_cast;
pub(crate) mod inequality;
mod key_path_root;
pub(crate) mod misplaced_closure;
mod missing_member;
pub(crate) mod nearest_call;
pub(crate) mod no_matching_call;
pub(crate) mod no_matching_operator;
pub(crate) mod tensor_operands;
pub(crate) mod too_many_arguments;
mod type_mismatch;
pub(crate) mod uncallable_value;
pub(crate) mod uncountable_range;
