//! Nominal types: stored properties, inheritance and initializers of structs, enums and classes.

pub(crate) mod initializers;
pub(crate) mod overrides;
pub(crate) mod ownership;
pub(crate) mod raw_value;
pub(crate) mod recursive_types;
pub(crate) mod stored_property;
pub(crate) mod wrapped_value;
