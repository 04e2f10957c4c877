//! Contributions: constructs the terms that a step adds to the adjoints of its operands, or to the tangent of its
//! result.

use super::GraphBuilder;
use crate::ir::{Op, Reg, TransformedOp};
use crate::native::formula::{self, Formula};
use crate::native::{Partial, PrimitiveId, primitive_ids};
use crate::value::Bank;

/// Returns the operands that the partial derivative of a primitive in operand `k` reads; an integer operand is always
/// among them.
pub fn operands_read(id: PrimitiveId, k: usize) -> Vec<usize> {
    let banks = id.info().operands;
    let is_read = |j: &usize| banks[*j] == Bank::I || reads(id, k, &Formula::Operand(*j as u8));
    (0..banks.len()).filter(is_read).collect()
}

/// Whether the partial derivative of a primitive in operand `k` reads the primitive's result.
pub fn reads_result(id: PrimitiveId, k: usize) -> bool {
    reads(id, k, &Formula::Result)
}

fn reads(id: PrimitiveId, k: usize, part: &Formula) -> bool {
    formula::partials(id).get(k).is_some_and(|formula| formula.reads(part))
}

/// A term that is added to an adjoint or a tangent: a register, or a product.
#[derive(Clone, Copy, Debug)]
pub enum Term {
    Plus(Reg),
    Minus(Reg),
    PlusProduct(Reg, Reg),
    MinusProduct(Reg, Reg),
}

impl Term {
    /// Returns this term with the opposite sign.
    pub fn negative(self) -> Term {
        match self {
            Term::Plus(r) => Term::Minus(r),
            Term::Minus(r) => Term::Plus(r),
            Term::PlusProduct(a, b) => Term::MinusProduct(a, b),
            Term::MinusProduct(a, b) => Term::PlusProduct(a, b),
        }
    }
}

impl GraphBuilder {
    /// Emits the partial derivative of a primitive in operand `k` times `factor`; `x` are the operands, `y` the result,
    /// as far as they are read. `None` where there is no partial derivative.
    pub fn term(&mut self, (id, k): (PrimitiveId, usize), x: &[Reg], y: Reg, factor: Reg) -> Option<Term> {
        Some(match id.partial(k) {
            Partial::Constant(1.0) => Term::Plus(factor),
            Partial::Constant(-1.0) => Term::Minus(factor),
            Partial::Constant(c) => {
                let c = self.emit(Op::ConstF(c), &[]);
                Term::PlusProduct(factor, c)
            }
            Partial::Factor(other) => Term::PlusProduct(factor, x[other]),
            Partial::Reciprocal => Term::Plus(self.arithmetic(primitive_ids::DIV, &[factor, x[1]])),
            Partial::Quotient => {
                let share = self.arithmetic(primitive_ids::DIV, &[factor, x[1]]);
                Term::MinusProduct(share, y)
            }
            Partial::Expression(_) => {
                let op = Op::Transformed(TransformedOp::Partial { primitive: id, operand: k as u8 });
                let partial = self.emit(op, &[x, &[y]].concat());
                Term::PlusProduct(factor, partial)
            }
            Partial::Zero | Partial::Undefined(_) => return None,
        })
    }

    /// Emits the same for a quotient, given the inverse of the divisor: a product takes less time than a quotient. `None` where the
    /// partial derivative is not that of a quotient.
    pub fn term_by_inverse(&mut self, partial: Partial, inverse: Reg, y: Reg, factor: Reg) -> Option<Term> {
        match partial {
            Partial::Reciprocal => Some(Term::PlusProduct(factor, inverse)),
            Partial::Quotient => {
                let share = self.arithmetic(primitive_ids::MUL, &[factor, inverse]);
                Some(Term::MinusProduct(share, y))
            }
            _ => None,
        }
    }

    /// Emits the value of a term and returns its register.
    pub fn value(&mut self, term: Term) -> Reg {
        match term {
            Term::Plus(r) => r,
            Term::Minus(r) => self.arithmetic(primitive_ids::NEG, &[r]),
            Term::PlusProduct(a, b) => self.arithmetic(primitive_ids::MUL, &[a, b]),
            Term::MinusProduct(a, b) => {
                let product = self.arithmetic(primitive_ids::MUL, &[a, b]);
                self.arithmetic(primitive_ids::NEG, &[product])
            }
        }
    }

    /// Returns the sum of `before`, which may not have been computed yet, and a term.
    pub fn sum(&mut self, before: Option<Term>, term: Term) -> Term {
        let Some(before) = before else { return term };
        // The subtrahend of a difference is the second operand.
        let (first, second) = match (before, term) {
            (Term::Minus(_) | Term::MinusProduct(..), Term::Plus(_) | Term::PlusProduct(..)) => (term, before),
            (Term::PlusProduct(..), Term::Plus(_)) => (term, before),
            _ => (before, term),
        };
        let first = self.value(first);
        Term::Plus(match second {
            Term::Plus(r) => self.arithmetic(primitive_ids::ADD, &[first, r]),
            Term::Minus(r) => self.arithmetic(primitive_ids::SUB, &[first, r]),
            Term::PlusProduct(a, b) => {
                let product = self.arithmetic(primitive_ids::MUL, &[a, b]);
                self.arithmetic(primitive_ids::ADD, &[first, product])
            }
            Term::MinusProduct(a, b) => {
                let product = self.arithmetic(primitive_ids::MUL, &[a, b]);
                self.arithmetic(primitive_ids::SUB, &[first, product])
            }
        })
    }
}
