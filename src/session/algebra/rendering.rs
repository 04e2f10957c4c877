//! Rendering: converts the extracted nodes to a formula.

use super::Style;
use super::node::Node;
use super::ratio::Ratio;
use super::term_order::{sort_factors, sort_terms};
use crate::native::field::OrderOffset;
use crate::native::formula::Formula;
use crate::native::primitive_ids;
use egg::{Id, RecExpr};

/// Converts nodes to a formula.
pub(super) fn rendered(nodes: &RecExpr<Node>, style: Style<'_>, opaque: &[Formula]) -> Formula {
    let writer = Writer { nodes, style, opaque };
    nodes.as_ref().len().checked_sub(1).map_or(Formula::Constant(0.0), |last| writer.write(Id::from(last)))
}

struct Writer<'a> {
    nodes: &'a RecExpr<Node>,
    style: Style<'a>,
    opaque: &'a [Formula],
}

/// A product: a coefficient, and the other factors.
struct Product {
    coefficient: i64,
    factors: Vec<Formula>,
}

impl Writer<'_> {
    fn write(&self, id: Id) -> Formula {
        match &self.nodes[id] {
            Node::Number(c) => self.number(*c),
            Node::Real(bits) => Formula::Constant(f64::from_bits(*bits)),
            Node::Operand(k) => Formula::Operand(*k),
            Node::Opaque(k) => self.opaque.get(*k as usize).cloned().unwrap_or(Formula::Constant(f64::NAN)),
            Node::Add(terms) => {
                let mut terms: Vec<(bool, Formula)> = terms.iter().map(|id| magnitude(self.write(*id))).collect();
                sort_terms(&mut terms, self.style);
                let sum = terms.into_iter().reduce(|(first, sum), (is_negative, term)| {
                    let sum = if first { negated(sum) } else { sum };
                    (false, if is_negative { sum - term } else { sum + term })
                });
                sum.map_or(Formula::Constant(0.0), |(is_negative, sum)| if is_negative { negated(sum) } else { sum })
            }
            Node::Multiply(_) => {
                let Product { coefficient, factors } = self.product(id);
                product(coefficient as f64, factors)
            }
            Node::Quotient([above, below]) => self.quotient(*above, *below),
            Node::Power(exponent, [base]) => self.power(self.write(*base), *exponent),
            Node::General([base, exponent]) => {
                apply(primitive_ids::POW, vec![self.write(*base), self.write(*exponent)])
            }
            Node::Function(id, n, operands) => {
                Formula::Apply(*id, operands.iter().map(|id| self.write(*id)).collect(), OrderOffset(*n))
            }
        }
    }

    fn number(&self, c: Ratio) -> Formula {
        let is_whole = c.is_integer() || self.style.decimals && c.is_decimal();
        match is_whole {
            true => Formula::Constant(c.number()),
            false => Formula::Constant(c.numerator as f64) / Formula::Constant(c.denominator as f64),
        }
    }

    fn power(&self, base: Formula, exponent: Ratio) -> Formula {
        match exponent {
            Ratio::ONE => base,
            Ratio::HALF => apply(primitive_ids::SQRT, vec![base]),
            e if e.is_integer() => Formula::Apply(primitive_ids::POWI, vec![base], OrderOffset(e.numerator)),
            e => apply(primitive_ids::POW, vec![base, self.number(e)]),
        }
    }

    /// Returns the factors of a node; a node that is no product is its only factor.
    fn product(&self, id: Id) -> Product {
        let ids = match &self.nodes[id] {
            Node::Multiply(all) => all.as_slice(),
            _ => std::slice::from_ref(&id),
        };
        let mut product = Product { coefficient: 1, factors: vec![] };
        for id in ids {
            match &self.nodes[*id] {
                Node::Number(c) if c.is_integer() => product.coefficient *= c.numerator,
                Node::Multiply(_) => {
                    let inner = self.product(*id);
                    product.coefficient *= inner.coefficient;
                    product.factors.extend(inner.factors);
                }
                _ => {
                    let (is_negative, factor) = magnitude(self.write(*id));
                    product.coefficient *= if is_negative { -1 } else { 1 };
                    product.factors.push(factor);
                }
            }
        }
        sort_factors(&mut product.factors, self.style);
        product
    }

    fn quotient(&self, above: Id, below: Id) -> Formula {
        let (above, below) = (self.product(above), self.product(below));
        let ratio = Ratio::new(i128::from(above.coefficient), i128::from(below.coefficient));
        if self.style.decimals && ratio.is_decimal() && !ratio.is_integer() {
            let above = product(ratio.number(), above.factors);
            return if below.factors.is_empty() { above } else { above / product(1.0, below.factors) };
        }
        let above = product(ratio.numerator as f64, above.factors);
        match ratio.denominator == 1 && below.factors.is_empty() {
            true => above,
            false => above / product(ratio.denominator as f64, below.factors),
        }
    }
}

fn apply(id: crate::native::PrimitiveId, operands: Vec<Formula>) -> Formula {
    Formula::Apply(id, operands, OrderOffset(0))
}

/// Returns the product of a coefficient and factors.
fn product(coefficient: f64, factors: Vec<Formula>) -> Formula {
    let product = factors.into_iter().reduce(|a, b| a * b);
    match (coefficient, product) {
        (c, None) => Formula::Constant(c),
        (1.0, Some(product)) => product,
        (-1.0, Some(product)) => negated(product),
        (c, Some(product)) => prefixed(c, product),
    }
}

/// Puts a coefficient before the first factor of a product.
fn prefixed(c: f64, product: Formula) -> Formula {
    match product {
        Formula::Apply(primitive_ids::MUL, operands, n) => match <[Formula; 2]>::try_from(operands) {
            Ok([a, b]) => prefixed(c, a) * b,
            Err(operands) => Formula::Apply(primitive_ids::MUL, operands, n),
        },
        other => Formula::Constant(c) * other,
    }
}

/// Negates the first factor of a product or quotient.
fn negated(formula: Formula) -> Formula {
    match formula {
        Formula::Constant(c) => Formula::Constant(-c),
        Formula::Apply(id @ (primitive_ids::MUL | primitive_ids::DIV), operands, n) => {
            match <[Formula; 2]>::try_from(operands) {
                Ok([a, b]) => Formula::Apply(id, vec![negated(a), b], n),
                Err(operands) => Formula::Apply(id, operands, n),
            }
        }
        other => -other,
    }
}

/// Splits off the sign of a formula.
pub(super) fn magnitude(formula: Formula) -> (bool, Formula) {
    match formula {
        Formula::Constant(c) => (c < 0.0, Formula::Constant(c.abs())),
        Formula::Apply(primitive_ids::NEG, mut operands, n) => match operands.pop() {
            Some(inner) if operands.is_empty() => (true, inner),
            inner => {
                operands.extend(inner);
                (false, Formula::Apply(primitive_ids::NEG, operands, n))
            }
        },
        Formula::Apply(id @ (primitive_ids::MUL | primitive_ids::DIV), operands, n) => {
            match <[Formula; 2]>::try_from(operands) {
                Ok([a, b]) => match magnitude(a) {
                    // A coefficient of 1 is not written in a product.
                    (is_negative, Formula::Constant(1.0)) if id == primitive_ids::MUL => (is_negative, b),
                    (is_negative, a) => (is_negative, Formula::Apply(id, vec![a, b], n)),
                },
                Err(operands) => (false, Formula::Apply(id, operands, n)),
            }
        }
        other => (false, other),
    }
}
