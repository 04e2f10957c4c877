//! Term order: the order of terms and factors in a textbook.

use super::Style;
use crate::native::field::OrderOffset;
use crate::native::formula::Formula;
use crate::native::{primitive_ids, primitive_table};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Sorts the terms of a sum: powers with descending exponents, terms with functions with ascending exponents, and
/// numbers and inverse powers. A positive term comes first, if there is one.
pub(super) fn sort_terms(terms: &mut [(bool, Formula)], style: Style<'_>) {
    terms.sort_by_cached_key(|(_, term)| TermKey::of(term, style));
    if let Some(at) = terms.iter().position(|(is_negative, _)| !is_negative) {
        terms[..=at].rotate_right(1);
    }
}

/// Sorts the factors of a product: numbers, constants, variables, exponentials, functions, sums, roots.
pub(super) fn sort_factors(factors: &mut [Formula], style: Style<'_>) {
    factors.sort_by_cached_key(|factor| FactorKey::of(factor, style));
}

/// Returns the sort key among formulas of one kind: `exp(x)` precedes `exp(-x)`, and shorter formulas precede longer
/// ones.
fn text(formula: &Formula) -> (bool, usize, String) {
    let text = formula.to_string();
    (text.contains("(-"), text.len(), text)
}

/// A degree, with a total order.
#[derive(PartialEq, Clone, Copy)]
struct Degree(f64);

impl Eq for Degree {}

impl PartialOrd for Degree {
    fn partial_cmp(&self, other: &Degree) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Degree {
    fn cmp(&self, other: &Degree) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TermKey {
    class: u8,
    degree: Degree,
    /// The negated exponents of the variables, the first variable first.
    exponents: Vec<(u8, Degree)>,
    /// The negated exponent of the functions.
    of_functions: Degree,
    functions: Vec<u16>,
    text: (bool, usize, String),
}

impl TermKey {
    fn of(term: &Formula, style: Style<'_>) -> TermKey {
        let mut powers = Powers::default();
        powers.add(term, 1.0);
        let variables = powers.exponents.iter().filter(|(k, _)| style.is_variable(**k));
        let degree: f64 = variables.map(|(_, e)| e).sum::<f64>() + powers.of_sums;
        let (class, degree) = match () {
            // Bound sums and integrals are last.
            () if powers.functions.contains(&u16::MAX) => (3, degree),
            () if !powers.functions.is_empty() => (1, degree),
            () if degree > 0.0 => (0, -degree),
            () => (2, -degree),
        };
        let exponents = powers.exponents.iter().map(|(k, e)| (*k, Degree(-e))).collect();
        TermKey {
            class,
            degree: Degree(degree),
            exponents,
            of_functions: Degree(-powers.of_functions),
            functions: powers.functions,
            text: text(term),
        }
    }
}

/// The variables and functions in a product.
#[derive(Default)]
struct Powers {
    exponents: BTreeMap<u8, f64>,
    /// The degree of the factors that are sums.
    of_sums: f64,
    /// The sum of the exponents of the functions.
    of_functions: f64,
    functions: Vec<u16>,
}

impl Powers {
    fn add(&mut self, factor: &Formula, exponent: f64) {
        match factor {
            Formula::Operand(k) => *self.exponents.entry(*k).or_default() += exponent,
            Formula::Constant(_) | Formula::Number(_) => {}
            Formula::Apply(id, operands, OrderOffset(n)) => match (*id, operands.as_slice()) {
                (primitive_ids::MUL, [a, b]) => {
                    self.add(a, exponent);
                    self.add(b, exponent);
                }
                (primitive_ids::DIV, [a, b]) => {
                    self.add(a, exponent);
                    self.add(b, -exponent);
                }
                (primitive_ids::NEG, [a]) => self.add(a, exponent),
                (primitive_ids::POWI, [a]) => self.add(a, exponent * *n as f64),
                (primitive_ids::SQRT, [a]) => self.add(a, exponent / 2.0),
                (primitive_ids::POW, [a, e]) if constant(e).is_some() => {
                    self.add(a, exponent * constant(e).unwrap_or(1.0))
                }
                (primitive_ids::ADD | primitive_ids::SUB, [a, b]) => {
                    let degree = |part: &Formula| {
                        let mut powers = Powers::default();
                        powers.add(part, 1.0);
                        self.functions.extend(&powers.functions);
                        powers.exponents.values().sum::<f64>() + powers.of_sums
                    };
                    let [a, b] = [a, b].map(degree);
                    self.of_sums += exponent * a.max(b);
                }
                _ if is_constant(factor) => {}
                _ => {
                    self.functions.push(id.0);
                    self.of_functions += exponent;
                }
            },
            Formula::Result | Formula::Select(_) | Formula::Bound(_) => self.functions.push(u16::MAX),
        }
    }
}

/// Whether no variable occurs in a formula.
fn is_constant(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) => true,
        Formula::Apply(_, operands, _) => operands.iter().all(is_constant),
        _ => false,
    }
}

/// Returns the value of an exponent that is a number or a fraction.
fn constant(formula: &Formula) -> Option<f64> {
    match formula {
        Formula::Constant(c) => Some(*c),
        Formula::Apply(primitive_ids::DIV, operands, _) => match operands.as_slice() {
            [Formula::Constant(a), Formula::Constant(b)] => Some(a / b),
            _ => None,
        },
        _ => None,
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FactorKey {
    rank: u8,
    /// The number of the variable or function.
    which: u16,
    degree: Degree,
    text: (bool, usize, String),
}

impl FactorKey {
    fn of(factor: &Formula, style: Style<'_>) -> FactorKey {
        let (base, exponent) = power(factor);
        let (rank, which) = match base {
            Formula::Constant(c) if exponent == 1.0 && *c == c.trunc() => (0, 0),
            Formula::Constant(_) => (1, 0),
            Formula::Operand(k) if !style.is_variable(*k) => (2, u16::from(*k)),
            Formula::Operand(k) => (3, u16::from(*k)),
            Formula::Apply(primitive_ids::ADD | primitive_ids::SUB | primitive_ids::MUL | primitive_ids::DIV, ..) => {
                (if exponent == exponent.trunc() { 7 } else { 8 }, 0)
            }
            Formula::Apply(primitive_ids::EXP, ..) => (4, 0),
            Formula::Apply(primitive_ids::POW, ..) => (4, 1),
            Formula::Apply(id, ..) => (5, primitive_table::info(*id).operands.len() as u16 * 1000 + id.0),
            _ => (6, 0),
        };
        FactorKey { rank, which, degree: Degree(-exponent), text: text(factor) }
    }
}

/// Returns the base and the exponent of a power.
fn power(factor: &Formula) -> (&Formula, f64) {
    let Formula::Apply(id, operands, OrderOffset(n)) = factor else { return (factor, 1.0) };
    match (*id, operands.as_slice()) {
        (primitive_ids::POWI, [base]) => (base, *n as f64),
        (primitive_ids::SQRT, [base]) => (base, 0.5),
        (primitive_ids::POW, [base, exponent]) => constant(exponent).map_or((factor, 1.0), |e| (base, e)),
        _ => (factor, 1.0),
    }
}
