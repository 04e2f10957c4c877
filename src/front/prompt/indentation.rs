//! Indentation: the spaces at the beginning of a typed line.

use super::block_header;
use crate::session::{Class, Session};

/// The number of spaces by which a block is indented.
pub(super) const WIDTH: u8 = 4;

/// Returns the line break that continues an input after the text before the cursor, with the indentation of the new line.
pub(super) fn line_break(before: &str) -> String {
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = &before[start..];
    let indentation = &line[..line.len() - line.trim_start().len()];
    let is_block = has_open_bracket(before, start) || block_header::begins_block(before);
    let step = if is_block { usize::from(WIDTH) } else { 0 };
    format!("\n{indentation}{:step$}", "")
}

/// Whether a line has nothing but the indentation of a block before the cursor.
pub(super) fn is_indentation(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.len() >= usize::from(WIDTH) && line.chars().all(|c| c == ' ')
}

/// Whether a bracket that is opened after an offset is still open at the end.
fn has_open_bracket(text: &str, start: usize) -> bool {
    let skipped: Vec<_> = Session::highlight(text)
        .into_iter()
        .filter(|(_, class)| matches!(class, Class::Text | Class::Comment))
        .map(|(range, _)| range)
        .collect();
    let mut depth = 0_usize;
    for (at, c) in text[start..].char_indices() {
        if skipped.iter().any(|range| range.contains(&(start + at))) {
            continue;
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            // A bracket that was opened on an earlier line does not close one of this line: `} else {`.
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::{is_indentation, line_break};

    #[test]
    fn a_new_line_is_indented_like_the_block_around_it() {
        for (before, expected) in [
            ("func f() {", "\n    "),
            ("func f() {\n    let x = 1", "\n    "),
            ("func f() {\n    if x > 0 {", "\n        "),
            ("if x > 0 {\n    1\n} else {", "\n    "),
            ("let f = { x in", "\n    "),
            ("print(1,", "\n    "),
            ("f(x) = x +", "\n"),
            ("print(\"{\") +", "\n"),
            ("1 + // (", "\n"),
            ("if x > 5:", "\n    "),
            ("if x > 5:\n    y = 1", "\n    "),
            ("function f(x)", "\n    "),
        ] {
            assert_eq!(line_break(before), expected, "{before:?}");
        }
    }

    #[test]
    fn only_the_start_of_a_line_is_indentation() {
        assert!(is_indentation("{\n    ") && is_indentation("{\n  {\n      "));
        assert!(!is_indentation("{\n  ") && !is_indentation("{\n    x") && !is_indentation(""));
    }
}
