//! Formula: an expression over the operands and the result of a primitive.
//!
//! Partial derivatives are formulas: nested derivatives evaluate them, and the reference page prints them. A function
//! of numbers can be represented as a formula, too.

mod binder;
mod constant_folding;
mod derivative;
mod formula_text;
mod notation;

pub use binder::{Bound, BoundKind};
pub use constant_folding::folded;
pub use notation::Notation;

use super::field::{Field, IntegerParam, OrderOffset, Test};
use super::partial::Partial;
use super::primitive::{Primitive, PrimitiveId};
use super::{primitive_ids, primitive_table};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::OnceLock;

/// An expression over the operands and the result of a primitive.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Formula {
    /// A numeric operand of the primitive, by index.
    Operand(u8),
    /// The result of the primitive.
    Result,
    /// A constant number.
    Constant(f64),
    /// The integer operand, plus the offset, as a number.
    Number(OrderOffset),
    /// A primitive applied to numbers and, where it takes one, to the integer operand plus the offset.
    Apply(PrimitiveId, Vec<Formula>, OrderOffset),
    /// A selection of one of two formulas by a condition on the innermost primals.
    Select(Box<(Test<Formula>, Formula, Formula)>),
    /// A sum over integers or an integral; partial derivatives of primitives have none.
    Bound(Box<Bound>),
}

/// A function of which formulas are requested.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FormulaRecord {
    /// The function as a formula, or the reason why there is none.
    pub formula: Result<FunctionFormula, String>,
    /// An example of the arguments of the function in source syntax: `2, 3`.
    pub example: String,
}

/// A function as a formula: its operands are the parameters, followed by the variables that occur in it.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FunctionFormula {
    /// The expression that the function computes.
    pub formula: Formula,
    /// The names of the operands.
    pub names: Vec<String>,
    /// The operands with respect to which the function is differentiated: numbers, and elements of arrays.
    pub parameters: Vec<u8>,
    /// The notation of the function's source text.
    pub notation: Notation,
}

/// Returns the partial derivatives of a primitive as formulas, one per numeric operand; none where the derivative of
/// the primitive is zero or undefined.
pub fn partials(id: PrimitiveId) -> &'static [Formula] {
    static FORMULAS: OnceLock<Vec<Vec<Formula>>> = OnceLock::new();
    let all = FORMULAS.get_or_init(|| {
        let formulas = |p: &Primitive| p.partials().iter().map(Partial::formula).collect();
        primitive_table::all().iter().map(formulas).collect()
    });
    all.get(id.0 as usize).map_or(&[], Vec::as_slice)
}

fn apply(id: PrimitiveId, operands: Vec<Formula>) -> Formula {
    Formula::Apply(id, operands, OrderOffset(0))
}

impl Field for Formula {
    type Integer = OrderOffset;

    fn constant(c: f64) -> Formula {
        Formula::Constant(c)
    }

    fn of(self, primitive: PrimitiveId, _: fn(f64) -> f64) -> Formula {
        apply(primitive, vec![self])
    }

    fn of2(self, other: Formula, primitive: PrimitiveId, _: fn(f64, f64) -> f64) -> Formula {
        apply(primitive, vec![self, other])
    }

    fn of_integer(self, n: OrderOffset, primitive: PrimitiveId, _: fn(f64, i64) -> f64) -> Formula {
        Formula::Apply(primitive, vec![self], n)
    }

    fn select(test: Test<Formula>, then: impl FnOnce() -> Formula, otherwise: impl FnOnce() -> Formula) -> Formula {
        Formula::Select(Box::new((test, then(), otherwise())))
    }
}

impl IntegerParam<Formula> for OrderOffset {
    fn zero() -> OrderOffset {
        OrderOffset(0)
    }

    fn offset(self, by: i64) -> OrderOffset {
        OrderOffset(self.0.saturating_add(by))
    }

    fn number(self) -> Formula {
        Formula::Number(self)
    }
}

impl Add for Formula {
    type Output = Formula;
    fn add(self, other: Formula) -> Formula {
        apply(primitive_ids::ADD, vec![self, other])
    }
}

impl Sub for Formula {
    type Output = Formula;
    fn sub(self, other: Formula) -> Formula {
        apply(primitive_ids::SUB, vec![self, other])
    }
}

impl Mul for Formula {
    type Output = Formula;
    fn mul(self, other: Formula) -> Formula {
        apply(primitive_ids::MUL, vec![self, other])
    }
}

impl Div for Formula {
    type Output = Formula;
    fn div(self, other: Formula) -> Formula {
        apply(primitive_ids::DIV, vec![self, other])
    }
}

impl Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        apply(primitive_ids::NEG, vec![self])
    }
}

impl Formula {
    /// Returns the summand other than 0 if the formula is a [sum with 0](Field::without_sign_of_zero); such a sum
    /// removes the sign of zero.
    pub fn signed(&self) -> Option<&Formula> {
        match self {
            Formula::Apply(id, operands, _) => match operands.as_slice() {
                [x, Formula::Constant(0.0)] if *id == primitive_ids::ADD => Some(x),
                _ => None,
            },
            _ => None,
        }
    }

    /// Specializes the formula to a known integer operand: powers and selections that depend on nothing else are
    /// evaluated.
    fn with_integer(&self, n: i64) -> Formula {
        let at = |formula: &Formula| formula.with_integer(n);
        match self {
            Formula::Operand(_) | Formula::Result | Formula::Constant(_) => self.clone(),
            Formula::Bound(bound) => Formula::Bound(Box::new(bound.map(&at))),
            Formula::Number(by) => Formula::Constant(n.saturating_add(by.0) as f64),
            Formula::Apply(id, operands, by) => {
                let operands: Vec<Formula> = operands.iter().map(at).collect();
                let takes_integer = primitive_table::info(*id).operands.len() > operands.len();
                match (&operands[..], n.saturating_add(by.0)) {
                    ([_], 0) if takes_integer && *id == primitive_ids::POWI => Formula::Constant(1.0),
                    ([base], 1) if takes_integer && *id == primitive_ids::POWI => base.clone(),
                    _ => Formula::Apply(*id, operands, *by),
                }
            }
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                let (test, then, otherwise) = (test.map(at), at(then), at(otherwise));
                let holds = match &test {
                    Test::Equal(Formula::Constant(a), Formula::Constant(b)) => Some(a == b),
                    Test::Less(Formula::Constant(a), Formula::Constant(b)) => Some(a < b),
                    Test::AtMost(Formula::Constant(a), Formula::Constant(b)) => Some(a <= b),
                    Test::Equal(..) | Test::Less(..) | Test::AtMost(..) => None,
                };
                match holds {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => Formula::Select(Box::new((test, then, otherwise))),
                }
            }
        }
    }
}
