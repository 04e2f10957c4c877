//! Scene: the content of a plot, independent of the output format.

/// A plot: series of points over two axes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// The title of the plot; may be empty.
    pub title: String,
    /// The horizontal axis of the plot.
    pub x: Axis,
    /// The vertical axis of the plot.
    pub y: Axis,
    /// Whether a unit has the same length on both axes.
    pub is_equal: bool,
    /// The series, in the order in which they are drawn.
    pub series: Vec<Series>,
}

/// An axis of a plot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Axis {
    /// The label of the axis; may be empty.
    pub label: String,
    /// The range that the axis shows; by default the range of the points.
    pub range: Option<(f64, f64)>,
    /// Whether the axis is logarithmic.
    pub is_log: bool,
}

/// A series of points with a common appearance.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The name of the series in the legend; a series without a name is omitted there.
    pub name: String,
    /// The way in which the points are drawn.
    pub kind: Kind,
    /// The color of the series.
    pub color: Color,
    /// The points of the series.
    pub points: Vec<(f64, f64)>,
}

/// The way in which the points of a series are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// The graph of a function: a line whose parts that diverge may be cut off.
    #[default]
    Curve,
    /// Separate points.
    Points,
    /// A bar from zero to each point; the bars touch.
    Bars,
    /// An arrow from the first point to the second, from the third to the fourth, and so on.
    Arrows,
    /// A line through all points.
    Line,
    /// A line from the first point to the second, from the third to the fourth, and so on.
    Segments,
    /// The area between the first point and the second, the third and the fourth, and so on.
    Band,
    /// A grid of colored cells: the numbers of columns and rows, two opposite vertices, and the values row by row, each
    /// as the first coordinate of a point.
    Cells,
}

impl Kind {
    /// All kinds of series, in the order of their numbers in the prelude.
    const ALL: [Kind; 8] =
        [Kind::Curve, Kind::Points, Kind::Bars, Kind::Arrows, Kind::Line, Kind::Segments, Kind::Band, Kind::Cells];

    /// Returns the kind of series with the given number.
    pub fn numbered(number: i64) -> Kind {
        usize::try_from(number).ok().and_then(|n| Kind::ALL.get(n).copied()).unwrap_or_default()
    }
}

/// The color of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Color {
    /// A distinct color by index; the colors repeat.
    Distinct(usize),
    /// A color of the ramp from low (0) to high (1) values.
    Ramp(f64),
}

/// A heat map as a grid of cells.
pub(super) struct Grid<'a> {
    /// The numbers of columns and rows of the grid.
    pub(super) size: (usize, usize),
    /// Two opposite vertices of the grid.
    pub(super) vertices: [(f64, f64); 2],
    /// The values of the cells, row by row from the first vertex.
    values: &'a [(f64, f64)],
    /// The lowest and the highest finite value of the cells.
    pub(super) limits: (f64, f64),
}

impl Series {
    /// Returns the grid of a heat map; `None` for other series and for an empty grid.
    pub(super) fn grid(&self) -> Option<Grid<'_>> {
        let (Kind::Cells, [(columns, rows), first, last, values @ ..]) = (self.kind, self.points.as_slice()) else {
            return None;
        };
        let size = (*columns as usize, *rows as usize);
        let finite = values.iter().map(|(value, _)| *value).filter(|value| value.is_finite());
        let limits = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let is_whole = size.0.checked_mul(size.1).is_some_and(|count| count > 0 && count <= values.len());
        (is_whole && limits.0 <= limits.1).then_some(Grid { size, vertices: [*first, *last], values, limits })
    }
}

impl Grid<'_> {
    /// Returns the value of a cell between 0 (the lowest) and 1 (the highest); `None` if the value is not finite.
    pub(super) fn shade(&self, column: usize, row: usize) -> Option<f64> {
        let (value, _) = self.values.get(row * self.size.0 + column)?;
        let (low, high) = self.limits;
        let shade = if high > low { (value - low) / (high - low) } else { 0.5 };
        value.is_finite().then_some(shade)
    }
}
