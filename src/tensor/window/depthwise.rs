//! Depthwise convolutions, in which each channel has filters of its own, and their adjoints.

use super::super::elementwise::Real;
use super::super::error::{Result, TensorError};
use super::super::fold::{Fold, Foldable};
use super::super::parallel::for_each_chunk;
use super::super::scalar::with_kind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::{Geometry, Window};
use multiversion::multiversion;

/// Adds the products of two slices to a third one.
#[multiversion(targets("x86_64+avx2+fma"))]
fn add_products<T: Real>(sums: &mut [T], a: &[T], b: &[T]) {
    for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
        *sum += a * b;
    }
}

fn geometry(operation: &'static str, input: &Shape, filter: &Shape, window: &Window<'_>) -> Result<(Geometry, usize)> {
    let spatial = filter.rank().wrapping_sub(2);
    if filter.rank() != input.rank() || filter.rank() < 3 || filter[spatial] != input[spatial + 1] {
        return Err(TensorError::shape(
            operation,
            input.rank().checked_sub(1),
            &[input, filter],
            format!("cannot convolve the channels of a tensor of shape {input} with a filter of shape {filter}"),
            "needs a filter with the spatial axes, the channels of the input, and the number of results for each",
        ));
    }
    Ok((Geometry::new(operation, input, &filter[..spatial], window)?, filter[spatial + 1]))
}

impl Tensor {
    /// Returns the convolution of each channel with its own filters: the filter has the shape `[spatial axes…, c, m]`, and the channel
    /// `c · m + j` of the result comes from channel `c`.
    pub fn depthwise_convolution(&self, filter: &Tensor, window: &Window<'_>) -> Result<Tensor> {
        let operation = "depthwiseConvolution";
        let (geometry, multiplier) = geometry(operation, &self.shape, &filter.shape, window)?;
        let (channels, size) = (geometry.channels, geometry.example_size());
        let outputs = channels.saturating_mul(multiplier);
        let shape = geometry.output_shape(self.rank() - 2, outputs);
        let count = shape.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let (input, filter) = (self.scalars::<T>()?, filter.scalars::<T>()?);
            let mut result = vec![T::default(); count];
            let windows = geometry.windows();
            for_each_chunk(&mut result, windows * outputs, windows * outputs * geometry.kernel_size(), |number, part| {
                let example = &input[number * size..];
                for (window, sums) in part.chunks_mut(outputs.max(1)).enumerate() {
                    geometry.positions(window, |position, pixel| {
                        let pixel = &example[pixel * channels..][..channels];
                        let weights = &filter[position * outputs..][..outputs];
                        if multiplier == 1 {
                            return add_products(sums, pixel, weights);
                        }
                        for ((sums, weights), &x) in sums.chunks_mut(multiplier).zip(weights.chunks(multiplier)).zip(pixel) {
                            sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += x * weight);
                        }
                    });
                }
            });
            Ok(Tensor::from_scalars(shape, result))
        })
    }

    /// The adjoint of [`Tensor::depthwise_convolution`] in the input, whose shape is given, for the adjoint `self` of the result.
    pub fn depthwise_input_adjoint(&self, filter: &Tensor, input: &Shape, window: &Window<'_>) -> Result<Tensor> {
        let operation = "depthwiseConvolution";
        let (geometry, multiplier) = geometry(operation, input, &filter.shape, window)?;
        let (channels, windows) = (geometry.channels, geometry.windows());
        let outputs = channels.saturating_mul(multiplier);
        self.require_shape(operation, &geometry.output_shape(input.rank() - 2, outputs))?;
        let count = input.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let (adjoint, filter) = (self.scalars::<T>()?, filter.scalars::<T>()?);
            let mut result = vec![T::default(); count];
            let work = windows * outputs * geometry.kernel_size();
            for_each_chunk(&mut result, geometry.example_size(), work, |number, example| {
                let adjoints = &adjoint[number * windows * outputs..][..windows * outputs];
                for (window, adjoints) in adjoints.chunks(outputs.max(1)).enumerate() {
                    geometry.positions(window, |position, pixel| {
                        let pixel = &mut example[pixel * channels..][..channels];
                        let weights = &filter[position * outputs..][..outputs];
                        if multiplier == 1 {
                            return add_products(pixel, adjoints, weights);
                        }
                        for ((x, adjoints), weights) in pixel.iter_mut().zip(adjoints.chunks(multiplier)).zip(weights.chunks(multiplier)) {
                            adjoints.iter().zip(weights).for_each(|(&adjoint, &weight)| *x += adjoint * weight);
                        }
                    });
                }
            });
            Ok(Tensor::from_scalars(input.clone(), result))
        })
    }

    /// The adjoint of [`Tensor::depthwise_convolution`] in the filter, whose shape is given, for the adjoint of the result.
    pub fn depthwise_filter_adjoint(&self, adjoint: &Tensor, filter: &Shape, window: &Window<'_>) -> Result<Tensor> {
        let operation = "depthwiseConvolution";
        let (geometry, multiplier) = geometry(operation, &self.shape, filter, window)?;
        let (channels, windows, size) = (geometry.channels, geometry.windows(), geometry.example_size());
        let outputs = channels.saturating_mul(multiplier);
        adjoint.require_shape(operation, &geometry.output_shape(self.rank() - 2, outputs))?;
        let count = filter.checked_count(operation, self.kind().size())?;
        with_kind!(operation, real self.kind(), T => {
            let (input, adjoint) = (self.scalars::<T>()?, adjoint.scalars::<T>()?);
            // One partial sum for each eighth of the examples.
            let share = geometry.examples.div_ceil(8).max(1);
            let mut sums = vec![T::default(); geometry.examples.div_ceil(share).max(1) * count];
            let work = share * windows * outputs * geometry.kernel_size();
            for_each_chunk(&mut sums, count, work, |number, sums| {
                for example in number * share..((number + 1) * share).min(geometry.examples) {
                    let adjoints = &adjoint[example * windows * outputs..][..windows * outputs];
                    for (window, adjoints) in adjoints.chunks(outputs.max(1)).enumerate() {
                        geometry.positions(window, |position, pixel| {
                            let pixel = &input[example * size + pixel * channels..][..channels];
                            let sums = &mut sums[position * outputs..][..outputs];
                            if multiplier == 1 {
                                return add_products(sums, pixel, adjoints);
                            }
                            for ((sums, adjoints), &x) in sums.chunks_mut(multiplier).zip(adjoints.chunks(multiplier)).zip(pixel) {
                                sums.iter_mut().zip(adjoints).for_each(|(sum, &adjoint)| *sum += x * adjoint);
                            }
                        });
                    }
                }
            });
            let mut parts = sums.chunks(count.max(1));
            let mut result = parts.next().unwrap_or(&[]).to_vec();
            parts.for_each(|part| T::accumulate(Fold::Sum, &mut result, part));
            Ok(Tensor::from_scalars(filter.clone(), result))
        })
    }
}
