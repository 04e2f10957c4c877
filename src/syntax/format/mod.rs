//! Formatter: the standard style of programs.
//!
//! In: a text. Out: the same tokens and comments, with different blanks, line breaks and indentation.
//!
//! The choices of the author are preserved: line breaks, single empty lines, and the columns of comments at ends of
//! lines. Everything else is computed: `spacing` decides on blanks within a line, `line_breaks` on indentation.
//!
//! Promises: the tree of the output equals that of the input, or an error is returned; formatting is idempotent; the
//! time grows with the length of the text, and nothing recurses.

mod line_breaks;
mod spacing;
mod token;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::foreign;
use crate::syntax::format::token::{Token, tokens};
use crate::syntax::parser::marks;
use crate::syntax::{dump, parse};

/// Formats a text whose first byte has the offset `start`, or returns its errors.
pub fn formatted(text: &str, start: u32) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(text, start);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    let changed = || {
        let message = "formatting this file would change its meaning, so it is left unchanged";
        let place = Span::new(start, start);
        vec![Diagnostic::error(Code::Internal, place, message).note("this is a bug in dscript; please report it")]
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (copy, found) = marks(text).ok_or_else(changed)?;
    let before = tokens(text, &copy, &found);
    let quotients: Vec<usize> =
        foreign::quotients(text, &copy, 0).iter().map(|warning| warning.primary.span.start as usize).collect();
    let out = line_breaks::written(&before, &quotients);
    if is_same(&before, &out) && dump(&parse(&out, 0).file) == dump(&parsed.file) { Ok(out) } else { Err(changed()) }
}

/// Whether a text has the same tokens and comments as `before`.
fn is_same(before: &[Token<'_>], text: &str) -> bool {
    let Some((copy, found)) = marks(text) else { return false };
    let after = tokens(text, &copy, &found);
    before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| a.is_equal(b))
}
