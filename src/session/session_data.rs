//! Session data: the options, inputs, stages and outcomes of a session.

use crate::diagnostic::Diagnostic;
use crate::vm::CompileMode;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The limits and the environment of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum depth of calls.
    pub max_depth: usize,
    /// The maximum number of bytes that the live tapes may take together.
    pub max_tape: u64,
    /// The maximum number of steps of a run.
    pub max_steps: Option<u64>,
    /// The maximum number of bytes of memory; by default three quarters of the machine's memory.
    pub max_memory: Option<u64>,
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// Which functions are compiled to machine code.
    pub compiled: CompileMode,
    /// The number of threads that operations on large tensors use; by default one per processor.
    pub threads: Option<NonZeroUsize>,
    /// The seed of the generator of random numbers.
    pub seed: u64,
    /// The arguments of the script, starting with its name.
    pub arguments: Vec<String>,
    /// The function that reads imported files; without it, files cannot be imported.
    pub loader: Option<super::Loader>,
    /// The conditions under which a number that is not finite stops the program.
    pub check_nan: CheckNan,
    /// Whether texts are entered one after the other, each of which may use and redeclare earlier declarations.
    pub interactive: bool,
    /// Whether an interactive session abbreviates the values that it displays.
    pub abbreviates: bool,
    /// The treatment of kinks.
    pub kinks: Kinks,
    /// Whether registered derivatives and transposes are compared with finite differences.
    pub check_derivatives: bool,
    /// Whether a program with warnings is rejected.
    pub deny_warnings: bool,
    /// The terminal on which pictures appear as text, if any.
    pub text_style: Option<super::TextStyle>,
    /// The function that receives the progress of loops over `progress(…)`.
    pub progress: Option<fn(&super::ProgressReport<'_>)>,
    /// Whether the function `progress` also receives the progress of loops of the script itself, after a run has taken
    /// two seconds.
    pub reports_loops: bool,
    /// The files to which programs have access.
    pub access: super::Access,
    /// A flag that another thread sets to interrupt a run.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_depth: 100_000,
            max_tape: 2 << 30,
            max_steps: None,
            max_memory: crate::vm::share_of_machine(),
            timeout: None,
            compiled: CompileMode::from_environment(),
            threads: None,
            seed: 0,
            arguments: vec![],
            loader: None,
            check_nan: CheckNan::Off,
            interactive: false,
            abbreviates: true,
            kinks: Kinks::Ignored,
            check_derivatives: false,
            deny_warnings: false,
            text_style: None,
            progress: None,
            reports_loops: false,
            access: super::Access::default(),
            interrupt: Arc::default(),
        }
    }
}

/// The conditions under which an infinite number or NaN stops a program that differentiates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CheckNan {
    /// A number that is not finite never stops the program.
    #[default]
    Off,
    /// The program stops when the result of a differentiation is not finite.
    Result,
    /// The program stops at the first value, tangent or adjoint that is not finite.
    Always,
}

/// The treatment of differentiation at a kink.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kinks {
    /// The derivative at a kink is defined by the convention.
    #[default]
    Ignored,
    /// The derivative at a kink is defined by the convention, and the session [reports](super::Session::take_kinks) the
    /// kinks.
    Noted,
    /// The program stops when it differentiates at a kink.
    Refused,
}

/// A source text with its name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The displayed name of the source text.
    pub name: &'a str,
    /// The source text.
    pub text: &'a str,
}

/// A stage whose output can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The syntax tree of the module.
    Tree,
    /// The declarations of the module with their types.
    Types,
    /// The graphs of the functions.
    Ir,
    /// The results of the activity analysis.
    Activity,
    /// The derivative code as graphs.
    Derivative,
    /// The bytecode of the functions.
    Code,
    /// The bytecode of the derivative code.
    DerivativeCode,
    /// The tangent code of a function as a graph.
    Tangent,
    /// The adjoint code of a function as a graph.
    Adjoint,
    /// The bytecode of the adjoint code.
    AdjointCode,
    /// The bytecode of the tangent code.
    TangentCode,
    /// The linearization code of a function as a graph.
    Linearization,
    /// The mechanism that differentiates each function, and the reason for it.
    Mechanism,
    /// The operations that were recorded on tapes.
    Tape,
}

impl Stage {
    /// All stages, in the order of the pipeline.
    pub const ALL: [Stage; 14] = [
        Stage::Tree,
        Stage::Types,
        Stage::Ir,
        Stage::Activity,
        Stage::Derivative,
        Stage::Code,
        Stage::DerivativeCode,
        Stage::Tangent,
        Stage::TangentCode,
        Stage::Adjoint,
        Stage::AdjointCode,
        Stage::Linearization,
        Stage::Mechanism,
        Stage::Tape,
    ];

    /// Returns the name of the stage on the command line.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Returns a description of the stage's listing.
    pub fn summary(self) -> &'static str {
        self.words()[1]
    }

    fn words(self) -> [&'static str; 2] {
        match self {
            Stage::Tree => ["tree", "the syntax tree"],
            Stage::Types => ["types", "the declarations, with their types"],
            Stage::Ir => ["ir", "the control-flow graph of the intermediate representation"],
            Stage::Activity => ["activity", "which steps depend on the arguments (v), and affect the result (u)"],
            Stage::Derivative => ["derivative", "the graph of the derivative code"],
            Stage::Code => ["code", "the instructions of the machine"],
            Stage::DerivativeCode => ["derivative-code", "the instructions of the derivative code"],
            Stage::Tangent => ["tangent", "the graph of the tangent code: values and tangents, without slots"],
            Stage::TangentCode => ["tangent-code", "the instructions of the tangent code"],
            Stage::Adjoint => ["adjoint", "the graph of the adjoint code: forward and reverse pass, without a tape"],
            Stage::AdjointCode => ["adjoint-code", "the instructions of the adjoint code"],
            Stage::Linearization => {
                ["linearization", "the graph of the linearization code: values and nodes of a tape, without slots"]
            }
            Stage::Mechanism => ["mechanism", "which code differentiates a function, and why no other does"],
            Stage::Tape => ["tape", "the recorded operations"],
        }
    }
}

/// The outcome of a request to the session.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The diagnostics, in the order of source locations.
    pub diagnostics: Vec<Diagnostic>,
    /// The status of the request.
    pub status: Status,
    /// The value of the last expression as a string.
    pub value: Option<String>,
}

/// The status of a completed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The request succeeded.
    Done,
    /// The program exited with the given exit status.
    Exited(i32),
    /// The program stopped with an error.
    Failed,
    /// The program did not compile.
    Rejected,
    /// The program has warnings, and warnings are denied.
    Denied,
    /// The request failed because of a bug in dscript.
    Internal,
    /// The time limit was reached.
    TimeLimit,
    /// The request was interrupted.
    Interrupted,
}
