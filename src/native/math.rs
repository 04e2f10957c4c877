//! Mathematical functions: functions of numbers that neither Rust nor `libm` provides with the semantics of the
//! language.

/// Returns the sign of a number: -1, 0 or 1; NaN for NaN.
pub(super) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// Returns the larger of two numbers, by the rules of Swift for ties and NaN.
pub(super) fn max(a: f64, b: f64) -> f64 {
    if b >= a { b } else { a }
}

/// Returns the smaller of two numbers, by the rules of Swift for ties and NaN.
pub(super) fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Returns `x`, or 0 if `x` is negative.
pub(super) fn relu(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

/// Rounds a number to single precision.
pub(super) fn to_single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// Computes `xⁿ`: by products for small exponents, which is accurate to about half a digit and twenty times as fast as
/// `pow`.
pub(super) fn powi(x: f64, n: i64) -> f64 {
    match n {
        0 => 1.0,
        1 => x,
        2 => x * x,
        3 => x * x * x,
        4 => (x * x) * (x * x),
        -1 => 1.0 / x,
        -2 => 1.0 / (x * x),
        // Above 2⁵³ an odd exponent is not representable as a number and would lose its parity.
        _ if n.unsigned_abs() > 1 << 53 && n % 2 != 0 => x.powf(n as f64).copysign(x),
        _ => x.powf(n as f64),
    }
}

/// The Bernoulli numbers B₂, B₄, ….
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// Computes the derivative of order `n` of the digamma function: by recurrence up to the range of the asymptotic
/// series.
///
/// Returns NaN for negative orders, at the poles, and far below zero, where the recurrence would take too long.
///
/// Source: Abramowitz and Stegun, 6.4.6 and 6.4.11.
pub(super) fn polygamma(x: f64, n: i64) -> f64 {
    if !(0..=150).contains(&n) || x.is_nan() || x < -1e5 || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    let order = n as f64;
    let factorial = libm::tgamma(order + 1.0);
    // The recurrence is ψₙ(x + 1) - ψₙ(x) = (-1)ⁿ n! / xⁿ⁺¹.
    let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
    let exponent = n as i32 + 1;
    let (mut x, mut sum) = (x, 0.0);
    while x < 15.0 + order {
        sum -= sign * factorial / x.powi(exponent);
        x += 1.0;
    }
    let mut tail = if n == 0 { -x.ln() } else { libm::tgamma(order) / x.powi(n as i32) };
    tail += factorial / (2.0 * x.powi(exponent));
    // The factor is (2k + n - 1)! / (2k)! / x²ᵏ⁺ⁿ; it is updated from one k to the next.
    let mut factor = libm::tgamma(order + 2.0) / 2.0 / x.powi(n as i32 + 2);
    for (k, b) in BERNOULLI.iter().enumerate() {
        tail += b * factor;
        let m = 2.0 * (k as f64 + 1.0);
        factor *= (m + order) * (m + order + 1.0) / ((m + 1.0) * (m + 2.0) * x * x);
    }
    sum - sign * tail
}
