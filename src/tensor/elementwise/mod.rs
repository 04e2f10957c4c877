//! Elementwise operations: the table of operations, their kernels, and chains of operations in one pass over memory.

mod apply;
mod chain;
mod evaluation;
mod functions;
mod integer;
mod operation;
mod polygamma;
mod real;

pub use chain::{Chain, Node};
pub(super) use evaluation::{Source, Target};
pub use integer::Integer;
pub use operation::{Binary, Comparison, Kept, Logical, Test, Unary};
pub use polygamma::polygamma;
pub use real::Real;
