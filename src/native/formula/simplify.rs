//! Simplification: constant folding, removal of zeros and ones, and collection of like terms and powers.
//!
//! A formula is treated as a sum of terms, a term as a coefficient times powers of factors, and a factor is anything that
//! is neither a sum nor a product. The order of terms and factors is preserved. Division by zero is not considered:
//! `x / x` is 1.

use super::Formula;
use super::sum::{Sum, Term};
use crate::native::field::{OrderOffset, Test};
use crate::native::{PrimitiveId, ids, table};

/// The maximum number of nested selections that are split into cases; selections that are nested more deeply stay in
/// place.
const CHOICES: usize = 4;

/// Simplifies a formula and moves its selections outward.
pub fn simplified(formula: &Formula) -> Formula {
    by_cases(&plain(formula), CHOICES)
}

/// Simplifies a formula, and leaves its selections in place.
fn plain(formula: &Formula) -> Formula {
    sum(formula).into_formula()
}

/// Converts a formula to a sum.
pub(super) fn sum(formula: &Formula) -> Sum {
    match formula {
        Formula::Constant(c) => constant(*c),
        Formula::Apply(id, operands, n) => applied(*id, operands, n.0, formula),
        Formula::Select(parts) => {
            let (test, then, otherwise) = (parts.0.map(plain), plain(&parts.1), plain(&parts.2));
            match holds(&test) {
                Some(true) => sum(&then),
                Some(false) => sum(&otherwise),
                None if then == otherwise => sum(&then),
                None => Sum::factor(Formula::Select(Box::new((test, then, otherwise)))),
            }
        }
        Formula::Operand(_) | Formula::Result | Formula::Number(_) => Sum::factor(formula.clone()),
    }
}

/// Converts a constant to a sum; constants that have a name, or are a function of a small integer, are left symbolic.
fn constant(c: f64) -> Sum {
    let logarithm = [2.0, 10.0].into_iter().find(|n: &f64| n.ln() == c);
    match logarithm {
        Some(n) => Sum::factor(Formula::Apply(ids::LOG, vec![Formula::Constant(n)], OrderOffset(0))),
        _ if c == std::f64::consts::PI || !c.is_finite() => Sum::factor(Formula::Constant(c)),
        _ => Sum::from(Term::constant(c)),
    }
}

fn applied(id: PrimitiveId, operands: &[Formula], n: i64, formula: &Formula) -> Sum {
    let at = |i: usize| operands.get(i).map(sum).unwrap_or_default();
    match (id, operands) {
        (ids::ADD, [_, _]) => at(0).plus(at(1)),
        (ids::SUB, [_, _]) => at(0).plus(at(1).negative()),
        (ids::NEG, [_]) => at(0).negative(),
        (ids::MUL, [_, _]) => at(0).times(at(1)),
        (ids::DIV, [_, _]) => at(0).times(at(1).power(-1)),
        (ids::FMA, [_, _, _]) => at(0).times(at(1)).plus(at(2)),
        (ids::POWI, [_]) => at(0).power(n),
        (ids::POW, [_, exponent]) => match integer(&plain(exponent)) {
            Some(n) => at(0).power(n),
            None => other(id, operands, formula),
        },
        _ => other(id, operands, formula),
    }
}

fn integer(formula: &Formula) -> Option<i64> {
    match formula {
        Formula::Constant(c) if *c == c.trunc() && c.abs() < 1e6 => Some(*c as i64),
        _ => None,
    }
}

/// Converts a primitive that is neither a sum nor a product to a sum; the primitive is evaluated where the result is an
/// integer.
fn other(id: PrimitiveId, operands: &[Formula], formula: &Formula) -> Sum {
    let operands: Vec<Formula> = operands.iter().map(plain).collect();
    let numbers: Vec<f64> =
        operands.iter().filter_map(|o| if let Formula::Constant(c) = o { Some(*c) } else { None }).collect();
    let Formula::Apply(_, _, n) = formula else { return Sum::factor(formula.clone()) };
    let value = table::info(id).number(&numbers, n.0).filter(|v| numbers.len() == operands.len() && *v == v.trunc());
    match value {
        Some(value) if value.is_finite() => Sum::from(Term::constant(value)),
        _ => Sum::factor(Formula::Apply(id, operands, *n)),
    }
}

fn holds(test: &Test<Formula>) -> Option<bool> {
    match test {
        Test::Equal(Formula::Constant(a), Formula::Constant(b)) => Some(a == b),
        Test::Less(Formula::Constant(a), Formula::Constant(b)) => Some(a < b),
        Test::AtMost(Formula::Constant(a), Formula::Constant(b)) => Some(a <= b),
        Test::Equal(..) | Test::Less(..) | Test::AtMost(..) => None,
    }
}

/// Moves selections to the outside, so that each case is a formula without them; `depth` limits the nesting.
fn by_cases(formula: &Formula, depth: usize) -> Formula {
    let Some(test) = first_test(formula).filter(|_| depth > 0) else { return formula.clone() };
    let [then, otherwise] = [true, false].map(|yes| by_cases(&plain(&assumed(formula, &test, yes)), depth - 1));
    if then == otherwise { then } else { Formula::Select(Box::new((test, then, otherwise))) }
}

fn first_test(formula: &Formula) -> Option<Test<Formula>> {
    match formula {
        Formula::Select(parts) => Some(parts.0.clone()),
        _ => formula.parts().into_iter().find_map(first_test),
    }
}

/// Simplifies a formula under the assumption that a test holds or does not hold.
fn assumed(formula: &Formula, known: &Test<Formula>, yes: bool) -> Formula {
    let at = |part: &Formula| assumed(part, known, yes);
    match formula {
        Formula::Apply(id, operands, n) => Formula::Apply(*id, operands.iter().map(at).collect(), *n),
        Formula::Select(parts) => match decided(&parts.0, known, yes) {
            Some(true) => at(&parts.1),
            Some(false) => at(&parts.2),
            None => Formula::Select(Box::new((parts.0.map(at), at(&parts.1), at(&parts.2)))),
        },
        Formula::Operand(_) | Formula::Result | Formula::Constant(_) | Formula::Number(_) => formula.clone(),
    }
}

/// Decides a test, if possible, given the outcome of a test that compares the same two numbers.
fn decided(test: &Test<Formula>, known: &Test<Formula>, yes: bool) -> Option<bool> {
    if test == known {
        return Some(yes);
    }
    let (Test::Equal(a, b) | Test::Less(a, b) | Test::AtMost(a, b)) = known;
    let (Test::Equal(c, d) | Test::Less(c, d) | Test::AtMost(c, d)) = test;
    let is_same = a == c && b == d;
    if !(is_same || a == d && b == c) {
        return None;
    }
    match (known, yes, test) {
        (Test::Less(..), true, Test::AtMost(..)) => Some(is_same),
        (Test::Less(..), true, _) | (Test::Equal(..), true, Test::Less(..)) => Some(false),
        (Test::Equal(..), true, _) => Some(true),
        (Test::Less(..), false, Test::AtMost(..)) if !is_same => Some(true),
        (Test::AtMost(..), true, Test::Less(..)) if !is_same => Some(false),
        (Test::AtMost(..), false, Test::Equal(..)) => Some(false),
        (Test::AtMost(..), false, _) => Some(!is_same),
        (Test::Equal(..), false, Test::Equal(..)) => Some(false),
        _ => None,
    }
}
