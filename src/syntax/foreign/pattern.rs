//! Patterns of foreign code: how a row of the tables matches tokens, and how its replacement is written.
//!
//! A pattern is a sequence of tokens separated by blanks. `§` stands for the beginning of a statement, `~` for no blank
//! between two tokens, `_` for a blank, `↵` for line breaks, `#body` for a place that is not among the parameters of a
//! closure, `#end` for the end of a line, `#last` for the end of an argument or an element, and `$` and a letter for a
//! part of the code:
//!
//! | letter | part |
//! | --- | --- |
//! | `x` `y` `z` | an operand: a name, a number, a call, parentheses |
//! | `e` `d` `c` | an expression without commas |
//! | `a` | arguments or parameters, possibly none |
//! | `n` `m` `k` | a name |
//! | `s` | a string literal |
//! | `i` | a number |
//! | `t` `u` `v` | a type |
//! | `f` | a function: a closure in braces, a name, or a member |
//! | `r` | the rest of the line, without a final semicolon |
//! | `b` `g` `h` | the indented lines that follow |
//! | `q` | the statements up to the closing brace |
//!
//! `<class>` stands for a word of a word class such as `trig`. A replacement contains the same letters; `$(x)` adds
//! parentheses unless the part is an operand, `$[s]` writes the values in a format string as interpolations, `$[a]` writes
//! parameters with types, `$[i]` and `$[z]` write an index that counted from 1, and `$[e]`, `$[d]`, `$[c]` and `$[r]` write
//! an expression of a language whose quotients keep their fractions.

use super::token::{Kind, Token, text_of};
use super::word_classes::{class, type_here, word_here};

/// The parts that a pattern has matched: for each letter, the code.
pub(super) struct Match {
    pub from: usize,
    pub to: usize,
    /// The indices of the first matched token, and of the token after the last matched one.
    pub tokens: (usize, usize),
    parts: Vec<(String, String)>,
}

/// The code that is searched.
pub(super) struct Code<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
}

/// Words that begin or connect statements and therefore do not occur inside an expression.
const STATEMENT_WORDS: &[&str] = &[
    "let", "var", "return", "func", "if", "else", "for", "while", "switch", "case", "import", "struct", "enum", "in",
    "break", "continue", "pass",
];

impl<'t> Code<'t> {
    pub(super) fn word(&self, at: usize) -> Option<&'t str> {
        self.tokens.get(at).map(|token| text_of(self.text, *token))
    }

    pub(super) fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    pub(super) fn adjacent(&self, at: usize) -> bool {
        at > 0 && self.tokens.get(at).is_some_and(|token| self.tokens[at - 1].to == token.from)
    }

    pub(super) fn begins_statement(&self, at: usize) -> bool {
        at == 0 || matches!(self.tokens[at - 1].kind, Kind::LineBreak) || matches!(self.word(at - 1), Some(";" | "{"))
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        if from >= to { "" } else { &self.text[self.tokens[from].from..self.tokens[to - 1].to] }
    }

    /// Whether a type begins at a token, and not the value of a label.
    pub(super) fn begins_type(&self, at: usize) -> bool {
        match self.word(at) {
            Some("(") => self.closed(at).is_some_and(|end| self.word(end) == Some("->")),
            Some("@" | "inout" | "some" | "any") => true,
            word => word.is_some_and(|word| word.starts_with(char::is_uppercase)),
        }
    }

    /// Returns the index of the token after the bracket that closes the bracket at `at`.
    pub(super) fn closed(&self, at: usize) -> Option<usize> {
        let mut depth = 0usize;
        for next in at..self.tokens.len() {
            match self.tokens[next].kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(next + 1);
            }
        }
        None
    }

    /// Returns the token after an operand.
    pub(super) fn operand(&self, at: usize) -> Option<usize> {
        self.operands(at).first().copied()
    }

    /// Returns the ends of the operands that begin at a token, the longest first: `a.b(c)`, `a.b`, `a`.
    fn operands(&self, at: usize) -> Vec<usize> {
        let Some(first) = self.first_part(at) else { return vec![] };
        let mut ends = vec![first];
        while let Some(end) = ends.last().and_then(|end| self.next_part(*end)) {
            ends.push(end);
        }
        ends.reverse();
        ends
    }

    /// Returns the token after the part of an operand before its calls, members and subscripts.
    fn first_part(&self, at: usize) -> Option<usize> {
        let end = match self.tokens.get(at)?.kind {
            Kind::Word if STATEMENT_WORDS.contains(&self.word(at)?) => return None,
            Kind::Word | Kind::Text => at + 1,
            // A number directly before a name is a factor of a product.
            Kind::Number
                if self.adjacent(at + 1) && (self.is(at + 1, Kind::Word) || self.word(at + 1) == Some("(")) =>
            {
                self.operand(at + 1)?
            }
            Kind::Number => at + 1,
            Kind::Open if self.word(at) != Some("{") => self.closed(at)?,
            Kind::Symbol if matches!(self.word(at)?, "-" | "√") && self.adjacent(at + 1) => {
                return self.operand(at + 1);
            }
            _ => return None,
        };
        Some(end)
    }

    /// Returns the token after a call, a subscript or a member that continues an operand.
    fn next_part(&self, end: usize) -> Option<usize> {
        if !self.adjacent(end) {
            // A trailing closure is part of an operand if a member follows: `xs.map { … }.sum()`.
            let close = (self.word(end) == Some("{")).then(|| self.closed(end)).flatten()?;
            let is_member = self.word(close) == Some(".") && self.adjacent(close);
            return (is_member && !self.is(end - 1, Kind::LineBreak)).then_some(close);
        }
        match self.word(end)? {
            "(" | "[" => self.closed(end),
            "." if self.is(end + 1, Kind::Word) || self.is(end + 1, Kind::Number) => Some(end + 2),
            "'" | "′" | "²" | "³" => Some(end + 1),
            _ => None,
        }
    }

    /// Returns an operand with its power, as in `x^2`.
    fn powered(&self, at: usize) -> Option<usize> {
        let end = self.operand(at)?;
        let power = matches!(self.word(end), Some("^" | "**")) && self.adjacent(end);
        Some(if power { self.operand(end + 1).unwrap_or(end) } else { end })
    }

    /// Returns the ends of the expressions that begin at a token, the shortest first.
    fn expressions(&self, at: usize, with_commas: bool) -> Vec<usize> {
        let mut ends = vec![];
        let mut next = at;
        while let Some(token) = self.tokens.get(next) {
            let text = text_of(self.text, *token);
            let stops = match token.kind {
                Kind::Close | Kind::LineBreak | Kind::Comment => true,
                Kind::Word => STATEMENT_WORDS.contains(&text) && next == at || matches!(text, "let" | "var"),
                // A parameter may have a default value.
                _ => text == ";" || matches!(text, "," | "=") && !with_commas,
            };
            if stops {
                break;
            }
            next = if token.kind == Kind::Open { self.closed(next).unwrap_or(next) } else { next + 1 };
            if next <= *ends.last().unwrap_or(&at) {
                break;
            }
            ends.push(next);
        }
        ends
    }

    /// Returns the end of the line, without a comment and a final semicolon.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let is_end = |token: &Token| matches!(token.kind, Kind::LineBreak | Kind::Comment);
        let mut depth = 0usize;
        let mut end = at;
        while let Some(token) = self.tokens.get(end) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => depth -= 1,
                _ if is_end(token) && depth == 0 => break,
                _ => {}
            }
            end += 1;
        }
        while end > at && self.word(end - 1) == Some(";") {
            end -= 1;
        }
        end
    }

    /// Returns the end of the lines below the current one that are indented further than the line of `first`.
    pub(super) fn indented(&self, first: usize, at: usize) -> Option<usize> {
        let column = |at: usize| {
            let from = self.tokens[at].from;
            from - self.text[..from].rfind('\n').map_or(0, |n| n + 1)
        };
        let own = column(first);
        let mut end = at;
        let mut next = at;
        while self.is(next, Kind::LineBreak) {
            while self.is(next, Kind::LineBreak) {
                next += 1;
            }
            if next >= self.tokens.len() || column(next) <= own {
                break;
            }
            while next < self.tokens.len() && !self.is(next, Kind::LineBreak) {
                next += 1;
            }
            end = next;
        }
        (end > at).then_some(end)
    }

    /// Whether a token may belong to the parameters of a closure, between `{` and `in`.
    fn is_among_parameters(&self, at: usize) -> bool {
        for before in (0..at).rev() {
            match self.word(before) {
                Some("{") => return true,
                Some("," | "->" | "-" | ">" | ":" | "(" | ")") => {}
                Some(word) if self.is(before, Kind::Word) && !STATEMENT_WORDS.contains(&word) => {}
                _ => return false,
            }
        }
        false
    }

    /// Matches a pattern at a token.
    pub(super) fn matches(&self, pattern: &str, at: usize) -> Option<Match> {
        let mut parts = vec![];
        let items: Vec<&str> = pattern.split(' ').filter(|item| !item.is_empty()).collect();
        let end = self.items(&items, at, at, &mut parts)?;
        if end == at {
            return None;
        }
        let (from, to) = (self.tokens[at].from, self.tokens[end - 1].to);
        Some(Match { from, to, tokens: (at, end), parts })
    }

    fn items(&self, items: &[&str], first: usize, at: usize, parts: &mut Vec<(String, String)>) -> Option<usize> {
        let Some((item, rest)) = items.split_first() else { return Some(at) };
        let count = parts.len();
        let mut ends = self.ends(item, first, at);
        // The last item of a pattern extends as far as possible.
        if rest.is_empty() && matches!(*item, "$e" | "$d" | "$c" | "$a") {
            ends.reverse();
        }
        for end in ends {
            if let Some(name) = item.strip_prefix('$').or_else(|| class_name(item)).filter(|name| !name.is_empty()) {
                parts.push((name.to_owned(), self.slice(at, end).to_owned()));
            }
            if let Some(end) = self.items(rest, first, end, parts) {
                return Some(end);
            }
            parts.truncate(count);
        }
        None
    }

    /// Returns the possible ends of one item of a pattern.
    fn ends(&self, item: &str, first: usize, at: usize) -> Vec<usize> {
        let one = |fits: bool| if fits { vec![at + 1] } else { vec![] };
        match item {
            "§" => return if self.begins_statement(at) { vec![at] } else { vec![] },
            // The items `~` and `_` match if the adjacent tokens touch each other, or if they do not.
            "#body" => return if self.is_among_parameters(at) { vec![] } else { vec![at] },
            "~" => return if self.adjacent(at) { vec![at] } else { vec![] },
            "_" => return if self.adjacent(at) { vec![] } else { vec![at] },
            "↵" => {
                let breaks = self.tokens[at.min(self.tokens.len())..].iter().take_while(|t| t.kind == Kind::LineBreak);
                let count = breaks.count();
                return if count > 0 { vec![at + count] } else { vec![] };
            }
            "#end" => {
                let ended = at >= self.tokens.len() || matches!(self.tokens[at].kind, Kind::LineBreak | Kind::Comment);
                return if ended { vec![at] } else { vec![] };
            }
            "#last" => {
                let ended = self.is(at, Kind::Close) || self.word(at) == Some(",");
                return if ended { vec![at] } else { vec![] };
            }
            _ => {}
        }
        if let Some(class_name) = class_name(item) {
            return one(self.word(at).is_some_and(|word| class(class_name).contains(&word)));
        }
        let Some(letter) = item.strip_prefix('$').filter(|letter| !letter.is_empty()) else {
            return one(self.word(at) == Some(item));
        };
        match letter {
            "0" => one(self.word(at) == Some("$0")),
            "x" | "y" | "z" => self.operands(at),
            "p" => self.powered(at).into_iter().collect(),
            "e" | "d" | "c" => self.expressions(at, false),
            "a" => [vec![at], self.expressions(at, true)].concat(),
            "n" | "m" | "k" => one(self.is(at, Kind::Word) && !STATEMENT_WORDS.contains(&self.word(at).unwrap_or(""))),
            "f" if self.word(at) == Some("{") => self.closed(at).into_iter().collect(),
            "f" if self.is(at, Kind::Word) => self.operands(at),
            "s" => one(self.is(at, Kind::Text)),
            "i" => one(self.is(at, Kind::Number)),
            "t" | "u" | "v" => self.ty(at).into_iter().collect(),
            "r" => {
                let end = self.line_end(at);
                if end > at { vec![end] } else { vec![] }
            }
            "b" | "g" | "h" => self.indented(first, at).into_iter().collect(),
            "q" if at > 0 && self.word(at - 1) == Some("{") => {
                self.closed(at - 1).map(|end| end - 1).filter(|end| *end > at).into_iter().collect()
            }
            _ => vec![],
        }
    }

    /// Returns the end of a type: a name, with arguments in angle brackets or brackets after it.
    fn ty(&self, at: usize) -> Option<usize> {
        if self.word(at) == Some("[") {
            return self.closed(at);
        }
        if !self.is(at, Kind::Word) || STATEMENT_WORDS.contains(&self.word(at)?) {
            return None;
        }
        let mut end = at + 1;
        if self.word(end) == Some("<") && self.adjacent(end) {
            let close = (end..self.tokens.len().min(end + 12)).find(|i| self.word(*i) == Some(">"))?;
            end = close + 1;
        }
        while self.word(end) == Some("[") && self.word(end + 1) == Some("]") {
            end += 2;
        }
        Some(end)
    }
}

fn class_name(item: &str) -> Option<&str> {
    item.strip_prefix('<')?
        .strip_suffix('>')
        .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase()))
}

impl Match {
    /// Writes a replacement.
    pub(super) fn write(&self, replacement: &str) -> String {
        let mut out = String::new();
        let mut rest = replacement;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let marked = rest.strip_prefix('[').and_then(|marked| marked.split_once(']'));
            if let Some((letter, after)) = marked.filter(|(letter, _)| CONVERTED.contains(letter)) {
                out.push_str(&converted(letter, self.part(letter).unwrap_or_default()));
                rest = after;
                continue;
            }
            let grouped =
                rest.starts_with('(') && rest[1..].find(')').is_some_and(|end| self.part(&rest[1..=end]).is_some());
            let name: String = match grouped {
                true => rest[1..].chars().take_while(|c| *c != ')').collect(),
                false => rest.chars().take_while(|c| c.is_ascii_lowercase()).collect(),
            };
            // The longest prefix that is the name of a part: `$ex` is `$e` and `x`.
            let name = (1..=name.len()).rev().map(|n| &name[..n]).find(|name| self.part(name).is_some());
            let Some(name) = name else {
                out.push('$');
                continue;
            };
            let part = self.part(name).unwrap_or_default();
            rest = &rest[name.len() + if grouped { 2 } else { 0 }..];
            match name {
                "t" | "u" | "v" | "declarer" => out.push_str(&type_here(part)),
                _ if name.len() > 1 => out.push_str(&word_here(name, part)),
                _ if grouped && !is_operand(part) => out.extend(["(", part, ")"]),
                _ => out.push_str(part),
            }
        }
        out + rest
    }

    pub(super) fn part(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|(letter, _)| letter == name).map(|(_, part)| part.as_str())
    }
}

/// The letters of the parts that `$[…]` converts.
const CONVERTED: &[&str] = &["s", "a", "i", "z", "e", "d", "c", "r"];

/// Writes a part as its letter in square brackets demands.
fn converted(letter: &str, part: &str) -> String {
    match letter {
        "s" => super::string_literal::with_interpolations(part),
        "a" => with_types(part),
        "i" | "z" => part.parse::<u64>().map_or(part.to_owned(), |index| index.saturating_sub(1).to_string()),
        _ => super::true_division::with_fractions(part),
    }
}

/// Writes the parameters of a function without labels, each with a type: `x`, `float x` and `x: float` become `_ x: Double`.
fn with_types(parameters: &str) -> String {
    let parameter = |written: &str| {
        let (declared, default) = match written.split_once('=') {
            Some((declared, default)) => (declared.trim(), format!(" = {}", default.trim())),
            None => (written.trim(), String::new()),
        };
        let (name, ty) = match (declared.split_once(':'), declared.rsplit_once(' ')) {
            (Some((name, ty)), _) => (name.trim(), type_here(ty.trim_start_matches(':').trim())),
            (None, Some((ty, name))) => (name.trim(), type_here(ty)),
            (None, None) => (declared, "Double".to_owned()),
        };
        format!("_ {name}: {ty}{default}")
    };
    let written = parameters.split(',').filter(|written| !written.trim().is_empty());
    written.map(parameter).collect::<Vec<_>>().join(", ")
}

/// Whether code is one operand, which needs no parentheses.
pub(super) fn is_operand(code: &str) -> bool {
    let tokens = super::token::tokens(code, 0, code.len());
    !code.starts_with(['-', '√']) && {
        let count = tokens.len();
        (Code { text: code, tokens }).operand(0) == Some(count)
    }
}
