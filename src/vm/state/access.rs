//! Access: a modification of storage that is going on.

use crate::source::Span;
use std::ops::Range;

/// A change that goes on.
pub(crate) struct Change {
    /// The address of its object, which the code that changes it holds; 0 for global variables.
    pub(crate) object: usize,
    /// The components that are changed, by bank.
    pub(crate) cells: [Range<u32>; 3],
    /// Where it began.
    pub(crate) span: Span,
}
