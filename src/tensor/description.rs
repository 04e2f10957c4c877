//! The printed form of tensors: nested brackets, in the style of Swift for TensorFlow.

use super::error::Result;
use super::scalar::{Scalar, ScalarKind, with_kind};
use super::shape::Shape;
use super::strided::Tensor;

/// The usual number of characters of a line.
const LINE_WIDTH: usize = 80;

/// How a tensor is printed.
#[derive(Clone, Copy, Debug)]
pub struct DescriptionStyle {
    /// The number of elements before and after "..." along an axis; `None` prints all.
    pub edge: Option<usize>,
    /// Whether everything is on one line.
    pub is_inline: bool,
    /// The number of characters of a line.
    pub line_width: usize,
}

impl DescriptionStyle {
    /// Returns the usual style for a tensor with a number of scalars: more than 1000 are abbreviated.
    pub fn usual(scalar_count: usize) -> DescriptionStyle {
        DescriptionStyle { edge: (scalar_count > 1000).then_some(3), is_inline: false, line_width: LINE_WIDTH }
    }
}

/// Returns the indices that are printed along an axis; `None` stands for the omitted ones.
fn shown(size: usize, edge: Option<usize>) -> Vec<Option<usize>> {
    match edge {
        Some(edge) if size > 2 * edge => {
            (0..edge).map(Some).chain([None]).chain((size - edge..size).map(Some)).collect()
        }
        _ => (0..size).map(Some).collect(),
    }
}

/// A tensor that is being printed.
struct Printer<'a> {
    shape: &'a Shape,
    style: DescriptionStyle,
    /// The number of scalars on a line.
    per_line: usize,
    text: String,
}

impl Printer<'_> {
    /// Prints the part of the tensor from the scalar number `start` on, of which `level` axes are fixed.
    fn print(&mut self, level: usize, start: usize, scalar: &dyn Fn(usize) -> String) {
        let Some(&size) = self.shape.get(level) else {
            self.text.push_str(&scalar(start));
            return;
        };
        let is_vector = level + 1 == self.shape.rank();
        let step: usize = self.shape[level + 1..].iter().product();
        let new_line = format!(",\n{}", " ".repeat(level + 1));
        self.text.push('[');
        for (number, index) in shown(size, self.style.edge).into_iter().enumerate() {
            let breaks = !self.style.is_inline && (!is_vector || number % self.per_line == 0);
            match number {
                0 => {}
                _ if breaks => self.text.push_str(&new_line),
                _ => self.text.push_str(", "),
            }
            match index {
                None => self.text.push_str("..."),
                Some(index) => self.print(level + 1, start + index * step, scalar),
            }
        }
        self.text.push(']');
    }
}

/// Returns the numbers of the scalars that are printed.
fn shown_scalars(shape: &[usize], edge: Option<usize>) -> Vec<usize> {
    let mut numbers = vec![0];
    for (axis, &size) in shape.iter().enumerate() {
        let step: usize = shape[axis + 1..].iter().product();
        let indices: Vec<usize> = shown(size, edge).into_iter().flatten().collect();
        numbers = numbers.iter().flat_map(|start| indices.iter().map(move |index| start + index * step)).collect();
    }
    numbers
}

impl Tensor {
    /// Returns the printed form. `number` writes a real number (a Float, if its second argument is true).
    pub fn description(&self, style: DescriptionStyle, number: &dyn Fn(f64, bool) -> String) -> Result<String> {
        with_kind!(self.kind(), T => {
            let scalars = self.scalars::<T>()?;
            let text = |at: usize| match T::KIND {
                ScalarKind::F32 | ScalarKind::F64 => number(scalars[at].to_f64(), T::KIND == ScalarKind::F32),
                ScalarKind::Bool => (scalars[at] != T::default()).to_string(),
                _ => scalars[at].to_i128().to_string(),
            };
            let numbers = shown_scalars(&self.shape, style.edge);
            let width = numbers.iter().map(|&at| text(at).chars().count()).max().unwrap_or(3).max(1);
            let pads = self.rank() > 0 && !style.is_inline;
            let padded = |at: usize| if pads { format!("{:>width$}", text(at)) } else { text(at) };
            let per_line = (style.line_width / width).max(1);
            let mut printer = Printer { shape: &self.shape, style, per_line, text: String::new() };
            printer.print(0, 0, &padded);
            Ok(printer.text)
        })
    }
}
