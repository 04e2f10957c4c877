//! Convolutions as products of matrices of patches, which are made block by block and never stored as a whole, and their adjoints.

use super::super::elementwise::Real;
use super::super::error::{Result, TensorError};
use super::super::fold::{Fold, Foldable};
use super::super::matmul::{Matrix, MatrixScalar};
use super::super::memory::scratch::with_scratch;
use super::super::memory::spare::{self, unspecified};
use super::super::parallel::for_each_chunk;
use super::super::scalar::with_kind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::narrow;
use super::{Geometry, Window};
use multiversion::multiversion;

/// The number of scalars of a block of patches, which fits into the second-level cache.
const PATCH_SCALARS: usize = 1 << 15;

/// The number of blocks that share memory for their patches.
const BLOCKS_OF_CHUNK: usize = 8;

/// The number of partial sums of the adjoint of a filter.
const PARTIAL_SUMS: usize = 8;

/// Copies the patches of consecutive windows, of all examples, to the rows of a matrix.
fn copy_patches<T: Real>(geometry: &Geometry, input: &[T], first: usize, patches: &mut [T]) {
    let (windows, channels) = (geometry.windows(), geometry.channels);
    let [kernel_depth, kernel_height, kernel_width] = geometry.kernel;
    let run = kernel_width * channels;
    let size = geometry.kernel_size() * channels;
    for (number, patch) in patches.chunks_exact_mut(size).enumerate() {
        let number = first + number;
        let example = &input[number / windows * geometry.example_size()..];
        let [z, y, x] = geometry.window_at(number % windows);
        let mut target = patch.chunks_exact_mut(run);
        for a in 0..kernel_depth {
            let depth = geometry.input_index(0, z, a);
            for b in 0..kernel_height {
                let Some(target) = target.next() else { return };
                let (Some(depth), Some(row)) = (depth, geometry.input_index(1, y, b)) else {
                    target.fill(T::default());
                    continue;
                };
                let line = &example[(depth * geometry.input[1] + row) * geometry.input[2] * channels..];
                copy_run(geometry, line, x, target);
            }
        }
    }
}

/// Copies the scalars of one line of the image that a window covers.
fn copy_run<T: Real>(geometry: &Geometry, line: &[T], x: usize, target: &mut [T]) {
    let channels = geometry.channels;
    let (width, left) = (geometry.input[2], x * geometry.strides[2]);
    let start = left.wrapping_sub(geometry.before[2]);
    if geometry.dilations[2] == 1 && left >= geometry.before[2] && start + geometry.kernel[2] <= width {
        let source = &line[start * channels..start * channels + target.len()];
        if source.len() <= 8 {
            target.iter_mut().zip(source).for_each(|(target, &scalar)| *target = scalar);
        } else {
            target.copy_from_slice(source);
        }
        return;
    }
    for (c, target) in target.chunks_exact_mut(channels).enumerate() {
        match geometry.input_index(2, x, c) {
            Some(column) => target.copy_from_slice(&line[column * channels..(column + 1) * channels]),
            None => target.fill(T::default()),
        }
    }
}

/// The adjoint of [`copy_patches`] for windows of one example: adds the rows of a matrix to the example.
#[multiversion(targets("x86_64+avx2+fma"))]
fn add_patches<T: Real>(geometry: &Geometry, patches: &[T], first: usize, example: &mut [T]) {
    let channels = geometry.channels;
    let size = geometry.kernel_size() * channels;
    let run = geometry.kernel[2] * channels;
    let [_, kernel_height, _] = geometry.kernel;
    for (number, patch) in patches.chunks_exact(size).enumerate() {
        let [z, y, x] = geometry.window_at(first + number);
        for (line, source) in patch.chunks_exact(run).enumerate() {
            let depth = geometry.input_index(0, z, line / kernel_height);
            let (Some(depth), Some(row)) = (depth, geometry.input_index(1, y, line % kernel_height)) else { continue };
            let start = (depth * geometry.input[1] + row) * geometry.input[2] * channels;
            let left = x * geometry.strides[2];
            let at = left.wrapping_sub(geometry.before[2]);
            if geometry.dilations[2] == 1 && left >= geometry.before[2] && at + geometry.kernel[2] <= geometry.input[2]
            {
                let target = &mut example[start + at * channels..][..run];
                target.iter_mut().zip(source).for_each(|(target, &scalar)| *target += scalar);
                continue;
            }
            for (c, source) in source.chunks_exact(channels).enumerate() {
                if let Some(column) = geometry.input_index(2, x, c) {
                    let target = &mut example[start + column * channels..][..channels];
                    target.iter_mut().zip(source).for_each(|(target, &scalar)| *target += scalar);
                }
            }
        }
    }
}

/// Returns the number of patches of a block.
fn rows_of_block(size: usize) -> usize {
    (PATCH_SCALARS / size.max(1)).clamp(32, 2048)
}

fn forward<T: Real + MatrixScalar>(geometry: &Geometry, input: &[T], filter: &[T], outputs: usize) -> Vec<T> {
    let size = geometry.kernel_size() * geometry.channels;
    let rows = geometry.examples * geometry.windows();
    let mut result = unspecified(rows * outputs);
    let block = rows_of_block(size);
    let chunk = block * BLOCKS_OF_CHUNK;
    let filter = Matrix::rows(filter, size, outputs);
    for_each_chunk(&mut result, chunk * outputs, chunk * outputs * size, |number, part| {
        with_scratch(block.min(part.len() / outputs) * size, |patches| {
            for (at, part) in part.chunks_mut(block * outputs).enumerate() {
                let rows = part.len() / outputs;
                copy_patches(geometry, input, number * chunk + at * block, &mut patches[..rows * size]);
                T::product(&Matrix::rows(patches, rows, size), &filter, part, false);
            }
        });
    });
    result
}

fn input_adjoint<T: Real + MatrixScalar>(geometry: &Geometry, adjoint: &[T], filter: &[T], outputs: usize) -> Vec<T> {
    let size = geometry.kernel_size() * geometry.channels;
    let windows = geometry.windows();
    let mut result = unspecified(geometry.examples * geometry.example_size());
    let filter = Matrix::rows(filter, size, outputs).transposed();
    let block = rows_of_block(size);
    for_each_chunk(&mut result, geometry.example_size(), windows * size * outputs, |number, example| {
        example.fill(T::default());
        with_scratch(block.min(windows) * size, |patches| {
            for first in (0..windows).step_by(block) {
                let rows = block.min(windows - first);
                let adjoints = &adjoint[(number * windows + first) * outputs..][..rows * outputs];
                T::product(&Matrix::rows(adjoints, rows, outputs), &filter, &mut patches[..rows * size], false);
                add_patches(geometry, &patches[..rows * size], first, example);
            }
        });
    });
    result
}

fn filter_adjoint<T: Real + MatrixScalar + Foldable>(
    geometry: &Geometry,
    input: &[T],
    adjoint: &[T],
    outputs: usize,
) -> Vec<T> {
    let size = geometry.kernel_size() * geometry.channels;
    let rows = geometry.examples * geometry.windows();
    let block = rows_of_block(size);
    let share = rows.div_ceil(PARTIAL_SUMS).div_ceil(block) * block;
    let mut sums = unspecified(rows.div_ceil(share.max(1)) * size * outputs);
    for_each_chunk(&mut sums, size * outputs, share * size * outputs, |number, sum| {
        let end = ((number + 1) * share).min(rows);
        sum.fill(T::default());
        with_scratch(block.min(rows) * size, |patches| {
            for first in (number * share..end).step_by(block) {
                let rows = block.min(end - first);
                copy_patches(geometry, input, first, &mut patches[..rows * size]);
                let adjoints = Matrix::rows(&adjoint[first * outputs..][..rows * outputs], rows, outputs);
                T::product(&Matrix::rows(patches, rows, size).transposed(), &adjoints, sum, true);
            }
        });
    });
    let mut parts = sums.chunks_exact(size * outputs);
    let mut result = parts.next().map_or_else(|| vec![T::default(); size * outputs], <[T]>::to_vec);
    parts.for_each(|part| T::accumulate(Fold::Sum, &mut result, part));
    spare::keep(T::buffer(sums));
    result
}

impl Tensor {
    /// Returns the geometry of a convolution and the number of its output channels.
    fn convolution_geometry(
        operation: &'static str,
        input: &Shape,
        filter: &Shape,
        window: &Window<'_>,
    ) -> Result<(Geometry, usize)> {
        let channels = filter.rank().checked_sub(2).map(|at| filter[at]);
        if filter.rank() != input.rank() || channels.is_none() || channels != input.last().copied() {
            return Err(TensorError::shape(
                operation,
                input.rank().checked_sub(1),
                &[input, filter],
                format!("cannot convolve a tensor of shape {input} with a filter of shape {filter}"),
                "needs a filter with the spatial axes, the channels of the input, and the channels of the result",
            ));
        }
        let spatial = filter.rank() - 2;
        Ok((Geometry::new(operation, input, &filter[..spatial], window)?, filter[spatial + 1]))
    }

    /// Returns the convolution with a filter. The tensor has the shape `[examples, spatial axes…, channels]` with one to three spatial
    /// axes, the filter `[spatial axes…, channels, output channels]`.
    pub fn convolution(&self, filter: &Tensor, window: &Window<'_>) -> Result<Tensor> {
        let operation = "convolution";
        let (geometry, outputs) = Self::convolution_geometry(operation, &self.shape, &filter.shape, window)?;
        let shape = geometry.output_shape(self.rank() - 2, outputs);
        shape.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let (input, filter) = (self.scalars::<T>()?, filter.scalars::<T>()?);
            if shape.scalar_count() == 0 || filter.is_empty() {
                return Ok(Tensor::from_scalars(shape.clone(), vec![T::default(); shape.scalar_count()]));
            }
            let convolve = if narrow::is_narrow::<T>(&geometry, outputs) { narrow::convolution } else { forward };
            Ok(Tensor::from_scalars(shape, convolve(&geometry, &input, &filter, outputs)))
        })
    }

    /// The adjoint of [`Tensor::convolution`] in the input, whose shape is given, for the adjoint `self` of the result. It is also the
    /// transposed convolution of `self`, whose filter has the shape `[spatial axes…, output channels, channels]`.
    pub fn convolution_input_adjoint(&self, filter: &Tensor, input: &Shape, window: &Window<'_>) -> Result<Tensor> {
        let operation = "transposedConvolution";
        let (geometry, outputs) = Self::convolution_geometry(operation, input, &filter.shape, window)?;
        input.checked_count(operation, self.kind().size())?;
        self.require_shape(operation, &geometry.output_shape(input.rank() - 2, outputs))?;
        with_kind!(operation, real self.kind(), T => {
            let (adjoint, filter) = (self.scalars::<T>()?, filter.scalars::<T>()?);
            if adjoint.is_empty() || filter.is_empty() {
                return Ok(Tensor::from_scalars(input.clone(), vec![T::default(); input.scalar_count()]));
            }
            Ok(Tensor::from_scalars(input.clone(), input_adjoint(&geometry, &adjoint, &filter, outputs)))
        })
    }

    /// The adjoint of [`Tensor::convolution`] in the filter, whose shape is given, for the adjoint of the result.
    pub fn convolution_filter_adjoint(&self, adjoint: &Tensor, filter: &Shape, window: &Window<'_>) -> Result<Tensor> {
        let operation = "convolution";
        let (geometry, outputs) = Self::convolution_geometry(operation, &self.shape, filter, window)?;
        filter.checked_count(operation, self.kind().size())?;
        adjoint.require_shape(operation, &geometry.output_shape(self.rank() - 2, outputs))?;
        with_kind!(operation, real self.kind(), T => {
            let (input, adjoint) = (self.scalars::<T>()?, adjoint.scalars::<T>()?);
            if adjoint.is_empty() || filter.scalar_count() == 0 {
                return Ok(Tensor::from_scalars(filter.clone(), vec![T::default(); filter.scalar_count()]));
            }
            let compute =
                if narrow::has_narrow_filter::<T>(&geometry, outputs) { narrow::filter_adjoint } else { filter_adjoint };
            Ok(Tensor::from_scalars(filter.clone(), compute(&geometry, &input, &adjoint, outputs)))
        })
    }
}
