//! Sources: texts, and the source locations in them.
//!
//! In: the text of a file, a prompt line or a notebook cell, with its name. Out: [`Span`]s, which are ranges of bytes
//! in one space that all texts of a session share, so that a span has 8 bytes and needs no reference to its source;
//! [`SourceMap`] resolves a byte of this space to name, line and column.
//!
//! Promises: bytes of the space are never reused; a span always lies inside one source.

mod source_map;

pub use source_map::{GENERATED, LibraryFile, Place, Source, SourceId, SourceMap};

/// A range in the source texts of a session: the half-open range of bytes `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Span {
    /// The offset of the first byte in the space that all sources share.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of the bytes `start..end`.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Returns the smallest span that contains this span and another one.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether another span lies in this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns the empty span directly before this span.
    pub fn before(self) -> Span {
        Span { start: self.start, end: self.start }
    }

    /// Returns the empty span directly after this span.
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// Returns the span of the last byte of this span, such as the closing brace of a block.
    pub fn last(self) -> Span {
        Span { start: self.end.saturating_sub(1).max(self.start), end: self.end }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_span_is_eight_bytes() {
        assert_eq!(size_of::<super::Span>(), 8);
    }
}
