//! Access: a modification of storage that is going on.

use crate::source::Span;
use std::ops::Range;

/// A modification in progress.
pub(crate) struct Change {
    /// The address of its object, which is kept alive by the code that modifies it; 0 for global variables.
    pub(crate) object: usize,
    /// The components that are changed, by bank.
    pub(crate) cells: [Range<u32>; 3],
    /// The place where it began.
    pub(crate) span: Span,
}
