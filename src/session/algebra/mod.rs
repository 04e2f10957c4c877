//! Algebra: formulas as a textbook writes them.
//!
//! A formula is converted to a normal form, a sum of products of powers (`sum`). An e-graph is filled with other forms
//! of this sum and of its parts (`alternatives`): expanded, factored, as one fraction, by trigonometric identities. The
//! form with the lowest cost is written, in the usual order.
//!
//! Promises: a rewritten formula has the same value wherever the original has one. In addition, the rewritten formula
//! may have values at single points (`x / x` is 1): `log(x^2)` and `√x · √x` are left as they are. A derivative may have values where
//! its function has none.
//! Not here: derivatives (`native::formula`).

mod alternatives;
mod cases;
mod cost;
mod domain;
mod extraction;
mod function;
mod node;
mod polynomial;
mod ratio;
mod rendering;
mod rewriting;
mod sum;
mod term_order;
#[cfg(test)]
mod tests;
mod zeros;

pub use cases::simplified;

use crate::native::field::Test;
use crate::native::formula::{Bound, Formula, folded};
use ratio::Ratio;
use sum::{Factor, Sum};

/// The maximum number of times that a result is simplified again.
const ROUNDS: usize = 4;

/// The notation of a formula.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style<'a> {
    /// Whether numbers are written as decimal fractions.
    pub decimals: bool,
    /// The operands that are variables; the other operands are constants, which come first in a product.
    pub variables: &'a [u8],
    /// The function of which the formula is a derivative. The result may have values where this function has none: the derivative of
    /// `log(√x)` is `1 / (2x)`.
    pub derivative_of: Option<&'a Formula>,
}

impl Style<'_> {
    fn is_variable(self, k: u8) -> bool {
        self.variables.is_empty() || self.variables.contains(&k)
    }
}

/// Simplifies a formula; its selections are left in place.
fn textbook(formula: &Formula, style: Style<'_>) -> Formula {
    textbook_in(formula, style, ROUNDS)
}

fn textbook_in(formula: &Formula, style: Style<'_>, rounds: usize) -> Formula {
    let original = folded(formula);
    let mut opaque = vec![];
    let sum = normal(&original, style, &mut opaque);
    if !sum.is_valid() || domain::divides_by_zero(&original) {
        return original;
    }
    let result = rendering::rendered(&rewriting::shortest(&sum), style, &opaque);
    let result = match rounds > 1 && result != original {
        // The result may have a shorter form, so it is simplified again.
        true => textbook_in(&result, style, rounds - 1),
        false => result,
    };
    // A shorter formula with values outside of the domain of the original is no simplification.
    if domain::is_kept(&original, &result, style.derivative_of) { result } else { original }
}

/// Returns the normal form of a formula. Parts that have no normal form are collected in `opaque`.
fn normal(formula: &Formula, style: Style<'_>, opaque: &mut Vec<Formula>) -> Sum {
    let part = match formula {
        Formula::Constant(c) => return function::constant(*c),
        Formula::Operand(k) => return Sum::factor(Factor::Operand(*k)),
        Formula::Apply(id, operands, n) => {
            let operands: Vec<Sum> = operands.iter().map(|operand| normal(operand, style, opaque)).collect();
            return function::apply(*id, n.0, &operands);
        }
        Formula::Select(parts) => {
            let at = |part: &Formula| textbook(part, style);
            let (test, then, otherwise) = (parts.0.map(at), at(&parts.1), at(&parts.2));
            match cases::outcome(&test) {
                Some(true) => return normal(&then, style, opaque),
                Some(false) => return normal(&otherwise, style, opaque),
                None if then == otherwise => return normal(&then, style, opaque),
                None => Formula::Select(Box::new((test, then, otherwise))),
            }
        }
        Formula::Bound(bound) => {
            // Inside of an integral, only the variable of integration varies.
            let inside = Style { variables: &[bound.variable], ..style };
            let at = |part: &Formula| textbook(part, style);
            let (body, from, to) = (textbook(&bound.body, inside), at(&bound.from), at(&bound.to));
            let bound = Bound { body, from, to, ..**bound };
            let (is_negative, body) = rendering::magnitude(bound.body.clone());
            if is_negative {
                let positive = Formula::Bound(Box::new(Bound { body, ..bound }));
                return normal(&positive, style, opaque).scaled(Ratio::integer(-1));
            }
            Formula::Bound(Box::new(bound))
        }
        Formula::Result | Formula::Number(_) => formula.clone(),
    };
    let at = opaque.iter().position(|own| *own == part).unwrap_or(opaque.len());
    if at == opaque.len() {
        opaque.push(part);
    }
    Sum::factor(Factor::Opaque(at as u32))
}

/// Returns the operands of a condition.
fn compared(test: &Test<Formula>) -> [&Formula; 2] {
    let (Test::Equal(a, b) | Test::Less(a, b) | Test::AtMost(a, b)) = test;
    [a, b]
}
