//! Fault: describes the reason why a program stopped, with source locations.

use crate::cancel;
use crate::cancel::Reason;
use crate::diagnostic::Code as Number;
use crate::native::Trap;
use crate::native::library::{Failure, FailureKind};
use crate::source::Span;
use crate::tape::RecordError;
use std::rc::Rc;
use std::time::Duration;

/// The kind of the reason why a program stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The program stopped with a run-time error, whose code is the number.
    Error(Number),
    /// The program ended itself with the given exit status.
    Exit(i32),
}

/// The reason why a program stopped before its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// The kind of the stop.
    pub kind: FaultKind,
    /// One sentence that describes the reason.
    pub message: String,
    /// Values that explain the fault, with their names.
    pub values: Vec<(String, String)>,
    /// The source location of the fault; in the program's own code, if any of this code was running.
    pub span: Span,
    /// The calls that were running, innermost first.
    pub backtrace: Vec<BacktraceEntry>,
    /// Additional remarks on the fault.
    pub remarks: Vec<Remark>,
    /// The shapes of the operands of an operation of tensors, in their order, if these do not fit.
    pub shapes: Vec<String>,
}

/// A call that was running when the program stopped.
#[derive(Clone, PartialEq, Debug)]
pub struct BacktraceEntry {
    /// The name of the called function.
    pub name: Rc<str>,
    /// The source location in the called function.
    pub span: Span,
    /// The iteration of the innermost loop around this location, if the loop has a counter.
    pub iteration: Option<i64>,
}

/// An additional remark on a fault.
#[derive(Clone, PartialEq, Debug)]
pub enum Remark {
    /// A remark on the role of the fault's source location.
    Here(String),
    /// A remark on another source location: the location, and its role.
    There(Span, String),
    /// A note that explains the fault.
    Note(String),
    /// A suggestion how to avoid the fault.
    Help(String),
}

/// The number of calls of a long backtrace that are listed at its beginning and at its end.
const LISTED_FIRST: usize = 10;
const LISTED_LAST: usize = 5;

impl Fault {
    /// Creates a fault without a source location, which the machine adds.
    pub fn new(kind: Number, message: impl Into<String>) -> Box<Fault> {
        let span = Span::default();
        let (message, values, backtrace, remarks) = (message.into(), vec![], vec![], vec![]);
        Box::new(Fault { kind: FaultKind::Error(kind), message, values, span, backtrace, remarks, shapes: vec![] })
    }

    /// Adds a remark to the fault.
    #[must_use]
    pub fn remark(mut self: Box<Fault>, remark: Remark) -> Box<Fault> {
        self.remarks.push(remark);
        self
    }

    /// Adds a named value that explains the fault.
    #[must_use]
    pub fn with(mut self: Box<Fault>, name: &str, value: impl std::fmt::Display) -> Box<Fault> {
        self.values.push((name.into(), value.to_string()));
        self
    }

    /// Creates the fault of a program that ends itself.
    pub fn exit(status: i32) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::Exit(status), ..*Fault::new(Number::Internal, "") })
    }

    /// Creates the fault of a run that was interrupted.
    pub fn interrupted() -> Box<Fault> {
        Fault::new(Number::Interrupted, "interrupted")
    }

    /// Creates the fault of a program that exceeded its time.
    pub fn late(allowed: Duration) -> Box<Fault> {
        Fault::new(Number::TimeLimit, format!("the program ran longer than {} s", allowed.as_secs_f64()))
    }

    /// Creates the fault of canceled work in Rust.
    pub fn stopped() -> Box<Fault> {
        match cancel::reason() {
            Some(Reason::Late(allowed)) => Fault::late(allowed),
            Some(Reason::Interrupted) | None => Fault::interrupted(),
        }
    }

    /// Creates the fault of an internal error.
    pub fn internal(what: impl Into<String>) -> Box<Fault> {
        Fault::new(Number::Internal, what)
    }

    /// Shortens a long backtrace to its beginning and its end.
    pub fn cap(&mut self) {
        let all = self.backtrace.len();
        if all > LISTED_FIRST + LISTED_LAST + 1 {
            let left_out = all - LISTED_FIRST - LISTED_LAST;
            let note: Rc<str> = format!("… {left_out} more").into();
            let note = BacktraceEntry { name: note, span: Span::default(), iteration: None };
            self.backtrace.splice(LISTED_FIRST..all - LISTED_LAST, [note]);
        }
    }
}

impl From<Failure> for Box<Fault> {
    fn from(failure: Failure) -> Box<Fault> {
        let number = match failure.kind {
            FailureKind::Exit(status) => return Fault::exit(status),
            FailureKind::IndexOutOfRange => Number::IndexOutOfRange,
            FailureKind::Overflow => Number::Overflow,
            FailureKind::DivisionByZero => Number::DivisionByZero,
            FailureKind::Precondition => Number::PreconditionFailed,
            FailureKind::Shapes => Number::Shapes,
            FailureKind::InvalidRange => Number::InvalidRange,
            FailureKind::InvalidConversion => Number::InvalidConversion,
            FailureKind::Memory => Number::MemoryLimit,
            FailureKind::Tape => Number::TapeLimit,
            FailureKind::Nesting => Number::DepthLimit,
            FailureKind::NotLinear => Number::NotLinear,
            FailureKind::NotFinite => Number::NotFinite,
            FailureKind::Kink => Number::Kink,
            FailureKind::Cancelled => return Fault::stopped(),
            FailureKind::Input => Number::Input,
            FailureKind::BadRow => Number::BadRow,
            FailureKind::Forbidden => Number::Forbidden,
            FailureKind::Internal => Number::Internal,
        };
        let mut fault = Fault::new(number, failure.message);
        fault.values = failure.values;
        fault.shapes = failure.shapes;
        fault.remarks.extend(failure.helps.into_iter().map(Remark::Help));
        fault
    }
}

impl From<RecordError> for Box<Fault> {
    fn from(error: RecordError) -> Box<Fault> {
        Failure::from(error).into()
    }
}

/// Returns the fault of a failed primitive of integers.
pub fn trapped(trap: Trap, primitive: &str, operands: &[i64]) -> Box<Fault> {
    let mut fault = match (trap, operands) {
        (Trap::DivisionByZero, [a, _]) if primitive == "int.rem" => {
            Fault::new(Number::DivisionByZero, format!("division by zero: {a} % 0"))
        }
        (Trap::DivisionByZero, [a, ..]) => Fault::new(Number::DivisionByZero, format!("division by zero: {a} / 0")),
        (Trap::Overflow, [a, b]) => {
            let sign = match primitive {
                "int.add" => "+",
                "int.sub" => "-",
                "int.mul" => "*",
                "int.rem" => "%",
                _ => "/",
            };
            let message = format!("integer overflow: {a} {sign} {b} is out of range for 'Int'");
            Fault::new(Number::Overflow, message)
        }
        (Trap::Overflow, [a]) => {
            let message = match primitive.strip_prefix("int.fit") {
                Some(bits) => {
                    let name = bits.strip_prefix('U').map_or(format!("Int{bits}"), |bits| format!("UInt{bits}"));
                    format!("{a} is out of range for '{name}'")
                }
                None => format!("integer overflow: -({a}) is out of range for 'Int'"),
            };
            Fault::new(Number::Overflow, message)
        }
        (Trap::Overflow | Trap::DivisionByZero | Trap::NotRepresentable, _) => {
            Fault::new(Number::Overflow, "integer overflow")
        }
    };
    // A single operand is already part of the message.
    if operands.len() > 1 {
        for (name, value) in ["a", "b"].iter().zip(operands) {
            fault = fault.with(name, value);
        }
    }
    fault
}

/// Returns the fault for a number that no integer represents.
pub fn not_an_integer(x: f64) -> Box<Fault> {
    let mut text = String::new();
    crate::value::number_format::write_double(&mut text, x);
    let why = if x.is_finite() { "out of range for" } else { "not a value of" };
    Fault::new(Number::InvalidConversion, format!("cannot convert {text} to 'Int': it is {why} 'Int'")).with("x", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_backtraces_are_shortened() {
        let mut fault = Fault::new(Number::DepthLimit, "deep");
        let call = |k: i32| BacktraceEntry { name: k.to_string().into(), span: Span::default(), iteration: None };
        fault.backtrace = (0..100).map(call).collect();
        fault.cap();
        assert_eq!(fault.backtrace.len(), 16);
        assert_eq!(&*fault.backtrace[10].name, "… 85 more");
        assert_eq!(&*fault.backtrace[15].name, "99");
    }
}
