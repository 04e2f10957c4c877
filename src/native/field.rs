//! Field: the operations from which partial derivatives are built.
//!
//! A partial derivative is generic over a [`Field`], so that one definition yields machine code (`f64`) and a
//! [`Formula`](super::formula::Formula), which is evaluated over numbers that are differentiated themselves.

use super::{PrimitiveId, primitive_ids};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A type of numbers, or of formulas that represent numbers.
pub trait Field:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The type of an integer operand.
    type Integer: IntegerParam<Self>;

    /// Creates a constant.
    fn constant(c: f64) -> Self;
    /// Applies a primitive of one number; `value` computes the result.
    fn of(self, primitive: PrimitiveId, value: fn(f64) -> f64) -> Self;
    /// Applies a primitive of two numbers; `value` computes the result.
    fn of2(self, other: Self, primitive: PrimitiveId, value: fn(f64, f64) -> f64) -> Self;
    /// Applies a primitive of a number and an integer; `value` computes the result.
    fn of_integer(self, n: Self::Integer, primitive: PrimitiveId, value: fn(f64, i64) -> f64) -> Self;
    /// Selects one of two values by a condition on the innermost primals. Only the selected value is computed.
    fn select(test: Test<Self>, then: impl FnOnce() -> Self, otherwise: impl FnOnce() -> Self) -> Self;

    /// Returns the number without the sign of zero, because partial derivatives do not depend on that sign.
    fn without_sign_of_zero(self) -> Self {
        self + Self::constant(0.0)
    }
    /// Computes the sine.
    fn sin(self) -> Self {
        self.of(primitive_ids::SIN, f64::sin)
    }
    /// Computes the cosine.
    fn cos(self) -> Self {
        self.of(primitive_ids::COS, f64::cos)
    }
    /// Computes the hyperbolic sine.
    fn sinh(self) -> Self {
        self.of(primitive_ids::SINH, f64::sinh)
    }
    /// Computes the hyperbolic cosine.
    fn cosh(self) -> Self {
        self.of(primitive_ids::COSH, f64::cosh)
    }
    /// Computes the natural exponential.
    fn exp(self) -> Self {
        self.of(primitive_ids::EXP, f64::exp)
    }
    /// Computes the natural logarithm.
    fn log(self) -> Self {
        self.of(primitive_ids::LOG, f64::ln)
    }
    /// Computes the square root.
    fn sqrt(self) -> Self {
        self.of(primitive_ids::SQRT, f64::sqrt)
    }
    /// Returns the sign of the number: -1, 0 or 1.
    fn sign(self) -> Self {
        self.of(primitive_ids::SIGN, super::math::sign)
    }
    /// Rounds the number to the nearest integer, ties to even.
    fn rint(self) -> Self {
        self.of(primitive_ids::RINT, f64::round_ties_even)
    }
    /// Computes a power whose exponent is a number.
    fn pow(self, exponent: Self) -> Self {
        self.of2(exponent, primitive_ids::POW, f64::powf)
    }
    /// Returns the magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self {
        self.of2(sign, primitive_ids::COPYSIGN, f64::copysign)
    }
    /// Computes a power with an integer exponent.
    fn powi(self, n: Self::Integer) -> Self {
        self.of_integer(n, primitive_ids::POWI, super::math::powi)
    }
    /// Computes the derivative of order `n` of the digamma function.
    fn polygamma(self, n: Self::Integer) -> Self {
        self.of_integer(n, primitive_ids::POLYGAMMA, crate::tensor::polygamma)
    }
}

/// The integer operand of a primitive in a partial derivative: the exponent of a power, the order of a derivative.
pub trait IntegerParam<T>: Copy {
    /// Returns 0, the integer operand of a primitive that takes none.
    fn zero() -> Self;
    /// Returns `n + by`.
    fn offset(self, by: i64) -> Self;
    /// Converts the integer to a number.
    fn number(self) -> T;
}

/// A condition on numbers.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Test<T> {
    /// The condition that two numbers are equal, `a == b`.
    Equal(T, T),
    /// The condition that one number is less than another, `a < b`.
    Less(T, T),
    /// The condition that one number is at most another, `a <= b`.
    AtMost(T, T),
}

impl<T> Test<T> {
    /// Applies `by` to both numbers of the condition.
    pub fn map<U>(&self, by: impl Fn(&T) -> U) -> Test<U> {
        match self {
            Test::Equal(a, b) => Test::Equal(by(a), by(b)),
            Test::Less(a, b) => Test::Less(by(a), by(b)),
            Test::AtMost(a, b) => Test::AtMost(by(a), by(b)),
        }
    }
}

/// A constant that is added to the integer operand `n` of a primitive: `n + offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct OrderOffset(pub i64);

impl Field for f64 {
    type Integer = i64;

    fn constant(c: f64) -> f64 {
        c
    }

    #[inline(always)]
    fn of(self, _: PrimitiveId, value: fn(f64) -> f64) -> f64 {
        value(self)
    }

    #[inline(always)]
    fn of2(self, other: f64, _: PrimitiveId, value: fn(f64, f64) -> f64) -> f64 {
        value(self, other)
    }

    #[inline(always)]
    fn of_integer(self, n: i64, _: PrimitiveId, value: fn(f64, i64) -> f64) -> f64 {
        value(self, n)
    }

    fn select(test: Test<f64>, then: impl FnOnce() -> f64, otherwise: impl FnOnce() -> f64) -> f64 {
        if test.holds() { then() } else { otherwise() }
    }
}

impl IntegerParam<f64> for i64 {
    fn zero() -> i64 {
        0
    }

    fn offset(self, by: i64) -> i64 {
        self.saturating_add(by)
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Test<f64> {
    /// Whether the condition holds for the numbers.
    pub fn holds(&self) -> bool {
        match self {
            Test::Equal(a, b) => a == b,
            Test::Less(a, b) => a < b,
            Test::AtMost(a, b) => a <= b,
        }
    }
}
