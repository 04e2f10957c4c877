//! Formatter: writes programs in the standard style.
//!
//! In: a text. Out: the same tokens and comments, with other blanks, line breaks and indentation between them.
//!
//! What a person decides stays: where lines end, where one blank line stands, and at which column a comment behind code
//! begins. Everything else is decided here: `spacing` says where blanks stand in a line, `lines` how far it is indented.
//!
//! Promises: what is written has the tree of what was read, or nothing is written; written twice it does not change; the
//! work grows with the length of the text, and nothing recurses.

mod lines;
mod spacing;
mod token;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::format::token::{Token, tokens};
use crate::syntax::parser::marks;
use crate::syntax::{dump, parse};

/// A text in the one style; what is wrong with it instead. Its first byte has the position `start`.
pub fn formatted(text: &str, start: u32) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(text, start);
    if !parsed.diagnostics.is_empty() {
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
    let out = lines::written(&before);
    if is_same(&before, &out) && dump(&parse(&out, 0).file) == dump(&parsed.file) { Ok(out) } else { Err(changed()) }
}

/// Whether a text consists of these tokens and comments.
fn is_same(before: &[Token<'_>], text: &str) -> bool {
    let Some((copy, found)) = marks(text) else { return false };
    let after = tokens(text, &copy, &found);
    before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| a.says_what(b))
}
