//! Differentiability: what `@differentiable` on a declaration states.

/// The differentiability that a declaration states.
#[derive(Clone, PartialEq, Debug)]
pub struct Promise {
    /// The parameters that it is differentiable with respect to, `self` first.
    pub wrt: Vec<bool>,
    /// Whether it is `linear`: its own derivative.
    pub linear: bool,
    /// Whether it is `default`: differentiable by the derivative registered in an extension of its protocol.
    pub default: bool,
}
