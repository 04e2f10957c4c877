//! Scales: the positions of numbers along the axes of a drawing.

use super::axis_limits::Limits;

/// An axis of a drawing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scale {
    /// The lower limit of the scale, or its logarithm.
    from: f64,
    to: f64,
    is_log: bool,
    /// The position of the lower limit.
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Scale {
    /// Creates the scale that places two limits at two positions.
    pub(super) fn new((low, high): Limits, is_log: bool, (start, end): (f64, f64)) -> Scale {
        let (from, to) = if is_log { (low.log10(), high.log10()) } else { (low, high) };
        Scale { from, to, is_log, start, end }
    }

    /// Returns the position of a number, which is not finite if the axis cannot show it.
    pub(super) fn at(&self, x: f64) -> f64 {
        let x = if self.is_log && x > 0.0 {
            x.log10()
        } else if self.is_log {
            return f64::NAN;
        } else {
            x
        };
        self.start + (x - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// Returns the length of the shown range; in decades on a logarithmic scale.
    pub(super) fn units(&self) -> f64 {
        self.to - self.from
    }
}

/// The scales of the two axes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Plane {
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// The largest coordinate of a position.
const FAR: f64 = 1e6;

/// A position in a drawing.
pub(super) type Place = (f64, f64);

impl Plane {
    /// Returns the position of a point; `None` if the axes cannot show it.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Option<Place> {
        let place = (self.x.at(x), self.y.at(y));
        // Far outside of the drawing the exact position is not visible, but rounding errors would be.
        let near = |v: f64| v.clamp(-FAR, FAR);
        (place.0.is_finite() && place.1.is_finite()).then_some((near(place.0), near(place.1)))
    }

    /// Returns the vertices of the drawing with the smallest and with the largest coordinates.
    fn vertices(&self) -> [Place; 2] {
        let (x, y) = (self.x, self.y);
        [(x.start.min(x.end), y.start.min(y.end)), (x.start.max(x.end), y.start.max(y.end))]
    }

    /// Whether a position is inside of the drawing.
    pub(super) fn contains(&self, (x, y): Place) -> bool {
        let [low, high] = self.vertices();
        // A point within rounding errors of the border is inside.
        let inside = |v: f64, a: f64, b: f64| v >= a - 1e-6 && v <= b + 1e-6;
        inside(x, low.0, high.0) && inside(y, low.1, high.1)
    }

    /// Returns the nearest position inside of the drawing.
    pub(super) fn clamped(&self, (x, y): Place) -> Place {
        let [low, high] = self.vertices();
        (x.clamp(low.0, high.0), y.clamp(low.1, high.1))
    }

    /// Returns the part of a line that is inside of the drawing (Liang and Barsky, 1984).
    pub(super) fn clipped(&self, a: Place, b: Place) -> Option<(Place, Place)> {
        let [low, high] = self.vertices();
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut first, mut last) = (0.0f64, 1.0f64);
        for (p, q) in [(-dx, a.0 - low.0), (dx, high.0 - a.0), (-dy, a.1 - low.1), (dy, high.1 - a.1)] {
            if p == 0.0 {
                if q < 0.0 {
                    return None;
                }
            } else if p < 0.0 {
                first = first.max(q / p);
            } else {
                last = last.min(q / p);
            }
        }
        let at = |t: f64| if t == 1.0 { b } else { (a.0 + t * dx, a.1 + t * dy) };
        (first <= last).then(|| (at(first), at(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_positions() {
        let linear = Scale::new((-1.0, 1.0), false, (100.0, 0.0));
        assert_eq!([-1.0, 0.0, 1.0].map(|x| linear.at(x)), [100.0, 50.0, 0.0]);
        let log = Scale::new((1.0, 100.0), true, (0.0, 10.0));
        assert_eq!(log.at(10.0), 5.0);
        assert!(log.at(0.0).is_nan() && log.at(-1.0).is_nan());
    }

    #[test]
    fn lines_end_at_the_border() {
        let axis = Scale::new((0.0, 10.0), false, (0.0, 10.0));
        let plane = Plane { x: axis, y: axis };
        assert_eq!(plane.clipped((-5.0, 5.0), (5.0, 5.0)), Some(((0.0, 5.0), (5.0, 5.0))));
        assert_eq!(plane.clipped((5.0, -10.0), (5.0, 30.0)), Some(((5.0, 0.0), (5.0, 10.0))));
        assert_eq!(plane.clipped((-1.0, 5.0), (-1.0, 6.0)), None);
        assert_eq!(plane.clipped((11.0, 0.0), (20.0, 10.0)), None);
    }
}
