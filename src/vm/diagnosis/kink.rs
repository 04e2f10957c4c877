//! Kink: a point where a derivative does not exist and the table of primitives supplies one by convention.

use crate::source::Span;
use crate::tape::watch::KinkPartials;

/// A step at which a function has no derivative, and one was supplied by convention; or a branch taken exactly at its
/// threshold.
#[derive(Clone, PartialEq, Debug)]
pub struct Kink {
    /// The location.
    pub span: Span,
    /// The operation with its operands: `abs(0)`.
    pub step: String,
    /// Its one-sided partial derivatives; `None` for a comparison on which a branch depends.
    pub partials: Option<KinkPartials>,
}
