//! Tensors made from ranges and from other tensors.

use super::error::{Result, TensorError};
use super::reader::Positions;
use super::scalar::{Scalar, with_kind};
use super::shape::Shape;
use super::strided::{Tensor, write};

/// How scalars outside of a tensor are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaddingMode {
    /// All are the same.
    Constant(f64),
    /// Those of the mirrored tensor without its edge.
    Reflect,
    /// Those of the mirrored tensor with its edge.
    Symmetric,
}

impl Tensor {
    /// Creates a vector of the numbers from `start` to `end`, without it. The number of scalars is limited like that of any tensor.
    pub fn range<T: Scalar>(start: T, end: T, step: T) -> Result<Tensor> {
        let operation = "Tensor(rangeFrom:to:stride:)";
        let count = if T::KIND.is_real() {
            let steps = (end.to_f64() - start.to_f64()) / step.to_f64();
            if step.to_f64() == 0.0 || !steps.is_finite() {
                return Err(TensorError::value(operation, "needs finite bounds and a stride other than 0"));
            }
            steps.ceil().max(0.0) as usize
        } else {
            let step = step.to_i128();
            if step == 0 {
                return Err(TensorError::value(operation, "needs a stride other than 0"));
            }
            let distance = (end.to_i128() - start.to_i128()) * step.signum();
            usize::try_from((distance + step.abs() - 1).max(0) / step.abs()).unwrap_or(usize::MAX)
        };
        let shape = Shape::from([count]);
        shape.checked_count(operation, size_of::<T>())?;
        let scalar = |at: usize| {
            if T::KIND.is_real() {
                T::from_f64(start.to_f64() + at as f64 * step.to_f64())
            } else {
                T::from_i128(start.to_i128() + at as i128 * step.to_i128())
            }
        };
        Ok(Tensor::from_scalars(shape, (0..count).map(scalar).collect()))
    }

    /// Creates a vector of `count` numbers at equal distances, with both bounds.
    pub fn linear_space<T: Scalar>(start: T, end: T, count: usize) -> Result<Tensor> {
        let shape = Shape::from([count]);
        shape.checked_count("Tensor(linearSpaceFrom:to:count:)", size_of::<T>())?;
        let (low, high) = (start.to_f64(), end.to_f64());
        let scalar = |at: usize| match at {
            0 => start,
            _ if at == count - 1 => end,
            _ => T::from_f64(low + (high - low) * (at as f64 / (count - 1) as f64)),
        };
        Ok(Tensor::from_scalars(shape, (0..count).map(scalar).collect()))
    }

    /// Creates the vector of [`Tensor::range`] from tensors of one scalar each.
    pub fn range_between(start: &Tensor, end: &Tensor, step: &Tensor) -> Result<Tensor> {
        with_kind!(start.kind(), T => Tensor::range::<T>(start.scalarized()?, end.scalarized()?, step.scalarized()?))
    }

    /// Creates the vector of [`Tensor::linear_space`] from tensors of one scalar each.
    pub fn linear_space_between(start: &Tensor, end: &Tensor, count: usize) -> Result<Tensor> {
        with_kind!(start.kind(), T => Tensor::linear_space::<T>(start.scalarized()?, end.scalarized()?, count))
    }

    /// Creates the tensor of [`Tensor::one_hot`] from tensors of one scalar each, which are on and off.
    pub fn one_hot_of(indices: &Tensor, depth: usize, (on, off): (&Tensor, &Tensor), axis: isize) -> Result<Tensor> {
        with_kind!(on.kind(), T => Tensor::one_hot::<T>(indices, depth, on.scalarized()?, off.scalarized()?, axis))
    }

    /// Returns the integers as positions.
    pub(super) fn as_indices(&self, operation: &'static str) -> Result<Vec<i64>> {
        with_kind!(operation, integer self.kind(), T => {
            Ok(self.scalars::<T>()?.iter().map(|index| i64::try_from(index.to_i128()).unwrap_or(i64::MAX)).collect())
        })
    }

    /// Creates a tensor with one more axis of size `depth`, in which the scalar at each index is `on` and the others are `off`. An index
    /// outside of the axis gives no `on`.
    pub fn one_hot<T: Scalar>(indices: &Tensor, depth: usize, on: T, off: T, axis: isize) -> Result<Tensor> {
        let operation = "Tensor(oneHotAtIndices:depth:onValue:offValue:axis:)";
        let sizes: Shape = std::iter::repeat_n(1, indices.rank() + 1).collect();
        let axis = sizes.axis(operation, axis)?;
        let mut shape = indices.shape.clone();
        shape.sizes_mut().insert(axis, depth);
        let mut scalars = vec![off; shape.checked_count(operation, size_of::<T>())?];
        let inner: usize = shape[axis + 1..].iter().product();
        for (number, index) in indices.as_indices(operation)?.into_iter().enumerate() {
            if (0..depth as i64).contains(&index) {
                scalars[(number / inner * depth + index as usize) * inner + number % inner] = on;
            }
        }
        Ok(Tensor::from_scalars(shape, scalars))
    }

    /// Joins tensors along an axis.
    pub fn concatenate(tensors: &[Tensor], axis: isize) -> Result<Tensor> {
        let operation = "Tensor(concatenating:alongAxis:)";
        let Some(first) = tensors.first() else {
            return Err(TensorError::value(operation, "needs at least one tensor"));
        };
        let at = first.shape.axis(operation, axis)?;
        let mut total = 0usize;
        for tensor in tensors {
            let fits = tensor.rank() == first.rank() && tensor.shape.with_size(at, 0) == first.shape.with_size(at, 0);
            if !fits {
                return Err(TensorError::shape(
                    operation,
                    Some(at),
                    &[&first.shape, &tensor.shape],
                    format!("cannot join tensors of shapes {} and {} along axis {at}", first.shape, tensor.shape),
                    "needs equal sizes along all other axes",
                ));
            }
            if tensor.kind() != first.kind() {
                return Err(TensorError::Kind { operation, kind: tensor.kind() });
            }
            total = total.saturating_add(tensor.shape[at]);
        }
        let shape = first.shape.with_size(at, total);
        let count = shape.checked_count(operation, first.kind().size())?;
        let strides = shape.strides();
        with_kind!(first.kind(), T => {
            let mut scalars = vec![T::default(); count];
            let mut start = 0;
            for tensor in tensors {
                let positions = Positions::new(&tensor.shape, &strides, start * strides[at] as usize);
                write(&positions, &tensor.reader::<T>(operation)?, tensor.scalar_count(), &mut scalars);
                start += tensor.shape[at];
            }
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }

    /// Joins tensors of the same shape along a new axis, which counts in the result.
    pub fn stack(tensors: &[Tensor], axis: isize) -> Result<Tensor> {
        let operation = "Tensor(stacking:alongAxis:)";
        let Some(first) = tensors.first() else {
            return Err(TensorError::value(operation, "needs at least one tensor"));
        };
        if let Some(other) = tensors.iter().find(|tensor| tensor.shape != first.shape) {
            let problem = format!("cannot stack tensors of shapes {} and {}", first.shape, other.shape);
            return Err(TensorError::shape(
                operation,
                None,
                &[&first.shape, &other.shape],
                problem,
                "needs equal shapes",
            ));
        }
        let lifted = tensors.iter().map(|tensor| tensor.expand_axes(&[axis])).collect::<Result<Vec<_>>>()?;
        Tensor::concatenate(&lifted, axis)
    }

    /// Returns the tensor repeated along each axis.
    pub fn tile(&self, multiples: &[usize]) -> Result<Tensor> {
        let operation = "tiled(multiples:)";
        if multiples.len() != self.rank() {
            let problem = format!("cannot tile a tensor of shape {} {} times", self.shape, multiples.len());
            let requirement = format!("needs one number for each of its {} axes", self.rank());
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, requirement));
        }
        let sizes = self.shape.iter().zip(multiples);
        let shape: Shape = sizes.clone().map(|(&size, &multiple)| size.saturating_mul(multiple)).collect();
        shape.checked_count(operation, self.kind().size())?;
        // Each axis becomes two, of which the first repeats.
        let mut repeated = self.clone();
        repeated.shape = sizes.flat_map(|(&size, &multiple)| [multiple, size]).collect();
        repeated.strides = self.strides.iter().flat_map(|&stride| [0, stride]).collect();
        Ok(repeated.contiguous().with_shape(shape))
    }

    /// Returns the tensor with additional scalars before and after along each axis.
    pub fn pad(&self, sizes: &[(usize, usize)], mode: PaddingMode) -> Result<Tensor> {
        let operation = "padded(forSizes:)";
        if sizes.len() != self.rank() {
            let problem = format!("cannot pad a tensor of shape {} by {} sizes", self.shape, sizes.len());
            let requirement = format!("needs one pair for each of its {} axes", self.rank());
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, requirement));
        }
        let padded =
            |(&size, &(before, after)): (&usize, &(usize, usize))| size.saturating_add(before).saturating_add(after);
        let shape: Shape = self.shape.iter().zip(sizes).map(padded).collect();
        shape.checked_count(operation, self.kind().size())?;
        if let PaddingMode::Constant(value) = mode {
            let mut result = with_kind!(self.kind(), T => Tensor::repeating(T::from_f64(value), shape))?;
            let lower: Vec<isize> = sizes.iter().map(|&(before, _)| before as isize).collect();
            let own: Vec<isize> = self.shape.iter().map(|&size| size as isize).collect();
            result.assign_view(|tensor| tensor.slice(&lower, &own), self)?;
            return Ok(result);
        }
        let mut result = self.clone();
        for (axis, &(before, after)) in sizes.iter().enumerate().filter(|(_, size)| **size != (0, 0)) {
            let size = self.shape[axis];
            let edge = usize::from(mode == PaddingMode::Reflect);
            if before.max(after) + edge > size {
                return Err(TensorError::shape(
                    operation,
                    Some(axis),
                    &[&self.shape],
                    format!("cannot pad axis {axis} of a tensor of shape {} by {}", self.shape, before.max(after)),
                    format!("needs at most {} mirrored scalars", size.saturating_sub(edge)),
                ));
            }
            let front = result.along(axis, edge, 1, before).reverse(&[axis as isize])?;
            let back = result.along(axis, size - edge - after, 1, after).reverse(&[axis as isize])?;
            result = Tensor::concatenate(&[front, result, back], axis as isize)?;
        }
        Ok(result)
    }

    /// Returns the tensor of shape `[…, h/b, w/b, c·b²]` with blocks of the image in its last axis; the tensor is NHWC.
    pub fn space_to_depth(&self, block: usize) -> Result<Tensor> {
        self.blocks("spaceToDepth(_:blockSize:)", block, false)
    }

    /// Returns the tensor of shape `[…, h·b, w·b, c/b²]` with blocks of its last axis in the image; the tensor is NHWC.
    pub fn depth_to_space(&self, block: usize) -> Result<Tensor> {
        self.blocks("depthToSpace(_:blockSize:)", block, true)
    }

    fn blocks(&self, operation: &'static str, block: usize, is_inverse: bool) -> Result<Tensor> {
        let error = || {
            let problem = format!("cannot divide a tensor of shape {} into blocks of {block}×{block}", self.shape);
            Err(TensorError::shape(
                operation,
                None,
                &[&self.shape],
                problem,
                "needs rank 4, and sizes that the block divides",
            ))
        };
        let &[n, h, w, c] = &self.shape[..] else { return error() };
        let area = block.saturating_mul(block);
        if block == 0 || (is_inverse && !c.is_multiple_of(area)) {
            return error();
        }
        if is_inverse {
            let parts = self.with_shape(Shape::from([n, h, w, block, block, c / area]));
            return Ok(parts.permuted(&[0, 1, 3, 2, 4, 5]).contiguous().with_shape(Shape::from([
                n,
                h * block,
                w * block,
                c / area,
            ])));
        }
        if !h.is_multiple_of(block) || !w.is_multiple_of(block) {
            return error();
        }
        let parts = self.with_shape(Shape::from([n, h / block, block, w / block, block, c]));
        Ok(parts.permuted(&[0, 1, 3, 2, 4, 5]).contiguous().with_shape(Shape::from([
            n,
            h / block,
            w / block,
            c * area,
        ])))
    }
}
