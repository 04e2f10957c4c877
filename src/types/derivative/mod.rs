//! Differentiation attributes: checks `@differentiable`, `@derivative(of:)` and `@transpose(of:)`.

pub(crate) mod derivative_constraints;
pub(crate) mod derivative_type;
pub(crate) mod differentiability;
pub(crate) mod inherited_derivative;
pub(crate) mod named_derivative;
pub(crate) mod nondifferentiable_requirement;
pub(crate) mod original_function;
pub(crate) mod primal_adjoint;
pub(crate) mod registered_derivatives;
pub(crate) mod registration;
pub(crate) mod sample_instantiation;
