//! Partial: the derivative of a primitive in one of its operands, defined once for numbers and for formulas.
//!
//! The macros below define a partial derivative as `|x, y| …`. It becomes a generic function over a [`Field`], which is
//! instantiated for `f64` and for [`Formula`].

use super::field::{Field, OrderOffset};
use super::formula::Formula;

/// The partial derivative of a primitive in one of its numeric operands.
#[derive(Clone, Copy, Debug)]
pub enum Partial {
    /// The partial derivative is a constant: the primitive is linear in the operand.
    Constant(f64),
    /// The partial derivative of `x · y` in a factor: the other factor, which is the operand with the given index. A
    /// product 0·∞ has no value and no partial derivatives; see [`product_partial`].
    Factor(usize),
    /// The partial derivative of a quotient `x / y` in the dividend: `1 / y`.
    Reciprocal,
    /// The partial derivative of a quotient `z = x / y` in the divisor: `-(z / y)`.
    Quotient,
    /// The partial derivative is an expression over the operands and the result.
    Expression(Expression),
    /// The partial derivative is zero wherever it exists: tangents and adjoints do not pass through the operand.
    Zero,
    /// The partial derivative is undefined; the string ends the sentence that a diagnostic begins.
    Undefined(&'static str),
}

/// A partial derivative as a function, in two instances: machine code, and a formula that can be differentiated again.
#[derive(Clone, Copy, Debug)]
pub enum Expression {
    /// The derivative of `y = f(x)`, over `(x, y)`.
    Unary(fn(f64, f64) -> f64, fn(Formula, Formula) -> Formula),
    /// A derivative of `z = f(x, y)`, over `(x, y, z)`.
    Binary(fn(f64, f64, f64) -> f64, fn(Formula, Formula, Formula) -> Formula),
    /// The derivative of `y = f(x, n)` with an integer `n`, over `(x, n, y)`.
    WithInteger(fn(f64, i64, f64) -> f64, fn(Formula, OrderOffset, Formula) -> Formula),
}

/// The partial derivatives of the sum `x + y`.
pub const SUM: [Partial; 2] = [Partial::Constant(1.0), Partial::Constant(1.0)];
/// The partial derivatives of the difference `x - y`.
pub const DIFFERENCE: [Partial; 2] = [Partial::Constant(1.0), Partial::Constant(-1.0)];
/// The partial derivatives of the product `x · y`.
pub const PRODUCT: [Partial; 2] = [Partial::Factor(1), Partial::Factor(0)];
/// The partial derivatives of the quotient `x / y`.
pub const QUOTIENT: [Partial; 2] = [Partial::Reciprocal, Partial::Quotient];
/// The partial derivative of the negation `-x`.
pub const NEGATION: [Partial; 1] = [Partial::Constant(-1.0)];
/// The partial derivatives of the multiplication with addition `x · y + z`.
pub const MULTIPLY_ADD: [Partial; 3] = [Partial::Factor(1), Partial::Factor(0), Partial::Constant(1.0)];

impl Partial {
    /// Evaluates the partial derivative for numeric operands `x`, an integer operand `n` and the result `r`; `None` if
    /// it is undefined.
    #[inline(always)]
    pub fn number(&self, x: &[f64], n: i64, r: f64) -> Option<f64> {
        match (self, x) {
            (Partial::Constant(c), _) => Some(*c),
            (Partial::Factor(0), [a, b, ..]) => Some(product_partial(*a, *b)),
            (Partial::Factor(_), [a, b, ..]) => Some(product_partial(*b, *a)),
            (Partial::Reciprocal, [_, y, ..]) => Some(reciprocal(*y)),
            (Partial::Quotient, [_, y, ..]) => Some(quotient(*y, r)),
            (Partial::Expression(Expression::Unary(f, _)), [a, ..]) => Some(f(*a, r)),
            (Partial::Expression(Expression::Binary(f, _)), [a, b, ..]) => Some(f(*a, *b, r)),
            (Partial::Expression(Expression::WithInteger(f, _)), [a, ..]) => Some(f(*a, n, r)),
            (Partial::Zero, _) => Some(0.0),
            _ => None,
        }
    }

    /// Evaluates the partial derivative of a primitive of two numbers `x` and `y` with the result `r`.
    #[inline(always)]
    pub fn of_two(&self, x: f64, y: f64, r: f64) -> f64 {
        self.number(&[x, y], 0, r).unwrap_or(0.0)
    }

    /// Returns the partial derivative as a formula, which is valid where all operands are finite.
    pub(super) fn formula(&self) -> Formula {
        let x = Formula::Operand;
        match self {
            Partial::Constant(c) => Formula::Constant(*c),
            Partial::Factor(k) => x(*k as u8),
            Partial::Reciprocal => reciprocal(x(1)),
            Partial::Quotient => quotient(x(1), Formula::Result),
            Partial::Expression(Expression::Unary(_, f)) => f(x(0), Formula::Result),
            Partial::Expression(Expression::Binary(_, f)) => f(x(0), x(1), Formula::Result),
            Partial::Expression(Expression::WithInteger(_, f)) => f(x(0), OrderOffset(0), Formula::Result),
            Partial::Zero | Partial::Undefined(_) => Formula::Constant(0.0),
        }
    }
}

/// Computes the partial derivative of `other · factor` in `factor`: `other`. A product 0·∞ has no value and no partial
/// derivatives either; otherwise a partial derivative of zero would hide the product.
#[inline(always)]
pub fn product_partial(other: f64, factor: f64) -> f64 {
    if (other * factor).is_nan() {
        // If an operand is NaN itself, the partial derivative may still be a number.
        std::hint::cold_path();
        if other.is_nan() || factor.is_nan() { other } else { f64::NAN }
    } else {
        other
    }
}

#[inline(always)]
fn reciprocal<T: Field>(y: T) -> T {
    T::constant(1.0) / y
}

#[inline(always)]
fn quotient<T: Field>(y: T, z: T) -> T {
    -(z / y)
}

/// Defines the partial derivative of `y = f(x)`: `partial!(|x, y| y)`.
macro_rules! partial {
    (|$x:pat_param, $y:pat_param| $body:expr) => {{
        fn partial<T: crate::native::field::Field>($x: T, $y: T) -> T {
            $body
        }
        use crate::native::{Expression, Partial, Rule, formula::Formula};
        const PARTIALS: &[Partial] = &[Partial::Expression(Expression::Unary(partial::<f64>, partial::<Formula>))];
        Rule::Partials(PARTIALS)
    }};
}

/// Defines the partial derivatives of `z = f(x, y)`: `partials!(|x, y, z| dx, |x, y, z| dy)`.
macro_rules! partials {
    (|$x:pat_param, $y:pat_param, $z:pat_param| $dx:expr, |$x2:pat_param, $y2:pat_param, $z2:pat_param| $dy:expr) => {{
        fn dx<T: crate::native::field::Field>($x: T, $y: T, $z: T) -> T {
            $dx
        }
        fn dy<T: crate::native::field::Field>($x2: T, $y2: T, $z2: T) -> T {
            $dy
        }
        use crate::native::{Expression, Partial, Rule, formula::Formula};
        const PARTIALS: &[Partial] = &[
            Partial::Expression(Expression::Binary(dx::<f64>, dx::<Formula>)),
            Partial::Expression(Expression::Binary(dy::<f64>, dy::<Formula>)),
        ];
        Rule::Partials(PARTIALS)
    }};
}

/// Defines the partial derivative of `y = f(x, n)` in `x`, with an integer `n`: `integer_param!(|x, n, y| …)`.
macro_rules! integer_param {
    (|$x:pat_param, $n:pat_param, $y:pat_param| $body:expr) => {{
        fn partial<T: crate::native::field::Field>($x: T, $n: T::Integer, $y: T) -> T {
            $body
        }
        use crate::native::{Expression, Partial, Rule, formula::Formula};
        const PARTIALS: &[Partial] =
            &[Partial::Expression(Expression::WithInteger(partial::<f64>, partial::<Formula>))];
        Rule::Partials(PARTIALS)
    }};
}

pub(super) use {integer_param, partial, partials};
