//! Slices: parts of tensors by index, range and step, their assignment, and their adjoints.

use crate::tensor::error::{Result, TensorError};
use crate::tensor::scalar::{ScalarKind, with_kind};
use crate::tensor::shape::Shape;
use crate::tensor::strided::Tensor;

/// One component of an index expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One index, which may count from the end; the axis is dropped.
    At(isize),
    /// A range with a step. Bounds may count from the end and are cut to the size; a missing bound is the respective end.
    Range {
        /// The first index.
        start: Option<isize>,
        /// The index after the last one.
        end: Option<isize>,
        /// The distance between the indices; negative to walk backward.
        step: isize,
    },
    /// A new axis of size 1.
    NewAxis,
    /// As many complete axes as the other components leave.
    Ellipsis,
    /// An axis of size 1, which is dropped.
    SqueezeAxis,
}

impl Index {
    /// The complete axis.
    pub const ALL: Index = Index::Range { start: None, end: None, step: 1 };
}

/// Returns the first index and the number of indices of a range.
fn resolve(size: usize, start: Option<isize>, end: Option<isize>, step: isize) -> (usize, usize) {
    let size = size as isize;
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |bound: Option<isize>, default: isize| match bound {
        None => default,
        Some(bound) if bound < 0 => bound.saturating_add(size).clamp(low, high),
        Some(bound) => bound.clamp(low, high),
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, end) = (bound(start, first), bound(end, last));
    let distance = if step > 0 { end - start } else { start - end };
    let count = if distance > 0 { (distance as usize).div_ceil(step.unsigned_abs()) } else { 0 };
    (if count > 0 { start as usize } else { 0 }, count)
}

impl Tensor {
    /// Returns a part of the tensor, as a view.
    pub fn index(&self, indices: &[Index]) -> Result<Tensor> {
        let operation = "subscript";
        let used = indices.iter().filter(|index| !matches!(index, Index::NewAxis | Index::Ellipsis)).count();
        let ellipses = indices.iter().filter(|index| **index == Index::Ellipsis).count();
        if used > self.rank() || ellipses > 1 {
            let problem = format!("cannot index a tensor of shape {} with {used} indices", self.shape);
            let requirement = format!("needs at most {}, and one ellipsis", self.rank());
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, requirement));
        }
        let mut result = self.clone();
        let mut axis = 0;
        for &index in indices {
            match index {
                Index::At(at) => {
                    let size = result.shape[axis];
                    let from_start = if at < 0 { at.saturating_add(size as isize) } else { at };
                    if !(0..size as isize).contains(&from_start) {
                        return Err(TensorError::shape(
                            operation,
                            Some(axis),
                            &[&self.shape],
                            format!("index {at} is out of range for an axis of size {size}"),
                            format!("needs {} to {}", -(size as isize), size as isize - 1),
                        ));
                    }
                    result = result.along(axis, from_start as usize, 1, 1).without_axis(axis);
                }
                Index::Range { start, end, step } => {
                    if step == 0 {
                        return Err(TensorError::value(operation, "the step of a range must not be 0"));
                    }
                    let (start, count) = resolve(result.shape[axis], start, end, step);
                    result = result.along(axis, start, step, count);
                    axis += 1;
                }
                Index::NewAxis => {
                    result.shape.sizes_mut().insert(axis, 1);
                    result.strides.insert(axis, 0);
                    axis += 1;
                }
                Index::Ellipsis => axis += self.rank() - used,
                Index::SqueezeAxis => {
                    if result.shape[axis] != 1 {
                        let problem = format!("cannot remove an axis of size {}", result.shape[axis]);
                        return Err(TensorError::shape(operation, Some(axis), &[&self.shape], problem, "needs size 1"));
                    }
                    result = result.without_axis(axis);
                }
            }
        }
        Ok(result)
    }

    /// Replaces a part of the tensor; the new scalars broadcast to the shape of the part.
    pub fn assign(&mut self, indices: &[Index], values: &Tensor) -> Result<()> {
        self.assign_view(|tensor| tensor.index(indices), values)
    }

    /// The adjoint of [`Tensor::index`]: returns a tensor of a shape that has these scalars in the part, and zeros elsewhere.
    pub fn index_adjoint(&self, shape: &Shape, indices: &[Index]) -> Result<Tensor> {
        let mut result = Tensor::zeros(self.kind(), shape.clone())?;
        result.assign(indices, self)?;
        Ok(result)
    }

    /// Returns a part by its lower bounds and sizes, one for each axis, as a view. A size of -1 reaches to the end.
    pub fn slice(&self, lower_bounds: &[isize], sizes: &[isize]) -> Result<Tensor> {
        let operation = "slice(lowerBounds:sizes:)";
        if lower_bounds.len() != self.rank() || sizes.len() != self.rank() {
            let problem = format!("cannot slice a tensor of shape {} by {} bounds", self.shape, lower_bounds.len());
            let requirement = format!("needs one for each of its {} axes", self.rank());
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, requirement));
        }
        let mut result = self.clone();
        for (axis, (&low, &size)) in lower_bounds.iter().zip(sizes).enumerate() {
            let all = self.shape[axis] as isize;
            let size = if size == -1 { all.saturating_sub(low) } else { size };
            if low < 0 || size < 0 || low.saturating_add(size) > all {
                return Err(TensorError::shape(
                    operation,
                    Some(axis),
                    &[&self.shape],
                    format!("cannot take {size} indices from {low} on of an axis of size {all}"),
                    format!("needs a part of axis {axis}"),
                ));
            }
            result = result.along(axis, low as usize, 1, size as usize);
        }
        Ok(result)
    }

    /// The adjoint of [`Tensor::slice`]: returns a tensor of a shape that has these scalars in the slice, and zeros elsewhere.
    pub fn slice_adjoint(&self, shape: &Shape, lower_bounds: &[isize]) -> Result<Tensor> {
        let mut result = Tensor::zeros(self.kind(), shape.clone())?;
        let sizes: Vec<isize> = self.shape.iter().map(|&size| size as isize).collect();
        result.assign_view(|tensor| tensor.slice(lower_bounds, &sizes), self)?;
        Ok(result)
    }

    /// Returns the parts along an axis, without it.
    pub fn unstack(&self, axis: isize) -> Result<Vec<Tensor>> {
        let axis = self.shape.axis("unstacked(alongAxis:)", axis)?;
        Ok((0..self.shape[axis]).map(|at| self.along(axis, at, 1, 1).without_axis(axis)).collect())
    }

    /// Returns parts of the given sizes along an axis.
    pub fn split(&self, sizes: &[usize], axis: isize) -> Result<Vec<Tensor>> {
        let operation = "split(sizes:alongAxis:)";
        let axis = self.shape.axis(operation, axis)?;
        if sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) != Some(self.shape[axis]) {
            return Err(TensorError::shape(
                operation,
                Some(axis),
                &[&self.shape],
                format!("cannot split axis {axis} of a tensor of shape {} into parts of sizes {sizes:?}", self.shape),
                format!("needs sizes with the sum {}", self.shape[axis]),
            ));
        }
        let mut start = 0;
        let part = |&size: &usize| {
            start += size;
            self.along(axis, start - size, 1, size)
        };
        Ok(sizes.iter().map(part).collect())
    }

    /// Returns parts of the same size along an axis.
    pub fn split_evenly(&self, count: usize, axis: isize) -> Result<Vec<Tensor>> {
        let operation = "split(count:alongAxis:)";
        let at = self.shape.axis(operation, axis)?;
        let size = self.shape[at];
        if count == 0 || !size.is_multiple_of(count) {
            let problem =
                format!("cannot split axis {at} of a tensor of shape {} into {count} equal parts", self.shape);
            return Err(TensorError::shape(
                operation,
                Some(at),
                &[&self.shape],
                problem,
                "needs a divisor of the size",
            ));
        }
        self.split(&vec![size / count; count], axis)
    }

    /// Returns the tensor without an axis of size 1.
    fn without_axis(&self, axis: usize) -> Tensor {
        let mut result = self.clone();
        result.shape.sizes_mut().remove(axis);
        result.strides.remove(axis);
        result
    }

    /// Returns the scalars on the diagonals of the matrices in the last two axes, as a view.
    pub fn diagonal_part(&self) -> Result<Tensor> {
        let rank = self.matrix_rank("diagonalPart()")?;
        let size = self.shape[rank - 2].min(self.shape[rank - 1]);
        let mut result = self.clone();
        let stride = self.strides[rank - 2] + self.strides[rank - 1];
        result.shape.sizes_mut().truncate(rank - 2);
        result.shape.sizes_mut().push(size);
        result.strides.truncate(rank - 2);
        result.strides.push(stride);
        Ok(result)
    }

    /// Returns matrices that have the scalars of the last axis on their diagonals, and zeros elsewhere.
    pub fn diagonal(&self) -> Result<Tensor> {
        let operation = "diagonal()";
        let Some(&size) = self.shape.last() else {
            return Err(TensorError::shape(operation, None, &[&self.shape], "cannot make a matrix of a scalar", ""));
        };
        let shape: Shape = self.shape.iter().copied().chain([size]).collect();
        let mut result = Tensor::zeros(self.kind(), shape)?;
        result.assign_view(Tensor::diagonal_part, self)?;
        Ok(result)
    }

    /// Returns the matrices with other scalars on their diagonals.
    pub fn with_diagonal(&self, diagonal: &Tensor) -> Result<Tensor> {
        let mut result = self.clone();
        result.assign_view(Tensor::diagonal_part, diagonal)?;
        Ok(result)
    }

    /// Returns the matrices with zeros outside of a band around the diagonal; a negative count keeps all diagonals of a side.
    pub fn band_part(&self, subdiagonals: isize, superdiagonals: isize) -> Result<Tensor> {
        let rank = self.matrix_rank("bandPart(subdiagonalCount:superdiagonalCount:)")?;
        let (rows, columns) = (self.shape[rank - 2], self.shape[rank - 1]);
        with_kind!(self.kind(), T => {
            let mut scalars = self.to_vec::<T>()?;
            for (number, row) in scalars.chunks_mut(columns.max(1)).enumerate() {
                let at = (number % rows.max(1)) as isize;
                let below = if subdiagonals < 0 { 0 } else { at.saturating_sub(subdiagonals).clamp(0, columns as isize) };
                let above = at.saturating_add(superdiagonals).saturating_add(1).clamp(0, columns as isize);
                let above = if superdiagonals < 0 { columns } else { above as usize };
                row[..below as usize].fill(T::default());
                row[above..].fill(T::default());
            }
            Ok(Tensor::from_scalars(self.shape.clone(), scalars))
        })
    }

    /// Returns the sums of the diagonals of the matrices in the last two axes.
    pub fn trace(&self) -> Result<Tensor> {
        self.diagonal_part()?.sum(Some(&[-1]), false)
    }

    /// Returns the rank, which must be at least 2.
    pub(in crate::tensor) fn matrix_rank(&self, operation: &'static str) -> Result<usize> {
        if self.rank() < 2 {
            let problem = format!("a tensor of shape {} is not a matrix", self.shape);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, "needs rank 2 or more"));
        }
        Ok(self.rank())
    }

    /// Returns the unit matrix, or its first columns, repeated for a batch.
    pub fn eye(kind: ScalarKind, rows: usize, columns: usize, batch: &[usize]) -> Result<Tensor> {
        let shape: Shape = batch.iter().copied().chain([rows, columns]).collect();
        let mut result = Tensor::zeros(kind, shape)?;
        result.assign_view(Tensor::diagonal_part, &Tensor::ones(kind, Shape::default())?)?;
        Ok(result)
    }
}
