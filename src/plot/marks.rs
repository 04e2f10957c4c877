//! Marks: the lines, dots, areas and arrows that represent a series in a drawing.

use super::axis_limits::half_width;
use super::scale::{Place, Plane};
use super::scene::{Kind, Series};
use std::collections::BTreeMap;

/// A part of a drawing.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    /// A line through positions.
    Line(Vec<Place>),
    /// A dot.
    Dot(Place),
    /// An area with a vertex at each position.
    Area(Vec<Place>),
    /// An arrow.
    Arrow(Place, Place),
}

/// Returns the shapes of a series. The cells of a heat map are drawn separately.
pub(super) fn shapes(series: &Series, plane: &Plane) -> Vec<Shape> {
    let places = || series.points.iter().map(|point| plane.at(*point));
    match series.kind {
        Kind::Curve | Kind::Line => lines(&places().collect::<Vec<_>>(), plane),
        Kind::Points => places().flatten().filter(|at| plane.contains(*at)).map(Shape::Dot).collect(),
        Kind::Bars => bars(&series.points, plane),
        Kind::Arrows => {
            let pairs = pairs(&series.points, plane);
            let is_inside = |(a, b): &(Place, Place)| plane.contains(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0));
            pairs.into_iter().filter(is_inside).map(|(a, b)| Shape::Arrow(a, b)).collect()
        }
        Kind::Segments => {
            let pairs = pairs(&series.points, plane).into_iter().filter_map(|(a, b)| plane.clipped(a, b));
            joined(pairs.collect()).into_iter().map(Shape::Line).collect()
        }
        Kind::Band => bands(&series.points, plane),
        Kind::Cells => vec![],
    }
}

/// Returns the positions of the first and the second point, then of the third and the fourth, and so on.
fn pairs(points: &[(f64, f64)], plane: &Plane) -> Vec<(Place, Place)> {
    points.chunks_exact(2).filter_map(|ends| Some((plane.at(ends[0])?, plane.at(ends[1])?))).collect()
}

/// Returns the visible parts of a line between gaps.
fn lines(places: &[Option<Place>], plane: &Plane) -> Vec<Shape> {
    let mut parts: Vec<Vec<Place>> = vec![];
    for pair in places.windows(2) {
        let [Some(a), Some(b)] = pair else { continue };
        let Some((from, to)) = plane.clipped(*a, *b) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts.into_iter().map(Shape::Line).collect()
}

/// Returns the outlines of bars: each bar extends half of the way to its neighbors.
fn bars(points: &[(f64, f64)], plane: &Plane) -> Vec<Shape> {
    let half = half_width(points);
    let bottom = if plane.y.at(0.0).is_finite() { plane.y.at(0.0) } else { plane.y.start };
    let bar = |(x, y): &(f64, f64)| {
        let (left, right, top) = (plane.x.at(x - half), plane.x.at(x + half), plane.y.at(*y));
        let vertices = [(left, bottom), (left, top), (right, top), (right, bottom)];
        let is_visible = vertices.iter().all(|(x, y)| x.is_finite() && y.is_finite())
            && (plane.contains((left, plane.y.start)) || plane.contains((right, plane.y.start)));
        is_visible.then(|| Shape::Area(vertices.map(|vertex| plane.clamped(vertex)).to_vec()))
    };
    points.iter().filter_map(bar).collect()
}

/// Returns the areas between the lower and the upper points; a gap in either sequence ends an area.
fn bands(points: &[(f64, f64)], plane: &Plane) -> Vec<Shape> {
    let mut areas: Vec<Vec<(Place, Place)>> = vec![vec![]];
    for ends in points.chunks_exact(2) {
        let both = plane.at(ends[0]).zip(plane.at(ends[1]));
        match (both.filter(|(low, _)| plane.contains((low.0, plane.y.start))), areas.last_mut()) {
            (Some((low, high)), Some(area)) => area.push((plane.clamped(low), plane.clamped(high))),
            _ => areas.push(vec![]),
        }
    }
    areas.retain(|area| area.len() > 1);
    let outline = |area: Vec<(Place, Place)>| {
        let back = area.iter().rev().map(|(_, high)| *high);
        Shape::Area(area.iter().map(|(low, _)| *low).chain(back).collect())
    };
    areas.into_iter().map(outline).collect()
}

/// Joins segments at common ends to longer lines.
fn joined(segments: Vec<(Place, Place)>) -> Vec<Vec<Place>> {
    let key = |(x, y): Place| ((x * 64.0).round() as i64, (y * 64.0).round() as i64);
    let mut by_end: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (at, (a, b)) in segments.iter().enumerate() {
        by_end.entry(key(*a)).or_default().push(at);
        by_end.entry(key(*b)).or_default().push(at);
    }
    let mut is_used = vec![false; segments.len()];
    let mut lines = vec![];
    for at in 0..segments.len() {
        if is_used[at] {
            continue;
        }
        is_used[at] = true;
        let mut line = vec![segments[at].0, segments[at].1];
        // The line is extended at its end, then reversed and extended at its other end.
        for _ in 0..2 {
            while let Some(end) = line.last().copied() {
                let next = by_end.get(&key(end)).and_then(|ends| ends.iter().copied().find(|n| !is_used[*n]));
                let Some(next) = next else { break };
                is_used[next] = true;
                let (a, b) = segments[next];
                line.push(if key(a) == key(end) { b } else { a });
            }
            line.reverse();
        }
        lines.push(line);
    }
    lines
}

/// Removes the positions of a line that are within `tolerance` of a line through the remaining positions (Douglas and
/// Peucker, 1973).
pub(super) fn simplified(line: &[Place], tolerance: f64) -> Vec<Place> {
    if line.is_empty() {
        return vec![];
    }
    let mut is_kept = vec![false; line.len()];
    let mut open = vec![(0, line.len() - 1)];
    while let Some((first, last)) = open.pop() {
        is_kept[first] = true;
        is_kept[last] = true;
        let far = (first + 1..last).map(|at| (at, distance(line[at], line[first], line[last])));
        let farthest = far.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, distance)| *distance > tolerance);
        if let Some((at, _)) = farthest {
            open.push((first, at));
            open.push((at, last));
        }
    }
    line.iter().zip(is_kept).filter_map(|(place, kept)| kept.then_some(*place)).collect()
}

/// Returns the distance of a position from the line between two other positions.
fn distance(p: Place, a: Place, b: Place) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let squared = dx * dx + dy * dy;
    let t = if squared > 0.0 { (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (p.0 - a.0 - t * dx).hypot(p.1 - a.1 - t * dy)
}

#[cfg(test)]
mod tests {
    use super::super::Color;
    use super::super::scale::Scale;
    use super::*;

    fn drawn(kind: Kind, points: &[(f64, f64)]) -> Vec<Shape> {
        let axis = Scale::new((0.0, 10.0), false, (0.0, 10.0));
        let series = Series { name: String::new(), kind, color: Color::Distinct(0), points: points.to_vec() };
        shapes(&series, &Plane { x: axis, y: axis })
    }

    #[test]
    fn gaps_and_borders_divide_a_line() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 21.0), (5.0, 1.0)];
        let lines = drawn(Kind::Curve, &points);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[1], Shape::Line(vec![(3.0, 1.0), (3.45, 10.0)]));
    }

    #[test]
    fn bars_touch_and_begin_at_zero() {
        let bars = drawn(Kind::Bars, &[(0.5, 1.0), (1.5, 20.0)]);
        assert_eq!(bars[0], Shape::Area(vec![(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]));
        assert_eq!(bars[1], Shape::Area(vec![(1.0, 0.0), (1.0, 10.0), (2.0, 10.0), (2.0, 0.0)]));
    }

    #[test]
    fn segments_with_common_ends_are_one_line() {
        let lines = drawn(Kind::Segments, &[(1.0, 1.0), (2.0, 2.0), (0.0, 0.0), (1.0, 1.0), (3.0, 1.0), (2.0, 2.0)]);
        let line = vec![(3.0, 1.0), (2.0, 2.0), (1.0, 1.0), (0.0, 0.0)];
        assert!(lines == [Shape::Line(line.clone())] || lines == [Shape::Line(line.into_iter().rev().collect())]);
    }

    #[test]
    fn a_band_is_one_area() {
        let areas = drawn(Kind::Band, &[(1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (3.0, 2.0)]);
        assert_eq!(areas, [Shape::Area(vec![(1.0, 1.0), (3.0, 1.0), (3.0, 2.0), (1.0, 2.0)])]);
    }

    #[test]
    fn positions_on_a_straight_line_are_removed() {
        assert_eq!(
            simplified(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 0.0)], 0.05),
            [(0.0, 0.0), (2.0, 2.0), (3.0, 0.0)]
        );
        assert_eq!(simplified(&[], 0.05), []);
    }
}
