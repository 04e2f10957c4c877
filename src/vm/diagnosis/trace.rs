//! Trace: the steps of one reverse sweep, with their partials and adjoints, as an explanation shows them.

use crate::native::PrimitiveId;
use crate::source::Span;
use std::rc::Rc;

/// What was recorded, with the adjoints of one sweep from the result to the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Value and adjoint of each number that it was differentiated by; they are the nodes from 1 on.
    pub inputs: Vec<(f64, f64)>,
    /// The steps, in the order in which they were computed; none when there are more than a thousand.
    pub rows: Vec<Row>,
    /// How many steps there are.
    pub steps: usize,
    /// What was done where, and how often, in the order in which that was met first.
    pub counts: Vec<Count>,
    /// The node of each number of the result, 0 for a constant one, and its value.
    pub outputs: Vec<(u32, f64)>,
    /// How many bytes the tape takes.
    pub bytes: usize,
}

/// More steps than these are only counted: listing them would take more memory than the tape.
pub const MOST_SHOWN: usize = 1000;

/// How often something was done at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The operation in a word: `*`, `sin`.
    pub symbol: Rc<str>,
    /// Where in the text.
    pub span: Span,
    /// How often.
    pub times: usize,
}

/// A step of a computation that is differentiated.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of its node.
    pub node: u32,
    /// What was done.
    pub did: Did,
    /// Operand nodes, and the derivative of the result by each.
    pub partials: Vec<(u32, f64)>,
    /// The derivative of the final result by this one.
    pub adjoint: f64,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq)]
pub enum Did {
    /// A primitive.
    Primitive {
        /// Which.
        id: PrimitiveId,
        /// Its operands: node, 0 for one that does not move, and value.
        operands: Vec<(u32, f64)>,
        /// Its integer operand, where it has one.
        n: i64,
        /// Its result.
        value: f64,
        /// Where in the text.
        span: Span,
    },
    /// Many products at once: a scalar product or a sum.
    Sum(Option<f64>),
    /// A function with a registered derivative, an edit of an adjoint, or a checkpoint.
    Called {
        /// What was called.
        name: Rc<str>,
        /// The operands that move.
        operands: Vec<u32>,
        /// Its result.
        value: f64,
        /// Where in the text.
        span: Span,
    },
    /// A step without provenance.
    Other,
}
