//! Formula text: formulas in the syntax of the language.

use super::{Bound, BoundKind, Formula, Notation};
use crate::native::field::{OrderOffset, Test};
use crate::native::{PrimitiveId, primitive_ids, primitive_table};
use crate::value::number_format::in_formula;
use std::fmt::{Display, Formatter, Result, Write};

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Writer::default().write(self, NONE, f)
    }
}

impl Formula {
    /// Prints the formula with names for its operands and its result, and a known integer operand.
    pub fn with_names(&self, operands: &[&str], result: &str, count: i64) -> String {
        self.in_notation(operands, result, count, Notation::default())
    }

    /// Prints the formula as [`with_names`](Formula::with_names) does, in the given notation.
    pub fn in_notation(&self, operands: &[&str], result: &str, count: i64, notation: Notation) -> String {
        let writer = Writer { operands, result, count: Some(count), notation };
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writer.write(&self.with_integer(count), NONE, &mut text);
        text
    }
}

/// The precedence of a context: nothing, a sum, a product, an operand of an operator, a base or an exponent.
const NONE: u8 = 0;
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const OPERAND: u8 = 3;
const POWER: u8 = 4;

/// The printed names of the operands and of the result, the integer operand if it is known, and the notation.
struct Writer<'w> {
    operands: &'w [&'w str],
    result: &'w str,
    count: Option<i64>,
    notation: Notation,
}

impl Default for Writer<'_> {
    fn default() -> Self {
        Writer { operands: &["x", "y", "z"], result: "result", count: None, notation: Notation::default() }
    }
}

impl Writer<'_> {
    fn write(&self, formula: &Formula, around: u8, f: &mut dyn Write) -> Result {
        match formula {
            Formula::Operand(k) => f.write_str(self.name(*k)),
            Formula::Result => f.write_str(self.result),
            Formula::Constant(c) => constant(*c, around, f),
            Formula::Number(n) => self.shift(*n, f),
            Formula::Apply(id, operands, shift) => match (formula.signed(), operands.as_slice()) {
                (Some(inner), _) => self.write(inner, around, f),
                (None, [a, b]) if infix(*id).is_some() => self.infix(*id, [a, b], around, f),
                (None, [base, exponent @ ..]) if is_power(*id) && self.count.is_some() => {
                    self.power(base, exponent.first(), *shift, around, f)
                }
                (None, [a]) if *id == primitive_ids::NEG => in_parentheses(around > OPERAND, f, |f| {
                    f.write_str("-")?;
                    self.write(a, OPERAND, f)
                }),
                (None, [a]) if *id == primitive_ids::SQRT && self.notation.roots => {
                    in_parentheses(around >= POWER, f, |f| {
                        let is_name =
                            matches!(a, Formula::Operand(_)) || matches!(a, Formula::Constant(c) if *c >= 0.0);
                        f.write_str("√")?;
                        in_parentheses(!is_name, f, |f| self.write(a, NONE, f))
                    })
                }
                _ => self.call(*id, operands, *shift, f),
            },
            Formula::Select(parts) => in_parentheses(around > NONE, f, |f| {
                let (test, then, otherwise) = &**parts;
                self.test(test, f)?;
                f.write_str(" ? ")?;
                self.write(then, SUM, f)?;
                f.write_str(" : ")?;
                self.write(otherwise, SUM, f)
            }),
            Formula::Bound(bound) => self.bound(bound, f),
        }
    }

    fn text(&self, formula: &Formula, around: u8) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(formula, around, &mut text);
        text
    }

    fn name(&self, k: u8) -> &str {
        self.operands.get(usize::from(k)).copied().unwrap_or("?")
    }

    fn infix(&self, id: PrimitiveId, [a, b]: [&Formula; 2], around: u8, f: &mut dyn Write) -> Result {
        let (sign, precedence) = infix(id).unwrap_or((" ? ", NONE));
        in_parentheses(around > precedence, f, |f| {
            let (left, right) = (self.text(a, precedence), self.text(b, precedence + 1));
            // A product on the left of a sum ends with its last factor, to which no juxtaposition can belong.
            let sign = if id == primitive_ids::MUL && self.is_juxtaposed(a, &right) { "" } else { sign };
            write!(f, "{left}{sign}{right}")
        })
    }

    /// Whether a product of a literal and another factor is written without a sign. `2e3` would be a number.
    fn is_juxtaposed(&self, literal: &Formula, factor: &str) -> bool {
        let is_literal = match literal {
            Formula::Constant(c) => in_formula(c.abs()).chars().all(|c| c.is_ascii_digit() || c == '.'),
            _ => false,
        };
        let mut letters = factor.chars();
        let is_prefix = match (letters.next(), letters.next()) {
            (Some('e' | 'E' | 'x' | 'b' | 'o'), Some(next)) if next.is_ascii_digit() => false,
            (Some(first), _) => first.is_alphabetic() || matches!(first, '(' | '√'),
            (None, _) => false,
        };
        self.notation.juxtaposition && is_literal && is_prefix
    }

    fn power(
        &self,
        base: &Formula,
        exponent: Option<&Formula>,
        shift: OrderOffset,
        around: u8,
        f: &mut dyn Write,
    ) -> Result {
        in_parentheses(around >= POWER, f, |f| {
            self.write(base, POWER, f)?;
            let Some(exponent) = exponent else {
                let n = self.count.unwrap_or(0).saturating_add(shift.0);
                return match n {
                    2 if self.notation.superscripts => f.write_str("²"),
                    3 if self.notation.superscripts => f.write_str("³"),
                    n if n < 0 => write!(f, "^({n})"),
                    n => write!(f, "^{n}"),
                };
            };
            match fraction(exponent) {
                Some((over, under)) => write!(f, "^({}/{})", in_formula(over), in_formula(under)),
                None => {
                    f.write_str("^")?;
                    self.write(exponent, POWER, f)
                }
            }
        })
    }

    fn call(&self, id: PrimitiveId, operands: &[Formula], shift: OrderOffset, f: &mut dyn Write) -> Result {
        let primitive = primitive_table::info(id);
        write!(f, "{}(", primitive.symbol)?;
        for (k, operand) in operands.iter().enumerate() {
            f.write_str(if k > 0 { ", " } else { "" })?;
            self.write(operand, NONE, f)?;
        }
        if primitive.operands.len() > operands.len() {
            f.write_str(", ")?;
            self.shift(shift, f)?;
        }
        f.write_str(")")
    }

    fn bound(&self, bound: &Bound, f: &mut dyn Write) -> Result {
        let Bound { kind, variable, body, from, to } = bound;
        let variable = self.name(*variable);
        match kind {
            BoundKind::Integral => {
                write!(f, "integral({{ {variable} in {} }}, ", self.text(body, NONE))?;
                write!(f, "from: {}, to: {})", self.text(from, NONE), self.text(to, NONE))
            }
            BoundKind::Sum => {
                write!(f, "({}...{})", self.text(from, OPERAND), self.text(to, OPERAND))?;
                write!(f, ".map {{ {variable} in {} }}.sum()", self.text(body, NONE))
            }
        }
    }

    fn shift(&self, shift: OrderOffset, f: &mut dyn Write) -> Result {
        if let Some(n) = self.count {
            return write!(f, "{}", n.saturating_add(shift.0));
        }
        match shift.0 {
            0 => f.write_str("n"),
            by if by < 0 => write!(f, "n - {}", -by),
            by => write!(f, "n + {by}"),
        }
    }

    fn test(&self, test: &Test<Formula>, f: &mut dyn Write) -> Result {
        // A constant is written on the right: `x > 0`.
        let (a, sign, b) = match test {
            Test::Equal(a, b) => (a, " == ", b),
            Test::Less(a @ Formula::Constant(_), b) => (b, " > ", a),
            Test::AtMost(a @ Formula::Constant(_), b) => (b, " >= ", a),
            Test::Less(a, b) => (a, " < ", b),
            Test::AtMost(a, b) => (a, " <= ", b),
        };
        self.write(a, NONE, f)?;
        f.write_str(sign)?;
        self.write(b, NONE, f)
    }
}

fn in_parentheses(is_needed: bool, f: &mut dyn Write, inner: impl FnOnce(&mut dyn Write) -> Result) -> Result {
    f.write_str(if is_needed { "(" } else { "" })?;
    inner(f)?;
    f.write_str(if is_needed { ")" } else { "" })
}

fn infix(id: PrimitiveId) -> Option<(&'static str, u8)> {
    match id {
        primitive_ids::ADD => Some((" + ", SUM)),
        primitive_ids::SUB => Some((" - ", SUM)),
        primitive_ids::MUL => Some((" * ", PRODUCT)),
        primitive_ids::DIV => Some((" / ", PRODUCT)),
        _ => None,
    }
}

fn is_power(id: PrimitiveId) -> bool {
    matches!(id, primitive_ids::POWI | primitive_ids::POW)
}

/// Returns numerator and denominator of an exponent such as `2/3`.
fn fraction(exponent: &Formula) -> Option<(f64, f64)> {
    match exponent {
        Formula::Apply(primitive_ids::DIV, operands, _) => match operands.as_slice() {
            [Formula::Constant(over), Formula::Constant(under)] => Some((*over, *under)),
            _ => None,
        },
        _ => None,
    }
}

fn constant(c: f64, around: u8, f: &mut dyn Write) -> Result {
    in_parentheses(around > OPERAND && c < 0.0, f, |f| match c {
        std::f64::consts::PI => f.write_str("π"),
        c => f.write_str(&in_formula(c)),
    })
}
