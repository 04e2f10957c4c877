//! Functions: the normal form of constants and of applied primitives.

use super::ratio::Ratio;
use super::sum::{Factor, Sum, Term};
use crate::native::{PrimitiveId, primitive_ids, primitive_table};
use std::f64::consts::{LN_2, LN_10, PI};

/// The largest numerator and denominator of a multiple of a constant that is recognized.
const MULTIPLES: std::ops::RangeInclusive<i64> = 1..=12;

/// Returns the normal form of a number; multiples of π and of other constants are recognized.
pub(super) fn constant(c: f64) -> Sum {
    if let Some(ratio) = Ratio::of_number(c) {
        return Sum::constant(ratio);
    }
    let power = |base: Factor, e: Ratio| Sum::from(Term { factors: vec![(base, e)], coefficient: Ratio::ONE });
    let pi = |e: Ratio| power(Factor::Real(PI.to_bits()), e);
    let root = |n: i64| power(Factor::Integer(n), Ratio::HALF);
    let log =
        |n: i64| power(Factor::Function(primitive_ids::LOG, 0, vec![Sum::constant(Ratio::integer(n))]), Ratio::ONE);
    let inverse_root = Ratio::HALF.negative();
    let known = [
        (PI, pi(Ratio::ONE)),
        (1.0 / PI, pi(Ratio::integer(-1))),
        (std::f64::consts::FRAC_2_SQRT_PI, pi(inverse_root).scaled(Ratio::integer(2))),
        (PI.sqrt(), pi(Ratio::HALF)),
        (1.0 / (2.0 * PI).sqrt(), pi(inverse_root).times(&root(2)).scaled(Ratio::HALF)),
        (2.0f64.sqrt(), root(2)),
        (3.0f64.sqrt(), root(3)),
        (LN_2, log(2)),
        (LN_10, log(10)),
        (1.0f64.exp(), apply(primitive_ids::EXP, 0, &[Sum::constant(Ratio::ONE)])),
    ];
    let multiple = known.iter().find_map(|(value, sum)| {
        MULTIPLES.flat_map(|over| MULTIPLES.map(move |under| (over, under))).find_map(|(over, under)| {
            let value = value * over as f64 / under as f64;
            let ratio = Ratio::new(i128::from(over), i128::from(under));
            match () {
                () if value == c => Some(sum.scaled(ratio)),
                () if value == -c => Some(sum.scaled(ratio.negative())),
                () => None,
            }
        })
    });
    multiple.unwrap_or_else(|| match c < 0.0 {
        true => Sum::factor(Factor::Real((-c).to_bits())).scaled(Ratio::integer(-1)),
        false => Sum::factor(Factor::Real(c.to_bits())),
    })
}

/// Returns the normal form of a primitive applied to numbers and, where it takes one, an integer.
pub(super) fn apply(id: PrimitiveId, n: i64, operands: &[Sum]) -> Sum {
    match (id, operands) {
        (primitive_ids::ADD, [a, b]) => a.plus(b),
        (primitive_ids::SUB, [a, b]) => a.minus(b),
        (primitive_ids::NEG, [a]) => a.scaled(Ratio::integer(-1)),
        (primitive_ids::MUL, [a, b]) => a.times(b),
        (primitive_ids::DIV, [a, b]) => a.times(&b.power(Ratio::integer(-1))),
        (primitive_ids::FMA, [a, b, c]) => a.times(b).plus(c),
        (primitive_ids::POWI, [a]) => a.power(Ratio::integer(n)),
        (primitive_ids::SQRT, [a]) => a.power(Ratio::HALF),
        (primitive_ids::POW, [base, exponent]) => power(base, exponent),
        (primitive_ids::EXP, [a]) => exponential(a),
        (primitive_ids::LOG, [a]) => logarithm(a),
        _ => other(id, n, operands),
    }
}

/// Returns `exp` of a sum as a product of exponentials.
fn exponential(exponent: &Sum) -> Sum {
    let factor = |term: &Term| {
        let base = Term { coefficient: Ratio::ONE, ..term.clone() };
        (Factor::Exponential(base), term.coefficient)
    };
    product(exponent.0.iter().map(factor))
}

fn product(factors: impl Iterator<Item = (Factor, Ratio)>) -> Sum {
    let one = Term::constant(Ratio::ONE);
    let factor = |factor| Term { factors: vec![factor], coefficient: Ratio::ONE };
    Sum::from(factors.fold(one, |all, next| all.times(&factor(next))))
}

/// Returns `base^exponent`: the numbers in the exponent are split off, so that `x^(y - 1)` is a multiple of `x^y`.
fn power(base: &Sum, exponent: &Sum) -> Sum {
    if let Some(exponent) = exponent.as_constant() {
        return base.power(exponent);
    }
    let mut result = Sum::constant(Ratio::ONE);
    for term in &exponent.0 {
        let part = match term.factors.is_empty() {
            true => base.power(term.coefficient),
            false => {
                let exponent = Term { coefficient: Ratio::ONE, ..term.clone() };
                product(std::iter::once((Factor::Power(base.clone(), exponent), term.coefficient)))
            }
        };
        result = result.times(&part);
    }
    result
}

/// Returns `log` of a sum; the logarithm of an exponential is its exponent.
fn logarithm(operand: &Sum) -> Sum {
    let exponent = |(factor, e): &(Factor, Ratio)| match factor {
        Factor::Exponential(term) => Some(term.scaled(*e)),
        _ => None,
    };
    match &operand.0[..] {
        [term] if term.coefficient == Ratio::ONE => match term.factors.iter().map(exponent).collect() {
            Some(terms) => Sum::of(terms),
            None => other(primitive_ids::LOG, 0, std::slice::from_ref(operand)),
        },
        _ => other(primitive_ids::LOG, 0, std::slice::from_ref(operand)),
    }
}

/// The effect of the sign of the operand on a function of one number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    Even,
    Odd,
    None,
}

fn symmetry(id: PrimitiveId) -> Symmetry {
    match primitive_table::info(id).symbol {
        "cos" | "cosh" | "abs" => Symmetry::Even,
        "sin" | "tan" | "asin" | "atan" | "sinh" | "tanh" | "asinh" | "atanh" | "cbrt" | "erf" | "sign" => {
            Symmetry::Odd
        }
        _ => Symmetry::None,
    }
}

/// Returns an applied primitive that has no special normal form. The primitive is evaluated if the result is an
/// integer.
fn other(id: PrimitiveId, n: i64, operands: &[Sum]) -> Sum {
    let numbers: Option<Vec<f64>> = operands.iter().map(|sum| sum.as_constant().map(Ratio::number)).collect();
    let value = numbers
        .and_then(|numbers| primitive_table::info(id).number(&numbers, n))
        .filter(|value| *value == value.trunc());
    if let Some(ratio) = value.and_then(Ratio::of_number) {
        return Sum::constant(ratio);
    }
    let factor = |operands: &[Sum]| Sum::factor(Factor::Function(id, n, operands.to_vec()));
    match (operands, symmetry(id)) {
        ([a], Symmetry::Even) if a.is_negative() => factor(&[a.scaled(Ratio::integer(-1))]),
        ([a], Symmetry::Odd) if a.is_negative() => factor(&[a.scaled(Ratio::integer(-1))]).scaled(Ratio::integer(-1)),
        ([a], _) if id == primitive_ids::ABS && a.is_nonnegative() => a.clone(),
        _ => factor(operands),
    }
}
