//! Trace: the steps of one reverse sweep, with their partials and adjoints, for an explanation.

use crate::native::PrimitiveId;
use crate::source::Span;
use std::rc::Rc;

/// The recorded steps, with the adjoints of one sweep from the result to the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Value and adjoint of each number with respect to which it was differentiated; they are the nodes from 1 on.
    pub inputs: Vec<(f64, f64)>,
    /// The location of each of these numbers: the argument that contains it, and the path inside it (`[0]`, `.width`).
    pub paths: Vec<(usize, String)>,
    /// The steps, in the order in which they were computed; none when there are more than [`MAX_LISTED_STEPS`].
    pub rows: Vec<TraceRow>,
    /// The number of steps.
    pub steps: usize,
    /// The number of executions of each operation at each place, in the order of the first ones.
    pub counts: Vec<Count>,
    /// The node of each number of the result, 0 for a constant one, and its value.
    pub outputs: Vec<(u32, f64)>,
    /// The number of bytes that the tape takes.
    pub bytes: usize,
}

/// The maximum number of steps that are listed; more are only counted, because listing them would take more memory than the tape.
pub const MAX_LISTED_STEPS: usize = 20_000;

/// The number of executions of an operation at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The operation in a word: `*`, `sin`.
    pub symbol: Rc<str>,
    /// The location in the text.
    pub span: Span,
    /// The number of executions.
    pub times: usize,
}

/// A step of a computation that is differentiated.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    /// The number of its node.
    pub node: u32,
    /// The operation.
    pub operation: TraceOperation,
    /// The operand nodes, and the partial derivative of the result in each.
    pub partials: Vec<(u32, f64)>,
    /// The derivative of the final result with respect to this one.
    pub adjoint: f64,
}

/// The operation of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceOperation {
    /// A primitive.
    Primitive {
        /// The primitive.
        id: PrimitiveId,
        /// Its operands: the node, 0 for one that does not vary, and the value.
        operands: Vec<(u32, f64)>,
        /// Its integer operand, where it has one.
        n: i64,
        /// Its result.
        value: f64,
        /// The location in the text.
        span: Span,
    },
    /// Many products at once: a scalar product or a sum.
    Sum(Option<f64>),
    /// A function with a registered derivative, an edit of an adjoint, or a checkpoint.
    Called {
        /// The name of the called function.
        name: Rc<str>,
        /// The operands that vary.
        operands: Vec<u32>,
        /// Its result.
        value: f64,
        /// The location in the text.
        span: Span,
    },
    /// A step without provenance.
    Other,
}
