//! Session data: options, inputs, stages and outcomes.

use crate::diagnostic::Diagnostic;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a session may use up, and what it is given.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many calls may be open at once.
    pub max_depth: usize,
    /// How many bytes of tape may be live.
    pub max_tape: u64,
    /// How many steps a run may take.
    pub max_steps: Option<u64>,
    /// How many bytes values may take; three quarters of the machine's memory unless said.
    pub max_memory: Option<u64>,
    /// How long a run may take.
    pub timeout: Option<Duration>,
    /// The seed of the generator of random numbers.
    pub seed: u64,
    /// The arguments of the script, its name first.
    pub arguments: Vec<String>,
    /// How the text of a file is found that a program imports; without it, nothing is imported.
    pub loader: Option<super::Loader>,
    /// Whether derivatives are searched for numbers that are not finite.
    pub check_nan: CheckNan,
    /// Whether texts are entered one after the other, each of which may use and declare again what earlier ones declared.
    pub interactive: bool,
    /// What is done about kinks.
    pub kinks: Kinks,
    /// Whether registered derivatives and transposes are compared with differences.
    pub check_derivatives: bool,
    /// Whether a program with warnings is not run.
    pub deny_warnings: bool,
    /// Who is told how far loops over `progress(…)` have come.
    pub progress: Option<fn(&super::Step<'_>)>,
    /// Whether loops of the script itself are told, too, once a run has taken two seconds.
    pub tells_loops: bool,
    /// Which files programs may touch.
    pub access: super::Access,
    /// Set from outside to stop a run.
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
            seed: 0,
            arguments: vec![],
            loader: None,
            check_nan: CheckNan::Off,
            interactive: false,
            kinks: Kinks::Ignored,
            check_derivatives: false,
            deny_warnings: false,
            progress: None,
            tells_loops: false,
            access: super::Access::default(),
            interrupt: Arc::default(),
        }
    }
}

/// When a number that is infinite or NaN stops a program that differentiates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CheckNan {
    /// Never.
    #[default]
    Off,
    /// When a derivative comes out that is not finite.
    Result,
    /// At the first value, tangent or adjoint that is not finite.
    Always,
}

/// What is done where a function is differentiated at a kink.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kinks {
    /// The convention holds.
    #[default]
    Ignored,
    /// The convention holds, and the session [tells](super::Session::take_kinks) what was met.
    Noted,
    /// The program stops.
    Refused,
}

/// A text with its name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What a person calls it.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// A stage that can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The syntax tree.
    Tree,
    /// What is declared, with its types.
    Types,
    /// The graphs.
    Ir,
    /// What is active.
    Activity,
    /// The derivative code as graphs.
    Derivative,
    /// The bytecode.
    Code,
    /// The bytecode of the derivative.
    DerivativeCode,
    /// The graph of the function and its tangents in one.
    Tangent,
    /// The graph of the function and its way back in one.
    Adjoint,
    /// The bytecode of that.
    AdjointCode,
    /// The bytecode of the function and its tangents.
    TangentCode,
    /// Which of these differentiates each function, and why.
    Mechanism,
    /// What was recorded.
    Tape,
}

impl Stage {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Stage; 13] = [
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
        Stage::Mechanism,
        Stage::Tape,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// What it shows.
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
            Stage::Mechanism => ["mechanism", "which code differentiates a function, and why no other does"],
            Stage::Tape => ["tape", "the recorded operations"],
        }
    }
}

/// What came of a request.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Everything to be said, in the order of places.
    pub diagnostics: Vec<Diagnostic>,
    /// How it ended.
    pub status: Status,
    /// The value of the last expression as text.
    pub value: Option<String>,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// All is done.
    Done,
    /// The program ended itself, with this status.
    Exited(i32),
    /// The program stopped with an error.
    Failed,
    /// The program did not compile.
    Rejected,
    /// The program has warnings, and those were not to be let through.
    Denied,
    /// A bug of dscript itself.
    Internal,
    /// The time was up.
    TimeLimit,
    /// Somebody interrupted it.
    Interrupted,
}
