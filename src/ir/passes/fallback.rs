//! Fallback: the reason why a function, or one of its paths, has no tangent or adjoint code and is differentiated on
//! the tape.

use crate::ir::graph::{Op, Operator};
use std::fmt;
use std::rc::Rc;

/// The reason why a function has no tangent or adjoint code, or why such code stops at a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// The function has no graph.
    Missing,
    /// The function has no body to differentiate.
    Opaque(Rc<str>),
    /// A derivative or a transpose is registered for the function.
    Registered(Rc<str>),
    /// The function is recursive, directly or indirectly.
    Recursive(Rc<str>),
    /// The callee is an unknown function value.
    UnknownFunction,
    /// The method depends on the dynamic type of the receiver.
    DynamicDispatch,
    /// The nesting depth of calls exceeds the given limit.
    TooDeep(usize),
    /// The number of steps would exceed the given limit.
    TooLarge(usize),
    /// A loop starts with the first step of the function.
    LoopAtEntry(Rc<str>),
    /// A function of the native library is called.
    Native(&'static str),
    /// A class instance or a captured variable is created or changed.
    SharedState,
    /// A global variable is changed.
    GlobalVariable,
    /// A string is created.
    String,
    /// A derivative is computed in the function.
    Derivative,
    /// The function has a checkpoint.
    Checkpoint,
    /// The function edits an adjoint.
    WithDerivative,
    /// A step is not supported in tangent and adjoint code.
    Step,
    /// The function may throw.
    Throws,
    /// No path through the function returns.
    NoReturn,
    /// The result is not a single number, which adjoint code requires.
    NotOneNumber,
    /// A component of the result is not a number, which tangent code requires.
    NotNumbers,
    /// The result does not vary with the parameters.
    Constant,
    /// A varying number is an operand of a primitive whose result cannot vary.
    LostTangent(&'static str),
    /// A varying value is passed to a parameter or stored in a property that is marked `@noDerivative`.
    NoDerivative,
    /// A number is read from an array or a record in which varying numbers were stored.
    MixedStorage,
    /// A captured variable or a function in a varying value is read.
    VaryingCapture,
    /// The partial derivatives of a step cannot be computed from the available values.
    NoPartial,
    /// The bytecode would need too many registers.
    TooManyRegisters,
    /// An instruction has no threaded form.
    Instruction,
}

impl Fallback {
    /// Returns the reason why a step is not supported in tangent and adjoint code.
    pub(crate) fn of_step(op: &Op) -> Fallback {
        match op {
            Op::Native { name, .. } => Fallback::Native(name),
            Op::CallValue => Fallback::UnknownFunction,
            Op::FindMethod(_) => Fallback::DynamicDispatch,
            Op::NewBox | Op::NewInstance(_) | Op::StoreBox { .. } | Op::TakeBox { .. } | Op::Access { .. } => {
                Fallback::SharedState
            }
            Op::StoreGlobal { .. } | Op::TakeGlobal { .. } => Fallback::GlobalVariable,
            Op::Text(_) | Op::AppendText => Fallback::String,
            Op::Operator(
                Operator::ValueWithDifferential { .. }
                | Operator::ValueWithTangent { .. }
                | Operator::Gradient { .. }
                | Operator::Series { .. }
                | Operator::Transpose { .. }
                | Operator::ApplyAtOnce
                | Operator::Matrix { .. }
                | Operator::Jacobian { .. }
                | Operator::Coordinates { .. },
            ) => Fallback::Derivative,
            Op::Operator(Operator::Recompute { .. }) => Fallback::Checkpoint,
            Op::Operator(Operator::WithDerivative { .. }) => Fallback::WithDerivative,
            _ => Fallback::Step,
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fallback::Missing => f.write_str("the function was not compiled"),
            Fallback::Opaque(name) => write!(f, "'{name}' has no body to differentiate"),
            Fallback::Registered(name) => write!(f, "'{name}' has a registered derivative"),
            Fallback::Recursive(name) => write!(f, "'{name}' is recursive"),
            Fallback::UnknownFunction => f.write_str("a function value is called that is only known at run time"),
            Fallback::DynamicDispatch => f.write_str("a method is looked up at run time"),
            Fallback::TooDeep(depth) => write!(f, "calls are nested more than {depth} deep"),
            Fallback::TooLarge(steps) => write!(f, "there are more than {steps} steps with all calls inlined"),
            Fallback::LoopAtEntry(name) => write!(f, "'{name}' starts with a loop"),
            Fallback::Native("any.box") => f.write_str("a value is converted to 'Any'"),
            Fallback::Native(name) => write!(f, "the native function '{name}' is called"),
            Fallback::SharedState => f.write_str("a class instance or a captured variable is created or changed"),
            Fallback::GlobalVariable => f.write_str("a global variable is changed"),
            Fallback::String => f.write_str("a string is made"),
            Fallback::Derivative => f.write_str("a derivative is computed inside"),
            Fallback::Checkpoint => f.write_str("there is a checkpoint"),
            Fallback::WithDerivative => f.write_str("'withDerivative' is called"),
            Fallback::Step => f.write_str("there is a step that is only known on the tape"),
            Fallback::Throws => f.write_str("the function throws"),
            Fallback::NoReturn => f.write_str("no path returns"),
            Fallback::NotOneNumber => f.write_str("the result is not a single number"),
            Fallback::NotNumbers => f.write_str("the result has components that are not numbers"),
            Fallback::Constant => f.write_str("the result does not depend on the parameters"),
            Fallback::LostTangent(name) => write!(f, "the derivative is lost in '{name}'"),
            Fallback::NoDerivative => f.write_str("a varying value is passed as '@noDerivative'"),
            Fallback::MixedStorage => f.write_str("varying numbers are stored in an array or a struct and read again"),
            Fallback::VaryingCapture => f.write_str("a captured variable of a varying value is read"),
            Fallback::NoPartial => f.write_str("the partial derivatives of a step cannot be recomputed"),
            Fallback::TooManyRegisters => f.write_str("the code needs too many registers"),
            Fallback::Instruction => f.write_str("an instruction has no threaded form"),
        }
    }
}
