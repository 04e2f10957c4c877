//! Tensors: strided arrays of numbers with shared storage, and the operations on them that need compiled loops.
//!
//! In: tensors, shapes and axes, the latter unchecked as they come from a program. Out: tensors, or a [`TensorError`] that names the
//! operation, the shapes and what would fit.
//!
//! Promises: no input panics, and a shape that is too large is an error before memory is allocated; empty axes work
//! everywhere; an operation writes in place if nothing else shares the storage; results do not depend on the number of threads, and
//! on one kind of processor not on the run. Not here: derivatives (the adjoints of operations that need a loop of their own are
//! here, as ordinary operations), layers and optimizers (`prelude/`).

mod cancellation;
mod construction;
mod deferred;
mod description;
mod elementwise;
mod elimination;
mod error;
mod factorization;
mod fold;
mod indexing;
mod matmul;
mod memory;
mod order;
mod parallel;
mod random;
mod reader;
mod recurrence;
mod reduction;
mod rows;
mod scalar;
mod shape;
mod strided;
#[cfg(test)]
mod tests;
mod view;
mod window;

pub use construction::PaddingMode;
pub use description::DescriptionStyle;
pub use elementwise::{
    Binary, Chain, Comparison, Formula, Integer, Kept, Logical, Node, Real, Steps, Test, Unary, polygamma,
};
pub use error::{Result, ShapeError, TensorError};
pub use fold::{Fold, Foldable};
pub use indexing::Index;
pub use matmul::{Matrix, MatrixScalar};
pub use parallel::{set_threads, threads};
pub use random::Seed;
pub use reader::Operand;
pub use scalar::{Buffer, Scalar, ScalarKind};
pub use shape::{Shape, Strides, set_largest_tensor};
pub use strided::Tensor;
pub use window::{Padding, Resizing, Window};
