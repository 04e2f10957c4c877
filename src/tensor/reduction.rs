//! Reductions over axes. The order of the additions depends only on the shape, so results are the same for any number of threads.

use super::deferred;
use super::elementwise::{Binary, Unary};
use super::error::{Result, TensorError};
use super::fold::{Fold, Foldable};
use super::parallel::{BLOCK, for_each_chunk};
use super::scalar::{Scalar, ScalarKind, with_kind};
use super::shape::Shape;
use super::strided::Tensor;
use smallvec::SmallVec;

/// The number of scalars that one thread reduces at a time.
const CHUNK: usize = 16 * BLOCK;

/// A view of a tensor as `outer × reduced × inner`, of which the middle is reduced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) outer: usize,
    pub(super) reduced: usize,
    pub(super) inner: usize,
}

/// Returns the index at which a pairwise fold of several elements is split.
fn middle(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// Folds pairwise.
pub(super) fn tree<T: Foldable>(fold: Fold, parts: &[T]) -> T {
    match parts {
        [] => T::identity(fold),
        [part] => *part,
        _ => {
            let (left, right) = parts.split_at(middle(parts.len()));
            T::combine(fold, tree(fold, left), tree(fold, right))
        }
    }
}

/// Folds a row: blocks, and then their results pairwise.
pub(super) fn fold_row<T: Foldable>(fold: Fold, row: &[T]) -> T {
    let blocks = row.len().div_ceil(BLOCK);
    if blocks < 2 {
        return T::block(fold, row);
    }
    let (left, right) = row.split_at(middle(blocks) * BLOCK);
    T::combine(fold, fold_row(fold, left), fold_row(fold, right))
}

/// Folds the rows of a matrix into one row, pairwise.
fn fold_columns<T: Foldable>(fold: Fold, rows: &[T], width: usize, result: &mut [T]) {
    let count = rows.len() / width;
    if count <= 8 {
        let (first, rest) = rows.split_at(width);
        result.copy_from_slice(first);
        rest.chunks_exact(width).for_each(|row| T::accumulate(fold, result, row));
        return;
    }
    let (left, right) = rows.split_at(middle(count) * width);
    fold_columns(fold, left, width, result);
    let mut other = vec![T::default(); width];
    fold_columns(fold, right, width, &mut other);
    T::accumulate(fold, result, &other);
}

/// Folds the rows of a matrix into one row; narrow rows are joined to wide ones first.
fn fold_matrix<T: Foldable>(fold: Fold, rows: &[T], width: usize, result: &mut [T]) {
    let count = rows.len() / width;
    if count == 0 {
        return result.fill(T::identity(fold));
    }
    let joined = if width < 128 { (256 / width).next_power_of_two() } else { 1 };
    let wide = count / joined * joined;
    if joined == 1 || wide == 0 {
        return fold_columns(fold, rows, width, result);
    }
    let mut sums = vec![T::default(); joined * width];
    fold_columns(fold, &rows[..wide * width], joined * width, &mut sums);
    fold_columns(fold, &sums, width, result);
    if wide < count {
        let mut rest = vec![T::default(); width];
        fold_columns(fold, &rows[wide * width..], width, &mut rest);
        T::accumulate(fold, result, &rest);
    }
}

/// Folds the middle of a layout.
fn fold_layout<T: Foldable>(fold: Fold, scalars: &[T], layout: Layout) -> Vec<T> {
    let Layout { outer, reduced, inner } = layout;
    let mut result = vec![T::identity(fold); outer * inner];
    if reduced == 0 || result.is_empty() {
        return result;
    }
    if result.len() == 1 {
        let blocks = CHUNK / BLOCK;
        let mut parts = vec![T::default(); scalars.len().div_ceil(BLOCK)];
        for_each_chunk(&mut parts, blocks, CHUNK, |number, parts| {
            for (part, block) in parts.iter_mut().zip(scalars[number * CHUNK..].chunks(BLOCK)) {
                *part = T::block(fold, block);
            }
        });
        return vec![tree(fold, &parts)];
    }
    let size = reduced * inner;
    if inner == 1 {
        let rows = (CHUNK / size).max(1);
        for_each_chunk(&mut result, rows, rows * size, |number, result| {
            for (result, row) in result.iter_mut().zip(scalars[number * rows * size..].chunks_exact(size)) {
                *result = fold_row(fold, row);
            }
        });
    } else if outer > 1 {
        for_each_chunk(&mut result, inner, size, |number, result| {
            fold_matrix(fold, &scalars[number * size..(number + 1) * size], inner, result);
        });
    } else {
        // One large matrix: the parts are a power of two of rows, whatever the number of threads.
        let rows = (CHUNK / inner).max(1).next_power_of_two();
        let mut parts = vec![T::default(); reduced.div_ceil(rows) * inner];
        for_each_chunk(&mut parts, inner, rows * inner, |number, part| {
            let end = ((number + 1) * rows).min(reduced);
            fold_matrix(fold, &scalars[number * rows * inner..end * inner], inner, part);
        });
        fold_columns(fold, &parts, inner, &mut result);
    }
    result
}

impl Tensor {
    /// Returns the axes to reduce; all of them for `None`.
    pub(super) fn reduced_axes(&self, operation: &'static str, axes: Option<&[isize]>) -> Result<SmallVec<[bool; 8]>> {
        match axes {
            None => Ok(SmallVec::from_elem(true, self.rank())),
            Some(axes) => self.shape.axes(operation, axes),
        }
    }

    /// Returns a contiguous tensor and its layout such that the marked axes are in the middle.
    pub(super) fn layout(&self, is_reduced: &[bool]) -> (Tensor, Layout) {
        let mut groups: SmallVec<[(usize, bool); 4]> = SmallVec::new();
        for (&size, &is_reduced) in self.shape.iter().zip(is_reduced).filter(|(size, _)| **size != 1) {
            match groups.last_mut() {
                Some((total, last)) if *last == is_reduced => *total *= size,
                _ => groups.push((size, is_reduced)),
            }
        }
        let layout = |outer, reduced, inner| Layout { outer, reduced, inner };
        match groups.as_slice() {
            [] => (self.contiguous(), layout(1, 1, 1)),
            [(a, false)] => (self.contiguous(), layout(*a, 1, 1)),
            [(a, true)] => (self.contiguous(), layout(1, *a, 1)),
            [(a, false), (b, true)] => (self.contiguous(), layout(*a, *b, 1)),
            [(a, true), (b, false)] => (self.contiguous(), layout(1, *a, *b)),
            [(a, false), (b, true), (c, false)] => (self.contiguous(), layout(*a, *b, *c)),
            _ => {
                let kept = (0..self.rank()).filter(|&axis| !is_reduced[axis]);
                let order: Vec<usize> = kept.chain((0..self.rank()).filter(|&axis| is_reduced[axis])).collect();
                let product = |which: bool| {
                    self.shape.iter().zip(is_reduced).filter(|(_, is)| **is == which).map(|(size, _)| size).product()
                };
                (self.permuted(&order).contiguous(), layout(product(false), product(true), 1))
            }
        }
    }

    /// Reduces numbers (or, by `Max` and `Min`, also Booleans) over axes, or over all for `None`.
    pub fn fold(&self, fold: Fold, axes: Option<&[isize]>, keeps_axes: bool) -> Result<Tensor> {
        let is_reduced = self.reduced_axes(fold.name(), axes)?;
        let shape = self.shape.reduced(&is_reduced, keeps_axes);
        if self.kind() == ScalarKind::Bool && matches!(fold, Fold::Sum | Fold::Product) {
            return Err(TensorError::Kind { operation: fold.name(), kind: ScalarKind::Bool });
        }
        if fold == Fold::Sum
            && shape.scalar_count() == 1
            && let Some(sum) = deferred::sum(self, &shape)
        {
            return Ok(sum);
        }
        let (tensor, layout) = self.layout(&is_reduced);
        with_kind!(self.kind(), T => {
            Ok(Tensor::from_scalars(shape, fold_layout::<T>(fold, &tensor.scalars::<T>()?, layout)))
        })
    }

    /// Returns the sum over axes.
    pub fn sum(&self, axes: Option<&[isize]>, keeps_axes: bool) -> Result<Tensor> {
        self.fold(Fold::Sum, axes, keeps_axes)
    }

    /// Returns the mean over axes; that of integers is cut.
    pub fn mean(&self, axes: Option<&[isize]>, keeps_axes: bool) -> Result<Tensor> {
        let is_reduced = self.reduced_axes("mean", axes)?;
        let count: usize = self.shape.iter().zip(&is_reduced).filter(|(_, is)| **is).map(|(size, _)| *size).product();
        let sum = self.sum(axes, keeps_axes)?;
        with_kind!(self.kind(), T => sum.binary_scalar(Binary::Divide, T::from_f64(count as f64), false))
    }

    /// Returns the mean of the squared differences from the mean over axes.
    pub fn variance(&self, axes: Option<&[isize]>, keeps_axes: bool) -> Result<Tensor> {
        let mean = self.mean(axes, true)?;
        self.clone().binary(Binary::SquaredDifference, mean)?.mean(axes, keeps_axes)
    }

    /// Returns the logarithm of the sum of the exponentials over axes, computed without overflow.
    pub fn log_sum_exp(&self, axes: Option<&[isize]>, keeps_axes: bool) -> Result<Tensor> {
        let maximum = self.fold(Fold::Max, axes, true)?;
        let is_finite = maximum.test(super::elementwise::Test::IsFinite)?;
        let shift = Tensor::zeros(self.kind(), Shape::default())?.replacing(&maximum, &is_finite)?;
        let sum = self.clone().binary(Binary::Subtract, shift.clone())?.unary(Unary::Exp)?.sum(axes, true)?;
        let result = sum.unary(Unary::Log)?.binary(Binary::Add, shift)?;
        let is_reduced = self.reduced_axes("logSumExp", axes)?;
        Ok(result.with_shape(self.shape.reduced(&is_reduced, keeps_axes)))
    }

    /// Returns the sum over the axes along which a tensor of the given shape was repeated to become this one.
    pub fn unbroadcast_to(&self, shape: &Shape) -> Result<Tensor> {
        let operation = "unbroadcasted(to:)";
        if &self.shape == shape {
            return Ok(self.clone());
        }
        if shape.broadcast(operation, &self.shape)? != self.shape {
            return Err(TensorError::shape(
                operation,
                None,
                &[&self.shape, shape],
                format!("cannot sum a tensor of shape {} to {shape}", self.shape),
                "needs a shape that broadcasts to it",
            ));
        }
        let added = self.rank() - shape.rank();
        let is_summed = |axis: usize| axis < added || (shape[axis - added] == 1 && self.shape[axis] != 1);
        let axes: Vec<isize> = (0..self.rank()).filter(|&axis| is_summed(axis)).map(|axis| axis as isize).collect();
        Ok(self.sum(Some(&axes), true)?.with_shape(shape.clone()))
    }

    /// Returns the index (`Int32`) of the largest or smallest scalar along an axis, or in the flat tensor for `None`; the first of
    /// equals, and the first NaN if there is one.
    pub fn arg_extremum(&self, fold: Fold, axis: Option<isize>) -> Result<Tensor> {
        let operation = if fold == Fold::Max { "argmax" } else { "argmin" };
        let axes = axis.map(|axis| [axis]);
        let is_reduced = self.reduced_axes(operation, axes.as_ref().map(<[isize; 1]>::as_slice))?;
        let (tensor, Layout { outer, reduced, inner }) = self.layout(&is_reduced);
        if reduced == 0 && outer * inner > 0 {
            let problem = format!("a tensor of shape {} has no largest or smallest scalar", self.shape);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, ""));
        }
        with_kind!(self.kind(), T => {
            let scalars = tensor.scalars::<T>()?;
            #[allow(clippy::eq_op, clippy::bool_comparison)]
            let is_better = |new: T, old: T| {
                old == old && (new != new || if fold == Fold::Max { new > old } else { new < old })
            };
            let mut result = vec![0i32; outer * inner];
            for (at, result) in result.iter_mut().enumerate() {
                let start = at / inner * reduced * inner + at % inner;
                let mut best = scalars[start];
                for number in 1..reduced {
                    let scalar = scalars[start + number * inner];
                    if is_better(scalar, best) {
                        (best, *result) = (scalar, number as i32);
                    }
                }
            }
            Ok(Tensor::from_scalars(self.shape.reduced(&is_reduced, false), result))
        })
    }

    /// Returns the sums (or products) of the scalars up to each one along an axis; without the scalar itself if `is_exclusive`, and
    /// from the last one on if `is_reversed`.
    pub fn cumulative(&self, fold: Fold, axis: isize, is_exclusive: bool, is_reversed: bool) -> Result<Tensor> {
        let operation = if fold == Fold::Sum { "cumulativeSum" } else { "cumulativeProduct" };
        let at = self.shape.axis(operation, axis)?;
        if is_reversed {
            return self.reverse(&[axis])?.cumulative(fold, axis, is_exclusive, false)?.reverse(&[axis]);
        }
        let size = self.shape[at];
        let (_, inner) = self.shape.around(at);
        with_kind!(operation, number self.kind(), T => {
            let mut scalars = self.to_vec::<T>()?;
            for part in scalars.chunks_mut((size * inner).max(1)) {
                if is_exclusive {
                    part.copy_within(..(size - 1) * inner, inner);
                    part[..inner].fill(<T as Foldable>::identity(fold));
                }
                for start in (inner..size * inner).step_by(inner.max(1)) {
                    let (before, rest) = part.split_at_mut(start);
                    T::accumulate(fold, &mut rest[..inner], &before[start - inner..]);
                }
            }
            Ok(Tensor::from_scalars(self.shape.clone(), scalars))
        })
    }
}
