//! Cost: the length of a formula as it is written. The e-graph extracts the form with the lowest cost.

use super::node::Node;
use super::ratio::Ratio;
use super::sum::{Factor, Sum, Term};

/// The cost of a number, a variable, an integer exponent and a sign; the other costs are relative to this cost.
const SYMBOL: u32 = 10;
const PARENTHESES: u32 = 19;
/// The cost of each further digit of a number.
const DIGIT: u32 = 4;
const FUNCTION: u32 = 20;
/// The cost of the exponent 3, and of larger integers. Where a factor can be factored out, it is.
const CUBE: u32 = 11;
const HIGH_EXPONENT: u32 = 13;
/// The cost of an exponent such as `3/2`.
const FRACTIONAL_EXPONENT: u32 = 34;
const FRACTION: u32 = 2;
/// The cost of a minus sign before a product or a number.
const SIGN: u32 = 5;
/// The cost of a sum whose terms are all negative.
const NEGATIVE_SUM: u32 = 15;
/// The number of terms of a sum that is not long, and the cost of each further term.
const FEW_TERMS: u32 = 3;
const FURTHER_TERM: u32 = 12;
/// The cost of each fraction in a sum after the first one.
const FURTHER_FRACTION: u32 = 8;
/// The cost of a fraction in a sum that is multiplied or divided.
const NESTED_FRACTION: u32 = 25;

/// The cost of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    pub(super) weight: u32,
    /// Whether the form is a sum, which needs parentheses in a product.
    is_sum: bool,
    /// Whether the form is a product, which needs parentheses in a power.
    is_product: bool,
    /// Whether the form begins with a minus sign.
    is_negative: bool,
    /// Whether the form is -1, which is only a sign in a product.
    is_sign: bool,
    /// Whether the form is a fraction, or a sum with a term that is a fraction.
    has_fraction: bool,
}

impl Cost {
    /// Returns the cost of a node, given the costs of its operands.
    pub(super) fn of(node: &Node, all: &[Cost]) -> Cost {
        let sum = |of: &dyn Fn(&Cost) -> u32| all.iter().map(of).fold(0, u32::saturating_add);
        let is_add = matches!(node, Node::Add(_));
        let own = match node {
            Node::Number(c) => number(*c),
            Node::Real(_) | Node::Operand(_) => SYMBOL,
            Node::Opaque(_) => 6 * SYMBOL,
            Node::Add(_) if all.iter().all(|cost| cost.is_negative) => NEGATIVE_SUM + SYMBOL * (all.len() as u32 - 1),
            Node::Add(parts) => {
                let fractions = all.iter().filter(|cost| cost.has_fraction).count() as u32;
                let count = parts.len() as u32;
                SYMBOL * count.saturating_sub(1)
                    + FURTHER_TERM * count.saturating_sub(FEW_TERMS)
                    + FURTHER_FRACTION * fractions.saturating_sub(1)
            }
            Node::Multiply(_) => 0,
            Node::Quotient(_) => FRACTION,
            Node::Power(e, _) => exponent(*e),
            Node::General(_) | Node::Function(..) => FUNCTION,
        };
        let inner = match node {
            Node::Multiply(_) => sum(&|cost| if cost.is_sign { SIGN } else { cost.weight }),
            _ => sum(&|cost| cost.weight),
        };
        let is_negative = match (node, all) {
            (Node::Number(c), _) => c.is_negative(),
            (Node::Multiply(_), all) => all.iter().filter(|cost| cost.is_negative).count() % 2 == 1,
            (Node::Quotient(_), [above, ..]) => above.is_negative,
            _ => false,
        };
        Cost {
            weight: own.saturating_add(inner),
            is_sum: is_add,
            is_product: matches!(node, Node::Multiply(_)),
            is_negative,
            is_sign: *node == Node::Number(Ratio::integer(-1)),
            has_fraction: matches!(node, Node::Quotient(_)) || is_add && all.iter().any(|cost| cost.has_fraction),
        }
    }

    /// Returns the cost of the form as the base of a power.
    pub(super) fn as_base(self) -> Cost {
        let added = if self.is_product { PARENTHESES } else { 0 };
        Cost { weight: self.as_operand().weight.saturating_add(added), ..self }
    }

    /// Returns the cost of the form as an operand of a product or a quotient.
    pub(super) fn as_operand(self) -> Cost {
        let nested = if self.has_fraction { NESTED_FRACTION } else { 0 };
        let added = if self.is_sum { PARENTHESES + nested } else { nested };
        Cost { weight: self.weight.saturating_add(added), ..self }
    }
}

fn number(c: Ratio) -> u32 {
    let digits = |n: i64| DIGIT * n.unsigned_abs().checked_ilog10().unwrap_or(0);
    let under = if c.denominator == 1 { 0 } else { SYMBOL + digits(c.denominator) };
    let sign = if c.is_negative() { SIGN } else { 0 };
    SYMBOL + sign + digits(c.numerator) + under
}

fn exponent(e: Ratio) -> u32 {
    match e.abs() {
        Ratio::ONE => 0,
        Ratio::HALF => SYMBOL,
        e if e.is_integer() => match e.numerator {
            2 => SYMBOL,
            3 => CUBE,
            _ => HIGH_EXPONENT,
        },
        _ => FRACTIONAL_EXPONENT,
    }
}

/// Returns the approximate cost of a normal form.
pub(super) fn weight(sum: &Sum) -> u32 {
    let signs = SYMBOL * (sum.0.len() as u32).saturating_sub(1);
    sum.0.iter().map(of_term).fold(signs, u32::saturating_add)
}

fn of_term(term: &Term) -> u32 {
    let is_quotient = term.coefficient.denominator != 1 || term.factors.iter().any(|(_, e)| e.is_negative());
    let coefficient = match term.coefficient {
        Ratio::ONE if !term.factors.is_empty() => 0,
        c if c == Ratio::integer(-1) && term.factors.iter().any(|(_, e)| !e.is_negative()) => SIGN,
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
                term.coefficient.denominator != 1
                    || term.factors.iter().any(|(factor, e)| e.is_negative() && factor.is_divisor())
            });
            let nested = if has_fraction { NESTED_FRACTION } else { 0 };
            weight(sum).saturating_add(PARENTHESES + nested)
        }
    }
}
