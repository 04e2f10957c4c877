//! Reading and writing the scalars of strided views in row-major order.

use super::scalar::Scalar;
use super::shape::{Shape, Strides};
use smallvec::SmallVec;
use std::ops::Range;

/// One axis of a view after adjacent axes have been joined.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    stride: isize,
}

/// The positions of the scalars of a view in its buffer, with as few axes as possible.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    axes: SmallVec<[Axis; 4]>,
    offset: usize,
}

/// An operand of an elementwise operation on a block.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a, T> {
    /// One value for each scalar.
    Slice(&'a [T]),
    /// The same value for all scalars.
    Scalar(T),
}

/// The scalars of a view, which can be read block by block.
#[derive(Clone, Debug)]
pub(super) enum Reader<'a, T> {
    /// Scalars that lie in their order.
    Contiguous(&'a [T]),
    /// One scalar, repeated.
    Scalar(T),
    /// Scalars at other positions.
    Strided(&'a [T], Positions),
}

impl Positions {
    pub(super) fn new(shape: &Shape, strides: &Strides, offset: usize) -> Positions {
        let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
        for (&size, &stride) in shape.iter().zip(strides).filter(|(size, _)| **size != 1) {
            match axes.last_mut() {
                Some(outer) if outer.stride == stride.saturating_mul(size as isize) => {
                    *outer = Axis { size: outer.size * size, stride };
                }
                _ => axes.push(Axis { size, stride }),
            }
        }
        Positions { axes, offset }
    }

    /// Returns the positions of the only row, if it is repeated within a block of a length.
    fn repeated_row(&self, length: usize) -> Option<Range<usize>> {
        match self.axes.as_slice() {
            [Axis { stride: 0, .. }, Axis { stride: 1, size }] if *size < length => {
                Some(self.offset..self.offset + size)
            }
            _ => None,
        }
    }

    /// Calls a function for each run of scalars with one distance: the number of the first scalar relative to `start`, its
    /// position, the distance, and the length. Runs cover the scalars `start..start + count`.
    #[inline]
    pub(super) fn runs(&self, start: usize, count: usize, mut run: impl FnMut(usize, usize, isize, usize)) {
        let Some((inner, outer)) = self.axes.split_last() else {
            if count > 0 {
                run(0, self.offset, 0, count);
            }
            return;
        };
        if count == 0 || inner.size == 0 {
            return;
        }
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        let mut rest = start / inner.size;
        let mut at = self.offset as isize;
        for (index, axis) in index.iter_mut().zip(outer).rev() {
            *index = rest % axis.size;
            rest /= axis.size;
            at += *index as isize * axis.stride;
        }
        let mut inner_index = start % inner.size;
        let mut done = 0;
        loop {
            let length = (inner.size - inner_index).min(count - done);
            run(done, (at + inner_index as isize * inner.stride) as usize, inner.stride, length);
            done += length;
            if done == count {
                return;
            }
            inner_index = 0;
            for (index, axis) in index.iter_mut().zip(outer).rev() {
                *index += 1;
                at += axis.stride;
                if *index < axis.size {
                    break;
                }
                at -= axis.size as isize * axis.stride;
                *index = 0;
            }
        }
    }
}

/// Fills a slice with repetitions of a row, from a position in the repetitions on.
fn fill_repeating<T: Copy>(row: &[T], start: usize, target: &mut [T]) {
    let (before, after) = row.split_at(start % row.len());
    // What is written is the period of what follows, and is copied in pieces of twice the size each time.
    let mut count = row.len();
    let (first, second) = target[..count].split_at_mut(after.len());
    first.copy_from_slice(after);
    second.copy_from_slice(before);
    while count < target.len() {
        let length = count.min(target.len() - count);
        target.copy_within(..length, count);
        count += length;
    }
}

impl<'a, T: Scalar> Reader<'a, T> {
    pub(super) fn new(data: &'a [T], shape: &Shape, strides: &Strides, offset: usize) -> Reader<'a, T> {
        let positions = Positions::new(shape, strides, offset);
        let count = shape.scalar_count();
        match positions.axes.as_slice() {
            _ if count == 0 => Reader::Contiguous(&[]),
            [] | [Axis { stride: 0, .. }] => Reader::Scalar(data[offset]),
            [Axis { stride: 1, .. }] => Reader::Contiguous(&data[offset..offset + count]),
            _ => Reader::Strided(data, positions),
        }
    }

    /// Returns the length of the row of which the view consists, if it is repeated within a block of a length.
    pub(super) fn period(&self, length: usize) -> Option<usize> {
        match self {
            Reader::Strided(_, positions) => positions.repeated_row(length).map(|row| row.len()),
            Reader::Contiguous(_) | Reader::Scalar(_) => None,
        }
    }

    /// Copies the scalars from number `start` on.
    pub(super) fn fill(&self, start: usize, target: &mut [T]) {
        match self {
            Reader::Contiguous(scalars) => target.copy_from_slice(&scalars[start..start + target.len()]),
            Reader::Scalar(value) => target.fill(*value),
            Reader::Strided(scalars, positions) if let Some(row) = positions.repeated_row(target.len()) => {
                fill_repeating(&scalars[row], start, target);
            }
            Reader::Strided(scalars, positions) => positions.runs(start, target.len(), |done, at, stride, length| {
                let target = &mut target[done..done + length];
                match stride {
                    1 => target.copy_from_slice(&scalars[at..at + length]),
                    0 => target.fill(scalars[at]),
                    -1 => {
                        let source = scalars[at + 1 - length..=at].iter().rev();
                        target.iter_mut().zip(source).for_each(|(target, &scalar)| *target = scalar);
                    }
                    2.. => {
                        let source = scalars[at..].iter().step_by(stride as usize);
                        target.iter_mut().zip(source).for_each(|(target, &scalar)| *target = scalar);
                    }
                    _ => {
                        let source = scalars[..=at].iter().rev().step_by(stride.unsigned_abs());
                        target.iter_mut().zip(source).for_each(|(target, &scalar)| *target = scalar);
                    }
                }
            }),
        }
    }

    /// Appends `count` scalars from number `start` on to a vector.
    pub(super) fn append(&self, start: usize, count: usize, target: &mut Vec<T>) {
        match self {
            Reader::Contiguous(scalars) => target.extend_from_slice(&scalars[start..start + count]),
            Reader::Scalar(_) | Reader::Strided(..) => {
                let end = target.len();
                target.resize(end + count, T::default());
                self.fill(start, &mut target[end..]);
            }
        }
    }

    /// Returns the scalars from number `start` on, which are copied to `scratch` if they do not lie in their order.
    pub(super) fn operand<'b>(&'b self, start: usize, count: usize, scratch: &'b mut Vec<T>) -> Operand<'b, T> {
        match self {
            Reader::Contiguous(scalars) => Operand::Slice(&scalars[start..start + count]),
            Reader::Scalar(value) => Operand::Scalar(*value),
            Reader::Strided(..) => {
                scratch.resize(count, T::default());
                self.fill(start, scratch);
                Operand::Slice(scratch)
            }
        }
    }
}
