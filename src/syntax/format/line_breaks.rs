//! Line breaks: determines the line breaks and the indentation of lines.
//!
//! Line breaks are those of the author, except that a block or list that is partly on several lines gets the breaks
//! that it lacks (`forced_breaks`).

use crate::cancel;
use crate::syntax::format::spacing::is_apart;
use crate::syntax::format::token::{Kind, Token};
use hashbrown::HashMap;

/// The number of spaces in one step of indentation.
const STEP: usize = 4;
/// The minimum number of spaces before a comment at the end of a line.
const GAP: usize = 2;

/// Formats tokens as text. `quotients` are the offsets of the comments that are divisors in other languages.
pub(crate) fn written(tokens: &[Token<'_>], quotients: &[usize]) -> String {
    let forced = forced_breaks(tokens);
    let mut writer = Writer {
        tokens,
        quotients,
        forced,
        out: String::new(),
        column: 0,
        open: vec![],
        starts: HashMap::new(),
        indent: 0,
    };
    for k in cancel::checking(0..tokens.len()) {
        writer.token(k);
    }
    if !writer.out.is_empty() {
        writer.out.push('\n');
    }
    writer.out
}

/// An open bracket around the current token.
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
    /// The offsets of the comments that are divisors in other languages, in ascending order.
    quotients: &'w [usize],
    /// Whether a line break is added before each token.
    forced: Vec<bool>,
    out: String,
    /// The number of characters in the current line.
    column: usize,
    open: Vec<Level>,
    /// The indentation of the lines on which statements begin, by the index of the token.
    starts: HashMap<usize, usize>,
    /// The indentation of the current line, in steps.
    indent: usize,
}

impl Writer<'_, '_> {
    fn token(&mut self, k: usize) {
        let token = self.tokens[k];
        let before = k.checked_sub(1).map(|n| self.tokens[n]);
        let breaks = breaks(before.as_ref(), &token).max(usize::from(self.forced[k]));
        match before {
            None => self.begin(k),
            Some(_) if breaks > 0 => {
                self.out.push_str(if breaks > 1 { "\n\n" } else { "\n" });
                self.begin(k);
            }
            // The warning about a divisor depends on the space before it, so that the space is unchanged.
            Some(_) if self.quotients.binary_search(&token.at).is_ok() => {
                self.push(if token.is_apart { " " } else { "" });
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
            Kind::Close | Kind::AngleClose | Kind::EndBrace => {
                self.open.pop();
                return;
            }
            Kind::Body(owner) => self.starts.get(&owner).copied().unwrap_or(self.indent),
            Kind::Brace | Kind::Open | Kind::AngleOpen => self.indent,
            _ => return,
        };
        let is_broken = |next: &Token<'_>| next.breaks > 0 || next.kind == Kind::LineComment || self.forced[k + 1];
        let ends_line = self.tokens.get(k + 1).is_some_and(is_broken);
        self.open.push(Level { outside, is_brace: !matches!(token.kind, Kind::Open | Kind::AngleOpen), ends_line });
    }
}

/// An open bracket, and the line breaks directly inside it so far.
struct Pair {
    /// The index of the bracket.
    open: usize,
    /// The index of the first token of the content; in a closure, the token after its parameters.
    first: usize,
    /// Whether a line break is directly inside, not inside nested brackets.
    has_breaks: bool,
}

/// Returns whether a line break is added before each token. A block that contains a line break gets a line break after
/// its opening brace or the parameters of the closure, and another before its closing brace. A list with a line break
/// after its opening bracket gets a line break before its closing bracket.
fn forced_breaks(tokens: &[Token<'_>]) -> Vec<bool> {
    let mut forced = vec![false; tokens.len()];
    let mut pairs: Vec<Pair> = vec![];
    for (k, token) in tokens.iter().enumerate() {
        if let Some(pair) = pairs.last_mut() {
            pair.has_breaks |= breaks(k.checked_sub(1).map(|n| &tokens[n]), token) > 0 && k > pair.first;
        }
        match token.kind {
            Kind::Open | Kind::AngleOpen => pairs.push(Pair { open: k, first: k + 1, has_breaks: false }),
            Kind::Body(_) | Kind::Brace => {
                pairs.push(Pair { open: k, first: first_of_block(tokens, k), has_breaks: false });
            }
            Kind::Close | Kind::AngleClose | Kind::EndBrace => {
                let Some(Pair { open, first, has_breaks }) = pairs.pop() else { continue };
                let is_broken = |k: usize| tokens.get(k).is_some_and(|token| token.breaks > 0);
                if token.kind != Kind::EndBrace {
                    forced[k] |= is_broken(open + 1) && k > open + 1;
                } else if has_breaks || is_broken(first) && first < k {
                    let follows_comment = tokens[first].is_comment();
                    forced[first] |= !follows_comment && first < k;
                    forced[k] |= first < k;
                }
            }
            _ => {}
        }
    }
    forced
}

/// Returns the index of the first token inside a block: in a closure, the token after `in`.
fn first_of_block(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (k, token) in tokens.iter().enumerate().skip(open + 1) {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 0 => break,
            Kind::Close => depth -= 1,
            Kind::Word if depth == 0 && token.text == "in" && k > open + 1 => return k + 1,
            Kind::Word if depth == 0 && matches!(token.text, "for" | "let" | "var" | "if" | "while" | "return") => {
                break;
            }
            Kind::Brace | Kind::Body(_) | Kind::EndBrace | Kind::Semicolon => break,
            _ if depth == 0 && token.breaks > 0 => break,
            _ => {}
        }
    }
    open + 1
}

/// Returns the number of line breaks between two tokens; two make an empty line.
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
