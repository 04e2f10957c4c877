//! Differentiability: what `@differentiable` on a declaration states.

/// What a declaration promises.
#[derive(Clone, PartialEq, Debug)]
pub struct Promise {
    /// With respect to which parameters, `self` first.
    pub wrt: Vec<bool>,
    /// `linear`: its derivative is itself.
    pub linear: bool,
    /// `default`: by the derivative that an extension of its protocol registers.
    pub default: bool,
}
