//! The slope of a function at a point by differences, and how sure one can be of it.
//!
//! Central differences at steps that are halved, extrapolated to the step zero (Richardson); of all estimates the one is
//! taken that is surest. Source: Ridders, *Accurate computation of F'(x) and F'(x)F''(x)*, 1982. What makes one unsure:
//! how far neighbours in the table are apart, rounding, and slopes that differ on both sides of the point.

/// A slope.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The slope.
    pub slope: f64,
    /// By how much it may be wrong.
    pub doubt: f64,
}

impl Estimate {
    /// Whether another slope cannot be this one.
    pub fn excludes(&self, other: f64) -> bool {
        (self.slope - other).abs() > self.doubt + CLOSE * self.slope.abs().max(other.abs())
    }

    /// Whether another slope cannot be told from many that are not this one.
    pub fn is_vague(&self, other: f64) -> bool {
        self.doubt > 10.0 * CLOSE * self.slope.abs().max(other.abs())
    }
}

/// Slopes that differ by no more than this part of them are the same.
const CLOSE: f64 = 1e-3;
/// The first step is 2 to the power of minus this.
const FIRST: i32 = 5;
/// How many steps there are.
const STEPS: i32 = 22;
/// How many times it is extrapolated.
const ORDERS: usize = 4;
/// As much of a value may be rounded away: a quarter of the digits of `Float` at most, in which it may have been computed.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;

/// The slope at 0 of a function that is `middle` there, and has no value where it gives `None`. `size` is how large the
/// numbers are that its values were made of.
///
/// # Errors
/// When the function cannot go on.
pub fn slope<E>(
    (middle, size): (f64, f64),
    of: &mut dyn FnMut(f64) -> Result<Option<f64>, E>,
) -> Result<Option<Estimate>, E> {
    let mut best: Option<Estimate> = None;
    let mut last = vec![];
    let mut last_bend = None;
    for k in FIRST..FIRST + STEPS {
        let step = 0.5_f64.powi(k);
        let rounding = ROUNDING * size / step;
        if best.is_some_and(|best| best.doubt < rounding) {
            break;
        }
        let (Some(right), Some(left)) = (of(step)?, of(-step)?) else {
            (last, last_bend) = (vec![], None);
            continue;
        };
        let row = extrapolated((right - left) / (2.0 * step), &last);
        // What the slopes on both sides differ by goes to zero with the step, where there is no kink.
        let bend = (right - 2.0 * middle + left) / step;
        if let (Some(last_bend), true) = (last_bend, last.len() > 1) {
            let kink: f64 = 2.0 * bend - last_bend;
            for j in 1..row.len() {
                let apart = (row[j] - row[j - 1]).abs().max((row[j] - last[j - 1]).abs());
                let estimate = Estimate { slope: row[j], doubt: 10.0 * apart + 2.0 * kink.abs() + rounding };
                if estimate.doubt.is_finite() && best.is_none_or(|best| estimate.doubt < best.doubt) {
                    best = Some(estimate);
                }
            }
        }
        (last, last_bend) = (row, Some(bend));
    }
    Ok(best)
}

/// A row of the table behind the last one.
fn extrapolated(difference: f64, last: &[f64]) -> Vec<f64> {
    let mut row = vec![difference];
    let mut factor = 1.0;
    for (j, before) in last.iter().take(ORDERS).enumerate() {
        factor *= 4.0;
        row.push(row[j] + (row[j] - before) / (factor - 1.0));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(f: impl Fn(f64) -> f64) -> Option<Estimate> {
        let value = |t: f64| Some(f(t)).filter(|y| y.is_finite());
        slope::<()>((f(0.0), f(0.0).abs()), &mut |t| Ok(value(t))).unwrap()
    }

    #[test]
    fn smooth_functions_have_sure_slopes() {
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
            assert!(estimate.excludes(expected * 1.1 + 0.1), "{estimate:?} {expected}");
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
            let sure = |slope: f64| estimate(f).is_some_and(|e| e.excludes(slope));
            assert!(!sure(0.0) || !sure(1.0) || !sure(0.5), "{:?}", estimate(f));
        }
    }

    #[test]
    fn a_function_without_values_has_no_slope() {
        assert_eq!(estimate(|t| (t - 1e-9).sqrt()), None);
    }
}
