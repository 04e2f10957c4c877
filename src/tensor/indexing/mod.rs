//! Indexing: the parts of a tensor that indices, ranges, masks and tensors of indices select.

mod gathering;
mod slicing;

pub use slicing::Index;
