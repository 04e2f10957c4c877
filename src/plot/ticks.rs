//! Axis ticks: round numbers along an axis.

use std::ops::RangeInclusive;

/// Returns about `wanted` round numbers in a range, with their labels: steps are 1, 2 or 5 times a power of ten.
pub(super) fn ticks(range: &RangeInclusive<f64>, wanted: usize) -> Vec<(f64, String)> {
    let (from, to) = (*range.start(), *range.end());
    let raw = (to - from) / wanted.max(1) as f64;
    if !(raw > 0.0 && raw.is_finite()) {
        return vec![];
    }
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw * 0.999).unwrap_or(power);
    let decimals = (-step.log10().floor()).clamp(0.0, 17.0) as usize;
    let first = (from / step - 1e-9).ceil();
    let mut out = vec![];
    let mut k = first;
    while k * step <= to + step * 1e-9 && out.len() < 100 {
        out.push((k * step, label(k * step, decimals)));
        k += 1.0;
    }
    out
}

/// Formats a number with that many decimals, or with an exponent if it is very large or small; zero has no sign.
pub(super) fn label(x: f64, decimals: usize) -> String {
    if x != 0.0 && (x.abs() >= 1e6 || x.abs() < 1e-4) {
        return format!("{x:.1e}");
    }
    let text = format!("{x:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { text.replace('-', "") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let texts = |range, wanted| ticks(&range, wanted).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(-3.0..=3.0, 4), ["-2", "0", "2"]);
        assert_eq!(texts(0.0..=1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-0.1..=0.1, 4), ["-0.10", "-0.05", "0.00", "0.05", "0.10"]);
        assert!(ticks(&(1.0..=1.0), 4).is_empty());
    }
}
