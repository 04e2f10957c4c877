//! Axis ticks: round numbers along an axis.

use super::axis_limits::Limits;

/// A tick of an axis.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tick {
    /// The number at the tick.
    pub(super) at: f64,
    /// The label of the tick.
    pub(super) label: String,
}

/// The absolute value from which on, or below whose inverse, numbers are written with an exponent.
const LARGE: f64 = 1e6;
const SMALL: f64 = 1e-4;

/// Returns the distance of about `wanted` round numbers in a range: 1, 2 or 5 times a power of ten.
pub(super) fn step((from, to): Limits, wanted: usize) -> Option<f64> {
    let raw = (to - from) / wanted.max(1) as f64;
    if !(raw > 0.0 && raw.is_finite()) {
        return None;
    }
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= raw * 0.999)
}

/// Returns about `wanted` round numbers in a range.
pub(super) fn ticks(limits: Limits, is_log: bool, wanted: usize) -> Vec<Tick> {
    let decades = if is_log { limits.1.log10() - limits.0.log10() } else { 0.0 };
    // A short range of a logarithmic axis has the ticks of a linear axis.
    if decades > 0.7 { logarithmic(limits, decades, wanted) } else { linear(limits, wanted) }
}

fn linear(limits: Limits, wanted: usize) -> Vec<Tick> {
    let Some(step) = step(limits, wanted) else { return vec![] };
    let (first, last) = ((limits.0 / step - 1e-9).ceil(), (limits.1 / step + 1e-9).floor());
    let count = (last - first).clamp(-1.0, 100.0) as i64;
    let numbers = (0..=count).map(|k| (first + k as f64) * step).map(|at| if at == 0.0 { 0.0 } else { at });
    numbers.map(|at| Tick { at, label: label(at, step, limits) }).collect()
}

/// Formats a tick; all ticks with the same distance have the same number of decimals.
fn label(at: f64, step: f64, limits: Limits) -> String {
    let largest = limits.0.abs().max(limits.1.abs());
    if at != 0.0 && !(SMALL..LARGE).contains(&largest) {
        let digits = (at.abs().log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        let text = format!("{at:.digits$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        return format!("{digits}e{exponent}");
    }
    // `log10` of a power of ten may be slightly too small.
    let decimals = if at == 0.0 && step < SMALL { 0.0 } else { -(step * 1.000_001).log10().floor() };
    format!("{at:.*}", decimals.clamp(0.0, 17.0) as usize)
}

fn logarithmic((low, high): Limits, decades: f64, wanted: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let every = (decades / wanted.max(1) as f64).ceil().max(1.0) as usize;
    let factors: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let mut ticks = vec![];
    for exponent in (first..=last).step_by(every) {
        for factor in factors {
            let at = factor * 10f64.powi(exponent);
            if at >= low * (1.0 - 1e-9) && at <= high * (1.0 + 1e-9) {
                let is_plain = (SMALL..LARGE).contains(&at);
                let decimals = (-exponent).max(0) as usize;
                let label = if is_plain { format!("{at:.decimals$}") } else { format!("{factor:.0}e{exponent}") };
                ticks.push(Tick { at, label });
            }
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(limits: Limits, is_log: bool, wanted: usize) -> String {
        ticks(limits, is_log, wanted).into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round() {
        for (limits, wanted, texts) in [
            ((-3.0, 3.0), 4, "-2 0 2"),
            ((0.0, 1.0), 5, "0.0 0.2 0.4 0.6 0.8 1.0"),
            ((-0.1, 0.1), 4, "-0.10 -0.05 0.00 0.05 0.10"),
            ((0.0, 1e7), 4, "0 5e6 1e7"),
            ((0.0, 3e-7), 3, "0 1e-7 2e-7 3e-7"),
            ((1000.001, 1000.002), 2, "1000.0010 1000.0015 1000.0020"),
        ] {
            assert_eq!(labels(limits, false, wanted), texts);
        }
        assert!(ticks((1.0, 1.0), false, 4).is_empty());
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(labels((0.5, 2000.0), true, 6), "1 10 100 1000");
        assert_eq!(labels((1.0, 20.0), true, 6), "1 2 5 10 20");
        assert_eq!(labels((1e-8, 1e8), true, 4), "1e-8 0.0001 1 10000 1e8");
        assert_eq!(labels((1.0, 2.0), true, 2), "1.0 1.5 2.0");
    }
}
