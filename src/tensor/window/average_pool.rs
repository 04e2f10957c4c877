//! The means of windows over one to three spatial axes, and their adjoints. Whole lines of the image are added first, and then the
//! columns of each window.

use super::super::elementwise::Real;
use super::super::error::Result;
use super::super::memory::scratch::with_scratch;
use super::super::memory::spare::unspecified;
use super::super::parallel::for_each_chunk;
use super::super::scalar::with_kind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::{Geometry, Window};
use smallvec::SmallVec;
use std::ops::Range;

/// The work for a scalar of a window, in simple operations: pixels have few channels.
const WORK_OF_SCALAR: usize = 3;

/// The number of channels that are added together.
const LANES: usize = 8;

/// For each pixel of a line, the pixels of another line that are added for it: every `step`-th pixel of a range.
struct PixelSums {
    ranges: SmallVec<[Range<usize>; 32]>,
    step: usize,
}

impl PixelSums {
    /// For each window of a row, the columns of the image that it covers.
    fn of_windows(geometry: &Geometry) -> PixelSums {
        PixelSums { ranges: geometry.columns(), step: geometry.dilations[2] }
    }

    /// For each column of the image, the windows that cover it.
    fn of_columns(geometry: &Geometry) -> PixelSums {
        let (stride, dilation) = (geometry.strides[2], geometry.dilations[2]);
        let reach = (geometry.kernel[2] - 1).saturating_mul(dilation);
        let step = dilation / greatest_common_divisor(stride, dilation);
        let windows = |column: usize| {
            let place = column + geometry.before[2];
            let first = place.saturating_sub(reach).div_ceil(stride);
            let end = (place / stride + 1).min(geometry.output[2]);
            let start =
                (first..end.min(first + step)).find(|window| (place - window * stride).is_multiple_of(dilation));
            start.map_or(0..0, |start| start..end)
        };
        PixelSums { ranges: (0..geometry.input[2]).map(windows).collect(), step }
    }

    /// Returns the number of pixels that are added, once for each channel.
    fn counts<T: Real>(&self, channels: usize) -> Vec<T> {
        let counts = self.ranges.iter().map(|range| <T as Real>::nearest(range.len().div_ceil(self.step) as f64));
        counts.flat_map(|count| std::iter::repeat_n(count, channels)).collect()
    }

    /// Writes the sums for all pixels. Both lines have [`LANES`] more scalars: the lanes that a pixel does not have are added as well, and
    /// replaced by those of the next pixel.
    fn add<T: Real>(&self, channels: usize, line: &[T], target: &mut [T]) {
        for (pixel, range) in self.ranges.iter().enumerate() {
            for channel in (0..channels).step_by(LANES) {
                let mut sums = [T::default(); LANES];
                let mut source = range.start;
                while source < range.end
                    && let Some(lanes) = line[source * channels + channel..].first_chunk::<LANES>()
                {
                    sums.iter_mut().zip(lanes).for_each(|(sum, &x)| *sum += x);
                    source += self.step;
                }
                if let Some(target) = target[pixel * channels + channel..].first_chunk_mut() {
                    *target = sums;
                }
            }
        }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Writes the sums of lines of an image, which start at pixels.
fn add_lines<T: Real>(image: &[T], channels: usize, pixels: &[usize], sums: &mut [T]) {
    let length = sums.len();
    let line = |pixel: usize| &image[pixel * channels..][..length];
    let rest = match *pixels {
        [] => return sums.fill(T::default()),
        [only] => return sums.copy_from_slice(line(only)),
        [first, second, ref rest @ ..] => {
            let (first, second) = (line(first), line(second));
            sums.iter_mut().zip(first).zip(second).for_each(|((sum, &x), &y)| *sum = x + y);
            rest
        }
    };
    for &pixel in rest {
        sums.iter_mut().zip(&image[pixel * channels..]).for_each(|(sum, &x)| *sum += x);
    }
}

/// What the computation for each example needs.
struct Pool<'a, T> {
    geometry: &'a Geometry,
    /// For each window of a row, the columns that it covers.
    windows: PixelSums,
    /// The number of columns of a window, for each scalar of a row of the result.
    counts: Vec<T>,
    /// The number of scalars of a line of the image.
    line: usize,
}

impl<'a, T: Real> Pool<'a, T> {
    fn new(geometry: &'a Geometry) -> Pool<'a, T> {
        let windows = PixelSums::of_windows(geometry);
        let counts = windows.counts(geometry.channels);
        Pool { geometry, windows, counts, line: geometry.input[2] * geometry.channels }
    }

    /// Returns the number of scalars of the result for one example.
    fn result_size(&self) -> usize {
        self.geometry.windows() * self.geometry.channels
    }

    /// Returns the work for one example, in simple operations.
    fn work(&self) -> usize {
        self.result_size() * self.geometry.kernel_size() * WORK_OF_SCALAR
    }

    /// Calls a function with memory for a line of the image and for a row of the result.
    fn with_lines(&self, function: impl FnOnce(&mut [T], &mut [T])) {
        with_scratch(self.line + self.counts.len() + 2 * LANES, |scratch| {
            let (line, row) = scratch.split_at_mut(self.line + LANES);
            function(line, row);
        });
    }

    /// Computes the means of an example.
    fn means(&self, example: &[T], means: &mut [T]) {
        let channels = self.geometry.channels;
        self.with_lines(|sums, row_sums| {
            for (row, means) in means.chunks_mut(self.counts.len().max(1)).enumerate() {
                let lines = self.geometry.lines(row);
                add_lines(example, channels, &lines, &mut sums[..self.line]);
                self.windows.add(channels, sums, row_sums);
                let height = <T as Real>::nearest(lines.len() as f64);
                for ((mean, &sum), &count) in means.iter_mut().zip(&*row_sums).zip(&self.counts) {
                    *mean = sum / (count * height);
                }
            }
        });
    }

    /// Computes the adjoint of an example from that of the means. `columns` are the windows that cover each column.
    fn adjoint(&self, columns: &PixelSums, adjoints: &[T], example: &mut [T]) {
        let channels = self.geometry.channels;
        let mut written = 0;
        self.with_lines(|sums, shares| {
            for (row, adjoints) in adjoints.chunks(self.counts.len().max(1)).enumerate() {
                let lines = self.geometry.lines(row);
                let height = <T as Real>::nearest(lines.len() as f64);
                for ((share, &adjoint), &count) in shares.iter_mut().zip(adjoints).zip(&self.counts) {
                    *share = adjoint / (count * height);
                }
                columns.add(channels, shares, sums);
                for start in lines.into_iter().map(|pixel| pixel * channels) {
                    let pixels = &mut example[start..start + self.line];
                    if start < written {
                        pixels.iter_mut().zip(&*sums).for_each(|(x, &sum)| *x += sum);
                    } else {
                        pixels.copy_from_slice(&sums[..self.line]);
                        example[written..start].fill(T::default());
                        written = start + self.line;
                    }
                }
            }
        });
        example[written..].fill(T::default());
    }
}

impl Tensor {
    /// Returns the means of the windows of a size; places outside of the image do not count.
    pub fn average_pool(&self, size: &[usize], window: &Window<'_>) -> Result<Tensor> {
        let operation = "avgPool";
        let geometry = Geometry::of_pooling(operation, &self.shape, size, window)?;
        let shape = geometry.output_shape(size.len(), geometry.channels);
        let count = shape.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let input = self.scalars::<T>()?;
            let pool = Pool::<T>::new(&geometry);
            let mut result = unspecified(count);
            for_each_chunk(&mut result, pool.result_size(), pool.work(), |number, means| {
                pool.means(&input[number * geometry.example_size()..], means);
            });
            Ok(Tensor::from_scalars(shape, result))
        })
    }

    /// The adjoint of [`Tensor::average_pool`] for an input of a shape.
    pub fn average_pool_adjoint(&self, input: &Shape, size: &[usize], window: &Window<'_>) -> Result<Tensor> {
        let operation = "avgPool";
        let geometry = Geometry::of_pooling(operation, input, size, window)?;
        self.require_shape(operation, &geometry.output_shape(size.len(), geometry.channels))?;
        let count = input.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let adjoint = self.scalars::<T>()?;
            let pool = Pool::<T>::new(&geometry);
            let columns = PixelSums::of_columns(&geometry);
            let mut result = unspecified(count);
            for_each_chunk(&mut result, geometry.example_size(), pool.work(), |number, example| {
                let size = pool.result_size();
                pool.adjoint(&columns, &adjoint[number * size..][..size], example);
            });
            Ok(Tensor::from_scalars(input.clone(), result))
        })
    }
}
