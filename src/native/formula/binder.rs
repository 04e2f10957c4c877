//! Binders: sums over integers and integrals, which are formulas that bind a variable.

use super::{Formula, folded};
use crate::native::Primitive;

/// A sum or an integral.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// The kind of the formula: a sum or an integral.
    pub kind: BoundKind,
    /// The bound variable, an operand that occurs nowhere else.
    pub variable: u8,
    /// The summand or the integrand.
    pub body: Formula,
    /// The lower bound of the sum or integral.
    pub from: Formula,
    /// The upper bound of the sum or integral; a sum includes this bound.
    pub to: Formula,
}

/// The kind of a [`Bound`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum BoundKind {
    /// A sum over the integers from `from` to `to`, which do not depend on operands.
    Sum,
    /// An integral from `from` to `to`.
    Integral,
}

impl Bound {
    /// Applies `by` to the body and to both bounds.
    pub fn map(&self, by: &dyn Fn(&Formula) -> Formula) -> Bound {
        Bound { body: by(&self.body), from: by(&self.from), to: by(&self.to), ..*self }
    }

    /// Differentiates by operand `k`: an integral by its bounds (the fundamental theorem of calculus) and under the
    /// integral sign.
    pub(super) fn derivative(&self, k: u8) -> Result<Formula, &'static Primitive> {
        let inner = Bound { body: folded(&self.body.derivative(k)?), ..self.clone() };
        let inside = match inner.body {
            Formula::Constant(0.0) => Formula::Constant(0.0),
            _ => Formula::Bound(Box::new(inner)),
        };
        if self.kind == BoundKind::Sum {
            return Ok(inside);
        }
        let at = |bound: &Formula| {
            let value = self.body.with_operands(&|own| match own == self.variable {
                true => bound.clone(),
                false => Formula::Operand(own),
            });
            Ok(value * bound.derivative(k)?)
        };
        let (upper, lower) = (folded(&at(&self.to)?), folded(&at(&self.from)?));
        Ok(folded(&(upper - lower + inside)))
    }
}
