//! Shapes of tensors, the strides of views, and the rules of broadcasting.

use super::error::{Result, TensorError};
use smallvec::SmallVec;
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

thread_local! {
    /// The largest number of bytes that a tensor may have; a larger shape is an error before anything is allocated.
    static LARGEST_TENSOR: Cell<u64> = const { Cell::new(1 << 40) };
}

/// Sets the largest number of bytes that a tensor of this thread may have.
pub fn set_largest_tensor(bytes: u64) {
    LARGEST_TENSOR.set(bytes);
}

/// The distances between neighbors along each axis, in scalars.
pub type Strides = SmallVec<[isize; 4]>;

/// The sizes of a tensor along its axes.
#[derive(Debug, Default, Eq)]
pub struct Shape(SmallVec<[usize; 4]>);

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        // The derived implementation calls the comparison of memory, which takes longer for a few sizes.
        self.rank() == other.rank() && self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Shape {
        // The derived implementation clones the sizes one by one, and a copy of a slice calls the copy of memory.
        Shape(match *self.0 {
            [] => SmallVec::new(),
            [a] => SmallVec::from_buf_and_len([a, 1, 1, 1], 1),
            [a, b] => SmallVec::from_buf_and_len([a, b, 1, 1], 2),
            _ => SmallVec::from_slice(&self.0),
        })
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Shape {
        Shape(SmallVec::from_slice(sizes))
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Shape {
        Shape(SmallVec::from_slice(&sizes))
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Shape {
        Shape(sizes.into_iter().collect())
    }
}

/// Writes `2×3`; a scalar is written as "a single number" in sentences, and as `[]` here.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.split_first() {
            None => write!(f, "[]"),
            Some((first, [])) => write!(f, "[{first}]"),
            Some((first, rest)) => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|size| write!(f, "×{size}"))
            }
        }
    }
}

impl Shape {
    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of scalars. Shapes of tensors are checked when they are made, so the product does not overflow.
    pub fn scalar_count(&self) -> usize {
        self.0.iter().product()
    }

    /// Returns the number of scalars of a shape that may be too large for a tensor.
    pub fn checked_count(&self, operation: &'static str, bytes: usize) -> Result<usize> {
        if self.0.contains(&0) {
            return Ok(0);
        }
        let total = self.0.iter().try_fold(bytes.max(1), |count, &size| count.checked_mul(size));
        match total {
            Some(total) if total as u64 <= LARGEST_TENSOR.get() => Ok(total / bytes.max(1)),
            _ => Err(TensorError::TooLarge { operation, shape: self.clone() }),
        }
    }

    /// Returns the strides of a contiguous tensor in row-major order.
    pub fn strides(&self) -> Strides {
        let mut strides = match self.rank() {
            rank @ 0..=1 => return Strides::from_buf_and_len([1; 4], rank),
            rank @ 2..=4 => Strides::from_buf_and_len([1; 4], rank),
            rank => Strides::from_elem(1, rank),
        };
        let mut step = 1isize;
        for (stride, &size) in strides.iter_mut().zip(self.iter()).rev() {
            *stride = step;
            step = step.saturating_mul(size.max(1) as isize);
        }
        strides
    }

    /// Returns a mutable reference to the sizes.
    pub fn sizes_mut(&mut self) -> &mut SmallVec<[usize; 4]> {
        &mut self.0
    }

    /// Returns the number of an axis that may count from the end.
    pub fn axis(&self, operation: &'static str, axis: isize) -> Result<usize> {
        let rank = self.rank() as isize;
        let from_start = if axis < 0 { axis.saturating_add(rank) } else { axis };
        if (0..rank).contains(&from_start) {
            return Ok(from_start as usize);
        }
        let range = match rank {
            0 => "a tensor of rank 0 has no axes".to_owned(),
            _ => format!("a tensor of shape {self} has the axes {} to {}", -rank, rank - 1),
        };
        Err(TensorError::shape(operation, None, &[self], format!("there is no axis {axis}: {range}"), ""))
    }

    /// Returns for each axis whether it is in a list; an axis that occurs twice is an error.
    pub fn axes(&self, operation: &'static str, axes: &[isize]) -> Result<SmallVec<[bool; 8]>> {
        let mut chosen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.rank());
        for &axis in axes {
            let at = self.axis(operation, axis)?;
            if chosen[at] {
                let problem = format!("axis {at} occurs twice");
                return Err(TensorError::shape(operation, Some(at), &[self], problem, ""));
            }
            chosen[at] = true;
        }
        Ok(chosen)
    }

    /// Returns the shape to which both shapes broadcast.
    pub fn broadcast(&self, operation: &'static str, other: &Shape) -> Result<Shape> {
        if self == other {
            return Ok(self.clone());
        }
        let rank = self.rank().max(other.rank());
        let mut sizes: SmallVec<[usize; 4]> = SmallVec::from_elem(1, rank);
        for (axis, size) in sizes.iter_mut().enumerate() {
            let of = |shape: &Shape| (axis + shape.rank()).checked_sub(rank).map_or(1, |at| shape[at]);
            *size = match (of(self), of(other)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                (a, b) => {
                    return Err(TensorError::shape(
                        operation,
                        (axis + self.rank()).checked_sub(rank),
                        &[self, other],
                        format!("cannot combine shapes {self} and {other}"),
                        format!("needs equal sizes, or 1, along axis {} ({a} and {b})", axis as isize - rank as isize),
                    ));
                }
            };
        }
        Ok(Shape(sizes))
    }

    /// Returns the shape without the axes that are marked, or with these axes of size 1.
    pub fn reduced(&self, axes: &[bool], keeps_axes: bool) -> Shape {
        let kept = self.iter().zip(axes);
        if keeps_axes {
            kept.map(|(&size, &is_reduced)| if is_reduced { 1 } else { size }).collect()
        } else {
            kept.filter(|(_, is_reduced)| !**is_reduced).map(|(&size, _)| size).collect()
        }
    }

    /// Returns the shape with another size along an axis.
    pub fn with_size(&self, axis: usize, size: usize) -> Shape {
        let mut shape = self.clone();
        shape.0[axis] = size;
        shape
    }

    /// Returns the sizes before and after an axis as products.
    pub fn around(&self, axis: usize) -> (usize, usize) {
        (self[..axis].iter().product(), self[axis + 1..].iter().product())
    }
}
