//! Errors of tensor operations.

use super::scalar::ScalarKind;
use super::shape::Shape;
use std::fmt;

/// Shapes that do not fit an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeError {
    /// The name of the operation.
    pub operation: &'static str,
    /// The axis of the first shape that does not fit, if it is a single one.
    pub axis: Option<usize>,
    /// The shapes of the operands, in their order.
    pub shapes: Vec<Shape>,
    /// What cannot be done: "cannot multiply a 2×3 matrix by a 2×3 matrix".
    pub problem: String,
    /// What would be possible: "needs columns of the first (3) = rows of the second (2)".
    pub requirement: String,
}

/// The reason why a tensor operation has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorError {
    /// Shapes that do not fit the operation.
    Shape(Box<ShapeError>),
    /// Operands of kinds for which the operation does not exist.
    Kind {
        /// The name of the operation.
        operation: &'static str,
        /// The kind of the operand.
        kind: ScalarKind,
    },
    /// A tensor that would need more memory than a tensor may.
    TooLarge {
        /// The name of the operation.
        operation: &'static str,
        /// The shape of the tensor.
        shape: Shape,
    },
    /// A value for which the operation is not defined: a division by zero, an index out of range, a singular matrix.
    Value {
        /// The name of the operation.
        operation: &'static str,
        /// What is wrong with the value.
        problem: String,
    },
}

/// The result of an operation that may fail.
pub type Result<T> = std::result::Result<T, TensorError>;

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorError::Shape(error) => match error.requirement.as_str() {
                "" => write!(f, "{}", error.problem),
                requirement => write!(f, "{}: {} {requirement}", error.problem, error.operation),
            },
            TensorError::Kind { operation, kind } => {
                write!(f, "{operation} is not defined for tensors of {}", kind.name())
            }
            TensorError::TooLarge { operation, shape } => {
                write!(f, "{operation}: a tensor of shape {shape} needs more memory than allowed")
            }
            TensorError::Value { operation, problem } => write!(f, "{operation}: {problem}"),
        }
    }
}

impl std::error::Error for TensorError {}

impl TensorError {
    /// Creates an error about a value.
    pub fn value(operation: &'static str, problem: impl Into<String>) -> TensorError {
        TensorError::Value { operation, problem: problem.into() }
    }

    /// Creates an error about shapes.
    pub fn shape(
        operation: &'static str,
        axis: Option<usize>,
        shapes: &[&Shape],
        problem: impl Into<String>,
        requirement: impl Into<String>,
    ) -> TensorError {
        TensorError::Shape(Box::new(ShapeError {
            operation,
            axis,
            shapes: shapes.iter().map(|&shape| shape.clone()).collect(),
            problem: problem.into(),
            requirement: requirement.into(),
        }))
    }
}
