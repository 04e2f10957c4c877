//! Formula: an expression over the operands and the result of a primitive.
//!
//! Partial derivatives are formulas: nested derivatives evaluate them, and the reference page prints them. A function
//! of numbers can be represented as a formula, too.

mod derivative;
mod simplify;
mod sum;
#[cfg(test)]
mod tests;

pub use simplify::simplified;

use super::field::{Field, IntegerParam, OrderOffset, Test};
use super::partial::Partial;
use super::primitive::{Primitive, PrimitiveId};
use super::{ids, table};
use crate::value::number::in_formula;
use std::fmt;
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
    /// A selection of one of two formulas by a test of the innermost primals.
    Select(Box<(Test<Formula>, Formula, Formula)>),
}

/// A function as a formula: its operands are the parameters, followed by the variables that occur in it.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FunctionFormula {
    /// The expression that the function computes.
    pub formula: Formula,
    /// The names of the operands.
    pub names: Vec<String>,
    /// The number of operands that are parameters of the function.
    pub parameters: usize,
}

/// Returns the partial derivatives of a primitive as formulas, one per numeric operand; none where its derivative is
/// zero or undefined.
pub fn partials(id: PrimitiveId) -> &'static [Formula] {
    static FORMULAS: OnceLock<Vec<Vec<Formula>>> = OnceLock::new();
    let all = FORMULAS.get_or_init(|| {
        let formulas = |p: &Primitive| p.partials().iter().map(Partial::formula).collect();
        table::all().iter().map(formulas).collect()
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
        apply(ids::ADD, vec![self, other])
    }
}

impl Sub for Formula {
    type Output = Formula;
    fn sub(self, other: Formula) -> Formula {
        apply(ids::SUB, vec![self, other])
    }
}

impl Mul for Formula {
    type Output = Formula;
    fn mul(self, other: Formula) -> Formula {
        apply(ids::MUL, vec![self, other])
    }
}

impl Div for Formula {
    type Output = Formula;
    fn div(self, other: Formula) -> Formula {
        apply(ids::DIV, vec![self, other])
    }
}

impl Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        apply(ids::NEG, vec![self])
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(self, 0, &OperandNames::default(), f)
    }
}

impl Formula {
    /// Returns the summand other than 0 if the formula is a [sum with 0](Field::without_sign_of_zero), which removes
    /// the sign of zero.
    pub fn signed(&self) -> Option<&Formula> {
        match self {
            Formula::Apply(id, operands, _) => match operands.as_slice() {
                [x, Formula::Constant(0.0)] if *id == ids::ADD => Some(x),
                _ => None,
            },
            _ => None,
        }
    }

    /// Prints the formula with names for its operands and its result, and a known integer operand.
    pub fn with_names(&self, operands: &[&str], result: &str, count: i64) -> String {
        struct WithNames<'f>(&'f Formula, OperandNames<'f>);
        impl fmt::Display for WithNames<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_at(self.0, 0, &self.1, f)
            }
        }
        WithNames(&self.with_integer(count), OperandNames { operands, result, count: Some(count) }).to_string()
    }

    /// Specializes the formula to a known integer operand: powers and selections that depend on nothing else are evaluated.
    fn with_integer(&self, n: i64) -> Formula {
        let at = |formula: &Formula| formula.with_integer(n);
        match self {
            Formula::Operand(_) | Formula::Result | Formula::Constant(_) => self.clone(),
            Formula::Number(by) => Formula::Constant(n.saturating_add(by.0) as f64),
            Formula::Apply(id, operands, by) => {
                let operands: Vec<Formula> = operands.iter().map(at).collect();
                let takes_integer = table::info(*id).operands.len() > operands.len();
                match (&operands[..], n.saturating_add(by.0)) {
                    ([_], 0) if takes_integer && is_power(*id) => Formula::Constant(1.0),
                    ([base], 1) if takes_integer && is_power(*id) => base.clone(),
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

fn is_power(id: PrimitiveId) -> bool {
    matches!(id, ids::POWI | ids::POW)
}

/// The printed names of the operands and of the result, and the integer operand if it is known.
struct OperandNames<'w> {
    operands: &'w [&'w str],
    result: &'w str,
    count: Option<i64>,
}

impl Default for OperandNames<'_> {
    fn default() -> Self {
        OperandNames { operands: &["x", "y", "z"], result: "result", count: None }
    }
}

/// Writes a formula as text; `around` is the precedence of its context: 0 none, 1 sums, 2 products, 3 operands, 4 bases
/// and exponents of powers.
fn write_at(formula: &Formula, around: u8, names: &OperandNames<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match formula {
        Formula::Operand(k) => f.write_str(names.operands.get(*k as usize).copied().unwrap_or("?")),
        Formula::Result => f.write_str(names.result),
        Formula::Constant(c) => write_constant(*c, around, f),
        Formula::Number(n) => write_shift(*n, names, f),
        Formula::Apply(id, operands, shift) => {
            let primitive = table::info(*id);
            let name = primitive.symbol;
            let infix = match *id {
                ids::ADD => Some((" + ", 1)),
                ids::SUB => Some((" - ", 1)),
                ids::MUL => Some((" * ", 2)),
                ids::DIV => Some((" / ", 2)),
                _ => None,
            };
            match (infix, operands.as_slice()) {
                _ if formula.signed().is_some() => write_at(formula.signed().unwrap_or(formula), around, names, f),
                (Some((sign, binds)), [a, b]) => {
                    let open = around > binds;
                    f.write_str(if open { "(" } else { "" })?;
                    write_at(a, binds, names, f)?;
                    f.write_str(sign)?;
                    write_at(b, binds + 1, names, f)?;
                    f.write_str(if open { ")" } else { "" })
                }
                (_, [a, exponent @ ..]) if is_power(*id) && names.count.is_some() => {
                    f.write_str(if around > 3 { "(" } else { "" })?;
                    write_at(a, 4, names, f)?;
                    f.write_str("^")?;
                    match exponent.first() {
                        Some(exponent) => write_at(exponent, 4, names, f)?,
                        None => write_shift(*shift, names, f)?,
                    }
                    f.write_str(if around > 3 { ")" } else { "" })
                }
                (_, [a]) if *id == ids::NEG => {
                    f.write_str(if around > 3 { "(-" } else { "-" })?;
                    write_at(a, 3, names, f)?;
                    f.write_str(if around > 3 { ")" } else { "" })
                }
                _ => {
                    write!(f, "{name}(")?;
                    for (k, operand) in operands.iter().enumerate() {
                        f.write_str(if k > 0 { ", " } else { "" })?;
                        write_at(operand, 0, names, f)?;
                    }
                    if primitive.operands.len() > operands.len() {
                        f.write_str(", ")?;
                        write_shift(*shift, names, f)?;
                    }
                    f.write_str(")")
                }
            }
        }
        Formula::Select(parts) => {
            let (test, then, otherwise) = &**parts;
            f.write_str(if around > 0 { "(" } else { "" })?;
            write_test(test, names, f)?;
            f.write_str(" ? ")?;
            write_at(then, 1, names, f)?;
            f.write_str(" : ")?;
            write_at(otherwise, 1, names, f)?;
            f.write_str(if around > 0 { ")" } else { "" })
        }
    }
}

fn write_constant(c: f64, around: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_in_parentheses = around > 3 && c < 0.0;
    f.write_str(if is_in_parentheses { "(" } else { "" })?;
    match c {
        std::f64::consts::PI => f.write_str("π")?,
        c => f.write_str(&in_formula(c))?,
    }
    f.write_str(if is_in_parentheses { ")" } else { "" })
}

fn write_shift(shift: OrderOffset, names: &OperandNames<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(n) = names.count {
        return write!(f, "{}", n.saturating_add(shift.0));
    }
    match shift.0 {
        0 => f.write_str("n"),
        by if by < 0 => write!(f, "n - {}", -by),
        by => write!(f, "n + {by}"),
    }
}

fn write_test(test: &Test<Formula>, names: &OperandNames<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // A constant is written on the right: `x > 0`.
    let (a, sign, b) = match test {
        Test::Equal(a, b) => (a, " == ", b),
        Test::Less(a @ Formula::Constant(_), b) => (b, " > ", a),
        Test::AtMost(a @ Formula::Constant(_), b) => (b, " >= ", a),
        Test::Less(a, b) => (a, " < ", b),
        Test::AtMost(a, b) => (a, " <= ", b),
    };
    write_at(a, 0, names, f)?;
    f.write_str(sign)?;
    write_at(b, 0, names, f)
}
