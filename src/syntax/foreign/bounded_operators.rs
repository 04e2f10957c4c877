//! Operators with bounds, as on paper: sums, products, integrals and limits, `∑_{k=1}^{10} k^2`, `∫_0^1 x^2 dx`,
//! `lim_{x→0} sin(x)/x`.

use super::calculus_notation::{Bounded, Operator};
use super::pattern::is_operand;
use super::{Replacement, Search};

const SUM: &str = "a sum is written '(1...n).map { i in … }.sum()'";
const PRODUCT: &str = "a product is written 'product((1...n).map { i in … })'";
const INTEGRAL: &str = "an integral is written 'integral({ x in … }, 0...1)'";
const LIMIT: &str = "a limit is written 'limit({ x in … }, at: 0)'";

impl Search<'_> {
    /// Returns the call of the library that an operator with bounds in the statement at the error means.
    pub(super) fn bounded_operators(&self) -> Option<Replacement> {
        let code = &self.code;
        // A brace of a bound does not begin a statement.
        let begins = (0..=self.focus).rev().filter(|at| code.begins_statement(*at));
        let (from, found) = begins.take(3).find_map(|begins| {
            let last = code.line_end(begins).checked_sub(1)?;
            let (from, to) = (code.tokens.get(begins)?.from, code.tokens.get(last)?.to);
            Some((from, Bounded::find(code.text.get(from..to)?)?))
        })?;
        let (here, message) = match &found.operator {
            Operator::Integral => (integral(&found)?, INTEGRAL),
            Operator::Limit => (limit(&found)?, LIMIT),
            Operator::Sum => (format!("{}.sum()", terms(&found)?), SUM),
            Operator::Product => (format!("product({})", terms(&found)?), PRODUCT),
        };
        let range = from + found.range.start..from + found.range.end;
        Some(Replacement { message: message.to_owned(), ..Replacement::certain(range, here) })
    }
}

fn integral(found: &Bounded) -> Option<String> {
    let (lower, upper) = (bound(found.lower.as_deref()?), bound(found.upper.as_deref()?));
    Some(format!("integral({{ {} in {} }}, {lower}...{upper})", found.variable, found.body))
}

fn limit(found: &Bounded) -> Option<String> {
    let at = found.lower.as_deref()?;
    let (at, side) = match (at.strip_suffix('+'), at.strip_suffix('-').or_else(|| at.strip_suffix('−'))) {
        (Some(at), _) => (at, ", from: .right"),
        (_, Some(at)) => (at, ", from: .left"),
        _ => (at, ""),
    };
    let at = at.trim_end_matches('^');
    Some(format!("limit({{ {} in {} }}, at: {}{side})", found.variable, found.body, infinity(at)))
}

/// Writes the terms of a sum or a product as an array.
fn terms(found: &Bounded) -> Option<String> {
    let (lower, upper) = (found.lower.as_deref()?, found.upper.as_deref()?);
    if [lower, upper].iter().any(|bound| bound.contains(['∞', '\\']) || bound.contains("inf")) {
        return None;
    }
    let (variable, body) = (&found.variable, &found.body);
    // A quotient of integers would lose its fraction.
    let terms = match body.contains('/') {
        true => format!("stride(from: 1.0 * {}, through: {upper}, by: 1)", group(lower)),
        false => format!("({}...{})", group(lower), group(upper)),
    };
    Some(format!("{terms}.map {{ {variable} in {body} }}").replace("from: 1.0 * 1,", "from: 1.0,"))
}

/// Writes a bound of a range.
fn bound(written: &str) -> String {
    match infinity(written) {
        infinite if infinite.ends_with('∞') => infinite,
        _ => group(written),
    }
}

fn infinity(written: &str) -> String {
    let (sign, magnitude) = match written.strip_prefix(['-', '−']) {
        Some(rest) => ("-", rest),
        None => ("", written.trim_start_matches('+')),
    };
    match magnitude.trim() {
        "∞" | "\\infty" | "inf" | "infinity" | "oo" => format!("{sign}∞"),
        _ => written.to_owned(),
    }
}

/// Adds parentheses unless the code is an operand, or the negative of a number.
fn group(written: &str) -> String {
    let is_negative =
        written.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'));
    if is_operand(written) || is_negative { written.to_owned() } else { format!("({written})") }
}
