//! Polynomials: expansion, common factors and division of sums.

use super::ratio::{Ratio, gcd};
use super::sum::{Factor, Sum, Term};
use std::cmp::Ordering;

/// The maximum number of terms of an expanded sum.
const MAX_TERMS: usize = 24;

/// The maximum exponent of a sum that is expanded.
const MAX_EXPONENT: i64 = 8;

/// The maximum number of steps of a division.
const MAX_STEPS: usize = 40;

/// Multiplies sums out; `None` if the result has too many terms.
pub(super) fn expanded(sum: &Sum) -> Option<Sum> {
    let mut all = Sum::default();
    for term in &sum.0 {
        all = all.plus(&expanded_term(term)?);
        if all.0.len() > MAX_TERMS {
            return None;
        }
    }
    Some(all)
}

fn expanded_term(term: &Term) -> Option<Sum> {
    let is_product = |(factor, e): &&(Factor, Ratio)| matches!(factor, Factor::Group(_)) && e.floor() >= 1;
    let Some((Factor::Group(inner), exponent)) = term.factors.iter().find(is_product).cloned() else {
        return Some(Sum::from(term.clone()));
    };
    let whole = exponent.floor();
    if whole > MAX_EXPONENT {
        return None;
    }
    let rest = exponent.minus(Ratio::integer(whole));
    let mut others = term.without(&Factor::Group(inner.clone()));
    if !rest.is_zero() {
        let factors = vec![(Factor::Group(inner.clone()), rest)];
        others = others.times(&Term { factors, coefficient: Ratio::ONE });
    }
    let inner = expanded(&inner)?;
    let mut product = Sum::from(others);
    for _ in 0..whole {
        product = product.distributed(&inner);
        if product.0.len() > MAX_TERMS {
            return None;
        }
    }
    expanded(&product)
}

/// Returns the common factor of all terms and the sum divided by this factor. With `is_fraction`, the common factor
/// includes the common denominator; otherwise, only the factors that all terms share.
pub(super) fn common_factor(sum: &Sum, is_fraction: bool) -> Option<(Term, Sum)> {
    let [first, ..] = &sum.0[..] else { return None };
    let mut factors: Vec<(Factor, Ratio)> = vec![];
    let all: Vec<&Factor> = sum.0.iter().flat_map(|term| term.factors.iter().map(|(factor, _)| factor)).collect();
    for factor in all {
        if factors.iter().any(|(own, _)| own == factor) {
            continue;
        }
        let exponents = || sum.0.iter().map(|term| term.exponent(factor));
        let least =
            exponents().reduce(|a, b| if a.compare(b) == Ordering::Less { a } else { b }).unwrap_or(Ratio::ZERO);
        let most = exponents().reduce(|a, b| if a.compare(b) == Ordering::Less { b } else { a }).unwrap_or(Ratio::ZERO);
        let shared = match () {
            () if !least.is_negative() => least,
            () if is_fraction && factor.is_divisor() => least,
            () if most.is_negative() => most,
            () => Ratio::ZERO,
        };
        factors.push((factor.clone(), shared));
    }
    factors.retain(|(_, e)| !e.is_zero());
    factors.sort();
    let over = sum.0.iter().fold(0, |all, term| gcd(all, i128::from(term.coefficient.numerator)));
    let over = if sum.0.iter().all(|term| term.coefficient.numerator == 0) { 1 } else { over };
    let under = sum.0.iter().fold(1i128, |all, term| {
        let under = i128::from(term.coefficient.denominator);
        all.checked_mul(under).map_or(0, |product| product / gcd(all, under))
    });
    let coefficient = Ratio::new(over, under);
    let coefficient = if sum.is_negative() { coefficient.negative() } else { coefficient };
    if !coefficient.is_valid() || coefficient.is_zero() || first.factors.is_empty() && sum.0.len() == 1 {
        return None;
    }
    let common = Term { factors, coefficient };
    let inverse = common.inverse();
    Some((common, Sum::of(sum.0.iter().map(|term| term.times(&inverse)).collect())))
}

/// Divides one expanded sum by another; `None` if there is a remainder.
pub(super) fn divided(sum: &Sum, by: &Sum) -> Option<Sum> {
    let lead = leading(by)?;
    let inverse = lead.inverse();
    let (mut rest, mut quotient) = (sum.clone(), Sum::default());
    for _ in 0..MAX_STEPS {
        let Some(first) = leading(&rest) else { return Some(quotient) };
        let next = first.times(&inverse);
        let is_whole = |(factor, e): &(Factor, Ratio)| !e.is_negative() || !factor.is_divisor();
        if !next.factors.iter().all(is_whole) || !next.coefficient.is_valid() {
            return None;
        }
        let next = Sum::from(next);
        rest = rest.minus(&by.distributed(&next));
        quotient = quotient.plus(&next);
    }
    None
}

/// Returns the term with the highest exponents.
fn leading(sum: &Sum) -> Option<&Term> {
    sum.0.iter().reduce(|a, b| if higher(a, b) == Ordering::Less { b } else { a })
}

/// Compares the exponents of two terms, from the first factor to the last.
fn higher(a: &Term, b: &Term) -> Ordering {
    let mut factors: Vec<&Factor> = a.factors.iter().chain(&b.factors).map(|(factor, _)| factor).collect();
    factors.sort();
    let by_factor = factors.into_iter().map(|factor| a.exponent(factor).compare(b.exponent(factor)));
    by_factor.fold(Ordering::Equal, Ordering::then)
}
