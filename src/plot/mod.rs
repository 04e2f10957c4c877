//! Charts: curves and computations as text for a terminal and as SVG.
//!
//! In: series of points. Out: lines of text, or an SVG document.
//!
//! Promises: the output is deterministic, to the last byte; points that are not finite leave a gap; a curve that diverges
//! (`tan`) does not compress the others.
//! Not here: the computation of the points (`session`), the destination of a drawing (`front`).

mod graph;
mod png;
mod svg;
mod text;
mod ticks;

pub use graph::{Graph, Node};
pub use png::png;

use std::ops::RangeInclusive;

/// A chart of curves over a common range.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// The title of the chart; may be empty.
    pub title: String,
    /// The range of `x` that the chart shows.
    pub x: RangeInclusive<f64>,
    /// The curves of the chart.
    pub series: Vec<Series>,
}

/// A curve of a chart.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The name of the curve in the legend.
    pub name: String,
    /// The style in which the points of the curve are drawn.
    pub mark: Mark,
    /// The points of the curve, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// The style in which points are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mark {
    /// A line through the points is drawn.
    #[default]
    Line,
    /// Each point is drawn separately.
    Points,
    /// A bar from zero to each point is drawn; the bars touch.
    Bars,
    /// An arrow is drawn from the first point to the second, from the third to the fourth, and so on.
    Arrows,
}

/// The factor from which on the range of `y` is reduced: how many times larger it is than the range of the middle 90 %
/// of the values.
const OUTLIER_RATIO: f64 = 8.0;

impl Chart {
    /// Returns the range of `y` that is drawn; `None` when there is no finite value.
    pub fn y(&self) -> Option<RangeInclusive<f64>> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut values: Vec<f64> = points.map(|(_, y)| *y).filter(|y| y.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values.get((part * (values.len().saturating_sub(1)) as f64).round() as usize).copied();
        let (mut low, mut high) = (*values.first()?, *values.last()?);
        if self.series.iter().any(|series| series.mark == Mark::Bars) {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if self.series.iter().any(|series| matches!(series.mark, Mark::Points | Mark::Arrows)) {
            // Points at the border of the drawing would be invisible.
            let room = 0.04 * (high - low);
            (low, high) = (low - room, high + room);
        }
        let (p5, p95) = (at(0.05)?, at(0.95)?);
        let middle = p95 - p5;
        if middle > 0.0 && high - low > OUTLIER_RATIO * middle {
            low = low.max(p5 - middle / 2.0);
            high = high.min(p95 + middle / 2.0);
        }
        if low == high {
            // A constant function is drawn in the middle of the chart.
            let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            return Some(low - room..=high + room);
        }
        Some(low..=high)
    }

    /// Returns the polylines of a series within a range of `y`.
    fn pieces(series: &Series, y: &RangeInclusive<f64>) -> Vec<Vec<(f64, f64)>> {
        let inside = |(px, py): &(f64, f64)| px.is_finite() && y.contains(py);
        match series.mark {
            Mark::Line => Chart::curve(series, y),
            Mark::Points => series.points.iter().filter(|p| inside(p)).map(|p| vec![*p]).collect(),
            Mark::Bars => Chart::bars(series, y),
            Mark::Arrows => {
                let whole = |ends: &&[(f64, f64)]| ends.iter().all(inside);
                series.points.chunks_exact(2).filter(whole).map(<[_]>::to_vec).collect()
            }
        }
    }

    /// Returns the outlines of the bars of a series: each bar extends half of the way to its neighbors.
    fn bars(series: &Series, y: &RangeInclusive<f64>) -> Vec<Vec<(f64, f64)>> {
        let points = &series.points;
        let width = points.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(f64::INFINITY, f64::min);
        let half = if width.is_finite() { width / 2.0 } else { 0.5 };
        let zero = 0f64.clamp(*y.start(), *y.end());
        let place = |(px, py): &(f64, f64)| {
            let top = py.clamp(*y.start(), *y.end());
            vec![(px - half, zero), (px - half, top), (px + half, top), (px + half, zero)]
        };
        points.iter().filter(|(_, py)| py.is_finite()).map(place).collect()
    }

    /// Returns the parts of a curve between gaps.
    fn curve(series: &Series, y: &RangeInclusive<f64>) -> Vec<Vec<(f64, f64)>> {
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
        Chart {
            title: String::new(),
            x: -5.0..=5.0,
            series: vec![Series { name: "f".into(), mark: Mark::Line, points }],
        }
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
    fn bars_touch_and_begin_at_zero() {
        let series = Series { name: "f".into(), mark: Mark::Bars, points: vec![(0.5, 1.0), (1.5, 2.0)] };
        let chart = Chart { title: String::new(), x: 0.0..=2.0, series: vec![series] };
        let y = chart.y().unwrap();
        assert_eq!(y, 0.0..=2.0);
        let bars = Chart::pieces(&chart.series[0], &y);
        assert_eq!((bars[0][0], bars[0][3], bars[1][0]), ((0.0, 0.0), (1.0, 0.0), (1.0, 0.0)));
    }

    #[test]
    fn gaps_part_a_curve() {
        let chart = chart(|x| if x.abs() < 1.0 { f64::NAN } else { x });
        assert_eq!(Chart::pieces(&chart.series[0], &(-5.0..=5.0)).len(), 2);
    }
}
