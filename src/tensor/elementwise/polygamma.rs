//! The derivatives of the digamma function.

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
pub fn polygamma(x: f64, n: i64) -> f64 {
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
