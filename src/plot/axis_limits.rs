//! Axis limits: the ranges that a scene shows.

use super::scene::{Axis, Kind, Scene, Series};

/// The ratio of the range of a curve to the range of the middle 90 % of its values above which the shown range is
/// reduced.
const OUTLIER_RATIO: f64 = 8.0;

/// The margin around points in a drawing, as a part of the range.
pub(super) const MARGIN: f64 = 0.04;

/// Two limits, the lower one first.
pub(super) type Limits = (f64, f64);

impl Scene {
    /// Returns the limits of both axes with a margin around points; `None` when there is no point to show.
    pub(super) fn limits(&self, margin: f64) -> Option<[Limits; 2]> {
        let x = self.x.range.or_else(|| self.x_of_points(margin))?;
        let y = self.y.range.or_else(|| self.y_of_points(x, margin))?;
        Some([usable(x, &self.x)?, usable(y, &self.y)?])
    }

    fn x_of_points(&self, margin: f64) -> Option<Limits> {
        let all = self.series.iter().filter_map(|series| {
            let points = vertices_or_points(series);
            let limits = span(points.iter().map(|(x, _)| *x), &self.x)?;
            Some(match series.kind {
                Kind::Bars => (limits.0 - half_width(points), limits.1 + half_width(points)),
                Kind::Points | Kind::Arrows | Kind::Segments => with_margin(limits, &self.x, margin),
                // A line that turns back, such as a circle.
                Kind::Line if !points.is_sorted_by(|a, b| a.0 <= b.0) => with_margin(limits, &self.x, margin),
                Kind::Curve | Kind::Line | Kind::Band | Kind::Cells => limits,
            })
        });
        all.reduce(union)
    }

    /// Returns the range of `y` of the points within a range of `x`.
    fn y_of_points(&self, x: Limits, margin: f64) -> Option<Limits> {
        let all = self.series.iter().filter_map(|series| {
            let points = vertices_or_points(series);
            let inside = points.iter().filter(|(px, _)| (x.0..=x.1).contains(px) || series.kind == Kind::Cells);
            let limits = span(inside.map(|(_, py)| *py), &self.y)?;
            Some(match series.kind {
                Kind::Curve => with_margin(self.without_poles(series, limits), &self.y, margin),
                Kind::Cells => limits,
                Kind::Bars if self.y.is_log => limits,
                Kind::Bars => {
                    let (low, high) = (limits.0.min(0.0), limits.1.max(0.0));
                    let margin = margin * (high - low);
                    // Bars stand on the axis.
                    (if low < 0.0 { low - margin } else { low }, if high > 0.0 { high + margin } else { high })
                }
                Kind::Points | Kind::Arrows | Kind::Line | Kind::Segments | Kind::Band => {
                    with_margin(limits, &self.y, margin)
                }
            })
        });
        all.reduce(union)
    }

    /// Returns the limits of a curve without the parts that diverge. A value counts as often as its share of the axis.
    fn without_poles(&self, series: &Series, (low, high): Limits) -> Limits {
        let points = &series.points;
        let value = |y: f64| if self.y.is_log { y.log10() } else { y };
        let mut weighted: Vec<(f64, f64)> = points
            .windows(2)
            .map(|pair| (value(pair[1].1), (pair[1].0 - pair[0].0).abs()))
            .filter(|(y, weight)| y.is_finite() && weight.is_finite())
            .collect();
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let at = |part: f64| {
            let mut sum = 0.0;
            let found = weighted.iter().find(|(_, weight)| {
                sum += weight;
                sum >= part * total
            });
            found.map(|(y, _)| *y)
        };
        let (Some(p5), Some(p95)) = (at(0.05), at(0.95)) else { return (low, high) };
        let middle = p95 - p5;
        if !(middle > 0.0 && value(high) - value(low) > OUTLIER_RATIO * middle) {
            return (low, high);
        }
        let back = |y: f64| if self.y.is_log { 10f64.powf(y) } else { y };
        (low.max(back(p5 - middle / 2.0)), high.min(back(p95 + middle / 2.0)))
    }
}

/// Returns the points of a series; for a heat map, its vertices.
fn vertices_or_points(series: &Series) -> &[(f64, f64)] {
    match series.kind {
        Kind::Cells => series.points.get(1..3).unwrap_or_default(),
        _ => &series.points,
    }
}

/// Returns the lowest and the highest of the numbers that an axis can show.
fn span(numbers: impl Iterator<Item = f64>, axis: &Axis) -> Option<Limits> {
    numbers.filter(|x| x.is_finite() && (!axis.is_log || *x > 0.0)).map(|x| (x, x)).reduce(union)
}

fn union(a: Limits, b: Limits) -> Limits {
    (a.0.min(b.0), a.1.max(b.1))
}

fn with_margin((low, high): Limits, axis: &Axis, margin: f64) -> Limits {
    if axis.is_log {
        let factor = (high / low).powf(margin);
        return (low / factor, high * factor);
    }
    let margin = margin * (high - low);
    (low - margin, high + margin)
}

/// Returns half of the distance between neighboring points, so that the bars of a series touch.
pub(super) fn half_width(points: &[(f64, f64)]) -> f64 {
    let gap = points.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs()).fold(f64::INFINITY, f64::min);
    if gap.is_finite() { gap / 2.0 } else { 0.5 }
}

/// Returns limits that differ, so that a constant is drawn in the middle; `None` if the axis cannot show the limits.
fn usable((low, high): Limits, axis: &Axis) -> Option<Limits> {
    if !(low.is_finite() && high.is_finite() && low <= high) || axis.is_log && low <= 0.0 {
        return None;
    }
    // A range of a few rounding errors is that of a constant.
    if high - low > 1e-12 * low.abs().max(high.abs()) {
        return Some((low, high));
    }
    let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
    Some((low - room, high + room))
}

#[cfg(test)]
mod tests {
    use super::super::Color;
    use super::*;

    fn scene(kind: Kind, f: fn(f64) -> f64) -> Scene {
        let points = (-50..=50).map(|k| f64::from(k) / 10.0).map(|x| (x, f(x))).collect();
        let series = vec![Series { name: "f".into(), kind, color: Color::Distinct(0), points }];
        Scene { series, ..Scene::default() }
    }

    fn y(scene: &Scene) -> Limits {
        scene.limits(MARGIN).unwrap()[1]
    }

    #[test]
    fn the_range_shows_the_curve() {
        assert_eq!(y(&scene(Kind::Curve, |x| x * x)), (-1.0, 26.0));
        assert_eq!(y(&scene(Kind::Curve, |_| 3.0)), (1.5, 4.5));
        assert_eq!(scene(Kind::Curve, |_| f64::NAN).limits(MARGIN), None);
        assert_eq!(scene(Kind::Curve, |x| x).limits(MARGIN).unwrap()[0], (-5.0, 5.0));
    }

    #[test]
    fn a_pole_is_cut_off_and_data_are_not() {
        let f = |x: f64| 1.0 / (x + 0.05);
        assert!(y(&scene(Kind::Curve, f)).1 < 10.0);
        assert!(y(&scene(Kind::Line, f)).1 > 20.0);
    }

    #[test]
    fn bars_stand_on_the_axis() {
        assert_eq!(y(&scene(Kind::Bars, |_| 5.0)), (0.0, 5.2));
        assert_eq!(scene(Kind::Bars, |_| 5.0).limits(MARGIN).unwrap()[0], (-5.05, 5.05));
    }

    #[test]
    fn a_logarithmic_axis_has_positive_limits() {
        let mut scene = scene(Kind::Line, |x| x);
        scene.y.is_log = true;
        assert!(y(&scene).0 > 0.05, "{:?}", scene.limits(MARGIN));
        scene.y.range = Some((-1.0, 1.0));
        assert_eq!(scene.limits(MARGIN), None);
    }
}
