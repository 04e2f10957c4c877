//! Transformed code: the tangent, adjoint, Jacobian or linearization code of a function, and the forms in which it runs.

use crate::bytecode::Code;
use crate::vm::machine_code::PartCode;
use crate::vm::threaded::Threaded;
use std::cell::Cell;
use std::rc::Rc;

/// The kinds of code that transforms derive from a function, and that compute without slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransformKind {
    /// Tangent code: computes the value and its tangent.
    Tangent,
    /// Adjoint code: computes the value and its gradient.
    ValueWithGradient,
    /// Adjoint code without the steps that only the value needs, unless that could hide a value that is not finite.
    Gradient,
    /// Jacobian code: computes the values and the rows of the Jacobian.
    Jacobian,
    /// Linearization code: computes the value, and appends the derivative to the tape of the only level.
    Linearization,
}

/// Tangent or adjoint code of a function.
#[derive(Debug)]
pub struct TransformedCode {
    /// The bytecode of the transformed function.
    pub code: Rc<Code>,
    /// Whether the code appends nodes to the tape.
    pub appends_nodes: bool,
    /// The translation of the bytecode to threaded code, which is executed.
    pub threaded: Threaded,
    /// The machine code, if the code has run often.
    pub machine_code: PartCode,
    /// Whether the code reached an operation that it cannot execute, and is not used any more.
    pub is_discarded: Cell<bool>,
}
