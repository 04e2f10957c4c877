//! Braille canvas: dots, lines and characters on a grid of text.

use super::Color;
use super::scale::Place;
use anstyle::{Ansi256Color, Style};

/// The bits of the eight dots of a braille character, by row and column.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A grid of characters, each of which has two by four dots.
pub(super) struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    /// A character that is shown instead of dots.
    glyph: Option<char>,
    color: Option<u8>,
}

/// The lengths of the drawn and of the empty parts of a line, in dots; empty for a solid line.
pub(super) type Dashes = &'static [f64];

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, cells: vec![Cell::default(); columns * rows] }
    }

    fn cell(&mut self, x: f64, y: f64) -> Option<&mut Cell> {
        let (column, row) = (x.floor(), y.floor());
        let is_inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64;
        if is_inside { self.cells.get_mut(row as usize * self.columns + column as usize) } else { None }
    }

    /// Draws a dot.
    pub(super) fn dot(&mut self, (x, y): Place, color: Color) {
        let (x, y) = (x.round(), y.round());
        if let Some(cell) = self.cell(x / 2.0, y / 4.0) {
            cell.dots |= DOTS[y as usize % 4][x as usize % 2];
            cell.color = Some(color.ansi());
        }
    }

    /// Draws a line through positions.
    pub(super) fn line(&mut self, line: &[Place], dashes: Dashes, color: Color) {
        let period: f64 = dashes.iter().sum();
        let mut passed = 0.0;
        for pair in line.windows(2) {
            let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            let length = dx.hypot(dy);
            let steps = (dx.abs().max(dy.abs()) * 2.0).ceil().max(1.0);
            for k in 0..=steps as usize {
                let part = k as f64 / steps;
                let is_drawn = period == 0.0 || is_dash(dashes, (passed + part * length) % period);
                if is_drawn {
                    self.dot((pair[0].0 + part * dx, pair[0].1 + part * dy), color);
                }
            }
            passed += length;
        }
    }

    /// Draws every fourth dot of an area.
    pub(super) fn area(&mut self, vertices: &[Place], color: Color) {
        let edges = || vertices.iter().zip(vertices.iter().cycle().skip(1));
        let (columns, rows) = (2 * self.columns, 4 * self.cells.len() / self.columns.max(1));
        for x in (0..columns).step_by(2) {
            let at = x as f64 + 0.01;
            let mut crossings: Vec<f64> = edges()
                .filter(|(a, b)| (a.0 > at) != (b.0 > at))
                .map(|(a, b)| a.1 + (at - a.0) / (b.0 - a.0) * (b.1 - a.1))
                .collect();
            crossings.sort_by(f64::total_cmp);
            for y in (x / 2 % 2..rows).step_by(2) {
                let below = crossings.iter().filter(|crossing| **crossing < y as f64).count();
                if below % 2 == 1 {
                    self.dot((x as f64, y as f64), color);
                }
            }
        }
    }

    /// Draws a character at the position of a dot.
    pub(super) fn glyph(&mut self, (x, y): Place, glyph: char, color: Option<Color>) {
        if let Some(cell) = self.cell(x.round() / 2.0, y.round() / 4.0) {
            *cell = Cell { dots: 0, glyph: Some(glyph), color: color.map(Color::ansi) };
        }
    }

    /// Returns the rows as text.
    pub(super) fn rows(&self, is_colored: bool) -> Vec<String> {
        self.cells.chunks(self.columns.max(1)).map(|row| text_of(row, is_colored)).collect()
    }
}

/// Whether the dot at a distance from the start of a dashed line is drawn.
fn is_dash(dashes: Dashes, at: f64) -> bool {
    let mut end = 0.0;
    let part = dashes.iter().position(|length| {
        end += length;
        at < end
    });
    part.is_none_or(|part| part % 2 == 0)
}

fn text_of(row: &[Cell], is_colored: bool) -> String {
    let mut text = String::new();
    let mut current = None;
    for cell in row {
        // A character with dots replaces the character under it.
        let shown = match (cell.dots, cell.glyph) {
            (0, glyph) => glyph.unwrap_or(' '),
            (dots, _) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        let color = cell.color.filter(|_| is_colored && shown != ' ');
        if color != current {
            text += &painted(current, color);
            current = color;
        }
        text.push(shown);
    }
    text + &painted(current, None)
}

/// Returns the control sequences for a change of color.
fn painted(from: Option<u8>, to: Option<u8>) -> String {
    let style = |color: u8| Style::new().fg_color(Some(Ansi256Color(color).into()));
    match (from, to) {
        (_, Some(color)) => style(color).render().to_string(),
        (Some(color), None) => style(color).render_reset().to_string(),
        (None, None) => String::new(),
    }
}

/// Returns a text in a color.
pub(super) fn colored(text: &str, color: Color) -> String {
    let color = Some(color.ansi());
    format!("{}{text}{}", painted(None, color), painted(color, None))
}
