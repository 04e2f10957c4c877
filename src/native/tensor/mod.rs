//! Operations of tensors: a table of operations with their values and their derivatives.
//!
//! In: tensors with their slots, and arguments that are not tensors. Out: tensors, and the tangents and adjoints of the
//! operands, which are computed with the same operations.
//! Not here: loops over numbers (`tensor`), the recording of operations (`tape`).

mod evaluator;
mod operation;
mod scalars;

pub use evaluator::{Evaluator, PlainEvaluator, Recorder, TensorValue};
pub use operation::{Evaluation, Operation};
pub use scalars::{pack, unpack};
