//! Highlighting: classifies the tokens of a text.

use crate::session::Session;
use crate::session::query::inspection::{WORDS, is_part_of_name};
use std::ops::Range;

/// The class of a token that is highlighted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The token is a keyword.
    Keyword,
    /// The token is a numeric literal.
    Number,
    /// The token is a string literal.
    Text,
    /// The token is a name that begins with a capital letter.
    Type,
    /// The token is a comment.
    Comment,
}

impl Session {
    /// Returns the ranges of the classified tokens, in order. The text may be incomplete or invalid.
    pub fn highlight(text: &str) -> Vec<(Range<usize>, Class)> {
        let mut out = vec![];
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let (length, class) = if rest.starts_with("//") {
                (rest.find('\n').unwrap_or(rest.len()), Some(Class::Comment))
            } else if rest.starts_with("/*") {
                (rest.find("*/").map_or(rest.len(), |end| end + 2), Some(Class::Comment))
            } else if c == '"' {
                (quoted(rest), Some(Class::Text))
            } else if c.is_ascii_digit() {
                (number(rest), Some(Class::Number))
            } else if is_part_of_name(c) {
                let word = &rest[..rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len())];
                (word.len(), class_of(word))
            } else {
                (c.len_utf8(), None)
            };
            out.extend(class.map(|class| (at..at + length, class)));
            at += length;
        }
        out
    }
}

fn class_of(word: &str) -> Option<Class> {
    if WORDS.contains(&word) {
        Some(Class::Keyword)
    } else {
        word.starts_with(char::is_uppercase).then_some(Class::Type)
    }
}

/// Returns the length of a string literal at the beginning of a text: to its end, or to the end of the line.
fn quoted(text: &str) -> usize {
    let (mark, is_long) = if text.starts_with("\"\"\"") { ("\"\"\"", true) } else { ("\"", false) };
    let mut skip = false;
    for (at, c) in text.char_indices().skip(mark.len()) {
        match c {
            _ if skip => skip = false,
            '\\' => skip = true,
            '\n' if !is_long => return at,
            _ if text[at..].starts_with(mark) => return at + mark.len(),
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a numeric literal at the beginning of a text.
fn number(text: &str) -> usize {
    let mut before = ' ';
    let is_radix = text.starts_with("0x") || text.starts_with("0b") || text.starts_with("0o");
    for (at, c) in text.char_indices() {
        let is_sign = (c == '-' || c == '+') && matches!(before, 'e' | 'E') && !is_radix;
        let is_point = c == '.' && text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        let is_exponent =
            matches!(c, 'e' | 'E') && text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let is_digit = c.is_ascii_digit() || c == '_' || is_radix && c.is_ascii_alphanumeric();
        if !(is_digit || is_sign || is_point || is_exponent) {
            return at;
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(&str, Class)> {
        Session::highlight(text).into_iter().map(|(range, class)| (&text[range], class)).collect()
    }

    #[test]
    fn words_numbers_and_texts_have_classes() {
        assert_eq!(
            pieces("let x: Int = 2x + 1e-3 // two"),
            [
                ("let", Class::Keyword),
                ("Int", Class::Type),
                ("2", Class::Number),
                ("1e-3", Class::Number),
                ("// two", Class::Comment)
            ]
        );
        assert_eq!(
            pieces(r#"print("a \" b", 0...3)"#),
            [(r#""a \" b""#, Class::Text), ("0", Class::Number), ("3", Class::Number)]
        );
    }

    #[test]
    fn what_is_not_complete_ends_with_the_text() {
        assert_eq!(pieces("\"open"), [("\"open", Class::Text)]);
        assert_eq!(pieces("/* open"), [("/* open", Class::Comment)]);
        assert_eq!(pieces("\"é\\"), [("\"é\\", Class::Text)]);
    }
}
