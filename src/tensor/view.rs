//! Views: other shapes and orders of the same scalars, without a copy.

use super::error::{Result, TensorError};
use super::shape::{Shape, Strides};
use super::strided::Tensor;
use smallvec::SmallVec;
use std::rc::Rc;

impl Tensor {
    pub(super) fn view(&self, shape: Shape, strides: Strides, offset: usize) -> Tensor {
        Tensor { shape, strides, offset, data: Rc::clone(&self.data) }
    }

    /// Returns the scalars in row-major order with another shape, in which one size may be -1; they are copied only if they are
    /// not contiguous.
    pub fn reshape(&self, sizes: &[isize]) -> Result<Tensor> {
        let operation = "reshaped(to:)";
        let count = self.scalar_count();
        let known = sizes
            .iter()
            .filter(|&&size| size != -1)
            .try_fold(1usize, |product, &size| usize::try_from(size).ok().and_then(|size| product.checked_mul(size)));
        let unknown = sizes.iter().filter(|&&size| size == -1).count();
        let fits = match (known, unknown) {
            (Some(known), 0) => known == count,
            (Some(known), 1) => known > 0 && count.is_multiple_of(known),
            _ => false,
        };
        if !fits {
            let target = sizes.iter().map(isize::to_string).collect::<Vec<_>>().join("×");
            return Err(TensorError::shape(
                operation,
                None,
                &[&self.shape],
                format!("cannot reshape a tensor of shape {} to {target}", self.shape),
                format!("needs {count} scalars"),
            ));
        }
        let rest = count / known.unwrap_or(1).max(1);
        Ok(self.with_shape(sizes.iter().map(|&size| if size == -1 { rest } else { size as usize }).collect()))
    }

    /// Returns the scalars with another shape of the same number of scalars.
    pub(super) fn with_shape(&self, shape: Shape) -> Tensor {
        let strides = shape.strides();
        if self.is_contiguous() {
            return self.view(shape, strides, self.offset);
        }
        if self.strides.iter().all(|&stride| stride == 0) {
            return self.view(shape.clone(), shape.iter().map(|_| 0).collect(), self.offset);
        }
        let mut copy = self.contiguous();
        (copy.shape, copy.strides) = (shape, strides);
        copy
    }

    /// Returns the tensor with additional axes of size 1, at the given positions in the result.
    pub fn expand_axes(&self, axes: &[isize]) -> Result<Tensor> {
        let operation = "expandingShape(at:)";
        let rank = self.rank() + axes.len();
        let all = -(rank as isize)..rank as isize;
        if let Some(axis) = axes.iter().find(|axis| !all.contains(axis)) {
            let problem = format!("there is no axis {axis}: the result has the axes {} to {}", all.start, all.end - 1);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, ""));
        }
        let is_new = Shape::from_iter(std::iter::repeat_n(1, rank)).axes(operation, axes)?;
        let mut old = self.shape.iter().zip(&self.strides);
        let mut both = |&is_new: &bool| match old.next() {
            Some((&size, &stride)) if !is_new => (size, stride),
            _ => (1, 0),
        };
        let mut sizes: SmallVec<[usize; 4]> = SmallVec::new();
        let mut strides = Strides::new();
        for is_new in &is_new {
            let (size, stride) = if *is_new { (1, 0) } else { both(is_new) };
            sizes.push(size);
            strides.push(stride);
        }
        Ok(self.view(sizes.into_iter().collect(), strides, self.offset))
    }

    /// Returns the tensor without the given axes, which must have size 1; without all axes of size 1 if none are given.
    pub fn squeeze(&self, axes: &[isize]) -> Result<Tensor> {
        let operation = "squeezingShape(at:)";
        let mut is_removed = self.shape.axes(operation, axes)?;
        if axes.is_empty() {
            is_removed = self.shape.iter().map(|&size| size == 1).collect();
        }
        if let Some(axis) = (0..self.rank()).find(|&axis| is_removed[axis] && self.shape[axis] != 1) {
            return Err(TensorError::shape(
                operation,
                Some(axis),
                &[&self.shape],
                format!("cannot remove axis {axis} of a tensor of shape {}", self.shape),
                format!("needs size 1 ({})", self.shape[axis]),
            ));
        }
        let kept = || (0..self.rank()).filter(|&axis| !is_removed[axis]);
        let shape = kept().map(|axis| self.shape[axis]).collect();
        Ok(self.view(shape, kept().map(|axis| self.strides[axis]).collect(), self.offset))
    }

    /// Returns the tensor with its axes in another order; all are reversed if no order is given.
    pub fn transpose(&self, permutation: &[isize]) -> Result<Tensor> {
        let operation = "transposed(permutation:)";
        let order: SmallVec<[usize; 4]> = if permutation.is_empty() {
            (0..self.rank()).rev().collect()
        } else {
            self.shape.axes(operation, permutation)?;
            if permutation.len() != self.rank() {
                return Err(TensorError::shape(
                    operation,
                    None,
                    &[&self.shape],
                    format!("cannot order the axes of a tensor of shape {} by {} axes", self.shape, permutation.len()),
                    format!("needs each of its {} axes once", self.rank()),
                ));
            }
            permutation.iter().map(|&axis| self.shape.axis(operation, axis)).collect::<Result<_>>()?
        };
        Ok(self.permuted(&order))
    }

    /// Returns the tensor with its axes in another order, which is known to be a permutation.
    pub(super) fn permuted(&self, order: &[usize]) -> Tensor {
        let shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.view(shape, order.iter().map(|&axis| self.strides[axis]).collect(), self.offset)
    }

    /// Returns the tensor with its last two axes exchanged.
    pub(super) fn with_last_axes_exchanged(&self) -> Tensor {
        let mut order: SmallVec<[usize; 4]> = (0..self.rank()).collect();
        if let [.., a, b] = order.as_mut_slice() {
            std::mem::swap(a, b);
        }
        self.permuted(&order)
    }

    /// Returns the tensor repeated along new and along axes of size 1, as a view.
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Tensor> {
        if &self.shape == shape {
            return Ok(self.clone());
        }
        Ok(self.view(shape.clone(), self.strides_in(shape)?, self.offset))
    }

    /// Returns the strides of the tensor repeated to a shape.
    pub(super) fn strides_in(&self, shape: &Shape) -> Result<Strides> {
        let operation = "broadcasted(to:)";
        shape.checked_count(operation, self.kind().size())?;
        let added = shape.rank().checked_sub(self.rank());
        let fits = |added: usize| self.shape.iter().zip(&shape[added..]).all(|(&from, &to)| from == to || from == 1);
        let Some(added) = added.filter(|&added| fits(added)) else {
            return Err(TensorError::shape(
                operation,
                None,
                &[&self.shape, shape],
                format!("cannot broadcast a tensor of shape {} to {shape}", self.shape),
                "needs equal sizes, or 1, along each axis, counted from the last",
            ));
        };
        let mut strides: Strides = SmallVec::from_elem(0, shape.rank());
        for (axis, stride) in self.strides.iter().enumerate().filter(|(axis, _)| self.shape[*axis] != 1) {
            strides[added + axis] = *stride;
        }
        Ok(strides)
    }

    /// Returns the tensor in reverse order along the given axes, as a view.
    pub fn reverse(&self, axes: &[isize]) -> Result<Tensor> {
        let is_reversed = self.shape.axes("reversed(inAxes:)", axes)?;
        let mut result = self.clone();
        for axis in (0..self.rank()).filter(|&axis| is_reversed[axis] && self.shape[axis] > 1) {
            let last = (self.shape[axis] - 1) as isize * self.strides[axis];
            result.offset = (result.offset as isize + last) as usize;
            result.strides[axis] = -self.strides[axis];
        }
        Ok(result)
    }

    /// Returns the scalars with the indices `start`, `start + step`, … along an axis, as a view. The indices must be in range.
    pub(super) fn along(&self, axis: usize, start: usize, step: isize, count: usize) -> Tensor {
        let mut result = self.clone();
        if count > 0 && !self.shape.contains(&0) {
            result.offset = (self.offset as isize + start as isize * self.strides[axis]) as usize;
        }
        // The step between fewer than two scalars does not matter, and may be too large for a stride.
        result.strides[axis] = if count > 1 { self.strides[axis] * step } else { self.strides[axis] };
        result.shape.sizes_mut()[axis] = count;
        result
    }

    /// Returns the tensor with one more axis 0 of size 1.
    pub fn rank_lifted(&self) -> Tensor {
        let mut result = self.clone();
        result.shape.sizes_mut().insert(0, 1);
        result.strides.insert(0, 0);
        result
    }

    /// Returns the tensor as a vector.
    pub fn flattened(&self) -> Tensor {
        self.with_shape(Shape::from([self.scalar_count()]))
    }
}
