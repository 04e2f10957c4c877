//! What a step hands on: the terms that its result adds to adjoints, or that its operands add to a tangent.

use super::GraphBuilder;
use crate::ir::{Op, Reg, SweepOp};
use crate::native::field::Test;
use crate::native::formula::{self, Formula};
use crate::native::{PrimitiveId, Rule};
use crate::value::Bank;

/// The slope of a primitive in one of its operands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Slope {
    /// A number that is known.
    Known(f64),
    /// The other operand of a product.
    Other(usize),
    /// `1 / b` of `a / b`.
    Inverse,
    /// `-y / b` of `y = a / b`.
    Quotient,
    /// What the table says; whether it looks at each operand, and at the result.
    Table { operands: [bool; 2], result: bool },
}

/// The slope of a primitive in operand `k`; nothing where there is none that code can be made of.
pub fn slope(id: PrimitiveId, k: usize) -> Option<Slope> {
    let info = id.info();
    match info.rule {
        Rule::Linear(coefficients) => Some(Slope::Known(*coefficients.get(k)?)),
        Rule::Bilinear => Some(Slope::Other(1 - k)),
        Rule::Slopes(_) if info.name == "double.div" => Some(if k == 0 { Slope::Inverse } else { Slope::Quotient }),
        Rule::Slopes(_) if info.operands.len() <= 2 => {
            let formula = formula::slopes(id).get(k)?;
            let reads = |what: &Formula| mentions(formula, what);
            let operands = [reads(&Formula::Operand(0)), reads(&Formula::Operand(1))];
            Some(Slope::Table { operands, result: reads(&Formula::Result) })
        }
        Rule::Slopes(_) | Rule::Flat | Rule::Opaque(_) => None,
    }
}

fn mentions(formula: &Formula, what: &Formula) -> bool {
    formula == what
        || match formula {
            Formula::Apply(_, parts, _) => parts.iter().any(|part| mentions(part, what)),
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                let (Test::Equal(a, b) | Test::Less(a, b) | Test::AtMost(a, b)) = test;
                [a, b, then, otherwise].iter().any(|part| mentions(part, what))
            }
            Formula::Operand(_) | Formula::Result | Formula::Constant(_) | Formula::Number(_) => false,
        }
}

impl Slope {
    /// Which operands it needs, of these banks; the integer among them always.
    pub fn needs(self, banks: &[Bank]) -> Vec<usize> {
        match self {
            Slope::Known(_) => vec![],
            Slope::Other(other) => vec![other],
            Slope::Inverse | Slope::Quotient => vec![1],
            Slope::Table { operands, .. } => {
                let is_needed = |k: &usize| banks[*k] == Bank::I || operands.get(*k) == Some(&true);
                (0..banks.len()).filter(is_needed).collect()
            }
        }
    }

    /// Whether it needs the result.
    pub fn needs_result(self) -> bool {
        matches!(self, Slope::Quotient | Slope::Table { result: true, .. })
    }
}

/// Something that is added to an adjoint or a tangent.
#[derive(Clone, Copy, Debug)]
pub enum Term {
    Plus(Reg),
    Minus(Reg),
    PlusProduct(Reg, Reg),
    MinusProduct(Reg, Reg),
}

impl Term {
    /// The same with the other sign.
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
    /// The slope in operand `k` times `factor`; `x` are the operands, `y` the result, as far as they are needed.
    pub fn term(&mut self, (id, k, slope): (PrimitiveId, usize, Slope), x: &[Reg], y: Reg, factor: Reg) -> Term {
        match slope {
            Slope::Known(1.0) => Term::Plus(factor),
            Slope::Known(-1.0) => Term::Minus(factor),
            Slope::Known(c) => {
                let c = self.emit(Op::ConstF(c), &[]);
                Term::PlusProduct(factor, c)
            }
            Slope::Other(other) => Term::PlusProduct(factor, x[other]),
            Slope::Inverse => Term::Plus(self.arithmetic(self.ids.div, &[factor, x[1]])),
            Slope::Quotient => {
                let share = self.arithmetic(self.ids.div, &[factor, x[1]]);
                Term::MinusProduct(share, y)
            }
            Slope::Table { .. } => {
                let op = Op::Sweep(SweepOp::Partial { primitive: id, operand: k as u8 });
                let slope = self.emit(op, &[x, &[y]].concat());
                Term::PlusProduct(factor, slope)
            }
        }
    }

    /// What a term is, in a register.
    pub fn value(&mut self, term: Term) -> Reg {
        match term {
            Term::Plus(r) => r,
            Term::Minus(r) => self.arithmetic(self.ids.neg, &[r]),
            Term::PlusProduct(a, b) => self.arithmetic(self.ids.mul, &[a, b]),
            Term::MinusProduct(a, b) => {
                let product = self.arithmetic(self.ids.mul, &[a, b]);
                self.arithmetic(self.ids.neg, &[product])
            }
        }
    }

    /// The sum of what there is, which may not have been computed yet, and a term.
    pub fn sum(&mut self, before: Option<Term>, term: Term) -> Term {
        let Some(before) = before else { return term };
        // What is subtracted goes last.
        let (first, second) = match (before, term) {
            (Term::Minus(_) | Term::MinusProduct(..), Term::Plus(_) | Term::PlusProduct(..)) => (term, before),
            (Term::PlusProduct(..), Term::Plus(_)) => (term, before),
            _ => (before, term),
        };
        let first = self.value(first);
        Term::Plus(match second {
            Term::Plus(r) => self.arithmetic(self.ids.add, &[first, r]),
            Term::Minus(r) => self.arithmetic(self.ids.sub, &[first, r]),
            Term::PlusProduct(a, b) => {
                let product = self.arithmetic(self.ids.mul, &[a, b]);
                self.arithmetic(self.ids.add, &[first, product])
            }
            Term::MinusProduct(a, b) => {
                let product = self.arithmetic(self.ids.mul, &[a, b]);
                self.arithmetic(self.ids.sub, &[first, product])
            }
        })
    }
}
