//! What an entry of the table says.

use super::field::Shift;
use super::formula::Formula;
use crate::value::Bank;

/// A primitive: an index into the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PrimitiveId(pub u16);

/// One entry of the table.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    /// The name that the prelude uses: `double.sin`.
    pub name: &'static str,
    /// The banks of its operands.
    pub operands: &'static [Bank],
    /// The bank of its result.
    pub result: Bank,
    /// How the result is computed.
    pub value: Value,
    /// How it differentiates.
    pub rule: Rule,
    /// Points at which it is defined and smooth, for tests: operand tuples one after another.
    pub domain: &'static [f64],
    /// What the derivative is where there is none; empty when it has one everywhere.
    pub kink: &'static str,
    /// The same for tests: operands, and the slopes there.
    pub kinks: &'static [Kink],
    /// Where the slopes on both sides are not one finite number.
    pub corner: Option<Corner>,
    /// One sentence for the reference page.
    pub doc: &'static str,
}

/// A point without a derivative, and the slopes that are taken there by convention.
#[derive(Clone, Copy, Debug)]
pub struct Kink {
    /// The operands.
    pub at: &'static [f64],
    /// One slope per operand.
    pub slopes: &'static [f64],
}

/// For an operand, by position, and all operands: the slopes on its left and on its right, if the operands are at a kink;
/// NaN on a side where there is no value.
pub type Corner = fn(usize, &[f64]) -> Option<[f64; 2]>;

/// How a result is computed. `F` is a number, `I` an integer or truth value.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// `F → F`
    F1(fn(f64) -> f64),
    /// `F, F → F`
    F2(fn(f64, f64) -> f64),
    /// `F, F, F → F`
    F3(fn(f64, f64, f64) -> f64),
    /// `F, I → F`
    FI(fn(f64, i64) -> f64),
    /// `F → I`, 0 or 1
    Test1(fn(f64) -> bool),
    /// `F, F → I`, 0 or 1
    Test2(fn(f64, f64) -> bool),
    /// `F → I`
    FtoI(fn(f64) -> Result<i64, Trap>),
    /// `I → F`
    ItoF(fn(i64) -> f64),
    /// `I → I`
    I1(fn(i64) -> Result<i64, Trap>),
    /// `I, I → I`
    I2(fn(i64, i64) -> Result<i64, Trap>),
}

/// Why an integer operation has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The result lies outside of the range of its type.
    Overflow,
    /// A division by zero.
    DivisionByZero,
    /// The number has no counterpart among the integers.
    NotRepresentable,
}

/// How a primitive differentiates. There is no shape for "nobody wrote it".
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One slope per numeric operand, over the operands and the result.
    Slopes(Slopes),
    /// Linear: the tangent of the result is the same operation on the tangents; the coefficients are its transpose.
    Linear(&'static [f64]),
    /// The product of its two operands: the slope of each is the other.
    Bilinear,
    /// The slope is zero wherever it exists.
    Flat,
    /// Has no slope; this ends the sentence that a diagnostic begins.
    Opaque(&'static str),
}

/// Slopes, each written once and present twice: as machine code, and as a formula that differentiates again.
#[derive(Clone, Copy, Debug)]
pub enum Slopes {
    /// Of `y = f(x)`, as `(x, y)`.
    One(fn(f64, f64) -> f64, fn(Formula, Formula) -> Formula),
    /// Of `z = f(x, y)`, as `(x, y, z)`.
    Two([fn(f64, f64, f64) -> f64; 2], [fn(Formula, Formula, Formula) -> Formula; 2]),
    /// Of `w = f(x, y, z)`, as `(x, y, z, w)`.
    Three(ThreeSlopes, ThreeFormulas),
    /// Of `y = f(x, n)` with an integer `n`, as `(x, n, y)`.
    Count(fn(f64, i64, f64) -> f64, fn(Formula, Shift, Formula) -> Formula),
}

/// The slopes of a primitive of three operands.
pub type ThreeSlopes = [fn(f64, f64, f64, f64) -> f64; 3];

/// The same as formulas.
pub type ThreeFormulas = [fn(Formula, Formula, Formula, Formula) -> Formula; 3];

impl Primitive {
    /// An entry; what is left out is added by the methods below.
    pub const fn new(name: &'static str, value: Value, rule: Rule) -> Primitive {
        let (operands, result) = value.banks();
        Primitive { name, operands, result, value, rule, domain: &[], kink: "", kinks: &[], corner: None, doc: "" }
    }

    /// How it is called in a sentence: `*`, `sin`.
    pub fn symbol(&self) -> &'static str {
        match self.name.rsplit('.').next().unwrap_or(self.name) {
            "add" => "+",
            "sub" => "-",
            "mul" => "*",
            "div" => "/",
            "fromDouble" => "Int",
            "eq" => "==",
            "ne" => "!=",
            "lt" => "<",
            "le" => "<=",
            "gt" => ">",
            "ge" => ">=",
            "powi" => "pow",
            last => last,
        }
    }

    /// Says in one sentence what it is.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Primitive {
        Primitive { doc, ..self }
    }

    /// Gives operand tuples at which it is defined and smooth.
    #[must_use]
    pub const fn on(self, domain: &'static [f64]) -> Primitive {
        Primitive { domain, ..self }
    }

    /// Says what is taken for the derivative where there is none.
    #[must_use]
    pub const fn kink(self, kink: &'static str, kinks: &'static [Kink]) -> Primitive {
        Primitive { kink, kinks, ..self }
    }

    /// Says where the slopes on both sides are not one finite number, and what they are.
    #[must_use]
    pub const fn corner(self, corner: Corner) -> Primitive {
        Primitive { corner: Some(corner), ..self }
    }

    /// How many of its operands are numbers; they come first.
    pub fn numbers(&self) -> usize {
        self.operands.iter().filter(|b| **b == Bank::F).count()
    }

    /// The result for numeric operands and, where it takes one, an integer operand `n`. `None` when the result is not a
    /// number.
    #[inline]
    pub fn number(&self, x: &[f64], n: i64) -> Option<f64> {
        match (self.value, x) {
            (Value::F1(f), [a, ..]) => Some(f(*a)),
            (Value::F2(f), [a, b, ..]) => Some(f(*a, *b)),
            (Value::F3(f), [a, b, c, ..]) => Some(f(*a, *b, *c)),
            (Value::FI(f), [a, ..]) => Some(f(*a, n)),
            (Value::ItoF(f), _) => Some(f(n)),
            _ => None,
        }
    }

    /// The result for integer operands; `None` when there is none.
    pub fn integer(&self, x: &[i64]) -> Option<i64> {
        match (self.value, x) {
            (Value::I1(f), [a]) => f(*a).ok(),
            (Value::I2(f), [a, b]) => f(*a, *b).ok(),
            _ => None,
        }
    }

    /// The slope of the result `r` in numeric operand `k`; `None` when it has none.
    #[inline]
    pub fn slope(&self, k: usize, x: &[f64], n: i64, r: f64) -> Option<f64> {
        match (self.rule, x) {
            (Rule::Slopes(Slopes::One(f, _)), [a, ..]) => Some(f(*a, r)),
            (Rule::Slopes(Slopes::Two(f, _)), [a, b, ..]) => Some(f.get(k)?(*a, *b, r)),
            (Rule::Slopes(Slopes::Three(f, _)), [a, b, c, ..]) => Some(f.get(k)?(*a, *b, *c, r)),
            (Rule::Slopes(Slopes::Count(f, _)), [a, ..]) => Some(f(*a, n, r)),
            (Rule::Linear(coefficients), _) => coefficients.get(k).copied(),
            (Rule::Bilinear, [a, b, ..]) => {
                Some(if k == 0 { product_slope(r, *b, *a) } else { product_slope(r, *a, *b) })
            }
            (Rule::Flat, _) => Some(0.0),
            _ => None,
        }
    }
}

/// The slope of a product in one factor: the other one. A product 0·∞ has no value, and no slope either, which the zero
/// among its slopes would hide.
#[inline(always)]
pub fn product_slope(product: f64, other: f64, factor: f64) -> f64 {
    if product.is_nan() && !other.is_nan() && !factor.is_nan() { f64::NAN } else { other }
}

impl Value {
    const fn banks(self) -> (&'static [Bank], Bank) {
        match self {
            Value::F1(_) => (&[Bank::F], Bank::F),
            Value::F2(_) => (&[Bank::F, Bank::F], Bank::F),
            Value::F3(_) => (&[Bank::F, Bank::F, Bank::F], Bank::F),
            Value::FI(_) => (&[Bank::F, Bank::I], Bank::F),
            Value::Test1(_) | Value::FtoI(_) => (&[Bank::F], Bank::I),
            Value::Test2(_) => (&[Bank::F, Bank::F], Bank::I),
            Value::ItoF(_) => (&[Bank::I], Bank::F),
            Value::I1(_) => (&[Bank::I], Bank::I),
            Value::I2(_) => (&[Bank::I, Bank::I], Bank::I),
        }
    }
}
