//! String scanner: scans the contents of string literals.

use super::{Open, Quote, Scanner};
use crate::diagnostic::{Code, Diagnostic};

impl Scanner<'_> {
    /// Reads a string literal in typographic quotes. The grammar reads straight quotes, with U+0005 for the remaining
    /// bytes.
    pub(super) fn curly_string(&mut self) -> bool {
        let quote = Quote { start: self.at, hashes: 0, long: false, curly: true };
        self.out[self.at..self.at + 3].copy_from_slice(b"\"\x05\x05");
        self.at += 3;
        self.string(quote)
    }

    /// Reads the content of a string literal, up to its end or an interpolation.
    pub(super) fn string(&mut self, quote: Quote) -> bool {
        self.angles.clear();
        let count = if quote.long { 3 } else { 1 };
        let hashes_at = |bytes: &[u8], at: usize| {
            bytes.get(at..at + quote.hashes).is_some_and(|rest| rest.iter().all(|b| *b == b'#'))
        };
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                0xe2 if quote.curly && self.text[self.at..].starts_with(['“', '”']) => {
                    self.out[self.at..self.at + 3].copy_from_slice(b"\x05\x05\"");
                    self.at += 3;
                    (self.last, self.after_name) = (b'"', false);
                    return true;
                }
                b'"' if !quote.curly => {
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
        if quote.curly {
            let message = "expected '”' to end the string";
            let diagnostic = Diagnostic::error(Code::UnterminatedString, end, message).label("expected '”' here");
            self.diagnostics.push(diagnostic.also(self.span(quote.start, quote.start + 3), "the string starts here"));
            return false;
        }
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
