//! Failure context: provides the text around the offset at which the grammar failed.

use crate::source::Span;
use crate::syntax::scan::is_word;

/// The context of a syntax error: the text, the unexpected token, and its location.
#[derive(Clone, Copy)]
pub(crate) struct Context<'t> {
    /// The copy of the text that the grammar reads, with spaces for comments and marks for angle brackets.
    pub(super) copy: &'t str,
    /// The offset of the first byte of the text among all sources.
    pub(super) start: u32,
    /// The offset at which the grammar failed.
    pub(super) at: usize,
    /// The token at the offset of the failure.
    pub(super) found: &'t str,
    /// The source span of the token.
    pub(super) span: Span,
    /// Whether the text ended prematurely.
    pub(super) incomplete: bool,
}

impl Context<'_> {
    pub(super) fn starts_operand(&self) -> bool {
        self.found.bytes().next().is_some_and(|b| is_word(b) || matches!(b, b'"' | b'(' | b'[' | b'{'))
    }

    /// Returns the part of the current line before the offset of the failure.
    pub(super) fn line_before(&self) -> String {
        let before = &self.copy[..self.at.min(self.copy.len())];
        let before = before.trim_end();
        let from = before.rfind('\n').map_or(0, |n| n + 1);
        // A statement may begin after a semicolon; only the last 400 bytes are searched.
        let near = before.ceil_char_boundary(before.len().saturating_sub(400));
        let line = &before[from.max(near)..];
        line.rsplit(';').next().unwrap_or(line).trim().to_owned()
    }

    pub(super) fn last_byte(&self) -> u8 {
        self.copy[..self.at.min(self.copy.len())].trim_end().bytes().last().unwrap_or(0)
    }

    pub(super) fn rest_of_line(&self) -> Span {
        let rest = self.copy[self.at.min(self.copy.len())..].split('\n').next().unwrap_or("");
        Span::new(self.span.start, self.span.start + rest.trim_end().len() as u32)
    }

    /// Returns the end of the text before the offset of the failure, without spaces.
    pub(super) fn end_before(&self) -> usize {
        self.copy[..self.at.min(self.copy.len())].trim_end().len()
    }

    pub(super) fn place(&self, from: usize, to: usize) -> Span {
        Span::new(self.start + from as u32, self.start + to as u32)
    }
}
