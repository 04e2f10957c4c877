//! Primitive: an entry of the table.

use super::partial::Partial;
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
    /// How it is called in sentences and formulas: `*`, `sin`.
    pub symbol: &'static str,
    /// Its command in LaTeX: `\sin`, or `\sqrt{}` for one whose operand stands in braces; empty where there is none.
    pub latex: &'static str,
    /// What it costs to compute it again.
    pub cost: Cost,
    /// Its variant for single precision.
    pub single: Single,
    /// Points at which it is defined and smooth, for tests: operand tuples one after another.
    pub domain: &'static [f64],
    /// Where it has a value, as a condition on `x`, `y` and `n`; empty when it has one everywhere.
    pub defined: &'static str,
    /// What the derivative is where there is none; empty when it has one everywhere.
    pub kink: &'static str,
    /// The same for tests: operands, and the partial derivatives there.
    pub kinks: &'static [Kink],
    /// Where the partial derivatives on both sides are not one finite number.
    pub one_sided: Option<OneSidedPartials>,
    /// One sentence that documents it: in the reference, and at the prompt for the functions of the prelude that it is.
    pub doc: &'static str,
}

/// What it costs to compute a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// No more than to store the result and load it again: adjoint code recomputes it.
    Cheap,
    /// More: adjoint code stores the result.
    Expensive,
}

/// The variant of `double.‹name›` for single precision, which the prelude names `float.‹name›`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Single {
    /// It is computed in double precision, and rounded.
    Rounded,
    /// It is the same: the result for numbers of single precision needs no rounding.
    Exact,
    /// There is none.
    None,
}

/// A point without a derivative, and the partial derivatives that are taken there by convention.
#[derive(Clone, Copy, Debug)]
pub struct Kink {
    /// The operands.
    pub at: &'static [f64],
    /// One partial derivative per operand.
    pub partials: &'static [f64],
}

/// For an operand, by position, and all operands: the partial derivatives on its left and on its right, if the operands
/// are at a kink; NaN on a side where there is no value.
pub type OneSidedPartials = fn(usize, &[f64]) -> Option<[f64; 2]>;

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

/// How a primitive differentiates. There is no variant for a missing rule.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One partial derivative per numeric operand, in their order.
    Partials(&'static [Partial]),
    /// The derivative is zero wherever it exists.
    Flat,
    /// Has no derivative; this ends the sentence that a diagnostic begins.
    Opaque(&'static str),
}

impl Primitive {
    /// An entry; what is left out is added by the methods below.
    pub const fn new(name: &'static str, value: Value, rule: Rule) -> Primitive {
        let (operands, result) = value.banks();
        let single = match result {
            Bank::F => Single::Rounded,
            Bank::I | Bank::R => Single::Exact,
        };
        Primitive {
            name,
            operands,
            result,
            value,
            rule,
            symbol: last_part(name),
            latex: "",
            cost: Cost::Expensive,
            single,
            domain: &[],
            defined: "",
            kink: "",
            kinks: &[],
            one_sided: None,
            doc: "",
        }
    }

    /// Says in one sentence what it is.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Primitive {
        Primitive { doc, ..self }
    }

    /// Says how it is called in sentences and formulas, where that is not the last part of its name.
    #[must_use]
    pub const fn symbol(self, symbol: &'static str) -> Primitive {
        Primitive { symbol, ..self }
    }

    /// Gives its command in LaTeX.
    #[must_use]
    pub const fn latex(self, latex: &'static str) -> Primitive {
        Primitive { latex, ..self }
    }

    /// Says that to compute it again costs no more than to store its result.
    #[must_use]
    pub const fn cheap(self) -> Primitive {
        Primitive { cost: Cost::Cheap, ..self }
    }

    /// Says what its variant for single precision is, where it is not the rounded result.
    #[must_use]
    pub const fn single(self, single: Single) -> Primitive {
        Primitive { single, ..self }
    }

    /// Says where it has a value.
    #[must_use]
    pub const fn defined(self, defined: &'static str) -> Primitive {
        Primitive { defined, ..self }
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

    /// Says where the partial derivatives on both sides are not one finite number, and what they are.
    #[must_use]
    pub const fn one_sided(self, one_sided: OneSidedPartials) -> Primitive {
        Primitive { one_sided: Some(one_sided), ..self }
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

    /// Its partial derivatives, one per numeric operand; none where its derivative is zero or undefined.
    #[inline]
    pub fn partials(&self) -> &'static [Partial] {
        match self.rule {
            Rule::Partials(partials) => partials,
            Rule::Flat | Rule::Opaque(_) => &[],
        }
    }

    /// Its partial derivative in numeric operand `k`.
    #[inline]
    pub fn partial(&self, k: usize) -> Partial {
        match self.rule {
            Rule::Partials(partials) => partials.get(k).copied().unwrap_or(Partial::Zero),
            Rule::Flat => Partial::Zero,
            Rule::Opaque(why) => Partial::Undefined(why),
        }
    }

    /// The value of the partial derivative in numeric operand `k`, where the result is `r`; `None` when it has none.
    #[inline]
    pub fn partial_at(&self, k: usize, x: &[f64], n: i64, r: f64) -> Option<f64> {
        match self.rule {
            Rule::Partials(partials) => partials.get(k)?.number(x, n, r),
            Rule::Flat => Some(0.0),
            Rule::Opaque(_) => None,
        }
    }

    /// Whether it is linear in all its operands together: the tangent of the result is the same operation on tangents.
    pub fn is_linear(&self) -> bool {
        let partials = self.partials();
        !partials.is_empty() && partials.iter().all(|partial| matches!(partial, Partial::Constant(_)))
    }
}

impl PrimitiveId {
    /// Its partial derivative in numeric operand `k`: the one definition that every mechanism of differentiation uses.
    #[inline]
    pub fn partial(self, k: usize) -> Partial {
        self.info().partial(k)
    }
}

/// What follows the last dot of a name.
const fn last_part(name: &'static str) -> &'static str {
    let mut at = name.len();
    while at > 0 && name.as_bytes()[at - 1] != b'.' {
        at -= 1;
    }
    name.split_at(at).1
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
