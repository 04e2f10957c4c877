//! True division: the quotients of languages in which `/` always returns a fraction, as quotients of `Double`s.

use super::pattern::Code;
use super::token::{Kind, tokens};
use super::word_classes::class;

/// Writes an expression so that its quotients keep their fractions, also if the operands are `Int`s: `n / 2` becomes
/// `n / 2.0`, and `n / k` becomes `Double(n) / k`.
pub(super) fn with_fractions(expression: &str) -> String {
    if !expression.contains('/') {
        return expression.to_owned();
    }
    let code = Code { text: expression, tokens: tokens(expression, 0, expression.len()) };
    let mut insertions: Vec<(usize, &str)> = vec![];
    for at in 1..code.tokens.len() {
        if code.word(at) == Some("/") {
            insertions.extend(code.conversion(at));
        }
    }
    let mut out = expression.to_owned();
    insertions.sort_by_key(|(at, _)| *at);
    insertions.dedup();
    for (at, inserted) in insertions.iter().rev() {
        out.insert_str(*at, inserted);
    }
    out
}

impl Code<'_> {
    /// Returns the insertions that convert an operand of the quotient whose sign is at `at`.
    fn conversion(&self, at: usize) -> Vec<(usize, &'static str)> {
        let sign = usize::from(self.word(at + 1) == Some("-"));
        let first = self.base(at);
        let divisor = at + 1 + sign;
        // The dividend of the second quotient in `a / b / c` is a fraction.
        if first.is_some_and(|first| first > 0 && self.word(first - 1) == Some("/")) {
            return vec![];
        }
        if self.is_fraction(first.unwrap_or(at - 1)) || self.is_fraction(divisor) {
            return vec![];
        }
        if first == Some(at - 1) && self.is_integer(at - 1) {
            return vec![(self.tokens[at - 1].to, ".0")];
        }
        let is_member = self.word(divisor + 1) == Some(".") && self.adjacent(divisor + 1);
        if self.is_integer(divisor) && !is_member {
            return vec![(self.tokens[divisor].to, ".0")];
        }
        let Some(first) = first else { return vec![] };
        if self.word(first) == Some("(") && self.closed(first) == Some(at) {
            return vec![(self.tokens[first].from, "Double")];
        }
        vec![(self.tokens[first].from, "Double("), (self.tokens[at - 1].to, ")")]
    }

    /// Returns the first token of the operand that ends before `end`, with the bases of which it is the exponent.
    fn base(&self, end: usize) -> Option<usize> {
        let begins = |at: &usize| {
            let is_part = *at > 0 && self.adjacent(*at) && self.word(at - 1) == Some(".");
            !self.is(*at, Kind::Symbol) && !is_part && self.operand(*at) == Some(end)
        };
        let first = (0..end).find(begins)?;
        let is_power = |at: usize| matches!(self.word(at), Some("^" | "**"));
        match first {
            2.. if is_power(first - 1) => self.base(first - 1),
            3.. if self.word(first - 1) == Some("-") && is_power(first - 2) => self.base(first - 2),
            _ => Some(first),
        }
    }

    fn is_integer(&self, at: usize) -> bool {
        self.is(at, Kind::Number)
            && self.word(at).is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'_'))
    }

    /// Whether the operand that begins at a token is certainly a `Double`.
    fn is_fraction(&self, at: usize) -> bool {
        let Some(word) = self.word(at) else { return false };
        let is_function = || matches!(word, "Double" | "float") || word != "abs" && class("elementary").contains(&word);
        match self.tokens[at].kind {
            Kind::Number => !self.is_integer(at) && word.contains(['.', 'e']),
            Kind::Word => matches!(word, "π" | "pi") || is_function() && self.word(at + 1) == Some("("),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_fractions;

    #[test]
    fn quotients_keep_their_fractions() {
        for (foreign, here) in [
            ("n / k", "Double(n) / k"),
            ("n / 2 + 1", "n / 2.0 + 1"),
            ("1 / (2*k+1)", "1.0 / (2*k+1)"),
            ("1 / n^2", "1.0 / n^2"),
            ("k^2/2 + 1/3", "k^2/2.0 + 1.0/3"),
            ("n^2 / k", "Double(n^2) / k"),
            ("n ^ 2 / k", "Double(n ^ 2) / k"),
            ("2^-n / k", "Double(2^-n) / k"),
            ("-n / -2", "-n / -2.0"),
            ("(a + b) / k", "Double(a + b) / k"),
            ("(a / b) / c", "Double(Double(a) / b) / c"),
            ("a[i] / f(i / j).x", "Double(a[i]) / f(Double(i) / j).x"),
            ("p.0 / q.1", "Double(p.0) / q.1"),
            ("a * b / c", "a * Double(b) / c"),
            ("a / b / c", "Double(a) / b / c"),
            ("x / 2.5", "x / 2.5"),
            ("sqrt(x) / y", "sqrt(x) / y"),
            ("n + 1", "n + 1"),
        ] {
            assert_eq!(with_fractions(foreign), here, "{foreign}");
        }
    }
}
