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
