//! Operations of tensors: a table of operations with their values and their derivatives.
//!
//! In: tensors with their slots, and arguments that are not tensors. Out: tensors, and the tangents and adjoints of the
//! operands, which are computed with the same operations.
//!
//! Promises: an adjoint has the shape of its operand; derivatives are computed only by an [`Evaluator`], so that they
//! can be differentiated again; zeros end the propagation as in derivatives of numbers.
//! Not here: loops over numbers (`tensor`), the recording of operations (`tape`).

mod algebra;
mod builder;
mod elementwise_rule;
mod evaluation;
mod evaluator;
mod indexing_rule;
mod kinks;
mod matrix_rule;
mod operation;
mod propagation;
mod reduction_rule;
mod row_rule;
mod scalars;
mod shape_evaluator;
#[cfg(test)]
mod tests;
mod unary_rule;
mod unvaried;
mod view_rule;
mod window_rule;

pub use evaluator::{Evaluator, Operands, PlainEvaluator, Recorder, TensorValue};
pub use kinks::{TensorKink, equal_operands};
pub use operation::{Axes, Channels, Direction, Evaluation, Movement, Operation};
pub use scalars::{pack, unpack};
pub use shape_evaluator::{ShapeEvaluator, has_known_shape, without_scalars, zeros_of_shape};
pub use unvaried::{has_unvaried, marked};
