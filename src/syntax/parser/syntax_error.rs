//! Syntax errors: creates the diagnostic for a text that does not match the grammar.

use super::failure_context::Context;
use super::{Grammar, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::foreign::is_keyword;
use crate::syntax::scan::is_word;
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use std::ops::Range;

/// The length in bytes from which on a text is not parsed a second time for a better message.
const MAX_SECOND_LOOK: usize = 1 << 20;

/// Returns the diagnostic for a syntax error in a piece of the text, and whether the text is incomplete.
pub(super) fn explain(
    error: Error<Rule>,
    copy: &str,
    piece: Range<usize>,
    text: &str,
    start: u32,
) -> (Diagnostic, bool) {
    if let ErrorVariant::CustomError { .. } = error.variant {
        let message = "code is nested too deeply";
        let at = start + piece.start.min(text.len()) as u32;
        return (Diagnostic::error(Code::TooDeep, Span::new(at, at), message), false);
    }
    let at = piece.start + position(&error, &copy[piece.clone()]);
    let at = skip_blanks(copy, word_start(copy, at));
    let trimmed = copy.trim_end().len();
    let incomplete = at >= trimmed;
    let at = if incomplete { at } else { before_operator(copy, at) };
    let found = token(copy, at, text);
    let end = (at + found.len().max(1)).min(text.len());
    // For incomplete text, the span is empty and directly after its last character.
    let place = if incomplete { (trimmed, trimmed) } else { (at.min(text.len()), end.max(at.min(text.len()))) };
    let span = Span::new(start + place.0 as u32, start + place.1 as u32);
    let context = Context { copy, start, at, found, span, incomplete };
    (context.diagnostic(), incomplete)
}

/// Returns the furthest offset that the grammar reached. The first error only states the offset at which a grammar rule
/// began, so a short text is parsed again with every attempt recorded.
fn position(error: &Error<Rule>, piece: &str) -> usize {
    let first = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    if piece.len() > MAX_SECOND_LOOK {
        return first;
    }
    pest::set_error_detail(true);
    let second = Grammar::parse(Rule::file, piece);
    pest::set_error_detail(false);
    let detailed = second.err().and_then(|e| e.parse_attempts()).map_or(0, |a| a.max_position);
    first.max(detailed)
}

/// Moves an offset back to an operator that does not fit in its context, because the lookahead of the grammar skips
/// this operator.
fn before_operator(copy: &str, at: usize) -> usize {
    let is_op = |c: char| "+-*/=<>&|!^%~?".contains(c);
    let before = copy[..at.min(copy.len())].trim_end_matches([' ', '\n']);
    let rest = before.trim_end_matches(is_op);
    let outer = rest.trim_end_matches([' ', '\n']);
    let word = outer.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let expects = outer.is_empty() || outer.ends_with(is_op) || outer.ends_with(['(', ',', '[', '{', ':']);
    if rest.len() < before.len() && (expects || matches!(word, "let" | "var" | "return")) { rest.len() } else { at }
}

/// Moves an offset inside a word back to the beginning of the word: the grammar may have read a keyword as the first
/// letters of the word.
fn word_start(copy: &str, at: usize) -> usize {
    let bytes = copy.as_bytes();
    if !bytes.get(at).is_some_and(|b| is_word(*b)) {
        return at;
    }
    let before = bytes[..at].iter().rposition(|b| !is_word(*b)).map_or(0, |n| n + 1);
    // Letters directly after a number are a factor.
    if bytes[before].is_ascii_digit() { at } else { before }
}

fn skip_blanks(copy: &str, at: usize) -> usize {
    let rest = &copy.as_bytes()[at.min(copy.len())..];
    at + rest.iter().position(|b| !matches!(b, b' ' | b'\n')).unwrap_or(rest.len())
}

/// Returns the word, number or symbol at an offset.
fn token<'t>(copy: &str, at: usize, text: &'t str) -> &'t str {
    let bytes = &copy.as_bytes()[at.min(copy.len())..];
    let length = match bytes.first() {
        None => 0,
        Some(b) if is_word(*b) => bytes.iter().position(|b| !is_word(*b)).unwrap_or(bytes.len()),
        Some(b'"') => bytes[1..].iter().position(|b| matches!(b, b'"' | b'\n')).map_or(1, |n| n + 2),
        Some(_) => 1,
    };
    text.get(at..(at + length).min(text.len())).unwrap_or("")
}

impl Context<'_> {
    fn diagnostic(&self) -> Diagnostic {
        if let Some(reserved) = self.reserved_name() {
            return reserved;
        }
        let line = self.line_before();
        let first = line.split([' ', '(']).next().unwrap_or("");
        let second = line.split(' ').nth(1).unwrap_or("");
        let after_condition =
            matches!(first, "if" | "while" | "guard" | "for" | "switch") || first == "}" && second == "else";
        if after_condition && self.last_byte() == b':' && !self.incomplete && self.found != ":" {
            return self.at_colon().diagnostic();
        }
        let found = self.found_words();
        if after_condition && !matches!(self.last_byte(), b'=' | b'(' | b',' | b'&' | b'|' | b'<' | b'>' | b'+' | b'*')
        {
            let what = match first {
                "for" => "the sequence",
                "switch" => "the value",
                _ => "the condition",
            };
            let needs = if first == "guard" && !line.contains("else") { "else {" } else { "{" };
            let mut d = Diagnostic::error(Code::ExpectedBrace, self.span, format!("expected '{needs}' after {what}"));
            d = d.label(if self.incomplete {
                "expected here".to_owned()
            } else {
                format!("found {found}; a body is written in braces")
            });
            if let Some(help) = self.braces_help() {
                d = d.fix("enclose the body in braces", self.rest_of_line(), help);
            }
            return d;
        }
        let message = self.message(&line, first, &found);
        let d = Diagnostic::error(Code::Syntax, self.span, message);
        match self.found {
            "=" if line.contains("if ") => d.help("'==' compares, '=' assigns"),
            _ => d,
        }
    }

    fn message(&self, line: &str, first: &str, found: &str) -> String {
        if self.incomplete {
            return match self.last_byte() {
                b'=' => "expected a value after '='".into(),
                b',' => "expected something after ','".into(),
                b':' => "expected a type or a value after ':'".into(),
                _ => "unexpected end of input".into(),
            };
        }
        if let Some(message) = self.wrong_digit() {
            return message;
        }
        let declares = |word: &str| first == word || line.contains(&format!(" {word} "));
        if matches!(line, "let" | "var") || line.ends_with(" let") || line.ends_with(" var") {
            return format!("expected a name after '{}', found {found}", line.rsplit(' ').next().unwrap_or(line));
        }
        if line.ends_with("func") {
            return format!("expected the name of a function, found {found}");
        }
        if declares("func") && !line.contains('(') {
            return format!("expected '(' and the parameters of the function, found {found}");
        }
        if ["struct", "enum", "class", "protocol", "extension"].iter().any(|w| declares(w)) && !line.contains('{') {
            return format!("expected '{{' and the members, found {found}");
        }
        match self.last_byte() {
            b'(' | b',' | b'[' => format!("expected a value here, found {found}"),
            b'=' | b'+' | b'*' | b'/' | b'<' | b'>' | b'&' | b'|' => {
                format!("expected a value after '{}', found {found}", self.last_byte() as char)
            }
            b':' => format!("expected a type or a value after ':', found {found}"),
            0 => format!("{found} cannot begin a program"),
            _ if self.starts_operand() && !line.is_empty() => {
                format!("expected a new line, ';' or an operator, found {found}")
            }
            _ => format!("unexpected {found}"),
        }
    }

    /// Returns the diagnostic for a keyword in the place of a name that is declared.
    fn reserved_name(&self) -> Option<Diagnostic> {
        const DECLARERS: &[&str] =
            &["let", "var", "func", "for", "struct", "class", "enum", "protocol", "typealias", "actor", "import"];
        const AFTER_CLASS: &[&str] = &["let", "var", "func", "subscript", "struct", "enum", "class", "protocol"];
        let is_sign = |c: char| matches!(c, ' ' | '=' | ':' | '(' | '<' | '{' | ',');
        let before = self.copy[..self.at.min(self.copy.len())].trim_end_matches(is_sign);
        let declared = before.trim_end_matches(|c: char| c.is_ascii() && is_word(c as u8));
        let word = &before[declared.len()..];
        let outside = declared.trim_end_matches([' ', '(']);
        let declarer = outside.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let is_reserved = !word.is_empty() && Grammar::parse(Rule::name, word).is_err();
        // `class func` declares a static method, and `for case` is followed by a pattern.
        let is_modifier = match declarer {
            "class" | "import" => AFTER_CLASS.contains(&word),
            "for" => matches!(word, "case" | "let" | "var" | "try"),
            _ => false,
        };
        if !is_reserved || is_modifier || !DECLARERS.contains(&declarer) || outside.len() == declared.len() {
            return None;
        }
        let place = self.place(declared.len(), before.len());
        let message = format!("the keyword '{word}' cannot be used as a name");
        let d = Diagnostic::error(Code::Syntax, place, message);
        Some(d.fix("write it in backticks", place, format!("`{word}`")))
    }

    /// Returns the message about a digit that a number with a prefix cannot contain: `0b12`.
    fn wrong_digit(&self) -> Option<String> {
        let before = &self.copy[..self.at.min(self.copy.len())];
        let number = &before[before.trim_end_matches(|c: char| c.is_ascii() && is_word(c as u8)).len()..];
        let digit = self.found.chars().next().filter(char::is_ascii_alphanumeric)?;
        let (kind, digits) = match number.get(..2)? {
            "0b" => ("a binary", "0 or 1"),
            "0o" => ("an octal", "0 to 7"),
            "0x" => ("a hexadecimal", "0 to 9, a to f"),
            _ => return None,
        };
        Some(format!("'{digit}' is not a digit of {kind} number ({digits})"))
    }

    fn found_words(&self) -> String {
        match self.found {
            "" => "the end of input".into(),
            word if is_keyword(word) => format!("the keyword '{word}'"),
            other => format!("'{other}'"),
        }
    }

    /// Returns the failure context moved to the colon before it.
    fn at_colon(&self) -> Self {
        let at = self.end_before() - 1;
        Context { at, found: ":", span: self.place(at, at + 1), ..*self }
    }

    /// Returns the text with braces, `{ return x }`, for `: return x` or `then return x`.
    fn braces_help(&self) -> Option<String> {
        let rest = self.copy[self.at.min(self.copy.len())..].split('\n').next()?.trim();
        let body = rest.strip_prefix(':').or_else(|| rest.strip_prefix("then "))?.trim();
        let blank = if self.end_before() == self.at { " " } else { "" };
        (!body.is_empty() && !body.contains(['\u{1}', '\u{2}'])).then(|| format!("{blank}{{ {body} }}"))
    }
}
