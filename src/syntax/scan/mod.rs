//! Scanner: the pass over every byte before the grammar.
//!
//! It detects the errors that a grammar cannot report well (unterminated brackets and strings, excessive nesting), and
//! creates the copy of the text that the grammar reads, of the same length: comments, inactive `#if` branches and
//! unusual white space become spaces, the angle brackets of generic arguments become U+0001 and U+0002, and a brace
//! becomes U+0004 when the text after its closing brace, on the same line, continues an expression.

mod conditional_compilation;
mod directive;
mod long_list;
mod regex_literal;
mod string;

pub(super) use long_list::List;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The maximum nesting of brackets: no program needs deeper nesting, and every later stage recurses.
const MAX_NESTING: usize = 256;
/// The maximum number of operators in an expression, checked before memory is allocated for them; far above the limit
/// of folding.
const MAX_OPERATORS: usize = 100_000;

/// The result of a scan: the copy that the grammar reads, and the errors.
pub(super) struct Scanned {
    /// The copy of the text with replacements, followed by one newline.
    pub text: String,
    /// The errors that were found; if there are any, the text is not parsed.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the text is incomplete.
    pub incomplete: bool,
    /// The offsets of lines that are outside all brackets and do not continue the previous line.
    pub lines: Vec<usize>,
    /// The long lists of the text, in source order.
    pub lists: Vec<List>,
}

/// The delimiter of a string literal.
#[derive(Clone, Copy)]
struct Quote {
    start: usize,
    hashes: usize,
    long: bool,
    /// Whether the literal has typographic quotes, as in “text”.
    curly: bool,
}

/// An open bracket; `quote` is set for the `\(` of an interpolation.
#[derive(Clone, Copy)]
struct Open {
    position: usize,
    byte: u8,
    quote: Option<Quote>,
}

/// A `<` after a name that may open generic arguments.
struct Angle {
    position: usize,
    depth: usize,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    text: &'t str,
    out: Vec<u8>,
    start: u32,
    at: usize,
    open: Vec<Open>,
    angles: Vec<Angle>,
    /// The offset of each open `#if`, and whether one of its branches was active.
    branches: Vec<(usize, bool)>,
    /// The last byte of the text so far that is neither a space nor a newline.
    last: u8,
    /// Whether `last` ends a name, as opposed to a number.
    after_name: bool,
    operators: usize,
    diagnostics: Vec<Diagnostic>,
    incomplete: bool,
    lines: Vec<usize>,
    lists: long_list::Lists,
}

/// Scans a text whose first byte has the offset `start`.
pub(super) fn scan(text: &str, start: u32) -> Scanned {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        text,
        out: text.as_bytes().to_vec(),
        start,
        at: 0,
        open: vec![],
        angles: vec![],
        branches: vec![],
        last: 0,
        after_name: false,
        operators: 0,
        diagnostics: vec![],
        incomplete: false,
        lines: vec![],
        lists: long_list::Lists::default(),
    };
    scanner.run();
    scanner.out.push(b'\n');
    // Only complete characters were replaced, so the conversion cannot fail.
    let text = String::from_utf8(scanner.out).unwrap_or_default();
    Scanned {
        text,
        diagnostics: scanner.diagnostics,
        incomplete: scanner.incomplete,
        lines: scanner.lines,
        lists: scanner.lists.found,
    }
}

/// Whether a byte can occur in a name; every byte beyond ASCII can.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn closer(byte: u8) -> u8 {
    match byte {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

impl Scanner<'_> {
    fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.start + from as u32, self.start + to as u32)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn blank(&mut self, from: usize, to: usize) {
        for byte in &mut self.out[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.blank(0, 3);
            self.at = 3;
        }
        if self.text[self.at..].starts_with("#!") {
            self.skip_line();
        }
        while self.at < self.bytes.len() {
            if !self.step() {
                return;
            }
        }
        self.finish();
    }

    /// Replaces the rest of the line by spaces.
    fn skip_line(&mut self) {
        let end = self.bytes[self.at..].iter().position(|b| *b == b'\n').map_or(self.bytes.len(), |n| self.at + n);
        self.blank(self.at, end);
        self.at = end;
    }

    /// Reads the next token; returns `false` when the scan ends.
    fn step(&mut self) -> bool {
        let byte = self.bytes[self.at];
        match byte {
            b'\n' => {
                self.line_break();
                return true;
            }
            b' ' => {
                self.at += 1;
                return true;
            }
            b'\t' | b'\r' | 0x0b | 0x0c => {
                self.out[self.at] = b' ';
                self.at += 1;
                return true;
            }
            0xc2 if self.peek(1) == 0xa0 => {
                self.blank(self.at, self.at + 2);
                self.at += 2;
                return true;
            }
            // The characters that mark brackets must not occur in the text.
            0x01 | 0x02 | 0x04 | 0x06 => self.out[self.at] = 0x03,
            b'/' if self.peek(1) == b'/' => {
                self.skip_line();
                return true;
            }
            b'/' if self.peek(1) == b'*' => return self.comment(),
            b'/' if self.regex_literal() => return true,
            b'`' => {
                self.escaped_name();
                return true;
            }
            b'"' => {
                let long = self.text[self.at..].starts_with("\"\"\"");
                let quote = Quote { start: self.at, hashes: 0, long, curly: false };
                self.at += if long { 3 } else { 1 };
                return self.string(quote);
            }
            b'#' => return self.hash(),
            b'(' | b'[' | b'{' => return self.opens(byte),
            b')' | b']' | b'}' => return self.closes(byte),
            b'<' => self.angle_opens(),
            b'>' => {
                self.angle_closes();
                self.last = byte;
                self.after_name = false;
                self.at += 1;
                return true;
            }
            0xe2 if self.text[self.at..].starts_with(['“', '”', '„']) => return self.curly_string(),
            _ if is_word(byte) => {
                self.word(byte);
                return true;
            }
            b'.' | b'?' | b':' | b'@' => {}
            b',' => {
                self.operators = 0;
                // Between angle brackets, the character may belong to generic arguments.
                if self.angles.is_empty() {
                    self.lists.comma(self.at, self.open.len());
                }
            }
            b';' => self.operators = 0,
            b'-' if self.peek(1) == b'>' => {}
            b'&' if self.peek(1) != b'&' && self.last != b'&' => {}
            _ => {
                self.angles.clear();
                self.operators += 1;
                if self.operators > MAX_OPERATORS {
                    let message = format!("this expression has more than {MAX_OPERATORS} operators");
                    let place = self.span(self.at, self.at + 1);
                    self.diagnostics.push(Diagnostic::error(Code::TooDeep, place, message).help("use a loop"));
                    return false;
                }
            }
        }
        if byte == b';' {
            self.angles.clear();
        }
        (self.last, self.after_name) = (byte, false);
        self.at += 1;
        true
    }

    /// Scans the end of a line.
    fn line_break(&mut self) {
        if !matches!(self.last, b',' | b'<' | b'(' | b'[' | b':' | b'&') {
            self.angles.clear();
        }
        if !matches!(self.last, b'+' | b'-' | b'*' | b'/' | b'=' | b'|' | b'&') {
            self.operators = 0;
        }
        self.at += 1;
        let goes_on = b"+-*/=<>&|!^%~?:,.@".contains(&self.last);
        let next = self.peek(0);
        if self.open.is_empty() && !goes_on && (next.is_ascii_alphabetic() || next == b'@') {
            self.lines.push(self.at);
        }
    }

    /// Scans a name between backquotes.
    fn escaped_name(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        if let Some(end) = rest.iter().position(|b| matches!(b, b'`' | b'\n')) {
            self.at += 1 + end;
        }
        (self.last, self.after_name) = (b'`', true);
        self.at = (self.at + 1).min(self.bytes.len());
    }

    /// Scans a name or a number; `first` is its first byte.
    fn word(&mut self, first: u8) {
        let from = self.at;
        while is_word(self.peek(0)) && !(self.peek(0) == 0xe2 && self.text[self.at..].starts_with(['“', '”', '„']))
        {
            self.at += 1;
        }
        (self.last, self.after_name) = (self.bytes[self.at - 1], !first.is_ascii_digit());
        if first.is_ascii_digit() {
            self.angles.clear();
        }
        self.operators += usize::from(first >= 0x80 && self.at - from <= 3);
    }

    /// Reads a block comment, `/* … */`, which may be nested.
    fn comment(&mut self) -> bool {
        let (from, mut depth) = (self.at, 0usize);
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => (depth, self.at) = (depth + 1, self.at + 2),
                (b'*', b'/') => {
                    (depth, self.at) = (depth - 1, self.at + 2);
                    if depth == 0 {
                        self.blank(from, self.at);
                        return true;
                    }
                }
                _ => self.at += 1,
            }
        }
        let place = self.span(from, from + 2);
        self.diagnostics.push(
            Diagnostic::error(Code::Syntax, place, "unterminated comment")
                .label("'/*' opened here")
                .help("close it with '*/'; every nested '/*' needs its own '*/'"),
        );
        self.incomplete = true;
        false
    }

    fn opens(&mut self, byte: u8) -> bool {
        // `a < b(c)` is not a list of types, and neither is a list with a closure.
        if byte == b'{' || self.after_name || matches!(self.last, b')' | b']' | b'"') {
            self.angles.clear();
        }
        self.push(Open { position: self.at, byte, quote: None })
    }

    fn push(&mut self, open: Open) -> bool {
        if self.open.len() >= MAX_NESTING {
            let message = format!("brackets are nested more than {MAX_NESTING} deep");
            self.diagnostics.push(
                Diagnostic::error(Code::TooDeep, self.span(self.at, self.at + 1), message)
                    .help("store the inner part in a constant"),
            );
            return false;
        }
        self.open.push(open);
        // After a name or a bracket, the bracket opens a subscript and not a list.
        if open.byte == b'[' && !self.after_name && !b")]}\"?!".contains(&self.last) {
            self.lists.opens(open.position, self.open.len());
        }
        self.operators = 0;
        (self.last, self.after_name) = (open.byte, false);
        self.at += 1;
        true
    }

    fn closes(&mut self, byte: u8) -> bool {
        let Some(open) = self.open.pop() else {
            let message = format!("unmatched '{}'", byte as char);
            let place = self.span(self.at, self.at + 1);
            self.diagnostics.push(Diagnostic::error(Code::UnclosedBracket, place, message).fix("remove it", place, ""));
            return false;
        };
        if closer(open.byte) != byte {
            match self.statement_end(open, self.at) {
                Some(end) => self.unclosed(open, end, end),
                None => self.unclosed(open, self.at, self.at + 1),
            }
            return false;
        }
        let depth = self.open.len();
        self.lists.closes(self.at, depth + 1);
        while self.angles.last().is_some_and(|a| a.depth > depth) {
            self.angles.pop();
        }
        self.operators = 0;
        (self.last, self.after_name) = (byte, false);
        self.at += 1;
        if byte == b'}' && self.goes_on() {
            self.out[open.position] = 0x04;
        }
        match open.quote {
            Some(quote) => self.string(quote),
            None => true,
        }
    }

    /// Whether the rest of the line continues the preceding expression, by Swift's list of tokens.
    fn goes_on(&self) -> bool {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        let is_word_of = |word: &&str| {
            rest.strip_prefix(*word).is_some_and(|rest| !rest.as_bytes().first().is_some_and(|b| is_word(*b)))
        };
        if rest.starts_with("//") || rest.starts_with("/*") {
            return false;
        }
        rest.starts_with([
            '{', '.', ',', '(', '[', ':', '?', '!', '=', '+', '-', '*', '/', '%', '<', '>', '&', '|', '^', '~',
        ]) || ["is", "as", "where"].iter().any(is_word_of)
    }

    fn unclosed(&mut self, open: Open, from: usize, to: usize) {
        let (opened, closing) = (open.byte as char, closer(open.byte) as char);
        self.diagnostics.push(
            Diagnostic::error(
                Code::UnclosedBracket,
                self.span(from, to),
                format!("expected '{closing}' to close '{opened}'"),
            )
            .label(format!("expected '{closing}' here"))
            .also(self.span(open.position, open.position + 1), format!("'{opened}' opened here")),
        );
    }

    /// Guesses the offset, before `limit`, at which an open bracket was meant to be closed: the end of the last line
    /// before a new statement that is indented no further than the line of the bracket. For a brace, the body must be
    /// indented.
    fn statement_end(&self, open: Open, limit: usize) -> Option<usize> {
        if open.quote.is_some() {
            return None;
        }
        let from = self.out[..open.position].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let indent = |at: usize| self.out[at..].iter().take_while(|b| **b == b' ').count();
        let (own, mut deeper) = (indent(from), open.byte != b'{');
        let mut end = None;
        let mut at = open.position;
        while let Some(next) = self.out[at..limit.min(self.out.len())].iter().position(|b| *b == b'\n') {
            let line = at + next + 1;
            let before = self.out[..line].iter().rposition(|b| !matches!(b, b' ' | b'\n')).map_or(0, |n| n + 1);
            let first = line + indent(line);
            at = line;
            match self.out.get(first) {
                None | Some(b'\n') => {}
                Some(_) if indent(line) > own => deeper = true,
                Some(b) if deeper && (is_word(*b) || matches!(b, b'@' | b'#')) => {
                    end = Some(before);
                    break;
                }
                Some(_) => break,
            }
        }
        end.filter(|_| {
            let rest = &self.text[at.min(self.text.len())..];
            !["else", "catch", "while"].iter().any(|word| rest.trim_start().starts_with(word))
        })
    }

    fn finish(&mut self) {
        if let Some(open) = self.open.last().copied() {
            let all = self.out.iter().rposition(|b| !matches!(b, b' ' | b'\n')).map_or(0, |n| n + 1);
            let end = self.statement_end(open, all).unwrap_or(all);
            self.unclosed(open, end, end);
            self.incomplete = true;
        } else if let Some((from, _)) = self.branches.last().copied() {
            let place = self.span(from, from + 3);
            self.diagnostics.push(Diagnostic::error(Code::Syntax, place, "this '#if' has no '#endif'"));
            self.incomplete = true;
        }
    }

    fn angle_opens(&mut self) {
        let next = self.peek(1);
        let fits = is_word(next) && !next.is_ascii_digit() || matches!(next, b'(' | b'[' | b'@' | b'\n' | b'`');
        let adjacent = self.at > 0 && (is_word(self.bytes[self.at - 1]) || self.bytes[self.at - 1] == b'`');
        if self.after_name && adjacent && fits {
            self.angles.push(Angle { position: self.at, depth: self.open.len() });
        } else {
            self.angles.clear();
            self.operators += 1;
        }
    }

    /// Reads the character `>`. By Swift's rule, the character ends generic arguments if there is a matching `<` and no
    /// operand can follow.
    fn angle_closes(&mut self) {
        if self.at > 0 && self.bytes[self.at - 1] == b'-' {
            return;
        }
        let depth = self.open.len();
        let Some(angle) = self.angles.pop_if(|a| a.depth == depth) else {
            self.angles.clear();
            self.operators += 1;
            return;
        };
        let enclosed = self.angles.last().is_some_and(|a| a.depth == depth);
        let rest = self.bytes[self.at + 1..].iter().take(64);
        let next = rest.copied().find(|b| *b != b' ').unwrap_or(b'\n');
        let follows = matches!(
            next,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'.' | b':' | b'\n' | b'\r' | b'!' | b'?'
        );
        if follows || enclosed && next == b'>' {
            self.out[angle.position] = 0x01;
            self.out[self.at] = 0x02;
        } else {
            self.angles.clear();
        }
    }
}
