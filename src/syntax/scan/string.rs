//! String scanner: scans the contents of string literals.

use super::{Open, Quote, Scanner};
use crate::diagnostic::{Code, Diagnostic};

impl Scanner<'_> {
    /// Reads the content of a string literal, up to its end or an interpolation.
    pub(super) fn string(&mut self, quote: Quote) -> bool {
        self.angles.clear();
        let count = if quote.long { 3 } else { 1 };
        let hashes_at = |bytes: &[u8], at: usize| {
            bytes.get(at..at + quote.hashes).is_some_and(|rest| rest.iter().all(|b| *b == b'#'))
        };
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    let ends = !quote.long || self.bytes[self.at..].starts_with(b"\"\"\"");
                    if ends && hashes_at(self.bytes, self.at + count) {
                        self.at += count + quote.hashes;
                        (self.last, self.after_name) = (b'"', false);
                        return true;
                    }
                    self.at += 1;
                }
                b'\\' if hashes_at(self.bytes, self.at + 1) => {
                    self.at += 1 + quote.hashes;
                    if self.peek(0) == b'(' {
                        return self.push(Open { position: self.at, byte: b'(', quote: Some(quote) });
                    }
                    // The escaped byte is not interpreted; a newline still ends a single-line string.
                    if self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                b'\n' if !quote.long => break,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        let opening = self.span(quote.start, quote.start + quote.hashes + count);
        let end = self.span(self.at, self.at);
        let delimiter = format!("{}{}", "\"".repeat(count), "#".repeat(quote.hashes));
        self.diagnostics.push(
            Diagnostic::error(Code::UnterminatedString, end, format!("expected '{delimiter}' to end the string"))
                .label(format!("expected '{delimiter}' here"))
                .also(opening, "the string starts here"),
        );
        self.incomplete = quote.long;
        false
    }
}
