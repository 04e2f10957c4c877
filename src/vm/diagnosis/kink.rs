//! Kinks: steps at which a derivative does not exist, and the table of primitives supplies a derivative by convention.

use crate::source::Span;
use crate::tape::step_observer::KinkPartials;

/// A step at which a function has no derivative and a derivative was supplied by convention, or a branch that was taken
/// exactly at its threshold.
#[derive(Clone, PartialEq, Debug)]
pub struct Kink {
    /// The source location of the step.
    pub span: Span,
    /// The operation of the step with its operands: `abs(0)`.
    pub step: String,
    /// The one-sided partial derivatives at the kink; `None` for a comparison on which a branch depends.
    pub partials: Option<KinkPartials>,
}
