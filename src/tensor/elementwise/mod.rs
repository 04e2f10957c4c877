//! Elementwise operations: the table of operations, their kernels, chains of operations in one pass over memory, and
//! their evaluation on small tensors.

mod apply;
mod chain;
mod evaluation;
mod functions;
mod immediate;
mod integer;
mod operation;
mod polygamma;
mod real;

pub use chain::{Chain, Node, Steps};
pub(super) use evaluation::{Source, Target};
pub use immediate::Formula;
pub use integer::Integer;
pub use operation::{Binary, Comparison, Kept, Logical, Test, Unary};
pub use polygamma::polygamma;
pub use real::Real;
