//! Text plot: a scene in braille dots with labels around it.

use super::axis_limits::Limits;
use super::braille::{Canvas, Dashes, colored};
use super::marks::{Shape, shapes};
use super::scale::{Place, Plane, Scale};
use super::scene::{Color, Grid, Kind, Scene, Series};
use super::ticks::{Tick, step, ticks};

/// The appearance of a plot in text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextStyle {
    /// The number of columns that the plot may use.
    pub columns: usize,
    /// Whether the plot has colors.
    pub is_colored: bool,
}

impl Default for TextStyle {
    fn default() -> TextStyle {
        TextStyle { columns: 80, is_colored: false }
    }
}

/// The approximate number of rows.
const ROWS: usize = 15;
/// The maximum number of rows if the axes have equal units.
const MAX_ROWS: usize = 26;

/// The approximate numbers of ticks on the vertical axis, in the order of preference.
const TICKS: [usize; 4] = [4, 5, 3, 6];

/// The minimum and the maximum number of columns of the plotted area.
const COLUMNS: (usize, usize) = (24, 120);

/// The maximum length of a name beside the plot, in characters.
const MAX_NAME: usize = 24;

/// The dashes of the distinct lines, and their symbols in the legend.
const LINES: [(Dashes, &str); 4] =
    [(&[], "──"), (&[5.0, 4.0], "╌╌"), (&[1.0, 3.0], "··"), (&[6.0, 3.0, 1.0, 3.0], "─·")];

/// The number of points above which the points of a series are drawn as single dots.
const MAX_LARGE_POINTS: usize = 60;

/// The shades of a heat map without colors, from low to high values.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The plotted area of a text.
struct Area {
    columns: usize,
    rows: usize,
    plane: Plane,
    limits: [Limits; 2],
}

impl Scene {
    /// Returns the plot line by line.
    pub fn text(&self, style: TextStyle) -> Vec<String> {
        let Some(limits) = self.limits(0.0) else { return vec!["there are no finite values to show".to_owned()] };
        let legend = self.legend(style);
        let legend_width = legend.iter().map(|(width, _)| width + 3).max().unwrap_or(0);
        let (height, wanted) = self.extended(limits[1]);
        let up = ticks(height, self.y.is_log, wanted);
        let margin = up.iter().map(|tick| tick.label.len()).max().unwrap_or(0) + 2;
        // The number at the end of the horizontal axis may project beyond it.
        let last = ticks(limits[0], self.x.is_log, 4).pop().map_or(0, |tick| tick.label.len() / 2);
        let beside = legend_width.max(last);
        let columns = style.columns.saturating_sub(margin + 2 + beside).clamp(COLUMNS.0, COLUMNS.1);
        let area = self.area(columns, [limits[0], height], wanted);
        let rows = self.canvas(&area).rows(style.is_colored);
        let row_of = |tick: &Tick| (area.plane.y.at(tick.at) / 4.0).floor() as usize;
        let mut lines: Vec<String> = vec![];
        let shift = (area.columns.saturating_sub(self.title.chars().count())) / 2;
        lines.extend((!self.title.is_empty()).then(|| format!("{:>margin$}  {:shift$}{}", "", "", self.title)));
        lines.extend((!self.y.label.is_empty()).then(|| format!("{:>margin$} {}", "", self.y.label)));
        // The legend may be longer than the plotted area is high.
        for row in 0..rows.len().max(legend.len() + 1) {
            let left = match (up.iter().find(|tick| row_of(tick) == row), row < rows.len()) {
                (Some(tick), true) => format!("{:>margin$} ┤", tick.label),
                (None, true) => format!("{:>margin$} │", ""),
                (_, false) => format!("{:>margin$}  ", ""),
            };
            let blank = " ".repeat(area.columns);
            let picture = rows.get(row).unwrap_or(&blank);
            let named = legend.get(row.wrapping_sub(1)).map_or(String::new(), |(_, text)| format!("   {text}"));
            if row == rows.len() {
                lines.extend(self.axis(&area, margin));
            }
            lines.push(format!("{left}{picture}{named}").trim_end().to_owned());
        }
        if legend.len() < rows.len() {
            lines.extend(self.axis(&area, margin));
        }
        lines.extend((!self.x.label.is_empty()).then(|| {
            let shift = area.columns.saturating_sub(self.x.label.chars().count()) / 2;
            format!("{:>margin$}  {:shift$}{}", "", "", self.x.label)
        }));
        lines
    }

    /// Returns a range that begins and ends with a tick, such that the ticks are at equal distances in rows, and the
    /// number of ticks.
    fn extended(&self, (low, high): Limits) -> (Limits, usize) {
        if self.is_equal || self.y.range.is_some() || self.y.is_log {
            return ((low, high), TICKS[0]);
        }
        let candidate = |wanted: usize| {
            let step = step((low, high), wanted)?;
            Some((((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step), wanted))
        };
        let length = |(limits, _): &(Limits, usize)| limits.1 - limits.0;
        let shortest = TICKS.into_iter().filter_map(candidate).min_by(|a, b| length(a).total_cmp(&length(b)));
        shortest.unwrap_or(((low, high), TICKS[0]))
    }

    /// Chooses the size of the plotted area.
    fn area(&self, columns: usize, limits: [Limits; 2], wanted: usize) -> Area {
        let plane = |columns: usize, rows: usize| Plane {
            x: Scale::new(limits[0], self.x.is_log, (0.0, (2 * columns - 1) as f64)),
            // The limits are in the middle of the first and of the last row.
            y: Scale::new(limits[1], self.y.is_log, ((4 * rows - 3) as f64, 1.0)),
        };
        let (mut columns, mut rows) = (columns, ROWS);
        if self.is_equal {
            let units = plane(columns, rows);
            let ratio = units.y.units() / units.x.units();
            // A character is twice as high as it is wide.
            rows = (columns as f64 * ratio / 2.0).round() as usize;
            if rows > MAX_ROWS {
                (columns, rows) = ((MAX_ROWS as f64 * 2.0 / ratio).round() as usize, MAX_ROWS);
            }
            (columns, rows) = (columns.max(2), rows.max(3));
        } else {
            let intervals = step(limits[1], wanted).map_or(1.0, |step| (limits[1].1 - limits[1].0) / step);
            let is_whole = (intervals - intervals.round()).abs() < 1e-6 && !self.y.is_log;
            if is_whole {
                let intervals = (intervals.round() as usize).clamp(1, ROWS);
                rows = ROWS / intervals * intervals + 1;
            }
        }
        Area { columns, rows, plane: plane(columns, rows), limits }
    }

    fn canvas(&self, area: &Area) -> Canvas {
        let mut canvas = Canvas::new(area.columns, area.rows);
        for grid in self.series.iter().filter_map(Series::grid) {
            cells(&mut canvas, area, &grid);
        }
        self.axes_through_zero(&mut canvas, area);
        for series in self.series.iter().filter(|series| series.kind != Kind::Cells) {
            draw(&mut canvas, series, &area.plane);
        }
        canvas
    }

    fn axes_through_zero(&self, canvas: &mut Canvas, area: &Area) {
        let is_inside = |(low, high): Limits, is_log: bool| low < 0.0 && high > 0.0 && !is_log;
        let has_cells = self.series.iter().any(|series| series.kind == Kind::Cells);
        let (x, y) = (area.plane.x.at(0.0), area.plane.y.at(0.0));
        let has = [is_inside(area.limits[0], self.x.is_log), is_inside(area.limits[1], self.y.is_log)];
        if has_cells {
            return;
        }
        for column in (0..area.columns).filter(|_| has[1]) {
            canvas.glyph(((2 * column) as f64, y), '┄', None);
        }
        for row in (0..area.rows).filter(|_| has[0]) {
            canvas.glyph((x, (4 * row) as f64), '┆', None);
        }
        if has == [true; 2] {
            canvas.glyph((x, y), '┼', None);
        }
    }

    /// Returns the legend line by line, with the number of characters of each line.
    fn legend(&self, style: TextStyle) -> Vec<(usize, String)> {
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        let line = |series: &Series| {
            let is_long = series.name.chars().count() > MAX_NAME;
            let name: String = match is_long {
                true => series.name.chars().take(MAX_NAME - 1).chain(['…']).collect(),
                false => series.name.clone(),
            };
            let sign = sign(series);
            let width = sign.chars().count() + 1 + name.chars().count();
            let sign = if style.is_colored { colored(sign, series.color) } else { sign.to_owned() };
            (width, format!("{sign} {name}"))
        };
        let mut lines: Vec<(usize, String)> = named.map(line).collect();
        if let Some(grid) = self.series.iter().find_map(Series::grid) {
            lines.extend(bar(&grid, style));
        }
        lines
    }

    /// Returns the horizontal axis and its numbers.
    fn axis(&self, area: &Area, margin: usize) -> [String; 2] {
        let mut line: Vec<char> = vec!['─'; area.columns];
        let mut labels: Vec<char> = vec![];
        for tick in ticks(area.limits[0], self.x.is_log, (area.columns / 14).max(2)) {
            let at = (area.plane.x.at(tick.at) / 2.0).floor() as usize;
            if let Some(place) = line.get_mut(at) {
                *place = '┬';
            }
            let start = (margin + 2 + at).saturating_sub(tick.label.chars().count() / 2);
            // A label that would touch the previous label is omitted.
            if start > labels.len() || labels.is_empty() {
                labels.resize(start, ' ');
                labels.extend(tick.label.chars());
            }
        }
        let line: String = line.into_iter().collect();
        [format!("{:>margin$} └{line}", ""), labels.into_iter().collect()]
    }
}

/// Draws a series.
fn draw(canvas: &mut Canvas, series: &Series, plane: &Plane) {
    let color = series.color;
    let is_large = series.points.len() <= MAX_LARGE_POINTS;
    for shape in shapes(series, plane) {
        match shape {
            Shape::Line(line) => canvas.line(&line, dashes(series), color),
            Shape::Area(vertices) if series.kind == Kind::Band => canvas.area(&vertices, color),
            Shape::Area(vertices) => canvas.line(&vertices, &[], color),
            Shape::Dot(at) if is_large => canvas.glyph(at, '•', Some(color)),
            Shape::Dot(at) => canvas.dot(at, color),
            Shape::Arrow(from, to) => {
                let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
                canvas.glyph(middle, arrow(from, to), Some(color));
            }
        }
    }
}

/// Fills the plotted area with the cells of a heat map.
fn cells(canvas: &mut Canvas, area: &Area, grid: &Grid<'_>) {
    let [a, b] = grid.vertices.map(|vertex| area.plane.at(vertex));
    let (Some(a), Some(b)) = (a, b) else { return };
    let index = |at: f64, from: f64, to: f64, count: usize| {
        let part = (at - from) / (to - from) * count as f64;
        (part >= 0.0 && part <= count as f64).then(|| (part as usize).min(count - 1))
    };
    for row in 0..area.rows {
        for column in 0..area.columns {
            let center = ((2 * column) as f64 + 0.5, (4 * row) as f64 + 1.0);
            let cell = index(center.0, a.0, b.0, grid.size.0).zip(index(center.1, a.1, b.1, grid.size.1));
            if let Some(part) = cell.and_then(|(column, row)| grid.shade(column, row)) {
                canvas.glyph(((2 * column) as f64, (4 * row) as f64), shade(part), Some(Color::Ramp(part)));
            }
        }
    }
}

/// Returns the character for a part of the ramp.
fn shade(part: f64) -> char {
    SHADES[(part.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64).round() as usize]
}

/// Returns the legend of a heat map: the values of some shades, the highest first.
fn bar(grid: &Grid<'_>, style: TextStyle) -> Vec<(usize, String)> {
    let (low, high) = grid.limits;
    let line = |tick: Tick| {
        let part = if high > low { (tick.at - low) / (high - low) } else { 0.5 };
        let sign = shade(part).to_string().repeat(2);
        let width = 3 + tick.label.chars().count();
        let sign = if style.is_colored { colored("██", Color::Ramp(part)) } else { sign };
        (width, format!("{sign} {}", tick.label))
    };
    ticks(grid.limits, false, 5).into_iter().rev().map(line).collect()
}

/// Returns the character for the direction of an arrow.
fn arrow(from: Place, to: Place) -> char {
    let (dx, dy) = (to.0 - from.0, from.1 - to.1);
    if dx.hypot(dy) < 0.5 {
        return '·';
    }
    let eighth = (dy.atan2(dx) / std::f64::consts::FRAC_PI_4).round().rem_euclid(8.0);
    ['→', '↗', '↑', '↖', '←', '↙', '↓', '↘'][eighth as usize % 8]
}

fn dashes(series: &Series) -> Dashes {
    match (series.kind, series.color) {
        (Kind::Curve | Kind::Line, Color::Distinct(n)) => LINES[n % LINES.len()].0,
        _ => &[],
    }
}

/// Returns the symbol of a series in the legend.
fn sign(series: &Series) -> &'static str {
    match (series.kind, series.color) {
        (Kind::Points, _) => "• ",
        (Kind::Bars, _) => "▯▯",
        (Kind::Band, _) => "░░",
        (Kind::Arrows, _) => "─▸",
        (Kind::Curve | Kind::Line, Color::Distinct(n)) => LINES[n % LINES.len()].1,
        _ => "──",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(kind: Kind, points: Vec<(f64, f64)>) -> Scene {
        let series = vec![Series { name: "f".into(), kind, color: Color::Distinct(0), points }];
        Scene { series, ..Scene::default() }
    }

    fn plain(scene: &Scene) -> Vec<String> {
        scene.text(TextStyle::default())
    }

    #[test]
    fn a_line_is_drawn_as_a_diagonal_between_round_ticks() {
        let lines = plain(&scene(Kind::Curve, (0..=200).map(|k| f64::from(k) / 200.0).map(|x| (x, x)).collect()));
        let ticks: Vec<&str> = lines.iter().filter(|line| line.contains('┤')).map(|line| line[..5].trim()).collect();
        assert_eq!(ticks, ["1.0", "0.5", "0.0"]);
        let distances: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| line.contains('┤')).map(|(row, _)| row).collect();
        assert_eq!(distances[1] - distances[0], distances[2] - distances[1]);
        assert!(lines[1].ends_with("   ── f"), "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
    }

    #[test]
    fn the_axes_pass_through_zero() {
        let lines = plain(&scene(Kind::Curve, vec![(-1.0, -1.0), (1.0, -0.5), (2.0, 1.0)])).join("\n");
        assert!(lines.contains('┼') && lines.contains('┆') && lines.contains('┄'), "{lines}");
    }

    #[test]
    fn a_wider_terminal_has_a_wider_plot() {
        let scene = scene(Kind::Line, vec![(0.0, 0.0), (1.0, 1.0)]);
        for columns in [60, 80, 120] {
            let lines = scene.text(TextStyle { columns, is_colored: false });
            let widest = lines.iter().map(|line| line.chars().count()).max();
            assert_eq!(widest, Some(columns), "{lines:#?}");
        }
    }

    #[test]
    fn colors_change_nothing_else() {
        let scene = scene(Kind::Line, vec![(0.0, 0.0), (1.0, 1.0)]);
        let colored = scene.text(TextStyle { columns: 80, is_colored: true }).join("\n");
        assert!(colored.contains("\u{1b}[38;5;33m"), "{colored:?}");
        assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain(&scene).join("\n"));
    }

    #[test]
    fn arrows_have_heads() {
        let lines = plain(&scene(Kind::Arrows, vec![(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 2.0)])).join("\n");
        assert!(lines.contains('→') && lines.contains('↑'), "{lines}");
    }

    #[test]
    fn a_plot_without_finite_values_is_reported() {
        assert_eq!(plain(&scene(Kind::Curve, vec![(0.0, f64::NAN)])), ["there are no finite values to show"]);
    }
}
