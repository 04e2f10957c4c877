//! Differentiability: represents the statement of `@differentiable` on a declaration or in a function type.

/// The differentiability that a declaration or a function type states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differentiability {
    /// The parameters with respect to which the function is differentiable, `self` first where there is one.
    pub wrt: Vec<bool>,
    /// Whether the function is `linear`, so that it is its own differential.
    pub linear: bool,
    /// Whether the attribute states `default`: the function is differentiable by the derivative that is registered in
    /// an extension of its protocol.
    pub default: bool,
}
