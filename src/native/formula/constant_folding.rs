//! Constant folding: evaluates constants, and removes the zeros and ones that the differentiation of formulas produces.

use super::Formula;
use crate::native::field::{OrderOffset, Test};
use crate::native::{PrimitiveId, primitive_ids};

/// Folds the constants in a formula. Division by zero is not considered, as `0 · x` is 0.
pub fn folded(formula: &Formula) -> Formula {
    match formula {
        Formula::Apply(id, operands, n) => applied(*id, operands.iter().map(folded).collect(), *n),
        Formula::Select(parts) => {
            let (test, then, otherwise) = (parts.0.map(folded), folded(&parts.1), folded(&parts.2));
            let outcome = match &test {
                Test::Equal(Formula::Constant(a), Formula::Constant(b)) => Some(a == b),
                Test::Less(Formula::Constant(a), Formula::Constant(b)) => Some(a < b),
                Test::AtMost(Formula::Constant(a), Formula::Constant(b)) => Some(a <= b),
                Test::Equal(..) | Test::Less(..) | Test::AtMost(..) => None,
            };
            match outcome {
                Some(true) => then,
                Some(false) => otherwise,
                None if then == otherwise => then,
                None => Formula::Select(Box::new((test, then, otherwise))),
            }
        }
        Formula::Bound(bound) => Formula::Bound(Box::new(bound.map(&folded))),
        Formula::Operand(_) | Formula::Result | Formula::Constant(_) | Formula::Number(_) => formula.clone(),
    }
}

fn applied(id: PrimitiveId, operands: Vec<Formula>, n: OrderOffset) -> Formula {
    use Formula::Constant;
    let is_exact = |c: f64| c == c.trunc() && c.abs() < 1e9;
    match (id, operands.as_slice()) {
        (primitive_ids::ADD, [Constant(a), Constant(b)]) if is_exact(*a) && is_exact(*b) => Constant(a + b),
        (primitive_ids::SUB, [Constant(a), Constant(b)]) if is_exact(*a) && is_exact(*b) => Constant(a - b),
        (primitive_ids::MUL, [Constant(a), Constant(b)]) if is_exact(*a) && is_exact(*b) => Constant(a * b),
        (primitive_ids::NEG, [Constant(a)]) => Constant(-a),
        (primitive_ids::ADD, [Constant(0.0), a] | [a, Constant(0.0)]) | (primitive_ids::SUB, [a, Constant(0.0)]) => {
            a.clone()
        }
        (primitive_ids::SUB, [Constant(0.0), a]) => -a.clone(),
        (primitive_ids::MUL, [Constant(0.0), _] | [_, Constant(0.0)]) => Constant(0.0),
        (primitive_ids::MUL, [Constant(1.0), a] | [a, Constant(1.0)]) | (primitive_ids::DIV, [a, Constant(1.0)]) => {
            a.clone()
        }
        (primitive_ids::DIV, [Constant(0.0), b]) if *b != Constant(0.0) => Constant(0.0),
        (primitive_ids::POWI, [a]) if n.0 == 1 => a.clone(),
        (primitive_ids::POWI, [_]) if n.0 == 0 => Constant(1.0),
        _ => Formula::Apply(id, operands, n),
    }
}
