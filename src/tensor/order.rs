//! The order of scalars along an axis.

use super::cancellation;
use super::error::{Result, TensorError};
use super::scalar::{Scalar, with_kind};
use super::shape::Shape;
use super::strided::Tensor;
use std::cmp::Ordering;

/// Compares two scalars; a NaN is larger than all numbers.
#[allow(clippy::eq_op)]
fn order<T: Scalar>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| (a != a).cmp(&(b != b)))
}

/// Sorts indices by their scalars; equal scalars keep their order.
fn sort<T: Scalar>(indices: &mut [usize], scalar: impl Fn(usize) -> T, descends: bool) {
    indices.sort_by(|&a, &b| {
        let order = order(scalar(a), scalar(b));
        if descends { order.reverse() } else { order }
    });
}

impl Tensor {
    /// Returns the positions of the sorted scalars along an axis in the flat tensor (`Int`), and their indices along the axis
    /// (`Int32`). Equal scalars keep their order, and a NaN counts as the largest number. The sorted tensor is
    /// [`Tensor::gather_flat`] of the positions.
    pub fn sorted_positions(&self, axis: isize, descends: bool) -> Result<(Tensor, Tensor)> {
        let at = self.shape.axis("sorted", axis)?;
        self.ordered(at, self.shape[at], descends)
    }

    /// Returns the positions of the largest scalars along the last axis in the flat tensor (`Int`), in descending order, and
    /// their indices along the axis (`Int32`).
    pub fn top_positions(&self, count: usize) -> Result<(Tensor, Tensor)> {
        let operation = "topK";
        let at = self.shape.axis(operation, -1)?;
        if count > self.shape[at] {
            let problem = format!("cannot take the largest {count} of {} scalars", self.shape[at]);
            return Err(TensorError::shape(operation, Some(at), &[&self.shape], problem, "needs at most the size"));
        }
        self.ordered(at, count, true)
    }

    /// Returns the positions and indices of the first `count` scalars of each sorted row along an axis.
    fn ordered(&self, axis: usize, count: usize, descends: bool) -> Result<(Tensor, Tensor)> {
        let (outer, inner) = self.shape.around(axis);
        let size = self.shape[axis];
        let shape: Shape = self.shape.with_size(axis, count);
        let total = shape.checked_count("sorted", size_of::<i64>())?;
        let (mut positions, mut indices) = (vec![0i64; total], vec![0i32; total]);
        with_kind!(self.kind(), T => {
            let scalars = self.scalars::<T>()?;
            let mut row: Vec<usize> = Vec::with_capacity(size);
            for number in 0..outer * inner {
                cancellation::check();
                let (before, after) = (number / inner, number % inner);
                let start = before * size * inner + after;
                row.clear();
                row.extend(0..size);
                let scalar = |index: usize| scalars[start + index * inner];
                if count < size && count > 0 {
                    // The order of indices decides between equal scalars, as in a stable sort.
                    row.select_nth_unstable_by(count - 1, |&a, &b| {
                        order(scalar(b), scalar(a)).then(a.cmp(&b))
                    });
                    row.truncate(count);
                    row.sort_unstable();
                }
                sort(&mut row, scalar, descends);
                for (place, &index) in row.iter().take(count).enumerate() {
                    let target = (before * count + place) * inner + after;
                    positions[target] = (start + index * inner) as i64;
                    indices[target] = index as i32;
                }
            }
        });
        Ok((Tensor::from_scalars(shape.clone(), positions), Tensor::from_scalars(shape, indices)))
    }
}
