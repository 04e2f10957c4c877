//! Derivatives: lowering of differential operators and registered derivatives.

pub(crate) mod counterpart;
pub(crate) mod differential_operator;
pub(crate) mod inout_derivative;
pub(crate) mod opaque_property;
pub(crate) mod registered_initializer;
pub(crate) mod registered_transpose;
