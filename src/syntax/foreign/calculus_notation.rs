//! The notation of operators with bounds: finds a sum, a product, an integral or a limit in a statement, with its bounds,
//! its variable and its body.

use super::token::is_word;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Sum,
    Product,
    Integral,
    Limit,
}

/// The signs and words of the operators. A word is an operator only if a bound follows.
const SIGNS: &[(&str, Operator)] = &[
    ("∑", Operator::Sum),
    ("Σ", Operator::Sum),
    ("\\sum", Operator::Sum),
    ("sum", Operator::Sum),
    ("∏", Operator::Product),
    ("Π", Operator::Product),
    ("\\prod", Operator::Product),
    ("prod", Operator::Product),
    ("∫", Operator::Integral),
    ("\\int", Operator::Integral),
    ("int", Operator::Integral),
    ("integral", Operator::Integral),
    ("\\lim", Operator::Limit),
    ("lim", Operator::Limit),
    ("limit", Operator::Limit),
];

/// An operator with its bounds; the lower bound of a limit is the point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bounded {
    pub operator: Operator,
    /// The range of the operator with its body in the statement.
    pub range: Range<usize>,
    pub variable: String,
    pub lower: Option<String>,
    pub upper: Option<String>,
    pub body: String,
}

impl Bounded {
    /// Finds the first operator in a statement; returns `None` if its extent is not certain.
    pub(super) fn find(statement: &str) -> Option<Bounded> {
        let (at, sign, operator) = first_sign(statement)?;
        let mut cursor = Cursor { text: first_statement(statement, at), at: at + sign.len() };
        let found = match operator {
            Operator::Integral => integral(&mut cursor)?,
            Operator::Limit => limit(&mut cursor)?,
            Operator::Sum | Operator::Product => terms(&mut cursor)?,
        };
        let body = found.body.trim().to_owned();
        let is_balanced = body.matches(['(', '[', '{']).count() == body.matches([')', ']', '}']).count();
        (!body.is_empty() && is_balanced).then_some(Bounded { operator, range: at..cursor.at, body, ..found })
    }
}

/// Returns a text up to the first semicolon after an offset, outside of brackets.
fn first_statement(text: &str, at: usize) -> &str {
    let mut depth = 0_i32;
    let end = text[at..].char_indices().find(|(_, c)| {
        depth += i32::from("([{".contains(*c)) - i32::from(")]}".contains(*c));
        *c == ';' && depth == 0
    });
    end.map_or(text, |(end, _)| &text[..at + end])
}

/// Returns the first operator of a statement, with its offset.
fn first_sign(statement: &str) -> Option<(usize, &'static str, Operator)> {
    let mut found: Option<(usize, &'static str, Operator)> = None;
    for (sign, operator) in SIGNS {
        for (at, _) in statement.match_indices(sign) {
            let is_inside = sign.starts_with(is_word) && statement[..at].ends_with(|c: char| is_word(c) || c == '\\');
            let rest = &statement[at + sign.len()..];
            let is_longer =
                sign.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.starts_with(char::is_alphanumeric);
            // The name of a function of the library is an operator only with a bound.
            let is_bounded = rest.starts_with(['_', '₀', '₁', '₋']) || *operator == Operator::Limit && has_arrow(rest);
            let is_name = sign.bytes().all(|b| b.is_ascii_alphabetic());
            let is_sign =
                !is_inside && !is_longer && (is_bounded || !is_name && rest.trim_start().starts_with(['_', '₀', '₁']));
            if is_sign && found.is_none_or(|(first, ..)| at < first) {
                found = Some((at, sign, *operator));
            }
        }
    }
    found
}

const ARROWS: [&str; 4] = ["->", "→", "\\to", "⟶"];

fn has_arrow(text: &str) -> bool {
    ARROWS.iter().any(|arrow| text.contains(arrow))
}

fn bounded(variable: &str, lower: Option<String>, upper: Option<String>, body: &str) -> Bounded {
    let (variable, body) = (variable.trim().to_owned(), body.to_owned());
    Bounded { operator: Operator::Sum, range: 0..0, variable, lower, upper, body }
}

/// Reads the bounds, the body and the differential of an integral.
fn integral(cursor: &mut Cursor) -> Option<Bounded> {
    let (lower, upper) = cursor.bounds();
    let rest = cursor.rest();
    let mut from = 0;
    let (end, variable) = loop {
        let at = from + rest[from..].find('d')?;
        let name: String = rest[at + 1..].chars().take_while(|c| is_word(*c)).collect();
        let is_alone = !rest[..at].ends_with(is_word) && name.chars().count() == 1;
        if is_alone && name.chars().all(char::is_alphabetic) {
            break (at, name);
        }
        from = at + 1;
    };
    let body = &rest[..end];
    let consumed = end + 1 + variable.len();
    // A second integral is nested, and a product may follow.
    if !rest[consumed..].trim_start().is_empty() && !rest[consumed..].trim_start().starts_with(['+', '-', ')']) {
        return None;
    }
    cursor.at += consumed;
    Some(bounded(&variable, lower, upper, body.trim_end_matches(['\\', ',', ' ', '·', '*'])))
}

/// Reads the point and the body of a limit: `_{x→0} f`, ` x→0 f`, `(x→0) f`, ` f, x→0`.
fn limit(cursor: &mut Cursor) -> Option<Bounded> {
    let rest = cursor.rest();
    let begin = rest.trim_start_matches([' ', '_']);
    let grouped =
        begin.starts_with(['{', '(']).then(|| closed(begin)).flatten().filter(|end| has_arrow(&begin[..*end]));
    let (point, body) = match (grouped, begin.rsplit_once(',')) {
        (Some(end), _) => (&begin[1..end - 1], &begin[end..]),
        (None, Some((body, point)))
            if has_arrow(point) && !body.contains(['(', ')']) || {
                // The function precedes the point.
                begin
                    .rsplit_once(',')
                    .is_some_and(|(body, point)| has_arrow(point) && !has_arrow(body) && is_closed(body))
            } =>
        {
            (point, body)
        }
        _ => {
            let arrow = ARROWS.iter().filter_map(|arrow| begin.find(arrow).map(|at| at + arrow.len())).min()?;
            let after = &begin[arrow..];
            let blank = after.len() - after.trim_start().len();
            let end = after[blank..].find(' ')? + blank;
            (&begin[..arrow + end], &begin[arrow + end..])
        }
    };
    let (variable, at) = ARROWS.iter().find_map(|arrow| point.split_once(arrow))?;
    let variable = variable.trim();
    let is_name = variable.chars().all(is_word) && variable.starts_with(char::is_alphabetic);
    let body = body.trim();
    let body = body.strip_prefix("of ").unwrap_or(body);
    cursor.at = cursor.text.len();
    (is_name && is_closed(body)).then(|| bounded(variable, Some(at.trim().to_owned()), None, body))
}

/// Reads the bounds and the body of a sum or a product, which extends to the end of the statement.
fn terms(cursor: &mut Cursor) -> Option<Bounded> {
    let (lower, upper) = cursor.bounds();
    let lower = lower?;
    let (variable, from) = lower.split_once('=')?;
    let body = cursor.rest();
    // Whether a sum of terms is the body, or the first of its terms, is a matter of opinion.
    if !is_one_term(body) {
        return None;
    }
    cursor.at = cursor.text.len();
    Some(bounded(variable, Some(from.trim().to_owned()), upper, body))
}

/// Whether a text contains no sum outside of brackets, and no further operator.
fn is_one_term(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut before = '(';
    for c in text.trim().chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '+' | '-' | '−' if depth == 0 && !matches!(before, '(' | '^' | '*' | '/') => return false,
            ',' | '=' if depth == 0 => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    depth == 0
}

fn is_closed(text: &str) -> bool {
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Returns the length of the brackets with which a text begins.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// A position in a statement.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads a lower and an upper bound, in either order.
    fn bounds(&mut self) -> (Option<String>, Option<String>) {
        let (mut lower, mut upper) = (None, None);
        for _ in 0..2 {
            let rest = self.rest();
            let begin = rest.trim_start();
            let blank = rest.len() - begin.len();
            if lower.is_none() && begin.starts_with('_') {
                self.at += blank + 1;
                lower = self.bound();
            } else if upper.is_none() && begin.starts_with('^') {
                self.at += blank + 1;
                upper = self.bound();
            } else if let Some((digits, length)) = script(begin, SUBSCRIPTS).filter(|_| lower.is_none()) {
                self.at += blank + length;
                lower = Some(digits);
            } else if let Some((digits, length)) = script(begin, SUPERSCRIPTS).filter(|_| upper.is_none()) {
                self.at += blank + length;
                upper = Some(digits);
            }
        }
        (lower, upper)
    }

    /// Reads one bound: brackets, or a number or a name with a sign.
    fn bound(&mut self) -> Option<String> {
        let rest = self.rest();
        if rest.starts_with(['{', '(']) {
            let end = closed(rest)?;
            self.at += end;
            return Some(rest[1..end - 1].trim().to_owned());
        }
        let sign = rest.len() - rest.trim_start_matches(['-', '−', '+']).len();
        let magnitude = &rest[sign..];
        let length = match magnitude.strip_prefix('\\') {
            Some(command) => 1 + command.find(|c: char| !c.is_alphabetic()).unwrap_or(command.len()),
            None if magnitude.starts_with('∞') => '∞'.len_utf8(),
            None => magnitude.find(|c: char| !(is_word(c) && c != '_' || c == '.')).unwrap_or(magnitude.len()),
        };
        self.at += sign + length;
        (length > 0).then(|| rest[..sign + length].replace('−', "-"))
    }
}

const SUBSCRIPTS: &str = "₀₁₂₃₄₅₆₇₈₉";
const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// Returns the number that the raised or lowered digits at the beginning of a text write, and their length.
fn script(text: &str, digits: &str) -> Option<(String, usize)> {
    let (mut number, mut length) = (String::new(), 0);
    for c in text.chars() {
        let Some(digit) = digits.chars().position(|other| other == c) else { break };
        number.push_str(&digit.to_string());
        length += c.len_utf8();
    }
    (length > 0).then_some((number, length))
}

#[cfg(test)]
mod tests {
    use super::Bounded;

    #[test]
    fn operators_are_found_with_their_bounds() {
        for (text, variable, lower, upper, body) in [
            ("∫_0^1 x^2 dx", "x", Some("0"), Some("1"), "x^2"),
            ("∫₀¹ x² dx", "x", Some("0"), Some("1"), "x²"),
            ("∫_{-1}^{2π} sin(t) dt", "t", Some("-1"), Some("2π"), "sin(t)"),
            ("\\int_0^\\infty e^{-x} dx", "x", Some("0"), Some("\\infty"), "e^{-x}"),
            ("Σ_{k=1}^{10} k^2", "k", Some("1"), Some("10"), "k^2"),
            ("∑_(k=1)^10 k", "k", Some("1"), Some("10"), "k"),
            ("sum_{n=0}^N 2^n", "n", Some("0"), Some("N"), "2^n"),
            ("lim_{x→0} sin(x)/x", "x", Some("0"), None, "sin(x)/x"),
            ("lim x->0 sin(x)/x", "x", Some("0"), None, "sin(x)/x"),
            ("lim sin(x)/x, x -> 0", "x", Some("0"), None, "sin(x)/x"),
            ("lim(x->0) sin(x)/x", "x", Some("0"), None, "sin(x)/x"),
            ("limit x -> 0 of sin(x)/x", "x", Some("0"), None, "sin(x)/x"),
        ] {
            let found = Bounded::find(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (&*found.variable, found.lower.as_deref(), found.upper.as_deref(), &*found.body),
                (variable, lower, upper, body),
                "{text}"
            );
        }
        for text in ["sum(xs)", "∑_{k=1}^{10} k + 1", "∫_0^1 ∫_0^1 x dx dy", "int(3.5)", "limit(f, at: 0)", "prod_ _"]
        {
            assert_eq!(Bounded::find(text), None, "{text}");
        }
    }
}
