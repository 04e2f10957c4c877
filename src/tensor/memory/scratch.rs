//! Memory for intermediate results, which a thread reuses: memory that was just allocated would have to be cleared each time.

use super::super::scalar::{Buffer, Scalar};
use std::cell::Cell;

/// The largest number of bytes that a thread keeps.
const MOST_BYTES: usize = 1 << 20;

thread_local! {
    /// The memory that the last call on this thread has used.
    static SCRATCH: Cell<Option<Buffer>> = const { Cell::new(None) };
}

/// Calls a function with a number of scalars. Their values are unspecified.
pub(in crate::tensor) fn with_scratch<T: Scalar, R>(count: usize, function: impl FnOnce(&mut [T]) -> R) -> R {
    let mut buffer = SCRATCH.take().filter(|buffer| buffer.kind() == T::KIND).unwrap_or_else(|| T::buffer(Vec::new()));
    let mut none = Vec::new();
    let scalars = T::scalars_mut(&mut buffer).unwrap_or(&mut none);
    if scalars.len() < count {
        scalars.resize(count, T::default());
    }
    let result = function(&mut scalars[..count]);
    if buffer.bytes() <= MOST_BYTES {
        SCRATCH.set(Some(buffer));
    }
    result
}
