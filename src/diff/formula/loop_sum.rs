//! Loop sum: converts the terms that a loop adds to one sum over an index.
//!
//! A loop is unrolled step by step. When several consecutive terms differ only in numbers that form arithmetic
//! progressions, the terms are replaced by a sum, and the next term extends the range of this sum. A short sum is
//! written out again at the end.

use super::{Evaluator, NoFormula};
use crate::native::field::OrderOffset;
use crate::native::formula::{Bound, BoundKind, Formula};
use crate::native::primitive_ids;

/// The number of terms from which a sum is inferred.
const TERMS: usize = 6;

/// The maximum number of terms of a sum that is written out.
const SHORT: f64 = 8.0;

impl Evaluator<'_> {
    /// Returns `sum + term`.
    pub(super) fn added(&mut self, sum: Formula, term: Formula) -> Result<Formula, NoFormula> {
        let (rest, last) = match &sum {
            Formula::Apply(primitive_ids::ADD, operands, _) => match operands.as_slice() {
                [rest, last] => (Some(rest), last),
                _ => (None, &sum),
            },
            _ => (None, &sum),
        };
        if let Formula::Bound(series) = last
            && series.kind == BoundKind::Sum
            && let Formula::Constant(to) = series.to
        {
            let next = Formula::Constant(to + 1.0);
            if at_index(series, &next) == term {
                let longer = Formula::Bound(Box::new(Bound { to: next, ..(**series).clone() }));
                return Ok(rest.map_or(longer.clone(), |rest| rest.clone() + longer));
            }
        }
        let mut terms = vec![&term];
        let mut rest = &sum;
        while let (Formula::Apply(primitive_ids::ADD, operands, _), true) = (rest, terms.len() < TERMS)
            && let [before, last] = operands.as_slice()
        {
            terms.push(last);
            rest = before;
        }
        terms.reverse();
        if terms.len() == TERMS
            && let Some((body, from)) = generalized(&terms)
        {
            let variable = self.variable("k")?;
            let body = body.with_operands(&|k| Formula::Operand(if k == INDEX { variable } else { k }));
            let (from, to) = (Formula::Constant(from), Formula::Constant(from + (TERMS - 1) as f64));
            let series = Formula::Bound(Box::new(Bound { kind: BoundKind::Sum, variable, body, from, to }));
            return Ok(rest.clone() + series);
        }
        Ok(sum + term)
    }
}

/// The operand that stands for the index while terms are compared.
const INDEX: u8 = u8::MAX;

/// Returns the common form of terms with an index, and the first index.
fn generalized(terms: &[&Formula]) -> Option<(Formula, f64)> {
    let mut index = None;
    let body = common(terms, &mut index)?;
    Some((body, index?))
}

/// Replaces arithmetic progressions by multiples of the index; the first progression determines the index.
fn common(terms: &[&Formula], index: &mut Option<f64>) -> Option<Formula> {
    let [first, others @ ..] = terms else { return None };
    if others.iter().all(|other| other == first) {
        return Some((*first).clone());
    }
    match first {
        Formula::Constant(_) => {
            let number = |term: &&Formula| if let Formula::Constant(c) = term { Some(*c) } else { None };
            linear(&terms.iter().map(number).collect::<Option<Vec<f64>>>()?, index)
        }
        Formula::Apply(id, operands, OrderOffset(n)) => {
            let mut parts: Vec<Vec<&Formula>> = vec![vec![]; operands.len()];
            let mut orders = vec![];
            for term in terms {
                let Formula::Apply(own, operands, OrderOffset(order)) = term else { return None };
                if own != id || operands.len() != parts.len() {
                    return None;
                }
                parts.iter_mut().zip(operands).for_each(|(part, operand)| part.push(operand));
                orders.push(*order as f64);
            }
            let mut operands: Vec<Formula> = parts.iter().map(|part| common(part, index)).collect::<Option<_>>()?;
            if orders.iter().all(|order| *order == *n as f64) {
                return Some(Formula::Apply(*id, operands, OrderOffset(*n)));
            }
            if *id != primitive_ids::POWI {
                return None;
            }
            operands.push(linear(&orders, index)?);
            Some(Formula::Apply(primitive_ids::POW, operands, OrderOffset(0)))
        }
        _ => None,
    }
}

/// Returns an arithmetic progression as a linear function of the index.
fn linear(numbers: &[f64], index: &mut Option<f64>) -> Option<Formula> {
    let [first, second, ..] = numbers else { return None };
    let step = second - first;
    let is_even = numbers.windows(2).all(|pair| pair[1] - pair[0] == step);
    if !is_even || step != step.trunc() || *first != first.trunc() {
        return None;
    }
    let from = *index.get_or_insert(if step == 1.0 { *first } else { 1.0 });
    let product = match step {
        1.0 => Formula::Operand(INDEX),
        step => Formula::Constant(step) * Formula::Operand(INDEX),
    };
    Some(match first - step * from {
        0.0 => product,
        rest if rest < 0.0 => product - Formula::Constant(-rest),
        rest => product + Formula::Constant(rest),
    })
}

/// Returns a term of a sum, as the unrolled loop computes it.
fn at_index(series: &Bound, index: &Formula) -> Formula {
    evaluated(&series.body.with_operands(&|k| if k == series.variable { index.clone() } else { Formula::Operand(k) }))
}

/// Evaluates the constant operations in a formula that [`linear`] has returned.
fn evaluated(formula: &Formula) -> Formula {
    let Formula::Apply(id, operands, n) = formula else { return formula.clone() };
    let operands: Vec<Formula> = operands.iter().map(evaluated).collect();
    let known = match (*id, operands.as_slice()) {
        (primitive_ids::MUL, [Formula::Constant(a), Formula::Constant(b)]) => Some(a * b),
        (primitive_ids::ADD, [Formula::Constant(a), Formula::Constant(b)]) => Some(a + b),
        (primitive_ids::SUB, [Formula::Constant(a), Formula::Constant(b)]) => Some(a - b),
        _ => None,
    };
    match (known, *id, operands.as_slice()) {
        (Some(c), ..) => Formula::Constant(c),
        (None, primitive_ids::POW, [base, Formula::Constant(n)]) if *n == n.trunc() => {
            Formula::Apply(primitive_ids::POWI, vec![base.clone()], OrderOffset(*n as i64))
        }
        _ => Formula::Apply(*id, operands, *n),
    }
}

/// Writes short sums out.
pub(super) fn unrolled(formula: &Formula) -> Formula {
    match formula {
        Formula::Bound(series) if series.kind == BoundKind::Sum => match (&series.from, &series.to) {
            (Formula::Constant(from), Formula::Constant(to)) if to - from < SHORT => {
                let indices = (0..).map(|k| from + f64::from(k)).take_while(|k| k <= to);
                let terms = indices.map(|k| at_index(series, &Formula::Constant(k)));
                terms.reduce(|sum, term| sum + term).unwrap_or(Formula::Constant(0.0))
            }
            _ => formula.clone(),
        },
        Formula::Bound(bound) => Formula::Bound(Box::new(bound.map(&unrolled))),
        Formula::Apply(id, operands, n) => Formula::Apply(*id, operands.iter().map(unrolled).collect(), *n),
        Formula::Select(parts) => {
            Formula::Select(Box::new((parts.0.map(unrolled), unrolled(&parts.1), unrolled(&parts.2))))
        }
        Formula::Operand(_) | Formula::Result | Formula::Constant(_) | Formula::Number(_) => formula.clone(),
    }
}
