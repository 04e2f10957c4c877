//! Regex literals: scans `/…/` and `#/…/#`. The grammar reads U+0006 for each byte of such a literal.

use super::{Scanner, is_word};

/// The byte that stands for each byte of a literal.
const MARK: u8 = 0x06;

/// The maximum lengths of literals in bytes, so that a text with many slashes is scanned in a time proportional to its length.
const MAX_BARE: usize = 500;
const MAX_DELIMITED: usize = 1_000;

/// The keywords after which an operand begins.
const BEFORE_OPERAND: &[&str] =
    &["return", "in", "case", "where", "try", "await", "if", "while", "guard", "else", "switch", "throw", "as", "is"];

impl Scanner<'_> {
    /// Reads a literal that begins with a slash; returns `false` if the slash is an operator.
    pub(super) fn regex_literal(&mut self) -> bool {
        if self.follows_operand() {
            return false;
        }
        let Some(length) = bare_length(&self.bytes[self.at..]) else { return false };
        self.mark_literal(length);
        true
    }

    /// Reads a literal between `#/` and `/#`; returns `false` if it does not end.
    pub(super) fn delimited_regex_literal(&mut self, hashes: usize) -> bool {
        let end = format!("/{}", "#".repeat(hashes));
        let from = self.at + hashes + 1;
        let rest = &self.bytes[from.min(self.bytes.len())..];
        let rest = &rest[..rest.len().min(MAX_DELIMITED)];
        let Some(length) = rest.windows(end.len()).position(|part| part == end.as_bytes()) else { return false };
        self.mark_literal(hashes + 1 + length + end.len());
        true
    }

    fn mark_literal(&mut self, length: usize) {
        self.out[self.at..self.at + length].fill(MARK);
        self.angles.clear();
        self.at += length;
        (self.last, self.after_name) = (b'"', false);
    }

    /// Whether the text so far ends an operand, so that an operator follows.
    fn follows_operand(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t', '\n', '\r']);
        let is_separate = before.len() < self.at;
        match self.last {
            b')' | b']' | b'}' | b'"' | b'`' | b'\'' => true,
            b'?' | b'!' => !is_separate,
            last if is_word(last) => {
                let start = before.bytes().rposition(|b| !is_word(b)).map_or(0, |n| n + 1);
                let word = before.get(start..).unwrap_or("");
                !BEFORE_OPERAND.contains(&word) || before.get(..start).is_some_and(|rest| rest.ends_with('.'))
            }
            _ => false,
        }
    }
}

/// Returns the length of a literal that begins with a slash and ends on the same line. By Swift's rule, it neither begins nor
/// ends with a space and contains no unmatched parenthesis.
fn bare_length(bytes: &[u8]) -> Option<usize> {
    if matches!(bytes.get(1)?, b' ' | b'\t' | b'\n' | b'\r' | b')' | b']' | b',' | b'/' | b'*' | b'=' | b';') {
        return None;
    }
    let bytes = &bytes[..bytes.len().min(MAX_BARE)];
    let (mut at, mut depth, mut in_class) = (1, 0usize, false);
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => return None,
            b'\\' => at += 1,
            b'/' => break,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => depth += 1,
            b')' if !in_class => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    (depth == 0 && bytes[at - 1] != b' ').then_some(at + 1)
}
