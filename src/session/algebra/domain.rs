//! Domain: the conditions under which a formula has a value.

use super::polynomial::expanded;
use super::ratio::Ratio;
use super::sum::Sum;
use super::{Style, normal};
use crate::native::formula::Formula;
use crate::native::{primitive_ids, primitive_table};

/// Whether a formula has values only where the original has values, apart from single points: each root and logarithm
/// of the original remains, or its operand cannot be negative. The roots and logarithms of `known`, which are not those of a case, need
/// not remain.
pub(super) fn is_kept(original: &Formula, result: &Formula, known: Option<&Formula>) -> bool {
    let (mut before, mut after) = (vec![], vec![]);
    conditions(original, &mut before);
    if before.is_empty() {
        return true;
    }
    conditions(result, &mut after);
    if let Some(known) = known.filter(|known| !has_cases(known)) {
        conditions(known, &mut after);
    }
    before.iter().all(|condition| after.contains(condition))
}

fn has_cases(formula: &Formula) -> bool {
    matches!(formula, Formula::Select(_)) || formula.parts().into_iter().any(has_cases)
}

/// Whether a divisor is zero everywhere, as in `x / (x - x)`, so that the formula has no value.
pub(super) fn divides_by_zero(formula: &Formula) -> bool {
    let divisor = match formula {
        Formula::Apply(primitive_ids::DIV, operands, _) => operands.get(1),
        Formula::Apply(primitive_ids::POWI, operands, n) if n.0 < 0 => operands.first(),
        _ => None,
    };
    let is_zero = |divisor: &Formula| {
        let sum = normal(divisor, Style::default(), &mut vec![]);
        expanded(&sum).unwrap_or(sum).as_constant() == Some(Ratio::ZERO)
    };
    divisor.is_some_and(is_zero) || formula.parts().into_iter().any(divides_by_zero)
}

/// Collects the sums that must not be negative for a formula to have a value.
fn conditions(formula: &Formula, all: &mut Vec<Sum>) {
    for part in formula.parts() {
        conditions(part, all);
    }
    let Formula::Apply(id, operands, _) = formula else { return };
    let info = primitive_table::info(*id);
    if let ("asin" | "acos" | "atanh" | "acosh", [u]) = (info.symbol, operands.as_slice()) {
        let one = Formula::Constant(1.0);
        let inside = if info.symbol == "acosh" { u.clone() - one } else { one - u.clone() * u.clone() };
        roots(&normal(&inside, Style::default(), &mut vec![]), all);
        return;
    }
    let is_root = match (*id, operands.as_slice()) {
        (primitive_ids::SQRT | primitive_ids::LOG, _) => true,
        (primitive_ids::POW, [_, exponent]) => match Sum::as_constant(&normal(exponent, Style::default(), &mut vec![]))
        {
            Some(exponent) => !exponent.is_integer(),
            None => true,
        },
        _ => matches!(info.symbol, "log10" | "log2"),
    };
    match operands.first() {
        Some(operand) if is_root => roots(&normal(operand, Style::default(), &mut vec![]), all),
        _ => {}
    }
}

/// Adds the conditions of a root of a sum.
fn roots(operand: &Sum, all: &mut Vec<Sum>) {
    for condition in restricted(operand) {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
}

/// Returns the sums that must not be negative for a sum to have a root, in a form that does not depend on the notation
/// of the sum.
fn restricted(operand: &Sum) -> Vec<Sum> {
    let operand = expanded(operand).unwrap_or_else(|| operand.clone());
    if operand.is_nonnegative() {
        return vec![];
    }
    let scale = operand.0.first().map_or(Ratio::ONE, |term| term.coefficient.abs().inverse());
    let scaled = operand.scaled(scale);
    match &scaled.0[..] {
        // x³ is not negative where x is not.
        [term] if term.coefficient == Ratio::ONE => match &term.factors[..] {
            [(factor, _)] => vec![Sum::factor(factor.clone())],
            _ => vec![scaled],
        },
        _ => vec![scaled],
    }
}
