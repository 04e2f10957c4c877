//! Derivative: differentiates a formula by the partial derivatives of its primitives.

use super::{Formula, folded, partials};
use crate::native::field::{OrderOffset, Test};
use crate::native::primitive_table;
use crate::native::{Partial, Primitive, PrimitiveId};

impl Formula {
    /// Differentiates by operand `k`, with constants folded. The integer operand is 0, so that offsets are the
    /// integers.
    ///
    /// # Errors
    /// Returns the primitive that has no derivative.
    pub fn derivative(&self, k: u8) -> Result<Formula, &'static Primitive> {
        match self {
            Formula::Operand(own) => Ok(Formula::Constant(f64::from(u8::from(*own == k)))),
            Formula::Result | Formula::Constant(_) | Formula::Number(_) => Ok(Formula::Constant(0.0)),
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                Ok(Formula::Select(Box::new((test.clone(), then.derivative(k)?, otherwise.derivative(k)?))))
            }
            Formula::Bound(bound) => bound.derivative(k),
            Formula::Apply(id, operands, n) => {
                let mut sum = Formula::Constant(0.0);
                for (i, operand) in operands.iter().enumerate().filter(|(_, operand)| operand.names(k)) {
                    let (partial, inner) = (partial(self, *id, i, operands, *n)?, operand.derivative(k)?);
                    // The derivative of `u · v` is written `u' · v + u · v'`.
                    let is_first = i == 0
                        && matches!(primitive_table::info(*id).partials(), [Partial::Factor(_), Partial::Factor(_)]);
                    sum = sum + if is_first { inner * partial } else { partial * inner };
                }
                Ok(folded(&sum))
            }
        }
    }

    /// Whether the operand `k` occurs in the formula.
    pub fn names(&self, k: u8) -> bool {
        self.reads(&Formula::Operand(k))
    }

    /// Whether another formula is a part of this formula.
    pub fn reads(&self, formula: &Formula) -> bool {
        self.any(&|part| part == formula)
    }

    /// Counts the parts of the formula, including itself.
    pub fn size(&self) -> usize {
        self.parts().iter().map(|part| part.size()).sum::<usize>() + 1
    }

    /// Whether a predicate holds for the formula or for one of its parts.
    fn any(&self, holds: &dyn Fn(&Formula) -> bool) -> bool {
        holds(self) || self.parts().iter().any(|part| part.any(holds))
    }

    /// Returns the direct parts of the formula.
    pub fn parts(&self) -> Vec<&Formula> {
        match self {
            Formula::Apply(_, operands, _) => operands.iter().collect(),
            Formula::Select(parts) => {
                let (Test::Equal(a, b) | Test::Less(a, b) | Test::AtMost(a, b), then, otherwise) = &**parts;
                vec![a, b, then, otherwise]
            }
            Formula::Bound(bound) => vec![&bound.body, &bound.from, &bound.to],
            Formula::Operand(_) | Formula::Result | Formula::Constant(_) | Formula::Number(_) => vec![],
        }
    }

    /// Returns the primitives in the formula whose derivatives for equal operands are a convention that `derivative`
    /// omits.
    pub fn kinks(&self) -> Vec<&'static Primitive> {
        let mut found: Vec<&'static Primitive> = self.parts().iter().flat_map(|part| part.kinks()).collect();
        if let Formula::Apply(id, ..) = self {
            let has_tie = |partial: &Formula| match partial {
                Formula::Select(parts) => matches!(parts.0, Test::Less(..)) && smooth(partial.clone()) != *partial,
                _ => false,
            };
            if partials(*id).iter().any(has_tie) {
                found.push(primitive_table::info(*id));
            }
        }
        found.dedup_by_key(|primitive| primitive.name);
        found
    }

    /// Substitutes formulas for the operands.
    pub fn with_operands(&self, by: &dyn Fn(u8) -> Formula) -> Formula {
        let at = |part: &Formula| part.with_operands(by);
        match self {
            Formula::Operand(k) => by(*k),
            Formula::Result | Formula::Constant(_) | Formula::Number(_) => self.clone(),
            Formula::Apply(id, operands, n) => Formula::Apply(*id, operands.iter().map(at).collect(), *n),
            Formula::Select(parts) => Formula::Select(Box::new((parts.0.map(at), at(&parts.1), at(&parts.2)))),
            Formula::Bound(bound) => Formula::Bound(Box::new(bound.map(&at))),
        }
    }
}

/// Returns the partial derivative of an applied primitive in its operand `i`, over the formula's own operands.
fn partial(
    whole: &Formula,
    id: PrimitiveId,
    i: usize,
    operands: &[Formula],
    n: OrderOffset,
) -> Result<Formula, &'static Primitive> {
    let primitive = primitive_table::info(id);
    match primitive.partial(i) {
        Partial::Undefined(_) => Err(primitive),
        Partial::Zero => Ok(Formula::Constant(0.0)),
        _ => {
            let partial = partials(id).get(i).ok_or(primitive)?.with_integer(n.0);
            Ok(placed(&smooth(partial), operands, whole, n))
        }
    }
}

/// Drops the conventions for single points (kinks) from a partial derivative: an equality condition is removed, and the
/// conditions `a < b` and `b < a` become one condition for both operands.
fn smooth(partial: Formula) -> Formula {
    match partial {
        Formula::Select(parts) => {
            let (test, then, otherwise) = *parts;
            match (test, otherwise) {
                (Test::Equal(..), otherwise) => smooth(otherwise),
                (Test::Less(a, b), Formula::Select(rest)) if rest.0 == Test::Less(b.clone(), a.clone()) => {
                    let (then, otherwise) = (smooth(then), smooth(rest.1));
                    Formula::Select(Box::new(match a {
                        Formula::Operand(0) => (Test::Less(b, a), otherwise, then),
                        _ => (Test::Less(a, b), then, otherwise),
                    }))
                }
                (test, otherwise) => Formula::Select(Box::new((test, smooth(then), smooth(otherwise)))),
            }
        }
        other => other,
    }
}

/// Substitutes the actual operands, result and integer operand into a partial derivative.
fn placed(partial: &Formula, operands: &[Formula], whole: &Formula, n: OrderOffset) -> Formula {
    let at = |part: &Formula| placed(part, operands, whole, n);
    match partial {
        Formula::Apply(..) if partial.signed().is_some() => at(partial.signed().unwrap_or(partial)),
        Formula::Operand(k) => operands.get(usize::from(*k)).unwrap_or(partial).clone(),
        Formula::Result => whole.clone(),
        Formula::Constant(_) => partial.clone(),
        Formula::Number(by) => Formula::Constant(n.0.saturating_add(by.0) as f64),
        Formula::Apply(id, parts, by) => {
            let takes_integer = primitive_table::info(*id).operands.len() > parts.len();
            let by = if takes_integer { OrderOffset(n.0.saturating_add(by.0)) } else { *by };
            Formula::Apply(*id, parts.iter().map(at).collect(), by)
        }
        Formula::Select(parts) => Formula::Select(Box::new((parts.0.map(at), at(&parts.1), at(&parts.2)))),
        Formula::Bound(_) => unreachable!("a sum or an integral in a partial derivative"),
    }
}
