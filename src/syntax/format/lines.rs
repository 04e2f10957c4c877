//! Line layout: computes line breaks and indentation.

use crate::cancel;
use crate::syntax::format::spacing::is_apart;
use crate::syntax::format::token::{Kind, Token};
use hashbrown::HashMap;

/// The number of spaces in one step of indentation.
const STEP: usize = 4;
/// The minimum number of spaces before a comment at the end of a line.
const GAP: usize = 2;

/// Formats tokens as text.
pub(crate) fn written(tokens: &[Token<'_>]) -> String {
    let mut writer = Writer { tokens, out: String::new(), column: 0, open: vec![], starts: HashMap::new(), indent: 0 };
    for k in cancel::checking(0..tokens.len()) {
        writer.token(k);
    }
    if !writer.out.is_empty() {
        writer.out.push('\n');
    }
    writer.out
}

/// A bracket that is open at the current token.
#[derive(Clone, Copy)]
struct Level {
    /// The indentation, in steps, of a line that begins with the closing bracket.
    outside: usize,
    is_brace: bool,
    /// Whether a line break follows the open bracket.
    ends_line: bool,
}

struct Writer<'w, 't> {
    tokens: &'w [Token<'t>],
    out: String,
    /// The number of characters in the current line.
    column: usize,
    open: Vec<Level>,
    /// The indentation of the lines on which statements begin, by the position of the token.
    starts: HashMap<usize, usize>,
    /// The indentation of the current line, in steps.
    indent: usize,
}

impl Writer<'_, '_> {
    fn token(&mut self, k: usize) {
        let token = self.tokens[k];
        let before = k.checked_sub(1).map(|n| self.tokens[n]);
        let breaks = breaks(before.as_ref(), &token);
        match before {
            None => self.begin(k),
            Some(_) if breaks > 0 => {
                self.out.push_str(if breaks > 1 { "\n\n" } else { "\n" });
                self.begin(k);
            }
            Some(_) if token.kind == Kind::LineComment => self.fill(&token),
            Some(before) => {
                let last = k.checked_sub(2).map(|n| &self.tokens[n]);
                if is_apart(last, &before, &token) {
                    self.push(" ");
                }
            }
        }
        self.starts.insert(token.at, self.indent);
        self.brackets(k);
        self.push(token.text);
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(last) => self.column = text[last + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    /// Begins a new line with a token.
    fn begin(&mut self, k: usize) {
        let token = &self.tokens[k];
        self.column = 0;
        if token.kind == Kind::Line {
            self.push(&" ".repeat(token.indent));
            return;
        }
        self.indent = self.indentation(k);
        self.push(&" ".repeat(STEP * self.indent));
    }

    /// Adds spaces before a comment at the end of a line: the column of the comment moves with the line, and the
    /// minimum gap is preserved.
    fn fill(&mut self, comment: &Token<'_>) {
        let moved = (comment.column + STEP * self.indent).saturating_sub(comment.indent);
        let to = moved.max(self.column + GAP);
        self.push(&" ".repeat(to - self.column));
    }

    fn indentation(&self, k: usize) -> usize {
        let Some(next) = (k..self.tokens.len()).find(|n| !self.tokens[*n].is_comment()) else {
            return self.inside();
        };
        let token = &self.tokens[next];
        let level = self.open.last();
        if token.closes() {
            // A comment before the bracket belongs to the content of the brackets.
            return if next == k { level.map_or(0, |level| level.outside) } else { self.inside() };
        }
        if token.is_case {
            return level.map_or(0, |level| level.outside);
        }
        self.inside() + usize::from(self.goes_on(next))
    }

    /// Returns the indentation of lines inside the open brackets.
    fn inside(&self) -> usize {
        self.open.last().map_or(0, |level| level.outside + 1)
    }

    /// Whether a token continues a statement that began on an earlier line.
    fn goes_on(&self, k: usize) -> bool {
        let level = self.open.last();
        if level.is_some_and(|level| !level.is_brace && !level.ends_line) {
            return false;
        }
        let token = &self.tokens[k];
        let Some(before) = (0..k).rev().map(|n| &self.tokens[n]).find(|t| !t.is_comment() && t.kind != Kind::Line)
        else {
            return false;
        };
        let is_list = level.is_some_and(|level| !level.is_brace);
        match before.kind {
            Kind::Infix => return true,
            Kind::Comma => return !is_list,
            _ => {}
        }
        match token.kind {
            Kind::Infix | Kind::Member | Kind::Colon => true,
            Kind::Word => matches!(token.text, "throws" | "rethrows"),
            _ => false,
        }
    }

    fn brackets(&mut self, k: usize) {
        let token = &self.tokens[k];
        let outside = match token.kind {
            Kind::Close | Kind::EndBrace => {
                self.open.pop();
                return;
            }
            Kind::Body(owner) => self.starts.get(&owner).copied().unwrap_or(self.indent),
            Kind::Brace | Kind::Open => self.indent,
            _ => return,
        };
        let ends_line = self.tokens.get(k + 1).is_some_and(|next| next.breaks > 0 || next.kind == Kind::LineComment);
        self.open.push(Level { outside, is_brace: token.kind != Kind::Open, ends_line });
    }
}

/// Returns the number of line breaks between two tokens; two line breaks make an empty line.
fn breaks(before: Option<&Token<'_>>, token: &Token<'_>) -> usize {
    let Some(before) = before else { return 0 };
    let follows = matches!(token.text, "else" | "catch") && before.kind == Kind::EndBrace;
    if follows {
        return 0;
    }
    let must = matches!(before.kind, Kind::LineComment | Kind::Line) || token.kind == Kind::Line;
    let is_edge = matches!(before.kind, Kind::Open | Kind::Brace | Kind::Body(_)) || token.closes();
    token.breaks.min(if is_edge { 1 } else { 2 }).max(usize::from(must))
}
