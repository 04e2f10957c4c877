//! Pictures of curves: as text for a terminal, as SVG for everything else.
//!
//! In: series of points. Out: lines of text, or an SVG document.
//!
//! Promises: the same points give the same picture, to the last byte; points that are not finite leave a gap; a curve
//! that runs off (`tan`) does not squeeze the others flat.
//! Not here: how the points are computed (`session`), where a picture goes (`front`).

mod svg;
mod text;
mod ticks;

use std::ops::RangeInclusive;

/// Curves over one range.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// The range of `x`.
    pub x: RangeInclusive<f64>,
    /// The curves.
    pub series: Vec<Series>,
}

/// A curve.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Values beyond this many times the middle nine tenths are cut off.
const RUNS_OFF: f64 = 8.0;

impl Chart {
    /// The range of `y` that shows the curves; none when there is no finite value.
    pub fn y(&self) -> Option<RangeInclusive<f64>> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut values: Vec<f64> = points.map(|(_, y)| *y).filter(|y| y.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values.get((part * (values.len().saturating_sub(1)) as f64).round() as usize).copied();
        let (mut low, mut high) = (*values.first()?, *values.last()?);
        let (p5, p95) = (at(0.05)?, at(0.95)?);
        let middle = p95 - p5;
        if middle > 0.0 && high - low > RUNS_OFF * middle {
            low = low.max(p5 - middle / 2.0);
            high = high.min(p95 + middle / 2.0);
        }
        if low == high {
            // A constant lies in the middle.
            let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            return Some(low - room..=high + room);
        }
        Some(low..=high)
    }

    /// The pieces of a curve between gaps, as far as they lie in a range of `y`.
    fn pieces(series: &Series, y: &RangeInclusive<f64>) -> Vec<Vec<(f64, f64)>> {
        let mut pieces = vec![vec![]];
        for (px, py) in &series.points {
            match pieces.last_mut() {
                Some(piece) if py.is_finite() && y.contains(py) => piece.push((*px, *py)),
                Some(piece) if !piece.is_empty() => pieces.push(vec![]),
                _ => {}
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(f: fn(f64) -> f64) -> Chart {
        let points = (-50..=50).map(|k| f64::from(k) / 10.0).map(|x| (x, f(x))).collect();
        Chart { x: -5.0..=5.0, series: vec![Series { name: "f".into(), points }] }
    }

    #[test]
    fn the_range_shows_the_curve() {
        assert_eq!(chart(|x| x * x).y(), Some(0.0..=25.0));
        assert_eq!(chart(|_| 3.0).y(), Some(1.5..=4.5));
        assert_eq!(chart(|_| f64::NAN).y(), None);
    }

    #[test]
    fn what_runs_off_is_cut() {
        let range = chart(|x| 1.0 / (x + 0.05)).y().unwrap();
        assert!(*range.end() < 10.0, "{range:?}");
    }

    #[test]
    fn gaps_part_a_curve() {
        let chart = chart(|x| if x.abs() < 1.0 { f64::NAN } else { x });
        assert_eq!(Chart::pieces(&chart.series[0], &(-5.0..=5.0)).len(), 2);
    }
}
