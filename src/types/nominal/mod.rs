//! Nominal types: what structs, enums and classes store, inherit and initialize.

pub(crate) mod initializers;
pub(crate) mod lazy;
pub(crate) mod observers;
pub(crate) mod overrides;
pub(crate) mod ownership;
pub(crate) mod property_wrapper;
pub(crate) mod raw_value;
pub(crate) mod recursive_types;
pub(crate) mod stored_property;
pub(crate) mod superclass;
