//! Session: evaluates, checks, shows and interrupts programs.
//!
//! In: texts with their names, and [`Options`]. Out: an [`Outcome`] of plain data: diagnostics, a status, a value as text.
//!
//! Promises: a session survives every error in a program; what is handed out needs nothing else to be shown.
//! Not here: words for people (`front`), any stage's own work.

pub(crate) mod compile;
pub(crate) mod explain;
mod options;
pub(crate) mod query;
pub(crate) mod run;
#[cfg(test)]
mod tests;

pub use crate::native::library::{Access, Denied, Display, Folders, Screen, Step, Streams};
pub use crate::plot::{Chart, png};
pub use crate::session::compile::imports::Loader;
pub use crate::session::explain::formula::Derived;
pub use crate::session::explain::views::graph;
pub use crate::session::query::ParameterInfo;
pub use crate::session::query::completion::Completion;
pub use crate::session::query::highlight::Class;
pub use crate::session::query::inspect::Topic;
pub use crate::session::run::interactive::{Answer, Reading, Shown};
pub use crate::session::run::suite::{Ran, Suite, Test};
pub use crate::types::closest;
use crate::types::context_with_prelude;
pub use crate::vm::operators::check::finite_difference::{Estimate, unit};
pub use crate::vm::{Count, Kink, bytes as in_bytes};
pub use explain::{Explained, Operation, Partial, Quantity};
pub use options::{CheckNan, Input, Kinks, Options, Outcome, Stage, Status};

use crate::diagnostic::Diagnostic;
use crate::ir::lower::Lowering;
use crate::ir::{FunctionId, Program};
use crate::native::library::Random;
use crate::source::SourceMap;
use crate::tape::Wanted;
use crate::types::{Checked, TypeContext};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A session: what was declared, compiled and computed so far.
///
/// ```
/// use dscript::Session;
/// use dscript::session::Options;
/// let mut session = Session::new(Options::default(), Box::new(std::io::sink()));
/// let outcome = session.eval("example", "f(x) = x * sin(x)\nf'(2)");
/// assert_eq!(outcome.value.as_deref(), Some("0.0770037537313969"));
/// ```
pub struct Session {
    sources: SourceMap,
    context: TypeContext,
    lowering: Lowering,
    program: Program,
    machine: crate::vm::Machine,
    loader: Option<Loader>,
    deny_warnings: bool,
    /// What is looked for while numbers are differentiated.
    wanted: Wanted,
    /// Whether the tests of the files that are given are kept.
    keeps_tests: bool,
    /// Who is told about loops of the script.
    loops: Option<fn(&Step<'_>)>,
    /// The type of the last value.
    value_type: Option<String>,
    /// The files that were read, by their paths.
    imported: Vec<std::path::PathBuf>,
    /// Set from outside to stop what is done.
    interrupt: Arc<AtomicBool>,
}

/// An output on which pictures are texts.
struct TextOnly(Rc<RefCell<Box<dyn Write>>>);

impl Write for TextOnly {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl Screen for TextOnly {
    fn show(&mut self, display: &Display) {
        if let Some((_, text)) = display.forms.first() {
            // An output that fails says so at the next print.
            let _ = writeln!(self, "{}", text.trim_end_matches('\n'));
        }
    }

    /// What was printed stays.
    fn clear(&mut self, _: bool) {}
}

/// Streams that print to `output`, pictures as text.
fn printing_to(output: Box<dyn Write>) -> Streams {
    let output = Rc::new(RefCell::new(output));
    on_terminal(Box::new(TextOnly(Rc::clone(&output))), Box::new(TextOnly(output)))
}

/// Streams that ask the standard input, and complain where complaints go.
fn on_terminal(output: Box<dyn Write>, screen: Box<dyn Screen>) -> Streams {
    let input = Box::new(std::io::BufReader::new(std::io::stdin()));
    Streams { output, error: Box::new(std::io::stderr()), input, screen }
}

/// A module that passed the compiler.
pub(crate) struct Compiled {
    checked: Checked,
    script: FunctionId,
    diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// A fresh session that prints to `output`, pictures as text; it asks the standard input.
    pub fn new(options: Options, output: Box<dyn Write>) -> Session {
        Session::with(options, printing_to(output))
    }

    /// A fresh session that prints to `output` and shows pictures on `screen`; it asks the standard input.
    pub fn showing(options: Options, output: Box<dyn Write>, screen: Box<dyn Screen>) -> Session {
        Session::with(options, on_terminal(output, screen))
    }

    /// A fresh session that shows and asks through these streams.
    pub fn with(options: Options, streams: Streams) -> Session {
        let mut sources = SourceMap::default();
        let mut context = context_with_prelude(&mut sources);
        context.module.is_interactive = options.interactive;
        let machine = run::machine(&options, streams);
        let (mut lowering, program) = (Lowering::new(), Program::default());
        lowering.set_interactive(options.interactive);
        let wanted = run::wanted(&options);
        let Options { loader, deny_warnings, interrupt, .. } = options;
        let loops = options.progress.filter(|_| options.tells_loops);
        let (keeps_tests, value_type, imported) = (false, None, vec![]);
        Session {
            sources,
            context,
            lowering,
            program,
            machine,
            loader,
            deny_warnings,
            wanted,
            keeps_tests,
            loops,
            value_type,
            imported,
            interrupt,
        }
    }

    /// Random numbers begin again, at another seed.
    pub fn seed(&mut self, seed: u64) {
        self.machine.host.random = Random::seeded(seed);
    }

    /// Takes over limits, and what is looked for while numbers are differentiated.
    pub fn adjust(&mut self, options: &Options) {
        self.wanted = run::wanted(options);
        self.deny_warnings = options.deny_warnings;
        run::adjust(&mut self.machine, options);
    }

    /// The type of the value that the last text gave, as it is written.
    pub fn value_type(&self) -> Option<&str> {
        self.value_type.as_deref()
    }

    /// The texts of the session, to render diagnostics with.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Runs the files of a module.
    pub fn run(&mut self, inputs: &[Input]) -> Outcome {
        match self.compile(inputs, false) {
            Ok(compiled) => self.execute(compiled),
            Err(outcome) => outcome,
        }
    }

    /// Runs a text; the value of its last expression is part of the answer.
    pub fn eval(&mut self, name: &str, text: &str) -> Outcome {
        match self.compile(&[Input { name, text }], true) {
            Ok(compiled) => self.execute(compiled),
            Err(outcome) => outcome,
        }
    }

    /// The kinks at which functions were differentiated since the last time, in order, one for each place and operation;
    /// with [`Kinks::Noted`].
    pub fn take_kinks(&mut self) -> Vec<Kink> {
        self.machine.take_kinks()
    }

    /// Looks for errors without running anything.
    pub fn check(&mut self, inputs: &[Input]) -> Outcome {
        self.keeps_tests = true;
        match self.compile(inputs, false) {
            Ok(compiled) => Outcome { diagnostics: compiled.diagnostics, status: Status::Done, value: None },
            Err(outcome) => outcome,
        }
    }
}
