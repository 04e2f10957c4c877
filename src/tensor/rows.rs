//! Functions of rows: softmax, and the cross entropy of it with its derivative.

use super::elementwise::Real;
use super::error::{Result, TensorError};
use super::fold::{Fold, Foldable};
use super::parallel::for_each_chunk;
use super::reduction::fold_row;
use super::scalar::{Scalar, with_kind};
use super::strided::Tensor;

/// The number of scalars that one thread processes at a time.
const CHUNK: usize = 1 << 14;

/// Replaces a row by its exponentials, shifted so that the largest is 1, and returns the shift and the sum.
fn exponentiate<T: Real + Foldable>(row: &mut [T]) -> (T, T) {
    let maximum = fold_row(Fold::Max, row);
    // Without a finite maximum nothing is shifted: the result has the same infinities and NaN as the formula.
    let is_finite = maximum < T::INFINITY && maximum > -T::INFINITY;
    let shift = if is_finite { maximum } else { T::default() };
    T::exp_of_difference(row, shift);
    (shift, fold_row(Fold::Sum, row))
}

impl Tensor {
    /// Returns the size of the last axis.
    fn row_size(&self, operation: &'static str) -> Result<usize> {
        self.shape.last().copied().ok_or_else(|| {
            TensorError::shape(
                operation,
                None,
                &[&self.shape],
                "a single number has no last axis",
                "needs rank 1 or more",
            )
        })
    }

    /// Calls a function with each row along the last axis and returns the changed tensor.
    fn map_rows<T: Real>(mut self, size: usize, change: impl Fn(&mut [T]) + Sync) -> Result<Tensor> {
        let rows = (CHUNK / size.max(1)).max(1);
        for_each_chunk(self.scalars_mut::<T>()?, rows * size, rows * size * 16, |_, part| {
            part.chunks_mut(size.max(1)).for_each(&change);
        });
        Ok(self)
    }

    /// Returns the exponentials along the last axis, divided by their sum.
    pub fn softmax(self) -> Result<Tensor> {
        let size = self.row_size("softmax")?;
        with_kind!("softmax", real self.kind(), T => self.map_rows::<T>(size, |row| {
            let (_, sum) = exponentiate(row);
            row.iter_mut().for_each(|x| *x /= sum);
        }))
    }

    /// Returns the logarithm of [`Tensor::softmax`].
    pub fn log_softmax(self) -> Result<Tensor> {
        let size = self.row_size("logSoftmax")?;
        with_kind!("logSoftmax", real self.kind(), T => self.map_rows::<T>(size, |row| {
            let (shift, sum) = exponentiate(&mut row.to_vec());
            let shift = shift + sum.ln();
            row.iter_mut().for_each(|x| *x -= shift);
        }))
    }

    /// Returns the cross entropies of the softmax of rows of logits and the labels (integers), one for each row, and their derivatives
    /// with respect to the logits.
    pub fn softmax_cross_entropy(&self, labels: &Tensor) -> Result<(Tensor, Tensor)> {
        let operation = "softmaxCrossEntropy(logits:labels:)";
        let size = self.row_size(operation)?;
        let shape = self.shape.reduced(&self.reduced_axes(operation, Some(&[-1]))?, false);
        labels.require_shape(operation, &shape)?;
        let labels = labels.as_indices(operation)?;
        if let Some(label) = labels.iter().find(|label| !(0..size as i64).contains(label)) {
            return Err(TensorError::value(operation, format!("label {label} is not one of the {size} classes")));
        }
        with_kind!(operation, real self.kind(), T => {
            let logits = self.scalars::<T>()?;
            let mut losses = vec![T::default(); labels.len()];
            let mut derivative = logits.to_vec();
            for (((loss, row), logits), &label) in
                losses.iter_mut().zip(derivative.chunks_mut(size.max(1))).zip(logits.chunks(size.max(1))).zip(&labels)
            {
                let (shift, sum) = exponentiate(row);
                *loss = shift + sum.ln() - logits[label as usize];
                row.iter_mut().for_each(|x| *x /= sum);
                row[label as usize] -= T::ONE;
            }
            Ok((Tensor::from_scalars(shape, losses), Tensor::from_scalars(self.shape.clone(), derivative)))
        })
    }

    /// Returns the cross entropies of the softmax of rows of logits and rows of probabilities, and their derivatives with respect to
    /// the logits.
    pub fn softmax_cross_entropy_of_probabilities(&self, probabilities: &Tensor) -> Result<(Tensor, Tensor)> {
        let operation = "softmaxCrossEntropy(logits:probabilities:)";
        let size = self.row_size(operation)?;
        probabilities.require_shape(operation, &self.shape)?;
        let shape = self.shape.reduced(&self.reduced_axes(operation, Some(&[-1]))?, false);
        with_kind!(operation, real self.kind(), T => {
            let (logits, probabilities) = (self.scalars::<T>()?, probabilities.scalars::<T>()?);
            let mut losses = vec![T::default(); shape.scalar_count()];
            let mut derivative = logits.to_vec();
            let rows = logits.chunks(size.max(1)).zip(probabilities.chunks(size.max(1)));
            for ((loss, row), (logits, weights)) in losses.iter_mut().zip(derivative.chunks_mut(size.max(1))).zip(rows) {
                let (shift, sum) = exponentiate(row);
                let total = fold_row(Fold::Sum, weights);
                let normalizer = shift + sum.ln();
                for ((x, &logit), &weight) in row.iter_mut().zip(logits).zip(weights) {
                    // A class without probability adds nothing, even if its logit is infinite.
                    if weight != T::default() {
                        *loss += weight * (normalizer - logit);
                    }
                    *x = *x / sum * total - weight;
                }
            }
            Ok((Tensor::from_scalars(shape, losses), Tensor::from_scalars(self.shape.clone(), derivative)))
        })
    }
}
