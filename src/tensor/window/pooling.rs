//! The maxima of windows over one to three spatial axes, and resizing of images, with their adjoints.

use super::super::elementwise::Real;
use super::super::error::{Result, TensorError};
use super::super::parallel::for_each_chunk;
use super::super::scalar::with_kind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::{Geometry, Window};

impl Tensor {
    /// Returns the maxima of the windows of a size, and the position of each maximum in the flat tensor (`Int`); the first of equals.
    /// The adjoint is [`Tensor::scatter_add_flat`] with these positions, and the differential [`Tensor::gather_flat`].
    pub fn max_pool(&self, size: &[usize], window: &Window<'_>) -> Result<(Tensor, Tensor)> {
        let operation = "maxPool";
        let geometry = Geometry::of_pooling(operation, &self.shape, size, window)?;
        let channels = geometry.channels;
        let shape = geometry.output_shape(size.len(), channels);
        let count = shape.checked_count(operation, size_of::<f64>())?;
        with_kind!(operation, real self.kind(), T => {
            let input = self.scalars::<T>()?;
            let windows = geometry.windows();
            let mut positions = vec![0i64; count];
            let work = windows * channels * geometry.kernel_size();
            for_each_chunk(&mut positions, windows * channels, work, |number, part| {
                let offset = number * geometry.example_size();
                let example = &input[offset..offset + geometry.example_size()];
                let mut best = vec![T::default(); channels];
                for (window, part) in part.chunks_mut(channels.max(1)).enumerate() {
                    best.fill(-<T as Real>::INFINITY);
                    part.fill(-1);
                    geometry.positions(window, |_, pixel| {
                        let start = pixel * channels;
                        let first = (offset + start) as i64;
                        let row = &example[start..start + channels];
                        for (((best, at), &x), place) in best.iter_mut().zip(part.iter_mut()).zip(row).zip(first..) {
                            // A NaN is the maximum, and nothing is larger.
                            #[allow(clippy::eq_op)]
                            let is_larger = (x > *best) | ((x != x) & (*best == *best)) | (*at < 0);
                            *best = if is_larger { x } else { *best };
                            *at = if is_larger { place } else { *at };
                        }
                    });
                }
            });
            let values = positions.iter().map(|&at| input.get(at as usize).copied().unwrap_or_default()).collect();
            Ok((Tensor::from_scalars::<T>(shape.clone(), values), Tensor::from_scalars(shape, positions)))
        })
    }

    /// Returns the positions in the flat tensor of two equal maxima in a window of a size, the first one first; `None` if every window
    /// has one maximum.
    pub fn max_pool_tie(&self, size: &[usize], window: &Window<'_>) -> Result<Option<[usize; 2]>> {
        let operation = "maxPool";
        let geometry = Geometry::of_pooling(operation, &self.shape, size, window)?;
        let (windows, channels) = (geometry.windows(), geometry.channels.max(1));
        let (_, positions) = self.max_pool(size, window)?;
        let positions = positions.scalars::<i64>()?;
        with_kind!(operation, real self.kind(), T => {
            let input = self.scalars::<T>()?;
            let tie_in = |(number, maxima): (usize, &[i64])| {
                let offset = number / windows * geometry.example_size();
                let mut tie = None;
                geometry.positions(number % windows, |_, pixel| {
                    let places = (offset + pixel * channels..).zip(maxima);
                    let mut equal = places.filter(|(place, best)| {
                        *place as i64 != **best && input.get(*place) == input.get(**best as usize)
                    });
                    tie = tie.or_else(|| equal.next().map(|(place, best)| [*best as usize, place]));
                });
                tie
            };
            Ok(positions.chunks(channels).enumerate().find_map(tie_in))
        })
    }
}

/// How the pixels of a resized image are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resizing {
    /// The nearest pixel.
    Nearest,
    /// The bilinear interpolation of four pixels.
    Bilinear,
}

/// For each new index along an axis, two old indices and the weight of the second one.
fn interpolation(old: usize, new: usize, method: Resizing) -> Vec<(usize, usize, f64)> {
    let scale = old as f64 / new as f64;
    let place = |index: usize| {
        // The centers of pixels are at half indices.
        let center = (index as f64 + 0.5) * scale;
        if method == Resizing::Nearest {
            let at = (center.floor() as usize).min(old - 1);
            return (at, at, 0.0);
        }
        let from = (center - 0.5).max(0.0);
        let low = (from.floor() as usize).min(old - 1);
        (low, (low + 1).min(old - 1), from - low as f64)
    };
    (0..new).map(place).collect()
}

impl Tensor {
    /// Returns images of the shape `[examples, height, width, channels]` in another size.
    pub fn resize(&self, height: usize, width: usize, method: Resizing) -> Result<Tensor> {
        let target = self.resized_shape(height, width)?;
        self.resize_by(&self.shape, &target, method, false)
    }

    /// The adjoint of [`Tensor::resize`] for an input of a shape.
    pub fn resize_adjoint(&self, input: &Shape, method: Resizing) -> Result<Tensor> {
        input.checked_count("resize", self.kind().size())?;
        let zeros = Tensor::zeros(self.kind(), input.clone())?;
        let &[_, height, width, _] = &self.shape[..] else {
            return zeros.resized_shape(1, 1).and_then(|shape| self.require_shape("resize", &shape)).map(|()| zeros);
        };
        self.require_shape("resize", &zeros.resized_shape(height, width)?)?;
        self.resize_by(input, &self.shape, method, true)
    }

    fn resized_shape(&self, height: usize, width: usize) -> Result<Shape> {
        let operation = "resize";
        let &[examples, old_height, old_width, channels] = &self.shape[..] else {
            let problem = format!("a tensor of shape {} has no images", self.shape);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, "needs rank 4"));
        };
        if (old_height == 0 && height > 0) || (old_width == 0 && width > 0) {
            return Err(TensorError::shape(operation, None, &[&self.shape], "cannot resize an empty image", ""));
        }
        let shape = Shape::from([examples, height, width, channels]);
        shape.checked_count(operation, self.kind().size())?;
        Ok(shape)
    }

    /// Interpolates images of the shape `small` to the shape `large`, or adds the adjoints of the latter to zeros of the former.
    fn resize_by(&self, from: &Shape, to: &Shape, method: Resizing, is_adjoint: bool) -> Result<Tensor> {
        let (&[_, height, width, channels], &[_, new_height, new_width, _]) = (&from[..], &to[..]) else {
            unreachable!("the ranks are checked before");
        };
        let rows = interpolation(height, new_height, method);
        let columns = interpolation(width, new_width, method);
        let (old, new) = (height * width * channels, new_height * new_width * channels);
        let result = if is_adjoint { from } else { to };
        with_kind!("resize", real self.kind(), T => {
            let source = self.scalars::<T>()?;
            let mut scalars = vec![T::default(); result.scalar_count()];
            let (size, source_size) = if is_adjoint { (old, new) } else { (new, old) };
            for_each_chunk(&mut scalars, size, new * 4, |number, target| {
                let source = &source[number * source_size..(number + 1) * source_size];
                for (y, &(top, bottom, below)) in rows.iter().enumerate() {
                    for (x, &(left, right, beside)) in columns.iter().enumerate() {
                        let pixel = (y * new_width + x) * channels;
                        let neighbors = [
                            (top, left, (1.0 - below) * (1.0 - beside)),
                            (top, right, (1.0 - below) * beside),
                            (bottom, left, below * (1.0 - beside)),
                            (bottom, right, below * beside),
                        ];
                        for (row, column, weight) in neighbors.into_iter().filter(|(.., weight)| *weight != 0.0) {
                            let weight = <T as Real>::nearest(weight);
                            let neighbor = (row * width + column) * channels;
                            let (to, from) = if is_adjoint { (neighbor, pixel) } else { (pixel, neighbor) };
                            let from = &source[from..from + channels];
                            target[to..to + channels].iter_mut().zip(from).for_each(|(to, &from)| *to += weight * from);
                        }
                    }
                }
            });
            Ok(Tensor::from_scalars(result.clone(), scalars))
        })
    }
}
