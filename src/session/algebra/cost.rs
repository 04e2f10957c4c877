//! Cost: the length of a formula as it is written. The e-graph extracts the form with the lowest cost.

use super::node::Node;
use super::ratio::Ratio;
use super::sum::{Factor, Sum, Term};
use egg::{CostFunction, Id};

/// The cost of a number, a variable, an integer exponent and a sign; the others are relative to it.
const SYMBOL: u32 = 10;
const PARENTHESES: u32 = 22;
const FUNCTION: u32 = 20;
/// An exponent such as `3/2`.
const FRACTIONAL_EXPONENT: u32 = 34;
const FRACTION: u32 = 2;
/// A fraction in a sum that is multiplied or divided.
const NESTED_FRACTION: u32 = 25;

/// The cost of a form.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(super) struct Cost {
    weight: u32,
    /// Whether it is a sum, which needs parentheses in a product.
    is_sum: bool,
    /// Whether it is a fraction, or a sum of which a term is one.
    has_fraction: bool,
}

impl Cost {
    fn as_operand(self) -> u32 {
        let nested = if self.has_fraction { NESTED_FRACTION } else { 0 };
        self.weight.saturating_add(if self.is_sum { PARENTHESES + nested } else { nested })
    }
}

/// The cost function of the extraction.
pub(super) struct Length;

impl CostFunction<Node> for Length {
    type Cost = Cost;

    fn cost<C: FnMut(Id) -> Cost>(&mut self, node: &Node, mut costs: C) -> Cost {
        let mut has_fraction = matches!(node, Node::Quotient(_));
        let mut all = |ids: &[Id], own: u32, is_operand: bool| {
            ids.iter().fold(own, |sum, id| {
                let cost = costs(*id);
                has_fraction |= matches!(node, Node::Add(_)) && cost.has_fraction;
                sum.saturating_add(if is_operand { cost.as_operand() } else { cost.weight })
            })
        };
        let weight = match node {
            Node::Number(c) => number(*c),
            Node::Real(_) | Node::Operand(_) => SYMBOL,
            Node::Opaque(_) => 6 * SYMBOL,
            Node::Add(parts) => all(parts, SYMBOL * (parts.len() as u32).saturating_sub(1), false),
            Node::Multiply(parts) => all(parts, 0, true),
            Node::Quotient(pair) => all(pair, FRACTION, true),
            Node::Power(e, base) => all(base, exponent(*e), *e != Ratio::HALF),
            Node::General(pair) => all(pair, FUNCTION, true),
            Node::Function(_, _, parts) => all(parts, FUNCTION, false),
        };
        Cost { weight, is_sum: matches!(node, Node::Add(_)), has_fraction }
    }
}

fn number(c: Ratio) -> u32 {
    let digits = |n: i64| n.unsigned_abs().checked_ilog10().unwrap_or(0);
    let under = if c.under == 1 { 0 } else { SYMBOL + digits(c.under) };
    if c == Ratio::integer(-1) { SYMBOL / 2 } else { SYMBOL + digits(c.over) + under }
}

fn exponent(e: Ratio) -> u32 {
    match e.abs() {
        Ratio::ONE => 0,
        Ratio::HALF => SYMBOL,
        e if e.is_integer() => SYMBOL,
        _ => FRACTIONAL_EXPONENT,
    }
}

/// Returns the approximate cost of a normal form.
pub(super) fn weight(sum: &Sum) -> u32 {
    let signs = SYMBOL * (sum.0.len() as u32).saturating_sub(1);
    sum.0.iter().map(of_term).fold(signs, u32::saturating_add)
}

fn of_term(term: &Term) -> u32 {
    let is_quotient = term.coefficient.under != 1 || term.factors.iter().any(|(_, e)| e.is_negative());
    let coefficient = match term.coefficient {
        Ratio::ONE if !term.factors.is_empty() => 0,
        c => number(c),
    };
    let factors = term.factors.iter().map(|(factor, e)| of_factor(factor).saturating_add(exponent(*e)));
    factors.fold(coefficient + if is_quotient { FRACTION } else { 0 }, u32::saturating_add)
}

fn of_factor(factor: &Factor) -> u32 {
    match factor {
        Factor::Integer(_) | Factor::Real(_) | Factor::Operand(_) => SYMBOL,
        Factor::Opaque(_) => 6 * SYMBOL,
        Factor::Exponential(exponent) => of_term(exponent).saturating_add(FUNCTION),
        Factor::Power(base, exponent) => weight(base).saturating_add(of_term(exponent)).saturating_add(FUNCTION),
        Factor::Function(_, _, operands) => operands.iter().map(weight).fold(FUNCTION, u32::saturating_add),
        Factor::Group(sum) => {
            let has_fraction = sum.0.iter().any(|term| {
                term.coefficient.under != 1
                    || term.factors.iter().any(|(factor, e)| e.is_negative() && factor.is_divisor())
            });
            let nested = if has_fraction { NESTED_FRACTION } else { 0 };
            weight(sum).saturating_add(PARENTHESES + nested)
        }
    }
}
