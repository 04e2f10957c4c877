//! The geometry of windows that slide over one to three spatial axes: of convolutions and pooling.

mod average_pool;
mod convolution;
mod depthwise;
mod narrow;
mod pooling;

pub use pooling::Resizing;

use super::error::{Result, TensorError};
use super::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// What happens at the edges of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// The result is as large as the image, divided by the stride.
    Same,
    /// The window stays inside of the image.
    Valid,
}

/// How a window moves. Lists have one number for each spatial axis; an empty list stands for ones.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The distances between neighboring windows.
    pub strides: &'a [usize],
    /// The distances between neighboring scalars of a window.
    pub dilations: &'a [usize],
    /// What happens at the edges.
    pub padding: Padding,
}

/// A window over three spatial axes; missing axes have size 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) examples: usize,
    pub(super) input: [usize; 3],
    pub(super) channels: usize,
    pub(super) kernel: [usize; 3],
    pub(super) strides: [usize; 3],
    pub(super) dilations: [usize; 3],
    pub(super) before: [usize; 3],
    pub(super) output: [usize; 3],
}

/// Fills three axes from the last one.
fn three(sizes: &[usize]) -> [usize; 3] {
    let mut all = [1; 3];
    all[3 - sizes.len()..].copy_from_slice(sizes);
    all
}

/// Returns how many places of the input a kernel covers along an axis.
fn reach(kernel: usize, dilation: usize) -> usize {
    (kernel - 1).saturating_mul(dilation).saturating_add(1)
}

/// The error of a window that reaches beyond the input along one of three spatial axes.
fn does_not_fit(operation: &'static str, shape: &Shape, axis: usize, reach: usize) -> TensorError {
    let axis = (axis + shape.rank()).checked_sub(4);
    let size = axis.map_or(1, |axis| shape[axis]);
    TensorError::shape(
        operation,
        axis,
        &[shape],
        format!("a window of {reach} does not fit into {size} scalars"),
        "needs a smaller window, or the padding .same",
    )
}

impl Geometry {
    /// Computes the geometry of the windows of pooling, of which at least one must fit into an input that is not empty.
    pub(super) fn of_pooling(
        operation: &'static str,
        shape: &Shape,
        size: &[usize],
        window: &Window<'_>,
    ) -> Result<Geometry> {
        let geometry = Geometry::new(operation, shape, size, window)?;
        let outside = (0..3).find(|&axis| geometry.output[axis] == 0 && matches!(window.padding, Padding::Valid));
        outside.map_or(Ok(geometry), |axis| {
            Err(does_not_fit(operation, shape, axis, reach(geometry.kernel[axis], geometry.dilations[axis])))
        })
    }
    /// Computes the geometry of a kernel over the spatial axes of a tensor of shape `[examples, …, channels]`.
    pub(super) fn new(
        operation: &'static str,
        shape: &Shape,
        kernel: &[usize],
        window: &Window<'_>,
    ) -> Result<Geometry> {
        let spatial = kernel.len();
        if !(1..=3).contains(&spatial) || shape.rank() != spatial + 2 {
            return Err(TensorError::shape(
                operation,
                None,
                &[shape, &Shape::from(kernel)],
                format!("cannot move a window of {spatial} axes over a tensor of shape {shape}"),
                "needs examples, one to three spatial axes, and channels",
            ));
        }
        let ones = [1; 3];
        let list = |sizes: &[usize]| {
            if sizes.is_empty() {
                Ok(ones)
            } else if sizes.len() == spatial {
                Ok(three(sizes))
            } else {
                Err(())
            }
        };
        let (Ok(strides), Ok(dilations)) = (list(window.strides), list(window.dilations)) else {
            return Err(TensorError::value(operation, format!("needs {spatial} strides and {spatial} dilations")));
        };
        if [strides, dilations, three(kernel)].iter().flatten().any(|&size| size == 0 || size > 1 << 32) {
            return Err(TensorError::value(operation, "strides, dilations and window sizes must be positive"));
        }
        let input = three(&shape[1..=spatial]);
        let kernel = three(kernel);
        let (mut before, mut output) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let reach = reach(kernel[axis], dilations[axis]);
            let (size, stride) = (input[axis], strides[axis]);
            match window.padding {
                // As in TensorFlow, the result of a convolution is empty if no step reaches the window at the end of the input.
                Padding::Valid => match (size + stride).checked_sub(reach) {
                    Some(steps) => output[axis] = steps / stride,
                    None => return Err(does_not_fit(operation, shape, axis, reach)),
                },
                Padding::Same => {
                    output[axis] = size.div_ceil(stride);
                    let total = (output[axis].saturating_sub(1) * stride).saturating_add(reach).saturating_sub(size);
                    before[axis] = total / 2;
                }
            }
        }
        let channels = shape[spatial + 1];
        Ok(Geometry { examples: shape[0], input, channels, kernel, strides, dilations, before, output })
    }

    /// Returns the shape of a result with the given number of channels.
    pub(super) fn output_shape(&self, spatial: usize, channels: usize) -> Shape {
        std::iter::once(self.examples).chain(self.output[3 - spatial..].iter().copied()).chain([channels]).collect()
    }

    /// Returns the number of windows of one example.
    pub(super) fn windows(&self) -> usize {
        self.output.iter().product()
    }

    /// Returns the number of positions of the kernel.
    pub(super) fn kernel_size(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Returns the number of scalars of one example of the input.
    pub(super) fn example_size(&self) -> usize {
        self.input.iter().product::<usize>() * self.channels
    }

    /// Returns the index in the input along an axis, unless it is outside.
    #[inline]
    pub(super) fn input_index(&self, axis: usize, output: usize, kernel: usize) -> Option<usize> {
        let padded = output * self.strides[axis] + kernel * self.dilations[axis];
        padded.checked_sub(self.before[axis]).filter(|&index| index < self.input[axis])
    }

    /// Returns the places of the kernel that are inside of the input along an axis, for a place of the result.
    #[inline]
    pub(super) fn inside(&self, axis: usize, output: usize) -> Range<usize> {
        let (start, dilation) = (output * self.strides[axis], self.dilations[axis]);
        let first = self.before[axis].saturating_sub(start).div_ceil(dilation);
        let end = (self.before[axis] + self.input[axis]).saturating_sub(start).div_ceil(dilation);
        first..end.min(self.kernel[axis]).max(first)
    }

    /// Returns the indices of the input that a window covers along an axis, given its index: the first one, and one after the last one.
    fn covered(&self, axis: usize, output: usize) -> Range<usize> {
        let inside = self.inside(axis, output);
        let index = |place: usize| output * self.strides[axis] + place * self.dilations[axis] - self.before[axis];
        if inside.is_empty() { 0..0 } else { index(inside.start)..index(inside.end - 1) + 1 }
    }

    /// Returns the columns of the image that each window of a row covers: the first one, and one after the last one.
    pub(super) fn columns(&self) -> SmallVec<[Range<usize>; 32]> {
        (0..self.output[2]).map(|x| self.covered(2, x)).collect()
    }

    /// Returns the pixels at which the lines of the image start that the windows of a row cover.
    pub(super) fn lines(&self, row: usize) -> SmallVec<[usize; 8]> {
        let (z, y) = (row / self.output[1], row % self.output[1]);
        let (mut depths, rows) = (self.covered(0, z), self.covered(1, y));
        let mut lines = SmallVec::new();
        while !depths.is_empty() {
            let mut row = rows.start;
            while row < rows.end {
                lines.push((depths.start * self.input[1] + row) * self.input[2]);
                row += self.dilations[1];
            }
            depths.start += self.dilations[0];
        }
        lines
    }

    /// Returns the indices of a window along the three axes.
    #[inline]
    pub(super) fn window_at(&self, number: usize) -> [usize; 3] {
        let [_, height, width] = self.output;
        [number / (height * width), number / width % height, number % width]
    }

    /// Calls a function for each position of a window that is inside of the image: the number of the position in the kernel, and that of
    /// the pixel in the example.
    #[inline]
    pub(super) fn positions(&self, window: usize, mut visit: impl FnMut(usize, usize)) {
        let [z, y, x] = self.window_at(window);
        let [_, kernel_height, kernel_width] = self.kernel;
        for a in 0..self.kernel[0] {
            let Some(depth) = self.input_index(0, z, a) else { continue };
            for b in 0..kernel_height {
                let Some(row) = self.input_index(1, y, b) else { continue };
                for c in 0..kernel_width {
                    if let Some(column) = self.input_index(2, x, c) {
                        let pixel = (depth * self.input[1] + row) * self.input[2] + column;
                        visit((a * kernel_height + b) * kernel_width + c, pixel);
                    }
                }
            }
        }
    }
}
