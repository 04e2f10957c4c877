//! Primitive: an entry of the table of primitives.

use super::partial::Partial;
use crate::value::Bank;

/// The id of a primitive: an index into the table of primitives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PrimitiveId(pub u16);

/// One entry of the table of primitives.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    /// The name of the primitive in the prelude: `double.sin`.
    pub name: &'static str,
    /// The banks of the primitive's operands.
    pub operands: &'static [Bank],
    /// The bank of the primitive's result.
    pub result: Bank,
    /// The function that computes the primitive's result.
    pub value: Value,
    /// The rule by which the primitive is differentiated.
    pub rule: Rule,
    /// The name of the primitive in sentences and formulas: `*`, `sin`.
    pub symbol: &'static str,
    /// The LaTeX command of the primitive: `\sin`, or `\sqrt{}` for a command whose operand is put in braces; empty
    /// where there is none.
    pub latex: &'static str,
    /// The cost of computing the primitive's result again.
    pub cost: Cost,
    /// The variant of the primitive for single precision.
    pub single: Single,
    /// The points at which the primitive is defined and smooth, for tests: operand tuples one after another.
    pub domain: &'static [f64],
    /// The condition on `x`, `y` and `n` under which the primitive is defined; empty if it is defined everywhere.
    pub defined: &'static str,
    /// The convention for the derivative at the primitive's kinks, in words; empty if there is no kink.
    pub kink: &'static str,
    /// The primitive's kinks for tests: the operands, and the partial derivatives there.
    pub kinks: &'static [Kink],
    /// The one-sided partial derivatives at points where the partial derivatives are not one finite number.
    pub one_sided: Option<OneSidedPartials>,
    /// One sentence of documentation, shown in the reference, and at the prompt for prelude functions that call the
    /// primitive.
    pub doc: &'static str,
}

/// The cost of computing a primitive, which decides whether adjoint code recomputes its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// At most the cost of storing the result and loading it again: adjoint code recomputes the result.
    Cheap,
    /// A higher cost: adjoint code stores the result.
    Expensive,
}

/// The variant of `double.‹name›` for single precision, which the prelude names `float.‹name›`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Single {
    /// The result is computed in double precision and rounded.
    Rounded,
    /// The result for operands of single precision needs no rounding.
    Exact,
    /// The primitive has no variant for single precision.
    None,
}

/// A kink: a point without a derivative, and the partial derivatives that are used there by convention.
#[derive(Clone, Copy, Debug)]
pub struct Kink {
    /// The operands at the kink.
    pub at: &'static [f64],
    /// The partial derivatives that are used at the kink, one for each operand.
    pub partials: &'static [f64],
}

/// A function that returns the left and right partial derivatives in the operand with an index, given all operands, if
/// these are at a kink; NaN on a side where the function has no value.
pub type OneSidedPartials = fn(usize, &[f64]) -> Option<[f64; 2]>;

/// The function that computes a primitive's result. `F` is a number, `I` an integer or a Boolean.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A function of one number, `F → F`.
    F1(fn(f64) -> f64),
    /// A function of two numbers, `F, F → F`.
    F2(fn(f64, f64) -> f64),
    /// A function of three numbers, `F, F, F → F`.
    F3(fn(f64, f64, f64) -> f64),
    /// A function of a number and an integer, `F, I → F`.
    FI(fn(f64, i64) -> f64),
    /// A predicate of one number, `F → I`, whose result is 0 or 1.
    Test1(fn(f64) -> bool),
    /// A predicate of two numbers, `F, F → I`, whose result is 0 or 1.
    Test2(fn(f64, f64) -> bool),
    /// A conversion of a number to an integer, `F → I`.
    FtoI(fn(f64) -> Result<i64, Trap>),
    /// A conversion of an integer to a number, `I → F`.
    ItoF(fn(i64) -> f64),
    /// A function of one integer, `I → I`.
    I1(fn(i64) -> Result<i64, Trap>),
    /// A function of two integers, `I, I → I`.
    I2(fn(i64, i64) -> Result<i64, Trap>),
}

/// The reason why an integer operation has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The result lies outside of the range of the integer type.
    Overflow,
    /// The operation is a division by zero.
    DivisionByZero,
    /// No integer corresponds to the number.
    NotRepresentable,
}

/// The rule by which a primitive is differentiated. There is no variant for a missing rule.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The primitive has one partial derivative for each numeric operand, in their order.
    Partials(&'static [Partial]),
    /// The derivative of the primitive is zero wherever it exists.
    Flat,
    /// The primitive has no derivative; the string ends the sentence that a diagnostic begins.
    Opaque(&'static str),
}

impl Primitive {
    /// Creates an entry of the table; the methods below set the fields that differ from the defaults.
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

    /// Sets the sentence that documents the primitive.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Primitive {
        Primitive { doc, ..self }
    }

    /// Sets the name of the primitive in sentences and formulas, if it is not the last part of the primitive's own
    /// name.
    #[must_use]
    pub const fn symbol(self, symbol: &'static str) -> Primitive {
        Primitive { symbol, ..self }
    }

    /// Sets the LaTeX command of the primitive.
    #[must_use]
    pub const fn latex(self, latex: &'static str) -> Primitive {
        Primitive { latex, ..self }
    }

    /// Marks the primitive as cheap: computing it again costs no more than storing its result.
    #[must_use]
    pub const fn cheap(self) -> Primitive {
        Primitive { cost: Cost::Cheap, ..self }
    }

    /// Sets the variant of the primitive for single precision, if it is not the rounded result.
    #[must_use]
    pub const fn single(self, single: Single) -> Primitive {
        Primitive { single, ..self }
    }

    /// Sets the condition under which the primitive is defined.
    #[must_use]
    pub const fn defined(self, defined: &'static str) -> Primitive {
        Primitive { defined, ..self }
    }

    /// Sets the operand tuples at which the primitive is defined and smooth, for tests.
    #[must_use]
    pub const fn on(self, domain: &'static [f64]) -> Primitive {
        Primitive { domain, ..self }
    }

    /// Sets the convention for the derivative at the primitive's kinks.
    #[must_use]
    pub const fn kink(self, kink: &'static str, kinks: &'static [Kink]) -> Primitive {
        Primitive { kink, kinks, ..self }
    }

    /// Sets the function for one-sided partial derivatives at points where the partial derivatives are not one finite
    /// number.
    #[must_use]
    pub const fn one_sided(self, one_sided: OneSidedPartials) -> Primitive {
        Primitive { one_sided: Some(one_sided), ..self }
    }

    /// Counts the numeric operands of the primitive, which precede the integer operand.
    pub fn numbers(&self) -> usize {
        self.operands.iter().filter(|b| **b == Bank::F).count()
    }

    /// Computes the result for numeric operands and, where the primitive takes one, an integer operand `n`. `None` if
    /// the result is not a number.
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

    /// Computes the result of a primitive of integers; `None` if there is no result.
    pub fn integer(&self, x: &[i64]) -> Option<i64> {
        match (self.value, x) {
            (Value::I1(f), [a]) => f(*a).ok(),
            (Value::I2(f), [a, b]) => f(*a, *b).ok(),
            _ => None,
        }
    }

    /// Returns the partial derivatives, one per numeric operand; none if the derivative is zero or undefined.
    #[inline]
    pub fn partials(&self) -> &'static [Partial] {
        match self.rule {
            Rule::Partials(partials) => partials,
            Rule::Flat | Rule::Opaque(_) => &[],
        }
    }

    /// Returns the partial derivative in the numeric operand `k`.
    #[inline]
    pub fn partial(&self, k: usize) -> Partial {
        match self.rule {
            Rule::Partials(partials) => partials.get(k).copied().unwrap_or(Partial::Zero),
            Rule::Flat => Partial::Zero,
            Rule::Opaque(why) => Partial::Undefined(why),
        }
    }

    /// Evaluates the partial derivative in the numeric operand `k`, where the result is `r`; `None` if it is undefined.
    #[inline]
    pub fn partial_at(&self, k: usize, x: &[f64], n: i64, r: f64) -> Option<f64> {
        match self.rule {
            Rule::Partials(partials) => partials.get(k)?.number(x, n, r),
            Rule::Flat => Some(0.0),
            Rule::Opaque(_) => None,
        }
    }

    /// Whether the primitive is linear in all its operands jointly: the tangent of the result is the same operation on
    /// tangents.
    pub fn is_linear(&self) -> bool {
        let partials = self.partials();
        !partials.is_empty() && partials.iter().all(|partial| matches!(partial, Partial::Constant(_)))
    }
}

impl PrimitiveId {
    /// Returns the partial derivative in the numeric operand `k`: the one definition that all mechanisms of
    /// differentiation use.
    #[inline]
    pub fn partial(self, k: usize) -> Partial {
        self.info().partial(k)
    }
}

/// Returns the part of a name after its last dot.
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
