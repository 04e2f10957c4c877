//! Cases: moves the selections of a formula outward and simplifies each case.

use super::{Style, compared, textbook};
use crate::native::field::Test;
use crate::native::formula::Formula;

/// The number of nested selections that are split into cases; deeper selections are unchanged.
const DEPTH: usize = 4;

/// Simplifies a formula, with its selections on the outside.
pub fn simplified(formula: &Formula, style: Style<'_>) -> Formula {
    by_cases(&textbook(formula, style), style, DEPTH)
}

/// Evaluates a condition on two numbers, if possible.
pub(super) fn outcome(test: &Test<Formula>) -> Option<bool> {
    match test {
        Test::Equal(Formula::Constant(a), Formula::Constant(b)) => Some(a == b),
        Test::Less(Formula::Constant(a), Formula::Constant(b)) => Some(a < b),
        Test::AtMost(Formula::Constant(a), Formula::Constant(b)) => Some(a <= b),
        Test::Equal(..) | Test::Less(..) | Test::AtMost(..) => None,
    }
}

fn by_cases(formula: &Formula, style: Style<'_>, depth: usize) -> Formula {
    let Some(test) = first_test(formula).filter(|_| depth > 0) else { return formula.clone() };
    let case = |holds: bool| {
        let derivative_of = style.derivative_of.map(|function| assumed(function, &test, holds));
        let style = Style { derivative_of: derivative_of.as_ref(), ..style };
        let formula = textbook(&assumed(formula, &test, holds), style);
        by_cases(&formula, style, depth - 1)
    };
    let [then, otherwise] = [case(true), case(false)];
    if then == otherwise { then } else { Formula::Select(Box::new((test, then, otherwise))) }
}

fn first_test(formula: &Formula) -> Option<Test<Formula>> {
    match formula {
        Formula::Select(parts) => Some(parts.0.clone()),
        // The variable of a sum or an integral has no value outside of the sum or integral.
        Formula::Bound(_) => None,
        _ => formula.parts().into_iter().find_map(first_test),
    }
}

/// Simplifies a formula under the assumption that a condition holds or does not hold.
fn assumed(formula: &Formula, known: &Test<Formula>, holds: bool) -> Formula {
    let at = |part: &Formula| assumed(part, known, holds);
    match formula {
        Formula::Apply(id, operands, n) => Formula::Apply(*id, operands.iter().map(at).collect(), *n),
        Formula::Select(parts) => match decided(&parts.0, known, holds) {
            Some(true) => at(&parts.1),
            Some(false) => at(&parts.2),
            None => Formula::Select(Box::new((parts.0.map(at), at(&parts.1), at(&parts.2)))),
        },
        _ => formula.clone(),
    }
}

/// Evaluates a condition, if possible, given the outcome of a condition on the same two numbers.
fn decided(test: &Test<Formula>, known: &Test<Formula>, holds: bool) -> Option<bool> {
    if test == known {
        return Some(holds);
    }
    if let (Some(known), Some(test)) = (Bounded::of(known), Bounded::of(test))
        && known.formula == test.formula
    {
        return known.decides(&test, holds);
    }
    let ([a, b], [c, d]) = (compared(known), compared(test));
    let is_same = a == c && b == d;
    if !(is_same || a == d && b == c) {
        return None;
    }
    match (known, holds, test) {
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

/// A condition that compares a formula with a number.
struct Bounded<'f> {
    formula: &'f Formula,
    bound: f64,
    /// Whether the condition holds above the bound, as opposed to below.
    is_lower: bool,
    /// Whether the condition holds at the bound.
    includes: bool,
}

impl<'f> Bounded<'f> {
    fn of(test: &'f Test<Formula>) -> Option<Bounded<'f>> {
        let includes = matches!(test, Test::AtMost(..));
        match test {
            Test::Less(Formula::Constant(c), f) | Test::AtMost(Formula::Constant(c), f) => {
                Some(Bounded { formula: f, bound: *c, is_lower: true, includes })
            }
            Test::Less(f, Formula::Constant(c)) | Test::AtMost(f, Formula::Constant(c)) => {
                Some(Bounded { formula: f, bound: *c, is_lower: false, includes })
            }
            _ => None,
        }
    }

    /// Evaluates another condition on the formula, given the outcome of this condition. A formula that is NaN satisfies
    /// no condition, so that a condition that fails does not imply its opposite.
    fn decides(&self, other: &Bounded<'_>, holds: bool) -> Option<bool> {
        let beyond = |a: f64, b: f64| if self.is_lower { a > b } else { a < b };
        let is_tighter =
            beyond(other.bound, self.bound) || other.bound == self.bound && (self.includes || !other.includes);
        let is_looser =
            beyond(self.bound, other.bound) || other.bound == self.bound && (other.includes || !self.includes);
        match (self.is_lower == other.is_lower, holds) {
            (true, true) if is_looser => Some(true),
            (true, false) if is_tighter => Some(false),
            (false, true) if beyond(self.bound, other.bound) => Some(false),
            (false, true) if self.bound == other.bound && !(self.includes && other.includes) => Some(false),
            _ => None,
        }
    }
}
