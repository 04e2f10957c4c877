//! What a slope may be written with. A slope is generic over a [`Field`], so that one text gives machine code (`f64`)
//! and a [`Formula`](super::formula::Formula), which is evaluated over numbers that are differentiated themselves.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers, or formulas that stand for numbers.
pub trait Field:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// An integer operand.
    type Count: Count<Self>;

    /// A constant.
    fn constant(c: f64) -> Self;
    /// A primitive of one number, by the part of its name behind `double.`, with its value.
    fn of(self, name: &'static str, value: fn(f64) -> f64) -> Self;
    /// A primitive of two numbers.
    fn of2(self, other: Self, name: &'static str, value: fn(f64, f64) -> f64) -> Self;
    /// A primitive of a number and an integer.
    fn of_count(self, n: Self::Count, name: &'static str, value: fn(f64, i64) -> f64) -> Self;
    /// One of two, by a test of the innermost primals. Only the chosen one is computed.
    fn select(test: Test<Self>, then: impl FnOnce() -> Self, otherwise: impl FnOnce() -> Self) -> Self;

    /// The same number, where a zero has no sign: slopes do not depend on that.
    fn without_sign_of_zero(self) -> Self {
        self + Self::constant(0.0)
    }
    /// Sine.
    fn sin(self) -> Self {
        self.of("sin", f64::sin)
    }
    /// Cosine.
    fn cos(self) -> Self {
        self.of("cos", f64::cos)
    }
    /// Hyperbolic sine.
    fn sinh(self) -> Self {
        self.of("sinh", f64::sinh)
    }
    /// Hyperbolic cosine.
    fn cosh(self) -> Self {
        self.of("cosh", f64::cosh)
    }
    /// Natural exponential.
    fn exp(self) -> Self {
        self.of("exp", f64::exp)
    }
    /// Natural logarithm.
    fn log(self) -> Self {
        self.of("log", f64::ln)
    }
    /// Square root.
    fn sqrt(self) -> Self {
        self.of("sqrt", f64::sqrt)
    }
    /// -1, 0 or 1.
    fn sign(self) -> Self {
        self.of("sign", super::values::sign)
    }
    /// The nearest whole number.
    fn rint(self) -> Self {
        self.of("rint", f64::round_ties_even)
    }
    /// Power.
    fn pow(self, exponent: Self) -> Self {
        self.of2(exponent, "pow", f64::powf)
    }
    /// The magnitude of `self` with the sign of the other one.
    fn copysign(self, sign: Self) -> Self {
        self.of2(sign, "copysign", f64::copysign)
    }
    /// Power with an integer exponent.
    fn powi(self, n: Self::Count) -> Self {
        self.of_count(n, "powi", super::values::powi)
    }
    /// Derivative of order `n` of the digamma function.
    fn polygamma(self, n: Self::Count) -> Self {
        self.of_count(n, "polygamma", super::values::polygamma)
    }
}

/// Integer operands in a slope.
pub trait Count<T>: Copy {
    /// The integer operand of a primitive that has none: 0.
    fn none() -> Self;
    /// `n + by`
    fn shift(self, by: i64) -> Self;
    /// The integer as a number.
    fn number(self) -> T;
}

/// A condition on numbers.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Test<T> {
    /// `a == b`
    Equal(T, T),
    /// `a < b`
    Less(T, T),
    /// `a <= b`
    AtMost(T, T),
}

impl<T> Test<T> {
    /// The same test of other numbers.
    pub fn map<U>(&self, by: impl Fn(&T) -> U) -> Test<U> {
        match self {
            Test::Equal(a, b) => Test::Equal(by(a), by(b)),
            Test::Less(a, b) => Test::Less(by(a), by(b)),
            Test::AtMost(a, b) => Test::AtMost(by(a), by(b)),
        }
    }
}

/// `n + shift`, where `n` is the integer operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Shift(pub i64);

impl Field for f64 {
    type Count = i64;

    fn constant(c: f64) -> f64 {
        c
    }

    #[inline(always)]
    fn of(self, _: &'static str, value: fn(f64) -> f64) -> f64 {
        value(self)
    }

    #[inline(always)]
    fn of2(self, other: f64, _: &'static str, value: fn(f64, f64) -> f64) -> f64 {
        value(self, other)
    }

    #[inline(always)]
    fn of_count(self, n: i64, _: &'static str, value: fn(f64, i64) -> f64) -> f64 {
        value(self, n)
    }

    fn select(test: Test<f64>, then: impl FnOnce() -> f64, otherwise: impl FnOnce() -> f64) -> f64 {
        if test.holds() { then() } else { otherwise() }
    }
}

impl Count<f64> for i64 {
    fn none() -> i64 {
        0
    }

    fn shift(self, by: i64) -> i64 {
        self.saturating_add(by)
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Test<f64> {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        match self {
            Test::Equal(a, b) => a == b,
            Test::Less(a, b) => a < b,
            Test::AtMost(a, b) => a <= b,
        }
    }
}
