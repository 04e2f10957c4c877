//! Text chart: a chart in braille dots with labels around it.

use super::ticks::label;
use super::{Chart, Mark, Series};
use std::ops::RangeInclusive;
use textplots::{AxisBuilder, LabelBuilder, LabelFormat, LineStyle, Plot, Shape};

/// The number of columns of the drawing in characters, and the number of rows.
const COLUMNS: usize = 62;
const ROWS: usize = 14;

impl Chart {
    /// Returns the drawing of the chart, line by line.
    pub fn text(&self) -> Vec<String> {
        let Some(y) = self.y() else { return vec!["there are no finite values to show".to_owned()] };
        let dots = self.dots(&y);
        let places = [0, ROWS / 3, 2 * ROWS / 3, ROWS - 1];
        let height = y.end() - y.start();
        let decimals = (2.0 - height.log10().floor()).clamp(0.0, 12.0) as usize;
        let labels: Vec<(usize, String)> = places
            .into_iter()
            .map(|row| (row, label(y.end() - height * row as f64 / (ROWS - 1) as f64, decimals)))
            .collect();
        let margin = labels.iter().map(|(_, text)| text.len()).max().unwrap_or(0) + 2;
        let mut lines: Vec<String> = vec![];
        lines.extend((!self.title.is_empty()).then(|| format!("{:>margin$}   {}", "", self.title)));
        for (row, picture) in dots.iter().enumerate() {
            let left = match labels.iter().find(|(at, _)| *at == row) {
                Some((_, text)) => format!("{text:>margin$} ┤"),
                None => format!("{:>margin$} │", ""),
            };
            let named = self.series.get(row.wrapping_sub(1)).filter(|series| !series.name.is_empty());
            let legend = named.map(|s| format!("   {} {}", sign(row - 1, s.mark), s.name));
            lines.push(format!("{left}{picture}{}", legend.unwrap_or_default()).trim_end().to_owned());
        }
        lines.extend(self.axis(margin));
        lines
    }

    /// Draws the dots of all curves: the first curve is solid, the others are dotted.
    fn dots(&self, y: &RangeInclusive<f64>) -> Vec<String> {
        let pieces: Vec<Vec<(f32, f32)>> =
            self.series.iter().enumerate().flat_map(|(i, s)| self.scaled(i, s, y)).collect();
        let shapes: Vec<Shape> = pieces.iter().map(|piece| Shape::Lines(piece)).collect();
        let (width, height) = (2 * COLUMNS as u32, 4 * ROWS as u32);
        let mut chart = textplots::Chart::new_with_y_range(width, height, 0.0, 1.0, 0.0, 1.0);
        let mut drawn = chart
            .x_axis_style(LineStyle::None)
            .y_axis_style(LineStyle::None)
            .x_label_format(LabelFormat::None)
            .y_label_format(LabelFormat::None);
        for shape in &shapes {
            drawn = drawn.lineplot(shape);
        }
        drawn.figures();
        let text = drawn.to_string();
        let mut lines: Vec<String> = text
            .lines()
            .take(ROWS)
            .map(|line| line.chars().take(COLUMNS).map(|c| if c == '\u{2800}' { ' ' } else { c }).collect())
            .map(|line: String| format!("{line:<COLUMNS$}"))
            .collect();
        lines.resize(ROWS, " ".repeat(COLUMNS));
        lines
    }

    /// Returns the polylines of a curve in the unit square; a dotted curve consists of short pieces with gaps.
    fn scaled(&self, number: usize, series: &Series, y: &RangeInclusive<f64>) -> Vec<Vec<(f32, f32)>> {
        let part = |v: f64, range: &RangeInclusive<f64>| ((v - range.start()) / (range.end() - range.start())) as f32;
        let gap = 2 * number;
        let mut out = vec![];
        for piece in Chart::pieces(series, y) {
            let points: Vec<(f32, f32)> = piece.iter().map(|(px, py)| (part(*px, &self.x), part(*py, y))).collect();
            if series.mark == Mark::Points {
                out.extend(points.iter().map(dot));
                continue;
            }
            if gap == 0 || points.len() < 2 || series.mark != Mark::Line {
                out.push(points);
                continue;
            }
            out.extend(points.chunks(gap + 3).map(|chunk| chunk[..chunk.len().min(2)].to_vec()));
        }
        out
    }

    fn axis(&self, margin: usize) -> [String; 2] {
        let (from, to) = (*self.x.start(), *self.x.end());
        let decimals = (2.0 - (to - from).log10().floor()).clamp(0.0, 12.0) as usize;
        let mut line: Vec<char> = vec!['─'; COLUMNS];
        let mut labels: Vec<char> = vec![' '; COLUMNS + margin + 8];
        for k in 0..=4 {
            let at = k * (COLUMNS - 1) / 4;
            line[at] = if k == 0 { '─' } else { '┬' };
            let text = label(from + (to - from) * k as f64 / 4.0, decimals);
            let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            let start = (margin + 2 + at).saturating_sub(text.chars().count() / 2);
            for (place, c) in labels.iter_mut().skip(start).zip(text.chars()) {
                *place = c;
            }
        }
        let line: String = line.into_iter().collect();
        let labels: String = labels.into_iter().collect();
        [format!("{:>margin$} └{line}", ""), labels.trim_end().to_owned()]
    }
}

/// Returns a visible point: two dots in each direction.
fn dot((x, y): &(f32, f32)) -> Vec<(f32, f32)> {
    let (dx, dy) = (0.5 / COLUMNS as f32, 0.25 / ROWS as f32);
    vec![(*x, *y), (x + dx, *y), (x + dx, y + dy), (*x, y + dy)]
}

/// Returns the symbol of a curve in the legend.
fn sign(number: usize, mark: Mark) -> &'static str {
    match (mark, number) {
        (Mark::Points, _) => "• ",
        (Mark::Bars, _) => "▯▯",
        (Mark::Arrows, _) => "─▸",
        (Mark::Line, 0) => "──",
        (Mark::Line, 1) => "╌╌",
        (Mark::Line, _) => "··",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_drawn_as_a_diagonal() {
        let points = (0..=200).map(|k| f64::from(k) / 200.0).map(|x| (x, x)).collect();
        let lines = Chart {
            title: String::new(),
            x: 0.0..=1.0,
            series: vec![Series { name: "f".into(), mark: Mark::Line, points }],
        }
        .text();
        assert_eq!(lines.len(), ROWS + 2);
        let is_drawn = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
        assert!(lines[0].starts_with("  1.00 ┤") && lines[0].ends_with(is_drawn), "{lines:#?}");
        assert!(
            lines[ROWS - 1].starts_with("  0.00 ┤") && lines[ROWS - 1].chars().nth(8).is_some_and(is_drawn),
            "{lines:#?}"
        );
        assert!(lines[1].ends_with("   ── f"), "{lines:#?}");
        assert!(lines[ROWS].contains('└') && lines[ROWS + 1].trim_start().starts_with('0'), "{lines:#?}");
    }

    #[test]
    fn a_chart_without_finite_values_is_reported() {
        let chart = Chart {
            title: String::new(),
            x: 0.0..=1.0,
            series: vec![Series { name: "f".into(), mark: Mark::Line, points: vec![(0.0, f64::NAN)] }],
        };
        assert_eq!(chart.text(), ["there are no finite values to show"]);
    }
}
