//! Failure context: the text around a place that the grammar refuses.

use crate::source::Span;
use crate::syntax::scan::is_word;

/// A failure: what was found where nothing fits.
#[derive(Clone, Copy)]
pub(crate) struct Context<'t> {
    /// The text, with blanks for comments and signs for strings.
    pub(super) copy: &'t str,
    /// The text as written.
    pub(super) text: &'t str,
    /// The position of the first byte.
    pub(super) start: u32,
    /// Where the failure is.
    pub(super) at: usize,
    /// The word or sign there.
    pub(super) found: &'t str,
    /// Its place in the text.
    pub(super) span: Span,
    /// Whether the text ended too early.
    pub(super) incomplete: bool,
}

impl Context<'_> {
    pub(super) fn starts_operand(&self) -> bool {
        self.found.bytes().next().is_some_and(|b| is_word(b) || matches!(b, b'"' | b'(' | b'[' | b'{'))
    }

    /// The text of the line before the place.
    pub(super) fn line_before(&self) -> String {
        let before = &self.copy[..self.at.min(self.copy.len())];
        let before = before.trim_end();
        let from = before.rfind('\n').map_or(0, |n| n + 1);
        // A statement may begin behind a brace or a semicolon.
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

    /// Where the text before the place ends.
    pub(super) fn end_before(&self) -> usize {
        self.copy[..self.at.min(self.copy.len())].trim_end().len()
    }

    /// The word right before the place.
    pub(super) fn last_word(&self) -> &str {
        let before = &self.copy[..self.end_before()];
        before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("")
    }

    /// The line from the place on.
    pub(super) fn rest(&self) -> &str {
        self.copy[self.at.min(self.copy.len())..].split('\n').next().unwrap_or("")
    }

    /// A piece of the text as written.
    pub(super) fn text(&self, from: usize, to: usize) -> Option<&str> {
        self.text.get(from..to)
    }

    pub(super) fn place(&self, from: usize, to: usize) -> Span {
        Span::new(self.start + from as u32, self.start + to as u32)
    }
}
