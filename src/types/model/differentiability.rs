//! Differentiability: what `@differentiable` on a declaration or in a function type states.

/// The differentiability that a declaration or a function type states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differentiability {
    /// The parameters that it is differentiable with respect to, `self` first where there is one.
    pub wrt: Vec<bool>,
    /// Whether it is `linear`: its own derivative.
    pub linear: bool,
    /// Whether it is `default`: differentiable by the derivative registered in an extension of its protocol.
    pub default: bool,
}
