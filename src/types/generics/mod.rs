//! Generics: generic environments, signatures, associated types, existentials and opaque types.

pub(crate) mod associated_type;
pub(crate) mod existential;
pub(crate) mod generic_env;
pub(crate) mod implied_requirements;
pub(crate) mod local_function;
pub(crate) mod omitted_arguments;
pub(crate) mod opaque_type;
pub(crate) mod opened_existential;
mod recursive_requirement;
pub(crate) mod requirement_order;
pub(crate) mod signature;
pub(crate) mod type_arguments;
pub(crate) mod type_size;
pub(crate) mod unification;
pub(crate) mod unmet_requirement;
