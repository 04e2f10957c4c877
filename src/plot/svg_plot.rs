//! SVG plot: a scene as an SVG document.

use super::axis_limits::Limits;
use super::marks::{Shape, shapes, simplified};
use super::palette::{Paint, Role, ramp};
use super::scale::{Place, Plane, Scale};
use super::scene::{Color, Grid, Kind, Scene, Series};
use super::svg_writer::{Anchor, SvgWriter, number, path};
use super::ticks::{Tick, ticks};

/// The width of a drawing, and its height unless the axes have equal units.
const SIZE: (f64, f64) = (720.0, 440.0);

/// The greatest height of the plotted area when the axes have equal units.
const MAX_HEIGHT: f64 = 520.0;

/// The distances of ticks on both axes, approximately.
const TICKS: (f64, f64) = (85.0, 50.0);

/// The sizes of the title, of labels, and of the numbers on the axes.
const FONTS: (u32, u32, u32) = (18, 15, 14);

/// The average width of a character, as a part of its size.
const CHARACTER: f64 = 0.56;

/// The maximum length of a name in the legend, in characters.
const MAX_NAME: usize = 28;

/// The number of colors of a heat map.
const SHADES: usize = 48;

/// The maximum deviation of a simplified line, in pixels.
const TOLERANCE: f64 = 0.06;

/// The parts of a drawing.
struct Drawing<'a> {
    scene: &'a Scene,
    out: SvgWriter,
    plane: Plane,
    /// The ticks of both axes.
    ticks: [Vec<Tick>; 2],
    limits: [Limits; 2],
}

impl Scene {
    /// Returns the plot as an SVG document.
    pub fn svg(&self) -> String {
        let limits = self.limits(super::axis_limits::MARGIN).unwrap_or([(0.0, 1.0), (0.0, 1.0)]);
        let mut drawing = Drawing::new(self, limits);
        drawing.background();
        for series in &self.series {
            drawing.series(series);
        }
        drawing.legend();
        drawing.out.finished(&self.title)
    }
}

fn width(text: &str, size: u32) -> f64 {
    text.chars().count() as f64 * f64::from(size) * CHARACTER
}

/// Returns a label with a minus sign instead of a hyphen.
fn typeset(label: &str) -> String {
    label.replace('-', "\u{2212}")
}

/// Returns a name that fits into the legend.
fn short(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME - 1).chain(['…']).collect()
}

impl<'a> Drawing<'a> {
    fn new(scene: &'a Scene, limits: [Limits; 2]) -> Drawing<'a> {
        let top = if scene.title.is_empty() { 18.0 } else { 48.0 };
        let bottom = if scene.x.label.is_empty() { 36.0 } else { 60.0 };
        let right = legend_width(scene);
        let up = |height: f64| ticks(limits[1], scene.y.is_log, ((height / TICKS.1) as usize).max(2));
        let left = |ticks: &[Tick]| {
            let numbers = ticks.iter().map(|tick| width(&tick.label, FONTS.2)).fold(0.0, f64::max);
            20.0 + numbers + if scene.y.label.is_empty() { 0.0 } else { 24.0 }
        };
        let mut area = (0.0, SIZE.1 - top - bottom);
        let mut on_left = left(&up(area.1));
        area.0 = SIZE.0 - on_left - right;
        if scene.is_equal {
            let units = Drawing::plane(scene, limits, (0.0, 0.0), area);
            let ratio = units.y.units() / units.x.units();
            let height = (area.0 * ratio).clamp(60.0, MAX_HEIGHT);
            // Another height has other ticks, whose numbers may be longer.
            on_left = left(&up(height));
            area = ((SIZE.0 - on_left - right).min(height / ratio).max(60.0), height);
            area.1 = (area.0 * ratio).clamp(60.0, MAX_HEIGHT);
        }
        let (left, up) = (on_left, up(area.1));
        let across = ticks(limits[0], scene.x.is_log, ((area.0 / TICKS.0) as usize).max(2));
        let out = SvgWriter::new((left + area.0 + right, top + area.1 + bottom));
        Drawing { scene, out, plane: Drawing::plane(scene, limits, (left, top), area), ticks: [across, up], limits }
    }

    /// Returns the axes of a plotted area with the given vertex and size.
    fn plane(scene: &Scene, limits: [Limits; 2], (left, top): Place, (width, height): Place) -> Plane {
        Plane {
            x: Scale::new(limits[0], scene.x.is_log, (left, left + width)),
            y: Scale::new(limits[1], scene.y.is_log, (top + height, top)),
        }
    }

    /// Draws the background, the grid, the axes through zero, the numbers, the labels and the title.
    fn background(&mut self) {
        let [back, text, grid, axis] = [Role::Background, Role::Text, Role::Grid, Role::Axis].map(Role::paint);
        let (x, y) = (self.plane.x, self.plane.y);
        let colors = self.out.colors(Some(&back), None);
        self.out.element("rect", &format!(" width=\"100%\" height=\"100%\"{colors}"));
        let [across, up] = self.ticks.clone();
        let mut lines = format!(
            "M{} {}H{}V{}H{}Z",
            number(x.start),
            number(y.end),
            number(x.end),
            number(y.start),
            number(x.start)
        );
        for tick in &across {
            lines += &format!("M{} {}V{}", number(x.at(tick.at)), number(y.end), number(y.start));
        }
        for tick in &up {
            lines += &format!("M{} {}H{}", number(x.start), number(y.at(tick.at)), number(x.end));
        }
        let colors = self.out.colors(None, Some(&grid));
        self.out.path(&lines, &colors);
        // The axis goes through zero where zero is visible, and is at the border elsewhere.
        let through = |limits: Limits, is_log: bool, scale: Scale| {
            if !is_log && limits.0 <= 0.0 && limits.1 >= 0.0 { scale.at(0.0) } else { scale.start }
        };
        let zero = (through(self.limits[0], self.scene.x.is_log, x), through(self.limits[1], self.scene.y.is_log, y));
        let axes = format!(
            "M{} {}H{}M{} {}V{}",
            number(x.start),
            number(zero.1),
            number(x.end),
            number(zero.0),
            number(y.start),
            number(y.end)
        );
        let colors = self.out.colors(None, Some(&axis));
        self.out.path(&axes, &format!("{colors} stroke-width=\"1.5\""));
        let colors = self.out.colors(Some(&text), None);
        for tick in &across {
            self.out.text((x.at(tick.at), y.start + 20.0), (FONTS.2, Anchor::Middle), &typeset(&tick.label), &colors);
        }
        for tick in &up {
            self.out.text((x.start - 8.0, y.at(tick.at) + 5.0), (FONTS.2, Anchor::End), &typeset(&tick.label), &colors);
        }
        let middle = ((x.start + x.end) / 2.0, (y.start + y.end) / 2.0);
        if !self.scene.x.label.is_empty() {
            self.out.text((middle.0, y.start + 46.0), (FONTS.1, Anchor::Middle), &self.scene.x.label, &colors);
        }
        if !self.scene.y.label.is_empty() {
            let turned = format!("{colors} transform=\"rotate(-90 18 {})\"", number(middle.1));
            self.out.text((18.0, middle.1), (FONTS.1, Anchor::Middle), &self.scene.y.label, &turned);
        }
        if !self.scene.title.is_empty() {
            // A long title is centered on the whole drawing, and smaller if necessary.
            let whole = self.plane.x.end + legend_width(self.scene);
            let size = ((whole - 16.0) / (width(&self.scene.title, 1) + 0.1)).clamp(10.0, f64::from(FONTS.0)) as u32;
            let half = width(&self.scene.title, size) / 2.0;
            let center = if half + 8.0 > middle.0 { whole / 2.0 } else { middle.0 };
            self.out.text((center, 30.0), (size, Anchor::Middle), &self.scene.title, &colors);
        }
    }

    fn series(&mut self, series: &Series) {
        if let Some(grid) = series.grid() {
            return self.cells(&grid);
        }
        let paint = series.color.paint();
        let (mut lines, mut areas, mut heads, mut dots) = (String::new(), String::new(), String::new(), vec![]);
        for shape in shapes(series, &self.plane) {
            match shape {
                Shape::Line(line) => lines += &path(&simplified(&line, TOLERANCE), false),
                Shape::Area(vertices) => areas += &path(&simplified(&vertices, TOLERANCE), true),
                Shape::Dot(at) => dots.push(at),
                Shape::Arrow(from, to) => {
                    let (shaft, head) = arrow(from, to);
                    lines += &path(&[from, shaft], false);
                    heads += &path(&head, true);
                }
            }
        }
        let outline = self.out.colors(Some(&paint), Some(&paint));
        let fill = self.out.colors(Some(&paint), None);
        let surface = match series.kind {
            Kind::Band => format!("{fill} fill-opacity=\"0.22\""),
            _ => format!("{outline} fill-opacity=\"0.3\""),
        };
        self.out.path(&areas, &surface);
        let stroke = self.out.colors(None, Some(&paint));
        let thickness = match series.kind {
            Kind::Arrows => "1.6",
            // Segments without a name are level lines; an implicit curve has a name and a color.
            Kind::Segments if series.name.is_empty() => "1.6",
            Kind::Segments if matches!(series.color, Color::Ramp(_)) => "2",
            _ => "2.5",
        };
        self.out.path(
            &lines,
            &format!("{stroke} stroke-width=\"{thickness}\" stroke-linejoin=\"round\" stroke-linecap=\"round\""),
        );
        self.out.path(&heads, &fill);
        let radius = if dots.len() > 150 { "2.5" } else { "4" };
        for (x, y) in dots {
            self.out.element("circle", &format!(" cx=\"{}\" cy=\"{}\" r=\"{radius}\"{fill}", number(x), number(y)));
        }
    }

    /// Draws the cells of a heat map, one path for each color; neighbors of the same color in a row are one rectangle.
    fn cells(&mut self, grid: &Grid<'_>) {
        let (columns, rows) = grid.size;
        let [a, b] = grid.vertices;
        let place = |column: usize, row: usize| {
            let part = |from: f64, to: f64, k: usize, count: usize| from + (to - from) * k as f64 / count as f64;
            self.plane.at((part(a.0, b.0, column, columns), part(a.1, b.1, row, rows)))
        };
        let mut paths = vec![String::new(); SHADES];
        for row in 0..rows {
            let shade =
                |column: usize| grid.shade(column, row).map(|part| (part * (SHADES - 1) as f64).round() as usize);
            let mut first = 0;
            while first < columns {
                let color = shade(first);
                let end = (first..columns).find(|column| shade(*column) != color).unwrap_or(columns);
                if let (Some(color), Some(low), Some(high)) = (color, place(first, row), place(end, row + 1)) {
                    let (low, high) = (self.plane.clamped(low), self.plane.clamped(high));
                    // A small overlap hides the gaps that renderers leave between neighbors.
                    let [x, y] = [low.0.min(high.0), low.1.min(high.1)].map(number);
                    let [w, h] = [(high.0 - low.0).abs() + 0.4, (high.1 - low.1).abs() + 0.4].map(number);
                    paths[color] += &format!("M{x} {y}h{w}v{h}h-{w}z");
                }
                first = end;
            }
        }
        for (color, data) in paths.iter().enumerate() {
            self.out.path(data, &format!(" fill=\"#{}\"", ramp(color as f64 / (SHADES - 1) as f64)));
        }
    }

    /// Draws the color bar and the names beside the plotted area.
    fn legend(&mut self) {
        let text = Role::Text.paint();
        let mut left = self.plane.x.end + 18.0;
        if let Some(grid) = self.scene.series.iter().find_map(Series::grid) {
            self.color_bar(&grid, left);
            left += bar_width(&grid);
        }
        let mut y = self.plane.y.end + 16.0;
        for series in self.scene.series.iter().filter(|series| !series.name.is_empty()) {
            let paint = series.color.paint();
            self.sign(series.kind, &paint, (left, y));
            let colors = self.out.colors(Some(&text), None);
            self.out.text((left + 34.0, y + 5.0), (FONTS.2, Anchor::Start), &short(&series.name), &colors);
            y += 24.0;
        }
    }

    /// Draws the symbol of a series in the legend.
    fn sign(&mut self, kind: Kind, paint: &Paint, (x, y): Place) {
        let stroke = self.out.colors(None, Some(paint));
        let fill = self.out.colors(Some(paint), None);
        match kind {
            Kind::Curve | Kind::Line | Kind::Segments => {
                self.out.path(&path(&[(x, y), (x + 26.0, y)], false), &format!("{stroke} stroke-width=\"3\""));
            }
            Kind::Points => {
                self.out.element("circle", &format!(" cx=\"{}\" cy=\"{}\" r=\"4\"{fill}", number(x + 13.0), number(y)));
            }
            Kind::Bars | Kind::Band => {
                let both = self.out.colors(Some(paint), Some(paint));
                self.out.rectangle((x + 2.0, y - 6.0), (22.0, 12.0), &format!("{both} fill-opacity=\"0.3\""));
            }
            Kind::Arrows => {
                let (shaft, head) = arrow((x, y), (x + 26.0, y));
                self.out.path(&path(&[(x, y), shaft], false), &format!("{stroke} stroke-width=\"2\""));
                self.out.path(&path(&head, true), &fill);
            }
            Kind::Cells => {}
        }
    }

    fn color_bar(&mut self, grid: &Grid<'_>, left: f64) {
        let (top, bottom) = (self.plane.y.end, self.plane.y.start);
        let count = SHADES / 2;
        let height = (bottom - top) / count as f64;
        for k in 0..count {
            let y = bottom - height * (k + 1) as f64;
            let color = ramp(k as f64 / (count - 1) as f64);
            self.out.rectangle((left, y), (14.0, height + 0.4), &format!(" fill=\"#{color}\""));
        }
        let scale = Scale::new(grid.limits, false, (bottom, top));
        let colors = self.out.colors(Some(&Role::Text.paint()), None);
        for tick in bar_ticks(grid) {
            let at = scale.at(tick.at);
            let at = if at.is_finite() { at } else { (top + bottom) / 2.0 };
            self.out.text((left + 20.0, at + 5.0), (FONTS.2, Anchor::Start), &typeset(&tick.label), &colors);
        }
    }
}

fn bar_ticks(grid: &Grid<'_>) -> Vec<Tick> {
    let (low, high) = grid.limits;
    if low == high { vec![Tick { at: low, label: format!("{low}") }] } else { ticks(grid.limits, false, 6) }
}

/// Returns the width of a color bar with its numbers.
fn bar_width(grid: &Grid<'_>) -> f64 {
    bar_ticks(grid).iter().map(|tick| width(&tick.label, FONTS.2)).fold(0.0, f64::max) + 40.0
}

/// Returns the width of the part beside the plotted area.
fn legend_width(scene: &Scene) -> f64 {
    let bar = scene.series.iter().find_map(Series::grid).map_or(0.0, |grid| bar_width(&grid));
    let names = scene.series.iter().filter(|series| !series.name.is_empty());
    let longest = names.map(|series| width(&short(&series.name), FONTS.2) + 34.0).fold(0.0, f64::max);
    22.0 + bar + longest
}

/// Returns the end of the shaft of an arrow, and the vertices of its head.
fn arrow(from: Place, to: Place) -> (Place, Vec<Place>) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 0.5 {
        return (to, vec![]);
    }
    let size = (0.45 * length).min(8.0);
    let (ux, uy) = (dx / length, dy / length);
    let base = (to.0 - size * ux, to.1 - size * uy);
    let half = 0.4 * size;
    (base, vec![to, (base.0 - half * uy, base.1 + half * ux), (base.0 + half * uy, base.1 - half * ux)])
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::*;

    fn scene(kind: Kind, points: Vec<(f64, f64)>) -> Scene {
        let series = vec![Series { name: "<f>".into(), kind, color: Color::Distinct(0), points }];
        Scene { title: "a & b".into(), series, ..Scene::default() }
    }

    fn sine() -> Vec<(f64, f64)> {
        (0..=100).map(|k| f64::from(k) / 10.0).map(|x| (x, x.sin())).collect()
    }

    #[test]
    fn a_picture_is_a_document_and_always_the_same() {
        let scene = scene(Kind::Curve, sine());
        let svg = scene.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("&lt;f&gt;") && svg.contains("a &amp; b") && !svg.contains("NaN"), "{svg}");
        assert_eq!(scene.svg(), svg);
    }

    #[test]
    fn curves_have_decimals_and_colors_for_dark_backgrounds() {
        let svg = scene(Kind::Curve, sine()).svg();
        let curve = svg.lines().find(|line| line.contains("stroke-width=\"2.5\"")).unwrap();
        assert!(curve.matches('.').count() > 50, "{curve}");
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains(".ds-s-0{stroke:#56b4f0}"), "{svg}");
    }

    #[test]
    fn every_kind_is_drawn() {
        for (kind, part) in [
            (Kind::Points, "<circle"),
            (Kind::Bars, "fill-opacity=\"0.3\""),
            (Kind::Band, "fill-opacity=\"0.22\""),
            (Kind::Arrows, "Z\" class=\"ds-f-0\""),
            (Kind::Segments, "stroke-width=\"2.5\""),
        ] {
            let svg = scene(kind, vec![(0.0, 1.0), (1.0, 2.0), (2.0, 1.0), (3.0, 2.0)]).svg();
            assert!(svg.contains(part), "{kind:?}: {svg}");
        }
        let values = [(2.0, 1.0), (0.0, 0.0), (2.0, 1.0), (5.0, 0.0), (7.0, 0.0)];
        let svg = scene(Kind::Cells, values.to_vec()).svg();
        assert!(svg.contains("#440154") && svg.contains("#fde725") && svg.contains(">7.0<"), "{svg}");
    }

    #[test]
    fn a_circle_is_round_with_equal_units() {
        let mut scene = scene(Kind::Line, vec![(0.0, 0.0), (10.0, 1.0)]);
        scene.is_equal = true;
        scene.x = Axis { range: Some((0.0, 10.0)), ..Axis::default() };
        scene.y = Axis { range: Some((0.0, 2.0)), ..Axis::default() };
        let plane = Drawing::new(&scene, scene.limits(0.0).unwrap()).plane;
        let unit = (plane.x.at(1.0) - plane.x.at(0.0), plane.y.at(0.0) - plane.y.at(1.0));
        assert!((unit.0 - unit.1).abs() < 1e-9, "{unit:?}");
    }

    #[test]
    fn an_empty_scene_is_a_document() {
        assert!(Scene::default().svg().ends_with("</svg>\n"));
    }
}
