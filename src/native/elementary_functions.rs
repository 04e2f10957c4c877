//! Elementary functions: the table entries of exponential, trigonometric and hyperbolic functions.

use super::arithmetic::at;
use super::field::Field;
use super::partial::{partial, partials};
use super::{Kink, Primitive, Value};
use std::f64::consts::{LN_2, LN_10};

const ANY: &[f64] = &[-2.25, -0.75, 0.0, 0.4, 1.3, 3.6];
const POSITIVE: &[f64] = &[0.2, 1.0, 2.75, 12.0];
const UNIT: &[f64] = &[-0.9, -0.3, 0.0, 0.5, 0.8];
const INFINITE_AT_0: &[Kink] =
    &[Kink { at: &[0.0], partials: &[f64::INFINITY] }, Kink { at: &[-0.0], partials: &[f64::INFINITY] }];
const INFINITE_AT_ENDS: &[Kink] =
    &[Kink { at: &[1.0], partials: &[f64::INFINITY] }, Kink { at: &[-1.0], partials: &[f64::INFINITY] }];
const FALLING_AT_ENDS: &[Kink] =
    &[Kink { at: &[1.0], partials: &[f64::NEG_INFINITY] }, Kink { at: &[-1.0], partials: &[f64::NEG_INFINITY] }];

/// The elementary functions of the table of primitives.
pub(super) const TABLE: &[Primitive] = &[
    Primitive::new("double.sin", Value::F1(f64::sin), partial!(|x, _| x.cos()))
        .on(ANY)
        .latex(r"\sin")
        .doc("Sine of an angle in radians."),
    Primitive::new("double.cos", Value::F1(f64::cos), partial!(|x, _| -x.sin()))
        .on(ANY)
        .latex(r"\cos")
        .doc("Cosine of an angle in radians."),
    Primitive::new("double.tan", Value::F1(f64::tan), partial!(|_, y| T::constant(1.0) + y.clone() * y))
        .on(UNIT)
        .latex(r"\tan")
        .doc("Tangent of an angle in radians."),
    Primitive::new("double.asin", Value::F1(f64::asin), partial!(|x, _| T::constant(1.0) / circle(x).sqrt()))
        .on(UNIT)
        .kink("the derivative at -1 and 1 is +inf", INFINITE_AT_ENDS)
        .one_sided(|_, x| at(x, 1.0, [f64::INFINITY, f64::NAN]).or(at(x, -1.0, [f64::NAN, f64::INFINITY])))
        .defined("-1 ≤ x ≤ 1")
        .doc("Angle whose sine is `x`, from -π/2 to π/2."),
    Primitive::new("double.acos", Value::F1(f64::acos), partial!(|x, _| T::constant(-1.0) / circle(x).sqrt()))
        .on(UNIT)
        .kink("the derivative at -1 and 1 is -inf", FALLING_AT_ENDS)
        .one_sided(|_, x| at(x, 1.0, [-f64::INFINITY, f64::NAN]).or(at(x, -1.0, [f64::NAN, -f64::INFINITY])))
        .defined("-1 ≤ x ≤ 1")
        .doc("Angle whose cosine is `x`, from 0 to π."),
    Primitive::new(
        "double.atan",
        Value::F1(f64::atan),
        partial!(|x, _| T::constant(1.0) / (T::constant(1.0) + x.clone() * x)),
    )
    .on(ANY)
    .doc("Angle whose tangent is `x`, from -π/2 to π/2."),
    Primitive::new(
        "double.atan2",
        Value::F2(f64::atan2),
        partials!(|x, y, _| y.clone() / (x.clone() * x + y.clone() * y), |x, y, _| -(x.clone()
            / (x.clone() * x + y.clone() * y))),
    )
    .on(&[1.5, -0.75, -2.0, 0.5, 0.3, 2.25, -1.25, -3.5])
    .kink("at (0, 0) the partial derivatives are NaN", &[Kink { at: &[0.0, 0.0], partials: &[f64::NAN, f64::NAN] }])
    .doc("Angle of a point seen from the origin, from -π to π; its second coordinate comes first."),
    Primitive::new("double.sinh", Value::F1(f64::sinh), partial!(|x, _| x.cosh()))
        .on(ANY)
        .latex(r"\sinh")
        .doc("Hyperbolic sine."),
    Primitive::new("double.cosh", Value::F1(f64::cosh), partial!(|x, _| x.sinh()))
        .on(ANY)
        .latex(r"\cosh")
        .doc("Hyperbolic cosine."),
    Primitive::new(
        "double.tanh",
        Value::F1(f64::tanh),
        partial!(|_, y| (T::constant(1.0) - y.clone()) * (T::constant(1.0) + y)),
    )
    .on(ANY)
    .latex(r"\tanh")
    .doc("Hyperbolic tangent."),
    Primitive::new(
        "double.asinh",
        Value::F1(f64::asinh),
        partial!(|x, _| T::constant(1.0) / (T::constant(1.0) + x.clone() * x).sqrt()),
    )
    .on(ANY)
    .doc("Inverse of `sinh`."),
    Primitive::new("double.acosh", Value::F1(f64::acosh), partial!(|x, _| T::constant(1.0) / hyperbola(x).sqrt()))
        .on(&[1.2, 2.0, 5.5])
        .kink("the derivative at 1 is +inf", &[Kink { at: &[1.0], partials: &[f64::INFINITY] }])
        .one_sided(|_, x| at(x, 1.0, [f64::NAN, f64::INFINITY]))
        .defined("x ≥ 1")
        .doc("Inverse of `cosh`."),
    Primitive::new("double.atanh", Value::F1(f64::atanh), partial!(|x, _| T::constant(1.0) / circle(x)))
        .on(UNIT)
        .kink("the derivative at -1 and 1 is +inf", INFINITE_AT_ENDS)
        .defined("-1 ≤ x ≤ 1")
        .doc("Inverse of `tanh`."),
    Primitive::new("double.exp", Value::F1(f64::exp), partial!(|_, y| y))
        .on(ANY)
        .latex(r"\exp")
        .doc("Exponential function."),
    Primitive::new("double.exp2", Value::F1(f64::exp2), partial!(|_, y| y * T::constant(LN_2)))
        .on(ANY)
        .doc("2 to the power of `x`."),
    Primitive::new("double.exp10", Value::F1(libm::exp10), partial!(|_, y| y * T::constant(LN_10)))
        .on(ANY)
        .doc("10 to the power of `x`."),
    Primitive::new("double.sigmoid", Value::F1(sigmoid), partial!(|_, y| y.clone() * (T::constant(1.0) - y)))
        .on(ANY)
        .doc("The logistic function."),
    Primitive::new("double.expm1", Value::F1(f64::exp_m1), partial!(|x, _| x.exp()))
        .on(ANY)
        .doc("`exp(x) - 1`, exact near 0."),
    Primitive::new("double.log", Value::F1(f64::ln), partial!(|x, _| T::constant(1.0) / x.without_sign_of_zero()))
        .on(POSITIVE)
        .kink("the derivative at 0 is +inf; it is 1/x below 0 too, where the value is NaN", INFINITE_AT_0)
        .latex(r"\log")
        .defined("x ≥ 0")
        .doc("Natural logarithm."),
    Primitive::new(
        "double.log2",
        Value::F1(f64::log2),
        partial!(|x, _| T::constant(1.0) / (x.without_sign_of_zero() * T::constant(LN_2))),
    )
    .on(POSITIVE)
    .kink("the derivative at 0 is +inf", INFINITE_AT_0)
    .defined("x ≥ 0")
    .doc("Logarithm to base 2."),
    Primitive::new(
        "double.log10",
        Value::F1(f64::log10),
        partial!(|x, _| T::constant(1.0) / (x.without_sign_of_zero() * T::constant(LN_10))),
    )
    .on(POSITIVE)
    .kink("the derivative at 0 is +inf", INFINITE_AT_0)
    .defined("x ≥ 0")
    .doc("Logarithm to base 10."),
    Primitive::new("double.log1p", Value::F1(f64::ln_1p), partial!(|x, _| T::constant(1.0) / (T::constant(1.0) + x)))
        .on(&[-0.5, 0.0, 0.3, 4.0])
        .kink("the derivative at -1 is +inf", &[Kink { at: &[-1.0], partials: &[f64::INFINITY] }])
        .defined("x ≥ -1")
        .doc("`log(1 + x)`, exact near 0."),
];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes `x² - 1` without cancellation near ±1.
fn hyperbola<T: Field>(x: T) -> T {
    (x.clone() - T::constant(1.0)) * (x + T::constant(1.0))
}

/// Computes `1 - x²` without cancellation near ±1.
fn circle<T: Field>(x: T) -> T {
    (T::constant(1.0) - x.clone()) * (T::constant(1.0) + x)
}
