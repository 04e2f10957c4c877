//! Source excerpts: the lines to which a diagnostic refers, truncated to a bounded length.
//!
//! The underlying renderer accepts a complete source, but it reads all of it for every snippet: a file with one line of
//! ten megabytes took seconds. The size of an excerpt is bounded, and offsets in the source are mapped to offsets in
//! the excerpt.

use super::Cluster;
use crate::source::{SourceId, SourceMap, Span};
use std::ops::Range;

/// The maximum number of lines between two marks that share a snippet.
const MAX_GAP: u32 = 30;
/// The length in bytes from which on a line is truncated to the text around a mark.
const LONG_LINE: usize = 1000;
/// The number of bytes of a truncated line that precede the mark; twice as many follow it.
const CONTEXT_WIDTH: usize = 240;
/// The number of line breaks from which on a mark is reduced to its first line.
const MAX_MARK_LINES: usize = 24;

/// An excerpt: consecutive lines of a source.
pub(super) struct Excerpt {
    /// The text of the lines, where long lines are truncated.
    pub(super) text: String,
    /// The number of the first line of the excerpt in its source.
    pub(super) first_line: usize,
    /// Whether the start of a line was removed from the excerpt.
    pub(super) is_cut: bool,
    pieces: Vec<Piece>,
}

/// A range of the source and its offset in the excerpt.
struct Piece {
    source: Range<u32>,
    start: usize,
}

/// Groups items by source and by distance in lines, in the order of their source locations.
pub(super) fn cluster<'a, T>(things: &'a [T], span: impl Fn(&T) -> Span, sources: &SourceMap) -> Vec<Cluster<'a, T>> {
    let mut placed: Vec<(SourceId, u32, &T)> = things
        .iter()
        .filter_map(|t| {
            let start = span(t).start;
            Some((sources.source_of(span(t))?, sources.place(start)?.line, t))
        })
        .collect();
    placed.sort_by_key(|(id, line, _)| (*id, *line));
    let mut clusters: Vec<Cluster<'a, T>> = Vec::new();
    let mut last_line = 0;
    for (id, line, thing) in placed {
        match clusters.last_mut() {
            Some((same, members)) if *same == id && line - last_line <= MAX_GAP => members.push(thing),
            _ => clusters.push((id, vec![thing])),
        }
        last_line = line;
    }
    clusters
}

impl Excerpt {
    /// Builds the excerpt of the lines that some spans of one source touch.
    pub(super) fn new(id: SourceId, spans: &[Span], sources: &SourceMap) -> Excerpt {
        let source = sources.get(id);
        let text: &str = &source.text;
        let local = |position: u32| boundary(text, position.saturating_sub(source.start) as usize);
        let from = spans.iter().map(|s| local(s.start)).min().unwrap_or(0);
        let to = spans.iter().map(|s| shown_end(text, local(s.start), local(s.end))).max().unwrap_or(from);
        let first = text[..from].rfind('\n').map_or(0, |i| i + 1);
        let last = text[to..].find('\n').map_or(text.len(), |i| to + i);
        let first_line = sources.place(source.start + first as u32).map_or(1, |p| p.line as usize);

        let mut excerpt = Excerpt { text: String::new(), first_line, is_cut: false, pieces: Vec::new() };
        let mut at = first;
        for line in text[first..last].split('\n') {
            if at > first {
                excerpt.text.push('\n');
            }
            let shown = if line.len() <= LONG_LINE {
                0..line.len()
            } else {
                let mark = spans.iter().map(|s| local(s.start)).find(|p| (at..=at + line.len()).contains(p));
                around(line, mark.unwrap_or(at) - at)
            };
            excerpt.is_cut |= shown.start > 0;
            let start = excerpt.text.len();
            excerpt.pieces.push(Piece {
                source: source.start + (at + shown.start) as u32..source.start + (at + shown.end) as u32,
                start,
            });
            excerpt.text.push_str(&line[shown]);
            at += line.len() + 1;
        }
        // The renderer would ignore an empty last line.
        excerpt.text.push('\n');
        excerpt
    }

    /// Returns the range of a span in the excerpt; offsets outside of the excerpt are moved to the nearest offset
    /// inside.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let start = self.place(span.start);
        start..self.place(span.end).max(start)
    }

    fn place(&self, position: u32) -> usize {
        let index = self.pieces.partition_point(|p| p.source.start <= position).saturating_sub(1);
        let Some(piece) = self.pieces.get(index) else { return 0 };
        let inside = position.clamp(piece.source.start, piece.source.end) - piece.source.start;
        boundary(&self.text, piece.start + inside as usize)
    }
}

/// Returns the end of a span as it is displayed.
fn shown_end(text: &str, start: usize, end: usize) -> usize {
    let end = end.max(start);
    match text[start..end].match_indices('\n').take(MAX_MARK_LINES).collect::<Vec<_>>().as_slice() {
        lines if lines.len() == MAX_MARK_LINES => start + lines[0].0,
        _ => end,
    }
}

/// Returns the part of a long line around the offset `mark`.
fn around(line: &str, mark: usize) -> Range<usize> {
    boundary(line, mark.saturating_sub(CONTEXT_WIDTH))..boundary(line, mark + 2 * CONTEXT_WIDTH)
}

/// Returns the last character boundary of a text at or before the offset `at`.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}
