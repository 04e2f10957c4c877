//! Spare memory: the memory of storages to which nothing refers any more, which later operations take for their results. The steps
//! of a loop need memory of the same sizes each time; new memory would have to be cleared before threads can write to it.

use super::super::scalar::{Buffer, Scalar};
use std::cell::RefCell;

/// The number of bytes from which memory is kept.
const LEAST_BYTES: usize = 1 << 15;

/// The largest number of bytes that are kept together.
const MOST_BYTES: usize = 1 << 23;

/// The largest number of buffers that are kept.
const MOST_BUFFERS: usize = 16;

thread_local! {
    /// The spare buffers; the last one was kept last.
    static SPARE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Whether the memory of some scalars is worth keeping, and not too large: that of other sizes is freed.
#[inline]
pub(in crate::tensor) fn is_kept(buffer: &Buffer) -> bool {
    (LEAST_BYTES..=MOST_BYTES).contains(&buffer.bytes())
}

/// Keeps the memory of scalars that nothing reads any more, instead of older memory if there is too much of it.
pub(in crate::tensor) fn keep(buffer: Buffer) {
    if !is_kept(&buffer) {
        return;
    }
    // The memory is freed instead while the thread ends.
    _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        spare.push(buffer);
        let mut bytes = 0;
        let fits = |buffer: &&Buffer| {
            bytes += buffer.bytes();
            bytes <= MOST_BYTES
        };
        let count = spare.iter().rev().take(MOST_BUFFERS).take_while(fits).count();
        let first = spare.len() - count;
        spare.drain(..first);
    });
}

/// Returns spare memory for a number of scalars, with a number of scalars in it whose values are unspecified.
fn take<T: Scalar>(count: usize) -> Option<Vec<T>> {
    if count * size_of::<T>() < LEAST_BYTES {
        return None;
    }
    let fits = |buffer: &Buffer| {
        T::scalars(buffer).is_some_and(|scalars| (count..=count + count / 4).contains(&scalars.len()))
    };
    let mut buffer = SPARE.with_borrow_mut(|spare| {
        let at = spare.iter().rposition(fits)?;
        Some(spare.remove(at))
    })?;
    T::scalars_mut(&mut buffer).map(std::mem::take)
}

/// Returns scalars whose values are unspecified.
pub(in crate::tensor) fn unspecified<T: Scalar>(count: usize) -> Vec<T> {
    match take(count) {
        Some(mut scalars) => {
            scalars.truncate(count);
            scalars
        }
        None => vec![T::default(); count],
    }
}

/// Returns an empty vector with the capacity for a number of scalars.
pub(in crate::tensor) fn with_capacity<T: Scalar>(count: usize) -> Vec<T> {
    match take(count) {
        Some(mut scalars) => {
            scalars.clear();
            scalars
        }
        None => Vec::with_capacity(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare_lengths() -> Vec<usize> {
        SPARE.with_borrow(|spare| spare.iter().map(Buffer::len).collect())
    }

    #[test]
    fn memory_of_a_similar_size_and_the_same_type_is_taken() {
        keep(Buffer::F64(vec![1.0; 10_000]));
        assert_eq!(unspecified::<f64>(5_000), [0.0; 5_000], "too large");
        assert_eq!(unspecified::<f64>(10_001), [0.0; 10_001], "too small");
        assert_eq!(unspecified::<f32>(10_000), [0.0; 10_000], "another type");
        assert_eq!(unspecified::<f64>(9_000), [1.0; 9_000]);
        assert_eq!(unspecified::<f64>(9_000), [0.0; 9_000], "taken before");
        keep(Buffer::F64(vec![1.0; 10_000]));
        let empty = with_capacity::<f64>(10_000);
        assert!(empty.is_empty() && empty.capacity() >= 10_000);
    }

    #[test]
    fn a_limited_number_of_bytes_is_kept() {
        keep(Buffer::U8(vec![0; LEAST_BYTES - 1]));
        keep(Buffer::U8(vec![0; MOST_BYTES + 1]));
        assert!(spare_lengths().is_empty());
        let lengths: Vec<usize> = (0..2 * MOST_BUFFERS).map(|k| LEAST_BYTES + k).collect();
        lengths.iter().for_each(|&length| keep(Buffer::U8(vec![0; length])));
        assert_eq!(spare_lengths(), lengths[MOST_BUFFERS..], "the oldest are freed");
        keep(Buffer::U8(vec![0; MOST_BYTES]));
        assert_eq!(spare_lengths(), [MOST_BYTES]);
    }
}
