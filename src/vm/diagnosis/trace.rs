//! Trace: the steps of one reverse sweep, with their partials and adjoints, for an explanation.

use crate::native::PrimitiveId;
use crate::source::Span;
use hashbrown::HashMap;
use std::rc::Rc;

/// The recorded steps, with the adjoints of one sweep from the result to the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The value and the adjoint of each number with respect to which the function was differentiated; these numbers
    /// are the nodes from 1 on.
    pub inputs: Vec<(f64, f64)>,
    /// The location of each number in `inputs`: the argument that contains the number, and the path inside the argument
    /// (`[0]`, `.width`).
    pub paths: Vec<(usize, String)>,
    /// The steps, in the order in which they were computed; none when there are more than `MAX_LISTED_STEPS`.
    pub rows: Vec<TraceRow>,
    /// The number of steps of the sweep.
    pub steps: usize,
    /// The number of executions of each operation at each source location, in the order of the first executions.
    pub counts: Vec<Count>,
    /// The node of each number of the result, 0 for a constant number, and its value.
    pub outputs: Vec<(u32, f64)>,
    /// The number of bytes that the recorded tape takes.
    pub bytes: usize,
    /// The tensors among the values and adjoints of the nodes.
    pub tensors: HashMap<u32, NodeTensors>,
}

/// A tensor in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedTensor {
    /// The sizes of the tensor's axes.
    pub shape: Vec<usize>,
    /// The scalars in row-major order; none when there are more than `MAX_LISTED_SCALARS`.
    pub scalars: Vec<f64>,
}

/// The maximum number of scalars of a tensor that are listed.
pub const MAX_LISTED_SCALARS: usize = 8;

/// The tensors that a node has as its value and its adjoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTensors {
    /// The value of the node.
    pub value: Option<TracedTensor>,
    /// The adjoint of the node.
    pub adjoint: Option<TracedTensor>,
}

/// The maximum number of steps that are listed; further steps are only counted, because listing them would take more
/// memory than the tape.
pub const MAX_LISTED_STEPS: usize = 20_000;

/// The number of executions of an operation at a source location.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The symbol of the operation: `*`, `sin`.
    pub symbol: Rc<str>,
    /// The source location of the operation.
    pub span: Span,
    /// The number of executions of the operation.
    pub times: usize,
}

/// A step of a computation that is differentiated.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    /// The number of the step's node.
    pub node: u32,
    /// The operation of the step.
    pub operation: TraceOperation,
    /// The nodes of the operands, and the partial derivative of the result in each operand.
    pub partials: Vec<(u32, f64)>,
    /// The adjoint of the step: the derivative of the final result with respect to the result of the step.
    pub adjoint: f64,
}

/// The operation of a traced step.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceOperation {
    /// The step applies a primitive.
    Primitive {
        /// The primitive that is applied.
        id: PrimitiveId,
        /// The operands of the primitive: the node, 0 for an operand that does not vary, and the value.
        operands: Vec<(u32, f64)>,
        /// The integer operand of the primitive, if it has one.
        n: i64,
        /// The result of the primitive.
        value: f64,
        /// The source location of the step.
        span: Span,
    },
    /// The step sums many products: a scalar product or a sum. The value is the result of the step.
    Sum(Option<f64>),
    /// The step applies an operation of tensors.
    Tensor {
        /// The name of the operation.
        name: Rc<str>,
        /// The operands: the node, 0 for an operand that does not vary, and the value of such an operand.
        operands: Vec<(u32, Option<TracedTensor>)>,
        /// The result, unless it is a tensor.
        value: f64,
        /// The source location of the operation.
        span: Span,
    },
    /// The step calls a function with a registered derivative, edits an adjoint, or runs a checkpoint.
    Called {
        /// The name of the called function.
        name: Rc<str>,
        /// The nodes of the operands that vary.
        operands: Vec<u32>,
        /// The result of the call.
        value: f64,
        /// The source location of the call.
        span: Span,
    },
    /// The operation of the step is not known.
    Other,
}
