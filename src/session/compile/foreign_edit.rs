//! Edits of foreign code: the range of a text that an edit replaces, and the code that it writes there.

use crate::source::Span;
use std::ops::Range;

/// Returns the text that begins at the offset `start` with sorted edits applied; `None` if they do not belong to the text.
pub(super) fn edited(text: &str, start: u32, edits: &[(Span, String)]) -> Option<String> {
    let mut out = text.to_owned();
    for (span, code) in edits.iter().rev() {
        let range = offsets(*span, start);
        out.get(range.clone())?;
        out.replace_range(range, code);
    }
    Some(out)
}

/// Returns the offsets of a span in the text that begins at the offset `start`.
pub(super) fn offsets(span: Span, start: u32) -> Range<usize> {
    (span.start.saturating_sub(start)) as usize..(span.end.saturating_sub(start)) as usize
}

/// Returns the span of the first line of a range.
pub(super) fn span_of(text: &str, start: u32, range: &Range<usize>) -> Span {
    let line = text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
    Span::new(start + range.start as u32, start + line as u32)
}

/// Returns the edit that changes a text into another one: the range that it replaces, which contains a given range, and
/// the code that it writes there. The edit can be read alone.
pub(super) fn text_edit(text: &str, new_text: &str, replaced: &Range<usize>) -> (Range<usize>, String) {
    let differing = difference(text, new_text);
    let start = differing.start.min(replaced.start);
    let new = |end: usize| &new_text[start..new_text.len() - (text.len() - end)];
    let mut end = differing.end.max(replaced.end);
    if new(end).trim_end().ends_with(['*', '+', '-', '/', '=']) {
        end = after_operand(text, end);
    }
    (start..end, new(end).to_owned())
}

/// Whether code can be read without the code around it: it does not begin with an operator.
pub(super) fn stands_alone(code: &str) -> bool {
    !code.trim_start().starts_with(['=', '*', '+', '/', ',', '.', ')', ']', '}'])
}

/// Returns the lines of an edited text that contain the code which replaces a range of the original text.
pub(super) fn edited_lines<'t>(edited: &'t str, original: &str, replaced: &Range<usize>) -> &'t str {
    let end = (edited.len() + replaced.end).saturating_sub(original.len()).max(replaced.start);
    let from = edited[..replaced.start].rfind('\n').map_or(0, |n| n + 1);
    let to = edited[end..].find('\n').map_or(edited.len(), |n| end + n);
    &edited[from..to]
}

/// Returns the end of the word or the parentheses that follow an offset of a text after blanks.
fn after_operand(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start_matches(' ');
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let rest = rest.trim_start_matches(is_word);
    let mut depth = 0usize;
    for (offset, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let length = if c == ')' { offset + 1 } else { 0 };
            return text.len() - rest.len() + length;
        }
    }
    text.len() - rest.len()
}

/// Returns the range of a text in which it differs from another text, extended to whole words.
fn difference(old: &str, new: &str) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let same = |(a, b): &(char, char)| a == b;
    let mut from: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (rest_old, rest_new) = (&old[from..], &new[from..]);
    let mut tail: usize =
        rest_old.chars().rev().zip(rest_new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while let Some(c) = old[..from].chars().next_back().filter(|c| is_word(*c)) {
        from -= c.len_utf8();
    }
    while let Some(c) = old[old.len() - tail..].chars().next().filter(|c| is_word(*c)) {
        tail -= c.len_utf8();
    }
    from..old.len() - tail
}
