//! Modification: a modification of storage that is in progress.

use crate::source::Span;
use std::ops::Range;

/// A modification of storage that is in progress.
pub(crate) struct Change {
    /// The address of the modified object, which is kept alive by the code that modifies it; 0 for global variables.
    pub(crate) object: usize,
    /// The components that are being modified, by bank.
    pub(crate) cells: [Range<u32>; 3],
    /// The source location where the modification began.
    pub(crate) span: Span,
}
