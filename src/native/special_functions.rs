//! Special functions: the table entries of the error functions, the gamma function and the polygamma functions.

use super::field::{Field, IntegerParam};
use super::partial::{integer_param, partial};
use super::{Primitive, Single, Value};
use crate::tensor::polygamma;
use std::f64::consts::FRAC_2_SQRT_PI;

const ANY: &[f64] = &[-2.25, -0.75, 0.0, 0.4, 1.3];
const POSITIVE: &[f64] = &[0.3, 1.0, 2.75, 6.5];

/// The special functions of the table of primitives.
pub(super) const TABLE: &[Primitive] = &[
    Primitive::new("double.erf", Value::F1(libm::erf), partial!(|x, _| gaussian(x))).on(ANY).doc("Error function."),
    Primitive::new("double.erfc", Value::F1(libm::erfc), partial!(|x, _| -gaussian(x)))
        .on(ANY)
        .doc("`1 - erf(x)`, exact for large `x`."),
    Primitive::new("double.gamma", Value::F1(libm::tgamma), partial!(|x, y| y * x.polygamma(T::Integer::zero())))
        .on(POSITIVE)
        .defined("x not a negative integer")
        .doc("Gamma function."),
    Primitive::new("double.logGamma", Value::F1(libm::lgamma), partial!(|x, _| x.polygamma(T::Integer::zero())))
        .on(POSITIVE)
        .doc("Logarithm of the magnitude of the gamma function."),
    Primitive::new("double.polygamma", Value::FI(polygamma), integer_param!(|x, n, _| x.polygamma(n.offset(1))))
        .on(POSITIVE)
        .single(Single::None)
        .defined("n ≥ 0; x not an integer ≤ 0")
        .doc("Derivative of order `n` of the digamma function."),
];

/// Computes `2/√π · exp(-x²)`.
fn gaussian<T: Field>(x: T) -> T {
    T::constant(FRAC_2_SQRT_PI) * (-(x.clone() * x)).exp()
}
