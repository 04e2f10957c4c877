//! Finite differences: estimates the derivative of a function at a point, with a bound of the error.
//!
//! Central differences at ever shorter steps are extrapolated to the step zero (Richardson); of all estimates, the
//! estimate with the smallest error bound is chosen. Source: Ridders, *Accurate computation of F'(x) and F'(x)F''(x)*,
//! 1982. The error bound covers the differences between neighbors in the table, rounding, and derivatives that differ
//! on both sides of the point.

/// An estimate of a derivative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The estimated derivative.
    pub derivative: f64,
    /// The bound of the error of the estimated derivative.
    pub error_bound: f64,
}

impl Estimate {
    /// Whether another derivative differs from the estimate by more than the error bound.
    pub fn excludes(&self, other: f64) -> bool {
        (self.derivative - other).abs() > self.error_bound + CLOSE * self.derivative.abs().max(other.abs())
    }

    /// Whether the error bound is too large to distinguish a correct derivative from wrong ones.
    pub fn is_uncertain(&self, other: f64) -> bool {
        self.error_bound > 10.0 * CLOSE * self.derivative.abs().max(other.abs())
    }
}

/// A factor for the steps that is not commensurable with the ratio of the other steps: a genuine error of a derivative
/// also occurs with these steps.
pub const SECOND_SCALE: f64 = 0.71;
/// The relative difference up to which partial derivatives count as equal.
const CLOSE: f64 = 1e-3;
/// The first and longest step of the finite differences.
const FIRST_STEP: f64 = 1.0 / 32.0;
/// The ratio of a step to the next one. The ratio is not 2, because fast oscillations often have equal values at a step
/// and at half of this step.
const RATIO: f64 = 1.618;
/// The number of steps of the finite differences.
const STEPS: i32 = 30;
/// The number of shorter steps that are examined after the step with the best estimate.
const STEPS_AFTER_BEST: usize = 3;
/// The number of extrapolations to the step zero.
const ORDERS: usize = 4;
/// The part of a value that may be lost by rounding: at most a quarter of the digits of `Float`, because the value may
/// have been computed in `Float`.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;

/// Estimates the derivative at 0 of a function that has the value `middle` at 0, and has no value where it returns
/// `None`. `size` is the magnitude of the numbers from which the values of the function were computed.
///
/// # Errors
/// Fails when the function cannot continue.
pub fn derivative<E>(
    (middle, mut size): (f64, f64),
    of: &mut dyn FnMut(f64) -> Result<Option<f64>, E>,
) -> Result<Option<Estimate>, E> {
    let mut all: Vec<Estimate> = vec![];
    let mut best: Option<Estimate> = None;
    // The plain finite differences since the best estimate, beginning with the step of the best estimate, with the
    // rounding error of each.
    let mut since_best: Vec<Estimate> = vec![];
    let (mut last, mut last_bend, mut steps) = (vec![], 0.0, vec![]);
    for step in crate::vm::operators::check::finite_difference::steps() {
        if since_best.len() > STEPS_AFTER_BEST && best.is_some_and(|best| best.error_bound < ROUNDING * size / step) {
            break;
        }
        let (Some(right), Some(left)) = (of(step)?, of(-step)?) else {
            (last, steps) = (vec![], vec![]);
            continue;
        };
        size = size.max(right.abs()).max(left.abs());
        steps.insert(0, step);
        let plain = Estimate { derivative: (right - left) / (2.0 * step), error_bound: ROUNDING * size / step };
        since_best.push(plain);
        let row = extrapolated(plain.derivative, &last, &steps);
        // Without a kink, the difference of the derivatives on both sides goes to zero with the step.
        let bend = (right - 2.0 * middle + left) / step;
        if last.len() > 1 {
            let ratio = steps[1] / step;
            let kink: f64 = (ratio * bend - last_bend) / (ratio - 1.0);
            for j in 1..row.len() {
                let difference = (row[j] - row[j - 1]).abs().max((row[j] - last[j - 1]).abs());
                let error_bound = 10.0 * difference + 2.0 * kink.abs() + plain.error_bound;
                let estimate = Estimate { derivative: row[j], error_bound };
                if error_bound.is_finite() {
                    all.push(estimate);
                    if best.is_none_or(|best| error_bound < best.error_bound) {
                        (best, since_best) = (Some(estimate), vec![plain]);
                    }
                }
            }
        }
        (last, last_bend) = (row, bend);
    }
    // Estimates that contradict each other do not approximate a derivative, but rounded steps or oscillations.
    let agrees = |best: &Estimate| {
        all.iter().all(|e| (e.derivative - best.derivative).abs() <= e.error_bound + best.error_bound)
    };
    // Finite differences at shorter steps are nearer to the best estimate.
    let is_approached = |best: &Estimate| {
        let far = since_best.first().map_or(0.0, |first| (first.derivative - best.derivative).abs());
        since_best.iter().all(|d| (d.derivative - best.derivative).abs() <= far + best.error_bound + d.error_bound)
    };
    Ok(best.filter(agrees).filter(is_approached))
}

/// Returns the steps of the finite differences, the longest first.
pub fn steps() -> impl Iterator<Item = f64> {
    (0..STEPS).map(|k| short(FIRST_STEP / RATIO.powi(k)))
}

/// Returns the unit of the steps at a number: the power of two of its magnitude; 1 for 0.
pub fn unit(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 1.0 } else { x.abs().log2().floor().exp2() }
}

/// Returns a number near `x` with four binary digits, so that adding it to another number is exact.
fn short(step: f64) -> f64 {
    let unit = step.log2().floor().exp2() / 8.0;
    (step / unit).round() * unit
}

/// Returns the row of the extrapolation table after the row `last`. `steps` are the steps so far, the shortest first.
fn extrapolated(difference: f64, last: &[f64], steps: &[f64]) -> Vec<f64> {
    let mut row = vec![difference];
    for (j, before) in last.iter().take(ORDERS).enumerate() {
        let ratio = steps[j + 1] / steps[0];
        row.push(row[j] + (row[j] - before) / (ratio * ratio - 1.0));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(f: impl Fn(f64) -> f64) -> Option<Estimate> {
        let value = |t: f64| Some(f(t)).filter(|y| y.is_finite());
        derivative::<()>((f(0.0), f(0.0).abs()), &mut |t| Ok(value(t))).unwrap()
    }

    #[test]
    fn smooth_functions_have_sure_derivatives() {
        for (f, expected) in [
            ((|t| (2.0 + t).powi(3)) as fn(f64) -> f64, 12.0),
            (|t| (1.0 + t).ln(), 1.0),
            (|t| (50.0 * t).sin(), 50.0),
            (|t| f64::from((1.0 + t) as f32).exp() as f32 as f64, std::f64::consts::E),
            (|_| 7.0, 0.0),
            (|t| (t - 1e-4).abs(), -1.0),
            (|t| (1e-5 + t).sqrt(), 0.5 / 1e-5_f64.sqrt()),
        ] {
            let estimate = estimate(f).unwrap();
            assert!(!estimate.excludes(expected), "{estimate:?} {expected}");
            assert!(estimate.excludes(expected * 1.2 + 0.1), "{estimate:?} {expected}");
        }
    }

    #[test]
    fn nothing_is_excluded_at_kinks_and_jumps() {
        for f in [
            (|t| t.max(0.0)) as fn(f64) -> f64,
            |t| t.abs() + 3.0 * t,
            |t| if t > 0.0 { 1.0 } else { 0.0 },
            |t| t.abs().sqrt(),
            |t| if t == 0.0 { 0.0 } else { t * (1.0 / t).sin() },
            |t| (1e12 * t).sin(),
        ] {
            // The function is also sampled at steps with another ratio: one sequence of steps may mistake a fast
            // oscillation for a line.
            let sure = |derivative: f64| {
                let at = |scale: f64| estimate(|t| f(scale * t)).is_some_and(|e| e.excludes(scale * derivative));
                at(1.0) && at(SECOND_SCALE)
            };
            assert!(!sure(0.0) || !sure(1.0) || !sure(0.5), "{:?}", estimate(f));
        }
    }

    #[test]
    fn steps_go_by_the_size_of_numbers() {
        assert_eq!([0.0, 1.0, 3.0, -0.3].map(unit), [1.0, 1.0, 2.0, 0.25]);
    }

    #[test]
    fn a_function_without_values_has_no_derivative() {
        assert_eq!(estimate(|t| (t - 1e-9).sqrt()), None);
    }
}
