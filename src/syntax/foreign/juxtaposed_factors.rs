//! Juxtaposed factors: formulas as on paper, without signs of multiplication and parentheses of arguments,
//! `2 sin x cos x`, `e^(-t) sin(2πt)`.

use super::spelling::is_keyword;
use super::token::Kind;
use super::word_classes::class;
use super::{Replacement, Search};

const MESSAGE: &str = "factors are separated by '*', and the argument of a function is in parentheses";

/// Words of a sentence, which are not factors.
const CONNECTING: &[&str] =
    &["and", "at", "of", "from", "to", "with", "the", "by", "is", "what", "tangent", "on", "or"];

impl Search<'_> {
    /// Returns the formula at the error, a whole statement or what follows its `=`, with all signs and parentheses.
    pub(super) fn juxtaposed_factors(&self) -> Option<Replacement> {
        let code = &self.code;
        let begins = (0..=self.focus).rev().find(|at| code.begins_statement(*at))?;
        let end = code.line_end(begins);
        let from = (begins..end).find(|at| code.word(*at) == Some("=")).map_or(begins, |sign| sign + 1);
        let is_code = |at: usize| {
            code.word(at)
                .is_some_and(|word| is_keyword(word) || matches!(word, "{" | "}") || CONNECTING.contains(&word))
        };
        if from + 1 >= end || (from..end).any(is_code) || !(from..end).contains(&self.focus) {
            return None;
        }
        let here = self.factors(from, end)?;
        let range = code.tokens[from].from..code.tokens[end - 1].to;
        let count = |text: &str| text.matches('*').count();
        let has_product = count(&here) > count(&code.text[range.clone()]);
        let message = MESSAGE.to_owned();
        has_product.then(|| Replacement { message, is_guess: true, ..Replacement::certain(range, here) })
    }

    /// Writes the tokens of a formula with the missing signs and parentheses.
    fn factors(&self, from: usize, end: usize) -> Option<String> {
        let code = &self.code;
        let mut out = String::new();
        let mut at = from;
        while at < end {
            if at > from {
                let blank = &code.text[code.tokens[at - 1].to..code.tokens[at].from];
                let is_product = !blank.is_empty() && self.ends_factor(at - 1) && self.begins_factor(at);
                out.push_str(if is_product { " * " } else { blank });
            }
            let (written, next) = self.call_without_parentheses(at, end).unwrap_or_else(|| {
                let next = if code.is(at, Kind::Open) { code.closed(at).unwrap_or(end).min(end) } else { at + 1 };
                (code.slice(at, next).to_owned(), next)
            });
            out.push_str(&written);
            at = next;
        }
        (at == end).then_some(out)
    }

    /// Returns the call of an elementary function whose argument follows without parentheses, perhaps after a power of
    /// the function: `sin x`, `sin^2 x`. The argument ends at the next blank.
    fn call_without_parentheses(&self, at: usize, end: usize) -> Option<(String, usize)> {
        let code = &self.code;
        let name = code.word(at).filter(|name| class("elementary").contains(name) || *name == "ln")?;
        let mut next = at + 1;
        let mut power = "";
        if code.word(next) == Some("^") && code.is(next + 1, Kind::Number) && code.adjacent(next) {
            power = code.slice(next, next + 2);
            next += 2;
        } else if code.word(next) == Some("²") && code.adjacent(next) {
            (power, next) = ("^2", next + 1);
        }
        if code.word(next) == Some("(") && code.adjacent(next) && power.is_empty() {
            return None;
        }
        let first = next;
        while next < end && (next == first || code.adjacent(next)) && code.word(next) != Some(")") {
            next = if code.is(next, Kind::Open) { code.closed(next)? } else { next + 1 };
        }
        let argument = code.slice(first, next.min(end));
        let name = if name == "ln" { "log" } else { name };
        let is_grouped = argument.starts_with('(') && code.closed(first) == Some(next);
        let begins = self.begins_factor(first) || code.word(first) == Some("-");
        (begins && first < next).then(|| match is_grouped {
            true => (format!("{name}{argument}{power}"), next),
            false => (format!("{name}({argument}){power}"), next),
        })
    }

    fn ends_factor(&self, at: usize) -> bool {
        matches!(self.code.tokens[at].kind, Kind::Number | Kind::Close)
            || self.code.is(at, Kind::Word) && !class("elementary").contains(&self.code.word(at).unwrap_or_default())
            || matches!(self.code.word(at), Some("²" | "³"))
    }

    fn begins_factor(&self, at: usize) -> bool {
        matches!(self.code.tokens.get(at).map(|token| token.kind), Some(Kind::Number | Kind::Word))
            || matches!(self.code.word(at), Some("(" | "√"))
    }
}
