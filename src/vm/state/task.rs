//! Task: an operation of the machine that calls functions of the program without using the Rust stack.
//!
//! A differential operator, a sweep with a user's pullback, or any other operation in Rust that needs results of the
//! program is written as a chain of steps. A step runs with the *window* of its caller: it takes the arguments from the
//! window ([`Machine::number`](crate::vm::Machine::number) and the like), performs its part, and returns the next
//! action:
//!
//! - [`Next::Return`]: the results are in the window; the program continues.
//! - [`Next::Call`]: the machine calls `callee` with the arguments that the step has stored in the window. When the
//!   callee has returned, its results are in the window, and [`Task::resume`] performs the next step.
//!
//! Tasks nest like calls: a task's callee may apply another operator, which is another task on top.

use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;

/// The action that a step requests.
pub enum Next {
    /// The results of the operation are in the window.
    Return,
    /// The operation calls a function; `then` continues afterwards, or the results of the call are the results of the
    /// operation.
    Call {
        /// The function that is called.
        callee: Callee,
        /// Whether the derivative code of the callee runs.
        derivative: bool,
        /// The task that continues after the call.
        then: Option<Box<dyn Task>>,
    },
}

/// The callee of a call that a step requests.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function without captures, by its number.
    Function(u32),
    /// The derivative of a function's own body, regardless of registered derivatives.
    BodyDerivative(u32),
    /// A function object: a closure or a linear map.
    Object(Ref),
}

/// The remaining steps of an operation that is waiting for a called function.
pub trait Task {
    /// Continues the operation after the call: the results of the callee are in the window.
    ///
    /// # Errors
    /// Fails when the program must stop.
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>>;

    /// Cleans up the operation when the program stops before the callee has returned.
    fn abandon(self: Box<Self>, _machine: &mut Machine) {}
}

impl Next {
    /// Requests a call of a function object; `then` handles its results.
    pub fn call(function: Ref, derivative: bool, then: impl Task + 'static) -> Next {
        Next::Call { callee: Callee::Object(function), derivative, then: Some(Box::new(then)) }
    }

    /// Requests a call whose results are the results of the operation.
    pub fn tail_call(callee: Callee, derivative: bool) -> Next {
        Next::Call { callee, derivative, then: None }
    }
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Next::Return => f.write_str("Return"),
            Next::Call { callee, derivative, .. } => write!(f, "Call({callee:?}, {derivative})"),
        }
    }
}
