//! A slope as a formula: what nested derivatives evaluate, and what the reference page prints.

use super::field::{Count, Field, Shift, Test};
use super::primitive::{Primitive, PrimitiveId, Rule, Slopes};
use super::table;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::OnceLock;

/// An expression over the operands and the result of a primitive.
#[derive(Clone, PartialEq, Debug)]
pub enum Formula {
    /// A numeric operand.
    Operand(u8),
    /// The result.
    Result,
    /// A constant.
    Constant(f64),
    /// The integer operand, shifted, as a number.
    Number(Shift),
    /// A primitive of numbers, and of the integer operand, shifted, where it takes one.
    Apply(PrimitiveId, Vec<Formula>, Shift),
    /// One of two, by a test of the innermost primals.
    Select(Box<(Test<Formula>, Formula, Formula)>),
}

/// The slopes of a primitive as formulas, one per numeric operand; none for what is linear, a product or flat.
pub fn slopes(id: PrimitiveId) -> &'static [Formula] {
    static FORMULAS: OnceLock<Vec<Vec<Formula>>> = OnceLock::new();
    let all = FORMULAS.get_or_init(|| table::all().iter().map(build).collect());
    all.get(id.0 as usize).map_or(&[], Vec::as_slice)
}

fn build(primitive: &Primitive) -> Vec<Formula> {
    let x = Formula::Operand;
    match primitive.rule {
        Rule::Slopes(Slopes::One(_, f)) => vec![f(x(0), Formula::Result)],
        Rule::Slopes(Slopes::Two(_, f)) => f.iter().map(|f| f(x(0), x(1), Formula::Result)).collect(),
        Rule::Slopes(Slopes::Three(_, f)) => f.iter().map(|f| f(x(0), x(1), x(2), Formula::Result)).collect(),
        Rule::Slopes(Slopes::Count(_, f)) => vec![f(x(0), Shift(0), Formula::Result)],
        Rule::Linear(_) | Rule::Bilinear | Rule::Flat | Rule::Opaque(_) => vec![],
    }
}

fn apply(name: &'static str, operands: Vec<Formula>, shift: Shift) -> Formula {
    match table::with_suffix(name) {
        Some(id) => Formula::Apply(id, operands, shift),
        None => unreachable!("a slope uses the primitive `{name}`, which a test finds in the table"),
    }
}

impl Field for Formula {
    type Count = Shift;

    fn constant(c: f64) -> Formula {
        Formula::Constant(c)
    }

    fn of(self, name: &'static str, _: fn(f64) -> f64) -> Formula {
        apply(name, vec![self], Shift(0))
    }

    fn of2(self, other: Formula, name: &'static str, _: fn(f64, f64) -> f64) -> Formula {
        apply(name, vec![self, other], Shift(0))
    }

    fn of_count(self, n: Shift, name: &'static str, _: fn(f64, i64) -> f64) -> Formula {
        apply(name, vec![self], n)
    }

    fn select(test: Test<Formula>, then: impl FnOnce() -> Formula, otherwise: impl FnOnce() -> Formula) -> Formula {
        Formula::Select(Box::new((test, then(), otherwise())))
    }
}

impl Count<Formula> for Shift {
    fn none() -> Shift {
        Shift(0)
    }

    fn shift(self, by: i64) -> Shift {
        Shift(self.0.saturating_add(by))
    }

    fn number(self) -> Formula {
        Formula::Number(self)
    }
}

impl Add for Formula {
    type Output = Formula;
    fn add(self, other: Formula) -> Formula {
        apply("add", vec![self, other], Shift(0))
    }
}

impl Sub for Formula {
    type Output = Formula;
    fn sub(self, other: Formula) -> Formula {
        apply("sub", vec![self, other], Shift(0))
    }
}

impl Mul for Formula {
    type Output = Formula;
    fn mul(self, other: Formula) -> Formula {
        apply("mul", vec![self, other], Shift(0))
    }
}

impl Div for Formula {
    type Output = Formula;
    fn div(self, other: Formula) -> Formula {
        apply("div", vec![self, other], Shift(0))
    }
}

impl Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        apply("neg", vec![self], Shift(0))
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(self, 0, f)
    }
}

/// Writes a formula; `around` is how tightly the place around it binds: 0 nothing, 1 sums, 2 products, 3 operands.
fn write_at(formula: &Formula, around: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match formula {
        Formula::Operand(k) => f.write_str(["x", "y", "z"].get(*k as usize).copied().unwrap_or("?")),
        Formula::Result => f.write_str("result"),
        Formula::Constant(c) => write!(f, "{c}"),
        Formula::Number(n) => write_shift(*n, f),
        Formula::Apply(id, operands, shift) => {
            let primitive = table::info(*id);
            let name = primitive.name.rsplit('.').next().unwrap_or(primitive.name);
            let infix = match name {
                "add" => Some((" + ", 1)),
                "sub" => Some((" - ", 1)),
                "mul" => Some((" * ", 2)),
                "div" => Some((" / ", 2)),
                _ => None,
            };
            match (infix, operands.as_slice()) {
                (Some((sign, binds)), [a, b]) => {
                    let open = around > binds;
                    f.write_str(if open { "(" } else { "" })?;
                    write_at(a, binds, f)?;
                    f.write_str(sign)?;
                    write_at(b, binds + 1, f)?;
                    f.write_str(if open { ")" } else { "" })
                }
                (_, [a]) if name == "neg" => {
                    f.write_str("-")?;
                    write_at(a, 3, f)
                }
                _ => {
                    write!(f, "{name}(")?;
                    for (k, operand) in operands.iter().enumerate() {
                        f.write_str(if k > 0 { ", " } else { "" })?;
                        write_at(operand, 0, f)?;
                    }
                    if primitive.operands.len() > operands.len() {
                        f.write_str(", ")?;
                        write_shift(*shift, f)?;
                    }
                    f.write_str(")")
                }
            }
        }
        Formula::Select(parts) => {
            let (test, then, otherwise) = &**parts;
            f.write_str(if around > 0 { "(" } else { "" })?;
            write_test(test, f)?;
            f.write_str(" ? ")?;
            write_at(then, 1, f)?;
            f.write_str(" : ")?;
            write_at(otherwise, 1, f)?;
            f.write_str(if around > 0 { ")" } else { "" })
        }
    }
}

fn write_shift(shift: Shift, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match shift.0 {
        0 => f.write_str("n"),
        by if by < 0 => write!(f, "n - {}", -by),
        by => write!(f, "n + {by}"),
    }
}

fn write_test(test: &Test<Formula>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match test {
        Test::Equal(a, b) => write!(f, "{a} == {b}"),
        Test::Less(a, b) => write!(f, "{a} < {b}"),
        Test::AtMost(a, b) => write!(f, "{a} <= {b}"),
    }
}
