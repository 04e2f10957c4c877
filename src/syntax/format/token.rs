//! Tokens: splits a text into tokens and comments for the formatter.

use crate::cancel;
use crate::syntax::parser::{Mark, Role};
use crate::syntax::scan::is_word;

/// A token of the formatter, which may be a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub text: &'t str,
    pub kind: Kind,
    /// The byte offset of the token in the text.
    pub at: usize,
    /// The number of characters before a line comment in its line; 0 for other tokens.
    pub column: usize,
    /// The number of characters by which the line of the token is indented.
    pub indent: usize,
    /// Whether spaces precede the token.
    pub is_apart: bool,
    /// The number of line breaks before the token.
    pub breaks: usize,
    /// Whether the token begins a case of a `switch`.
    pub is_case: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Word,
    /// A literal, or another part of the text that is copied verbatim.
    Atom,
    Prefix,
    Infix,
    /// An infix operator without spaces around it.
    Tight,
    Postfix,
    Operator,
    /// An opening bracket: `(`, `[`.
    Open,
    /// A closing bracket: `)`, `]`.
    Close,
    /// The opening brace `{` of a body, with the offset at which the statement of the body begins.
    Body(usize),
    /// Any other opening brace, `{`.
    Brace,
    /// A closing brace, `}`.
    EndBrace,
    AngleOpen,
    AngleClose,
    Comma,
    Semicolon,
    Colon,
    Member,
    Implicit,
    /// A line comment: `// …`.
    LineComment,
    /// A block comment: `/* … */`.
    Comment,
    /// A line that the compiler does not read: `#if`, an inactive branch, `#!`.
    Line,
    Other,
}

impl Token<'_> {
    /// Whether two tokens have the same text and kind, at any offsets.
    pub fn is_equal(&self, other: &Token<'_>) -> bool {
        self.text == other.text && std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
    }

    pub fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::Comment)
    }

    pub fn closes(&self) -> bool {
        matches!(self.kind, Kind::Close | Kind::AngleClose | Kind::EndBrace)
    }
}

/// Splits a text into tokens, given the copy that the grammar reads and the syntax roles that were marked in it.
pub(crate) fn tokens<'t>(text: &'t str, copy: &str, marks: &[Mark]) -> Vec<Token<'t>> {
    let mut lexer =
        Lexer { text, copy: copy.as_bytes(), marks, mark: 0, at: 0, line: 0, indent: 0, apart: false, breaks: 0 };
    let mut tokens = vec![];
    while lexer.at < text.len() {
        if tokens.len() % cancel::CHECK_INTERVAL == 0 {
            cancel::check();
        }
        tokens.extend(lexer.next());
    }
    tighten(&mut tokens);
    tokens
}

struct Lexer<'t, 'c> {
    text: &'t str,
    copy: &'c [u8],
    marks: &'c [Mark],
    /// The index of the first mark at or after the current offset.
    mark: usize,
    at: usize,
    /// The offset at which the line begins, and the number of characters by which it is indented.
    line: usize,
    indent: usize,
    apart: bool,
    breaks: usize,
}

impl<'t> Lexer<'t, '_> {
    /// Reads the next token; returns nothing after a space or a line break.
    fn next(&mut self) -> Option<Token<'t>> {
        let first = self.text.get(self.at..)?.chars().next()?;
        match first {
            '\n' => {
                self.at += 1;
                (self.line, self.indent, self.apart) = (self.at, self.spaces(), false);
                self.breaks += 1;
                return None;
            }
            ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{a0}' => {
                self.at += first.len_utf8();
                self.apart = true;
                return None;
            }
            _ => {}
        }
        let is_case = self.skip_marks();
        let (kind, end) = if self.copy.get(self.at) == Some(&b' ') { self.unread() } else { self.read(first) };
        let text = self.text.get(self.at..end)?;
        let token = Token {
            text: if kind == Kind::LineComment || kind == Kind::Line { text.trim_end_matches('\r') } else { text },
            kind,
            at: self.at,
            column: if kind == Kind::LineComment { self.column() } else { 0 },
            indent: self.indent,
            is_apart: self.apart,
            breaks: self.breaks,
            is_case,
        };
        (self.at, self.apart, self.breaks) = (end, false, 0);
        if let Some(last) = text.rfind('\n') {
            self.line = token.at + last + 1;
            self.indent = 0;
        }
        Some(token)
    }

    /// Returns the number of characters before the current offset in its line.
    fn column(&self) -> usize {
        self.text.get(self.line..self.at).map_or(0, |before| before.chars().count())
    }

    /// Returns the number of spaces at the beginning of the current line.
    fn spaces(&self) -> usize {
        self.text.as_bytes()[self.at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// Advances to the marks at the current offset; returns whether a case of a `switch` begins there.
    fn skip_marks(&mut self) -> bool {
        while self.marks.get(self.mark).is_some_and(|mark| mark.start < self.at) {
            self.mark += 1;
        }
        self.here().any(|mark| mark.role == Role::Case)
    }

    fn here(&self) -> impl Iterator<Item = &Mark> {
        self.marks[self.mark.min(self.marks.len())..].iter().take_while(|mark| mark.start == self.at)
    }

    /// Returns the kind and the end of a token that the grammar does not read.
    fn unread(&self) -> (Kind, usize) {
        let rest = &self.text[self.at..];
        let line = self.at + rest.find('\n').unwrap_or(rest.len());
        if rest.starts_with("//") {
            return (Kind::LineComment, line);
        }
        match rest.starts_with("/*").then(|| comment(rest)).flatten() {
            Some(length) => (Kind::Comment, self.at + length),
            None => (Kind::Line, line),
        }
    }

    fn read(&self, first: char) -> (Kind, usize) {
        let marked = self.here().filter(|mark| mark.role != Role::Case).max_by_key(|mark| mark.end);
        if let Some(mark) = marked {
            let kind = match mark.role {
                Role::Atom | Role::Case => Kind::Atom,
                Role::Prefix => Kind::Prefix,
                Role::Infix => Kind::Infix,
                Role::Postfix => Kind::Postfix,
                Role::Operator => Kind::Operator,
                Role::AngleOpen => Kind::AngleOpen,
                Role::AngleClose => Kind::AngleClose,
                Role::Member => Kind::Member,
                Role::Implicit => Kind::Implicit,
                Role::Body { owner } => Kind::Body(owner),
            };
            return (kind, mark.end);
        }
        let one = |kind| (kind, self.at + first.len_utf8());
        match first {
            '(' | '[' => one(Kind::Open),
            ')' | ']' => one(Kind::Close),
            '{' => one(Kind::Brace),
            '}' => one(Kind::EndBrace),
            ',' => one(Kind::Comma),
            ';' => one(Kind::Semicolon),
            ':' => one(Kind::Colon),
            '=' => one(Kind::Infix),
            '-' if self.text[self.at..].starts_with("->") => (Kind::Infix, self.at + 2),
            '&' => one(Kind::Infix),
            '`' => (Kind::Word, self.quoted()),
            '$' => (Kind::Word, self.word()),
            _ if first.is_ascii() && is_word(first as u8) || !first.is_ascii() => (Kind::Word, self.word()),
            _ => one(Kind::Other),
        }
    }

    /// Returns the end of a name in backquotes at the current offset.
    fn quoted(&self) -> usize {
        let rest = &self.text[self.at + 1..];
        self.at + 1 + rest.find(['`', '\n']).map_or(rest.len(), |n| n + 1)
    }

    /// Returns the end of a word at the current offset: after its last letter, or where an operator begins.
    fn word(&self) -> usize {
        let bytes = self.text.as_bytes();
        let marked =
            self.marks[self.mark.min(self.marks.len())..].iter().map(|mark| mark.start).find(|at| *at > self.at);
        let limit = marked.unwrap_or(bytes.len()).min(bytes.len());
        let mut end = self.at + usize::from(bytes.get(self.at) == Some(&b'$'));
        while end < limit && is_word(bytes[end]) {
            end += 1;
        }
        end.max(self.at + 1)
    }
}

/// Returns the length of the comment at the beginning of a text. Block comments may be nested.
fn comment(text: &str) -> Option<usize> {
    let (bytes, mut at, mut depth) = (text.as_bytes(), 0, 0_usize);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
            (b'*', Some(b'/')) => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// Removes the blanks around powers, and around ranges between single words and literals: `x^2`, `0..<n`. The blanks
/// around other ranges are preserved: `2 * i ..< count`.
fn tighten(tokens: &mut [Token<'_>]) {
    for k in 1..tokens.len().saturating_sub(1) {
        let [before, operator, after] = &tokens[k - 1..=k + 1] else { continue };
        let fits = operator.kind == Kind::Infix
            && operator.breaks == 0
            && after.breaks == 0
            && ends_operand(before)
            && begins_operand(after, tokens.get(k + 2));
        let is_tight = match operator.text {
            "^" | "**" => fits,
            "..<" | "..." => fits && (!operator.is_apart || is_single(tokens, k)),
            _ => false,
        };
        if is_tight {
            tokens[k].kind = Kind::Tight;
        }
    }
}

/// Whether both operands of the operator `k` are single words or literals.
fn is_single(tokens: &[Token<'_>], k: usize) -> bool {
    let is_plain =
        |n: Option<usize>| n.and_then(|n| tokens.get(n)).is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Atom));
    let is_more = |n: Option<usize>| {
        n.and_then(|n| tokens.get(n)).is_some_and(|t| match t.kind {
            Kind::Infix => ARITHMETIC.contains(&t.text),
            Kind::Member | Kind::Tight | Kind::Prefix | Kind::Postfix => true,
            Kind::Open => !t.is_apart,
            _ => false,
        })
    };
    is_plain(k.checked_sub(1)) && is_plain(Some(k + 1)) && !is_more(k.checked_sub(2)) && !is_more(Some(k + 2))
}

const ARITHMETIC: [&str; 8] = ["+", "-", "*", "/", "%", "·", "×", "&+"];

/// Whether a token ends an operand, so that an operator may follow it without a space.
fn ends_operand(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Word | Kind::Atom | Kind::Close | Kind::EndBrace => true,
        Kind::Postfix => token.text.ends_with(['\'', '′', '″', '²', '³']),
        _ => false,
    }
}

fn begins_operand(token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    match token.kind {
        Kind::Word | Kind::Atom | Kind::Open => true,
        Kind::Prefix => {
            token.text == "-" && next.is_some_and(|next| matches!(next.kind, Kind::Word | Kind::Atom | Kind::Open))
        }
        _ => false,
    }
}
