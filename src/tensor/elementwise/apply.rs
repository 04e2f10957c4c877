//! Single elementwise operations on tensors.

use super::super::deferred;
use super::super::error::{Result, TensorError};
use super::super::parallel::{change_blocks, fill_blocks, update_blocks};
use super::super::reader::Operand;
use super::super::scalar::{Scalar, with_kind};
use super::super::strided::Tensor;
use super::integer::Integer;
use super::operation::{Binary, Comparison, Logical, Test, Unary};
use super::real::Real;
use std::sync::Mutex;

/// The first error of the blocks of an operation.
#[derive(Default)]
struct FirstError(Mutex<Option<TensorError>>);

impl FirstError {
    fn note(&self, result: Result<()>) {
        if let Err(error) = result
            && let Ok(mut first) = self.0.lock()
        {
            first.get_or_insert(error);
        }
    }

    fn result(self) -> Result<()> {
        match self.0.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Tensor {
    /// Applies an operation to each scalar, in place if the storage is not shared.
    pub fn unary(mut self, operation: Unary) -> Result<Tensor> {
        if let Some(result) = self.small_unary(operation).or_else(|| deferred::unary(operation, &self)) {
            return Ok(result);
        }
        if self.kind().is_real() {
            return with_kind!(operation.name(), real self.kind(), T => {
                if self.is_unique() {
                    let scalars = self.scalars_mut::<T>()?;
                    update_blocks(scalars, operation.cost(), |_, block| T::unary(operation, block));
                    return Ok(self);
                }
                let reader = self.reader::<T>(operation.name())?;
                let change = |_, block: &mut [T]| T::unary(operation, block);
                let scalars = change_blocks(&reader, self.scalar_count(), operation.cost(), change);
                Ok(Tensor::from_scalars(self.shape.clone(), scalars))
            });
        }
        with_kind!(operation.name(), integer self.kind(), T => {
            T::unary(operation, self.scalars_mut::<T>()?)?;
            Ok(self)
        })
    }

    /// Applies an operation to the scalars of two tensors that broadcast, in place if the storage of one is not shared.
    pub fn binary(mut self, operation: Binary, mut other: Tensor) -> Result<Tensor> {
        if let Some(result) = self.small_binary(operation, &other) {
            return Ok(result);
        }
        let name = operation.name();
        if self.kind() != other.kind() {
            return Err(TensorError::Kind { operation: name, kind: other.kind() });
        }
        let shape = self.shape.broadcast(name, &other.shape)?;
        if shape != self.shape {
            shape.checked_count(name, self.kind().size())?;
        }
        if let Some(deferred) = deferred::binary(operation, [&self, &other], &shape) {
            return Ok(deferred);
        }
        if shape == self.shape && self.is_unique() {
            self.update(operation, &other, false)?;
            return Ok(self);
        }
        if shape == other.shape && other.is_unique() {
            other.update(operation, &self, true)?;
            return Ok(other);
        }
        let count = shape.scalar_count();
        if self.kind().is_real() {
            return with_kind!(name, real self.kind(), T => {
                let (left, right) = (self.reader_in::<T>(name, &shape)?, other.reader_in::<T>(name, &shape)?);
                let scalars = change_blocks(&left, count, operation.cost(), |start, block| {
                    let mut scratch = Vec::new();
                    let operand = right.operand(start, block.len(), &mut scratch);
                    T::binary(operation, block, operand, false);
                });
                Ok(Tensor::from_scalars(shape, scalars))
            });
        }
        let mut result = self.broadcast_to(&shape)?.contiguous_copy();
        result.update(operation, &other, false)?;
        Ok(result)
    }

    /// Returns a tensor with the same scalars that shares nothing.
    fn contiguous_copy(&self) -> Tensor {
        with_kind!(self.kind(), T => Tensor::from_scalars(self.shape.clone(), self.to_vec::<T>().unwrap_or_default()))
    }

    /// Applies an operation in place; the shape of the other operand broadcasts to that of this tensor.
    fn update(&mut self, operation: Binary, other: &Tensor, is_swapped: bool) -> Result<()> {
        let name = operation.name();
        if self.kind().is_real() {
            return with_kind!(name, real self.kind(), T => {
                let reader = other.reader_in::<T>(name, &self.shape)?;
                update_blocks(self.scalars_mut::<T>()?, operation.cost(), |start, block| {
                    let mut scratch = Vec::new();
                    let operand = reader.operand(start, block.len(), &mut scratch);
                    T::binary(operation, block, operand, is_swapped);
                });
                Ok(())
            });
        }
        with_kind!(name, integer self.kind(), T => {
            let reader = other.reader_in::<T>(name, &self.shape)?;
            let first = FirstError::default();
            update_blocks(self.scalars_mut::<T>()?, operation.cost(), |start, block| {
                let mut scratch = Vec::new();
                let operand = reader.operand(start, block.len(), &mut scratch);
                first.note(T::binary(operation, block, operand, is_swapped));
            });
            first.result()
        })
    }

    /// Applies an operation with a scalar as the second operand (or the first, if `is_swapped`).
    pub fn binary_scalar<T: Scalar>(self, operation: Binary, scalar: T, is_swapped: bool) -> Result<Tensor> {
        let scalar = Tensor::scalar(scalar);
        if is_swapped { scalar.binary(operation, self) } else { self.binary(operation, scalar) }
    }

    /// Compares the scalars of two tensors that broadcast.
    pub fn compare(&self, operation: Comparison, other: &Tensor) -> Result<Tensor> {
        let name = operation.name();
        let shape = self.shape.broadcast(name, &other.shape)?;
        shape.checked_count(name, 8)?;
        let (left, right) = (self.broadcast_to(&shape)?, other.broadcast_to(&shape)?);
        with_kind!(self.kind(), T => {
            let (left, right) = (left.reader::<T>(name)?, right.reader::<T>(name)?);
            let holds = fill_blocks(shape.scalar_count(), 1, |start, block: &mut [bool]| {
                let (mut scratch, mut other) = (Vec::new(), Vec::new());
                let x = left.operand(start, block.len(), &mut scratch);
                let y = right.operand(start, block.len(), &mut other);
                compare_block(operation, x, y, block);
            });
            Ok(Tensor::from_scalars(shape, holds))
        })
    }

    /// Tests each number for a property.
    pub fn test(&self, test: Test) -> Result<Tensor> {
        with_kind!(test.name(), real self.kind(), T => {
            let scalars = self.scalars::<T>()?;
            let holds = scalars.iter().map(|&x| match test {
                Test::IsNan => x.is_nan(),
                Test::IsFinite => x.is_finite(),
                Test::IsInfinite => x.is_infinite(),
            });
            Ok(Tensor::from_scalars(self.shape.clone(), holds.collect()))
        })
    }

    /// Applies a logical operation to two tensors of `Bool` that broadcast.
    pub fn logical(&self, operation: Logical, other: &Tensor) -> Result<Tensor> {
        let name = operation.name();
        let shape = self.shape.broadcast(name, &other.shape)?;
        let (left, right) = (self.broadcast_to(&shape)?, other.broadcast_to(&shape)?);
        let (left, right) = (left.scalars::<bool>()?, right.scalars::<bool>()?);
        let combine = |(&a, &b): (&bool, &bool)| match operation {
            Logical::And => a & b,
            Logical::Or => a | b,
            Logical::ExclusiveOr => a ^ b,
        };
        Ok(Tensor::from_scalars(shape, left.iter().zip(right.iter()).map(combine).collect()))
    }

    /// Returns the negation of each `Bool`.
    pub fn logical_not(mut self) -> Result<Tensor> {
        self.scalars_mut::<bool>()?.iter_mut().for_each(|scalar| *scalar = !*scalar);
        Ok(self)
    }

    /// Returns this tensor with the scalars of another one where a mask is true; both broadcast to the shape of all three.
    pub fn replacing(&self, other: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let name = "replacing(with:where:)";
        let shape = self.shape.broadcast(name, &other.shape)?.broadcast(name, &mask.shape)?;
        shape.checked_count(name, self.kind().size())?;
        let (left, right, mask) = (self.broadcast_to(&shape)?, other.broadcast_to(&shape)?, mask.broadcast_to(&shape)?);
        let mask = mask.reader::<bool>(name)?;
        with_kind!(self.kind(), T => {
            let (left, right) = (left.reader::<T>(name)?, right.reader::<T>(name)?);
            let scalars = change_blocks(&left, shape.scalar_count(), 2, |start, block| {
                let (mut scratch, mut is_taken) = (Vec::new(), vec![false; block.len()]);
                mask.fill(start, &mut is_taken);
                match right.operand(start, block.len(), &mut scratch) {
                    Operand::Slice(right) => block.iter_mut().zip(right).zip(&is_taken).for_each(|((x, &y), &is_taken)| {
                        *x = if is_taken { y } else { *x };
                    }),
                    Operand::Scalar(y) => block.iter_mut().zip(&is_taken).for_each(|(x, &is_taken)| {
                        *x = if is_taken { y } else { *x };
                    }),
                }
            });
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }

    /// Returns each number limited to a range; the bounds broadcast.
    pub fn clipped(self, min: Tensor, max: Tensor) -> Result<Tensor> {
        self.binary(Binary::Max, min)?.binary(Binary::Min, max)
    }
}

/// Compares two blocks.
fn compare_block<T: Scalar>(operation: Comparison, x: Operand<'_, T>, y: Operand<'_, T>, holds: &mut [bool]) {
    fn each<T: Copy>(x: Operand<'_, T>, y: Operand<'_, T>, holds: &mut [bool], test: impl Fn(T, T) -> bool) {
        match (x, y) {
            (Operand::Slice(x), Operand::Slice(y)) => {
                holds.iter_mut().zip(x).zip(y).for_each(|((holds, &x), &y)| *holds = test(x, y));
            }
            (Operand::Slice(x), Operand::Scalar(y)) => {
                holds.iter_mut().zip(x).for_each(|(holds, &x)| *holds = test(x, y))
            }
            (Operand::Scalar(x), Operand::Slice(y)) => {
                holds.iter_mut().zip(y).for_each(|(holds, &y)| *holds = test(x, y))
            }
            (Operand::Scalar(x), Operand::Scalar(y)) => holds.fill(test(x, y)),
        }
    }
    match operation {
        Comparison::Equal => each(x, y, holds, |x, y| x == y),
        Comparison::NotEqual => each(x, y, holds, |x, y| x != y),
        Comparison::Less => each(x, y, holds, |x, y| x < y),
        Comparison::LessEqual => each(x, y, holds, |x, y| x <= y),
        Comparison::Greater => each(x, y, holds, |x, y| x > y),
        Comparison::GreaterEqual => each(x, y, holds, |x, y| x >= y),
    }
}
