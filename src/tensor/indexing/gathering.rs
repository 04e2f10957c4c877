//! Gathering scalars by index or mask, and the adjoint: adding scalars at indices.

use crate::tensor::error::{Result, TensorError};
use crate::tensor::fold::{Fold, Foldable};
use crate::tensor::parallel::for_each_chunk;
use crate::tensor::scalar::{Scalar, with_kind};
use crate::tensor::shape::Shape;
use crate::tensor::strided::Tensor;

/// Returns indices in range; negative ones count from the end.
fn in_range(operation: &'static str, indices: Vec<i64>, size: usize) -> Result<Vec<usize>> {
    let resolve = |index: i64| {
        let from_start = if index < 0 { index.saturating_add(size as i64) } else { index };
        usize::try_from(from_start).ok().filter(|&at| at < size).ok_or_else(|| {
            TensorError::value(operation, format!("index {index} is out of range for an axis of size {size}"))
        })
    };
    indices.into_iter().map(resolve).collect()
}

/// Returns rows of `length` scalars that start at the given positions.
fn gathered<T: Scalar>(source: &[T], starts: &[usize], length: usize) -> Vec<T> {
    let mut scalars = vec![T::default(); starts.len() * length];
    let rows = (4096 / length.max(1)).max(1);
    for_each_chunk(&mut scalars, rows * length, rows * length, |number, part| {
        if length == 1 {
            let starts = &starts[number * rows..];
            return part.iter_mut().zip(starts).for_each(|(scalar, &start)| *scalar = source[start]);
        }
        for (row, &start) in part.chunks_mut(length.max(1)).zip(&starts[number * rows..]) {
            row.copy_from_slice(&source[start..start + length]);
        }
    });
    scalars
}

impl Tensor {
    /// Returns the parts at indices along an axis: the shape is that before the axis, that of the indices, and that after it.
    pub fn gather(&self, indices: &Tensor, axis: isize) -> Result<Tensor> {
        self.gather_batches(indices, axis, 0)
    }

    /// Returns the parts at indices along an axis, where the first `batches` axes of both tensors are the same examples.
    pub fn gather_batches(&self, indices: &Tensor, axis: isize, batches: usize) -> Result<Tensor> {
        let operation = "gathering(atIndices:alongAxis:)";
        let (axis, starts, inner) = self.gathered_starts(operation, indices, axis, batches)?;
        let shape: Shape = self.gathered_shape(indices, axis, batches);
        shape.checked_count(operation, self.kind().size())?;
        with_kind!(self.kind(), T => {
            Ok(Tensor::from_scalars(shape, gathered(&self.scalars::<T>()?, &starts, inner)))
        })
    }

    fn gathered_shape(&self, indices: &Tensor, axis: usize, batches: usize) -> Shape {
        let own = self.shape[..axis].iter().chain(&indices.shape[batches..]).chain(&self.shape[axis + 1..]);
        own.copied().collect()
    }

    /// Returns the axis, the position of each gathered part in the contiguous tensor, and its length.
    fn gathered_starts(
        &self,
        operation: &'static str,
        indices: &Tensor,
        axis: isize,
        batches: usize,
    ) -> Result<(usize, Vec<usize>, usize)> {
        let at = self.shape.axis(operation, axis)?;
        if batches > at || batches > indices.rank() || self.shape[..batches] != indices.shape[..batches] {
            let problem = format!("cannot gather from shape {} by indices of shape {}", self.shape, indices.shape);
            let requirement = format!("needs {batches} equal axes in front, before the axis {at}");
            return Err(TensorError::shape(operation, Some(at), &[&self.shape, &indices.shape], problem, requirement));
        }
        self.gathered_shape(indices, at, batches).checked_count(operation, size_of::<usize>())?;
        let size = self.shape[at];
        let positions = in_range(operation, indices.as_indices(operation)?, size)?;
        let (_, inner) = self.shape.around(at);
        let examples: usize = self.shape[..batches].iter().product();
        let between: usize = self.shape[batches..at].iter().product();
        let of_example = positions.len() / examples.max(1);
        let mut starts = Vec::with_capacity(positions.len() * between);
        for example in 0..examples {
            for row in example * between..(example + 1) * between {
                let indices = &positions[example * of_example..(example + 1) * of_example];
                starts.extend(indices.iter().map(|&index| (row * size + index) * inner));
            }
        }
        Ok((at, starts, inner))
    }

    /// The adjoint of [`Tensor::gather_batches`]: adds the parts of `self` to zeros of the given shape, at the indices.
    pub fn scatter_add(&self, shape: &Shape, indices: &Tensor, axis: isize, batches: usize) -> Result<Tensor> {
        let operation = "scatterAdd";
        let zeros = Tensor::zeros(self.kind(), shape.clone())?;
        let (at, starts, inner) = zeros.gathered_starts(operation, indices, axis, batches)?;
        let expected = zeros.gathered_shape(indices, at, batches);
        if expected != self.shape {
            let problem = format!("cannot add a tensor of shape {} at indices of shape {}", self.shape, indices.shape);
            return Err(TensorError::shape(
                operation,
                Some(at),
                &[&self.shape, &indices.shape],
                problem,
                format!("needs shape {expected}"),
            ));
        }
        with_kind!(operation, number self.kind(), T => {
            let source = self.scalars::<T>()?;
            let mut result = vec![T::default(); shape.scalar_count()];
            for (part, &start) in source.chunks(inner.max(1)).zip(&starts) {
                if inner == 1 {
                    result[start] = <T as Foldable>::combine(Fold::Sum, result[start], part[0]);
                } else {
                    T::accumulate(Fold::Sum, &mut result[start..start + inner], part);
                }
            }
            Ok(Tensor::from_scalars(shape.clone(), result))
        })
    }

    /// Returns the scalars at positions in the flat tensor, in the shape of the positions.
    pub fn gather_flat(&self, positions: &Tensor) -> Result<Tensor> {
        self.flattened().gather(positions, 0)
    }

    /// The adjoint of [`Tensor::gather_flat`]: adds these scalars to zeros of a shape, at positions in the flat tensor.
    pub fn scatter_add_flat(&self, shape: &Shape, positions: &Tensor) -> Result<Tensor> {
        let flat = Shape::from([shape.checked_count("scatterAdd", self.kind().size())?]);
        Ok(self.scatter_add(&flat, positions, 0, 0)?.with_shape(shape.clone()))
    }

    /// Returns the indices at which a vector of `Bool` is true, as `Int`.
    pub fn indices_of_mask(&self) -> Result<Tensor> {
        let operation = "gathering(where:alongAxis:)";
        if self.rank() != 1 {
            let problem = format!("a mask of shape {} is not a vector", self.shape);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, "needs rank 1"));
        }
        let mask = self.scalars::<bool>()?;
        let indices: Vec<i64> = mask.iter().enumerate().filter(|(_, is)| **is).map(|(at, _)| at as i64).collect();
        Ok(Tensor::from_scalars(Shape::from([indices.len()]), indices))
    }

    /// Returns the parts along an axis where a mask is true. A mask of several axes covers the axes from the given one on.
    pub fn gather_where(&self, mask: &Tensor, axis: isize) -> Result<Tensor> {
        let operation = "gathering(where:alongAxis:)";
        let at = self.shape.axis(operation, axis)?;
        let end = at + mask.rank();
        if mask.rank() == 0 || end > self.rank() || self.shape[at..end] != mask.shape[..] {
            let problem = format!("cannot gather from shape {} by a mask of shape {}", self.shape, mask.shape);
            let requirement = format!("needs the sizes of the axes from {at} on");
            return Err(TensorError::shape(operation, Some(at), &[&self.shape, &mask.shape], problem, requirement));
        }
        let joined =
            self.shape[..at].iter().copied().chain([mask.scalar_count()]).chain(self.shape[end..].iter().copied());
        self.with_shape(joined.collect()).gather(&mask.flattened().indices_of_mask()?, at as isize)
    }

    /// Returns the indices of all scalars that are not 0 (or false), as `Int`, one row for each.
    pub fn non_zero_indices(&self) -> Result<Tensor> {
        with_kind!(self.kind(), T => {
            let mut indices: Vec<i64> = Vec::new();
            let mut count = 0;
            for (number, _) in self.scalars::<T>()?.iter().enumerate().filter(|(_, scalar)| **scalar != T::default()) {
                let start = indices.len();
                let mut rest = number;
                indices.resize(start + self.rank(), 0);
                for (index, &size) in indices[start..].iter_mut().zip(self.shape.iter()).rev() {
                    *index = (rest % size) as i64;
                    rest /= size;
                }
                count += 1;
            }
            Ok(Tensor::from_scalars(Shape::from([count, self.rank()]), indices))
        })
    }
}
