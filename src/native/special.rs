//! Special functions, and the product with a sum.

use super::field::{Count, Field};
use super::formula::Formula;
use super::primitive::{ThreeFormulas, ThreeSlopes};
use super::slopes::{counted, slope};
use super::values;
use super::{Primitive, Rule, Slopes, Value, product_slope};
use std::f64::consts::FRAC_2_SQRT_PI;

const ANY: &[f64] = &[-2.25, -0.75, 0.0, 0.4, 1.3];
const POSITIVE: &[f64] = &[0.3, 1.0, 2.75, 6.5];

/// The entries.
pub(super) const TABLE: &[Primitive] = &[
    Primitive::new("double.erf", Value::F1(libm::erf), slope!(|x, _| bell(x))).on(ANY).doc("Error function."),
    Primitive::new("double.erfc", Value::F1(libm::erfc), slope!(|x, _| -bell(x)))
        .on(ANY)
        .doc("`1 - erf(x)`, exact for large x."),
    Primitive::new("double.gamma", Value::F1(libm::tgamma), slope!(|x, y| y * x.polygamma(T::Count::none())))
        .on(POSITIVE)
        .doc("Gamma function."),
    Primitive::new("double.logGamma", Value::F1(libm::lgamma), slope!(|x, _| x.polygamma(T::Count::none())))
        .on(POSITIVE)
        .doc("Logarithm of the magnitude of the gamma function."),
    Primitive::new("double.polygamma", Value::FI(values::polygamma), counted!(|x, n, _| x.polygamma(n.shift(1))))
        .on(POSITIVE)
        .doc("Derivative of order n of the digamma function."),
];

/// The slopes of `x·y + z`.
pub(super) const FMA: Rule = {
    const FAST: ThreeSlopes =
        [|x, y, _, _| product_slope(x * y, y, x), |x, y, _, _| product_slope(x * y, x, y), |_, _, _, _| 1.0];
    const FORMULAS: ThreeFormulas = [|_, y, _, _| y, |x, _, _, _| x, |_, _, _, _| Formula::Constant(1.0)];
    Rule::Slopes(Slopes::Three(FAST, FORMULAS))
};

/// 2/√π · exp(-x²)
fn bell<T: Field>(x: T) -> T {
    T::constant(FRAC_2_SQRT_PI) * (-(x.clone() * x)).exp()
}
