//! Session: the interface for evaluating, checking, inspecting and interrupting programs.
//!
//! In: texts with their names, and [`Options`]. Out: an [`Outcome`] of plain data: diagnostics, a status, a value as a
//! string.
//!
//! Promises: a session survives every error in a program; results can be displayed without further state.
//! Not here: the user interface (`front`), the implementation of the stages.

pub(crate) mod algebra;
pub(crate) mod compile;
pub(crate) mod explain;
pub(crate) mod query;
pub(crate) mod run;
mod session_data;
mod shapes;
#[cfg(test)]
mod tests;

pub use crate::native::library::{Access, AccessError, Display, Folders, ProgressReport, Screen, Streams, View};
pub use crate::plot::{TextStyle, png};
pub use crate::session::compile::imports::Loader;
pub use crate::session::compile::program_file::is_program_file;
pub use crate::session::explain::formula::Derived;
pub use crate::session::explain::views::graph;
pub use crate::session::query::ParameterInfo;
pub use crate::session::query::completion::Completion;
pub use crate::session::query::highlighting::Class;
pub use crate::session::query::inspection::Topic;
pub use crate::session::query::library_catalog::{Catalog, CatalogEntry, EntryKind};
pub use crate::session::query::library_topics::{LibraryTopic, TOPICS};
pub use crate::session::query::ranking::rank_of_member;
pub use crate::session::run::interactive_input::{Answer, Completeness, DisplayItem};
pub use crate::session::run::test_suite::{Suite, Test, TestRun};
pub use crate::types::closest;
use crate::types::context_with_prelude;
pub use crate::value::number_format::in_bytes;
pub use crate::vm::CompileMode;
pub use crate::vm::operators::check::finite_difference::{Estimate, unit};
pub use crate::vm::{Count, Kink};
pub use explain::point::Point;
pub use explain::probe::{Probe, STEPS};
pub use explain::{Explanation, Operation, Partial, Quantity};
pub use session_data::{CheckNan, Input, Kinks, Options, Outcome, Stage, Status};

use crate::diagnostic::Diagnostic;
use crate::ir::lower::Lowering;
use crate::ir::{FunctionId, Program};
use crate::native::library::Random;
use crate::source::SourceMap;
use crate::syntax::ast::Name;
use crate::syntax::declared_tests;
use crate::tape::ObserverOptions;
use crate::types::model::typed_tree::GlobalId;
use crate::types::{Checked, TypeContext};
use hashbrown::HashSet;
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A session: the declarations, the compiled code and the values of all texts so far.
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
    /// The checks performed during differentiation.
    observer_options: ObserverOptions,
    /// Whether the test blocks of the given files are retained.
    keeps_tests: bool,
    /// The test cases of all inputs.
    test_cases: declared_tests::TestCases,
    /// Whether an input may have created tasks.
    creates_tasks: bool,
    /// The function that receives the progress of loops of the script.
    loops: Option<fn(&ProgressReport<'_>)>,
    /// The type of the value of the last text.
    value_type: Option<String>,
    /// The paths of the imported files that were read.
    imported: Vec<std::path::PathBuf>,
    /// Whether an input imports files or modules that are not a part of the library.
    requests_files: bool,
    /// A flag that another thread sets to cancel the current work.
    interrupt: Arc<AtomicBool>,
    /// The public declarations of the library, once they are requested.
    catalog: Option<Rc<Catalog>>,
    /// Whether long values are abbreviated in an interactive session.
    abbreviates: bool,
    /// The variable `ans`, which holds the last displayed value.
    answer: Option<GlobalId>,
    /// The variables that assignments declared.
    assigned: HashSet<Name>,
    /// Whether an assignment to a variable in `assigned` declares the variable again.
    redeclares_assigned: bool,
    /// Whether a function of which it is unknown whether it is linear is rejected where a linear function is required.
    rejects_unknown_linearity: bool,
}

/// An output that displays pictures as text.
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
        // A failing output reports its error at the next print.
        let _ = writeln!(self, "{}", display.terminal_text().trim_end_matches('\n'));
    }

    /// Does nothing, because printed text cannot be removed.
    fn clear(&mut self, _: bool) {}
}

/// Returns streams that print to `output`, with pictures as text.
fn printing_to(options: &Options, output: Box<dyn Write>) -> Streams {
    let output = Rc::new(RefCell::new(output));
    on_terminal(options, Box::new(TextOnly(Rc::clone(&output))), Box::new(TextOnly(output)))
}

/// Returns streams that read from the standard input, and report errors on the standard error.
fn on_terminal(options: &Options, output: Box<dyn Write>, screen: Box<dyn Screen>) -> Streams {
    // The lines after the current input are inputs of the prompt, which must not be read in advance.
    let capacity = if options.interactive { 1 } else { 1 << 13 };
    let input = Box::new(std::io::BufReader::with_capacity(capacity, std::io::stdin()));
    Streams { output, error: Box::new(std::io::stderr()), input, screen }
}

/// A module that compiled without errors.
pub(crate) struct Compiled {
    checked: Checked,
    script: FunctionId,
    diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// Creates a session that prints to `output`, with pictures as text, and reads from the standard input.
    pub fn new(options: Options, output: Box<dyn Write>) -> Session {
        let streams = printing_to(&options, output);
        Session::with(options, streams)
    }

    /// Creates a session that prints to `output`, displays pictures on `screen`, and reads from the standard input.
    pub fn showing(options: Options, output: Box<dyn Write>, screen: Box<dyn Screen>) -> Session {
        let streams = on_terminal(&options, output, screen);
        Session::with(options, streams)
    }

    /// Creates a session with the given streams.
    pub fn with(options: Options, streams: Streams) -> Session {
        let (mut context, sources) = context_with_prelude();
        context.module.is_interactive = options.interactive;
        let machine = run::machine(&options, streams);
        let (mut lowering, program) = (Lowering::new(), Program::default());
        lowering.set_interactive(options.interactive);
        let observer_options = run::observer_options(&options);
        let Options { loader, deny_warnings, interrupt, abbreviates, .. } = options;
        let loops = options.progress.filter(|_| options.reports_loops);
        let (keeps_tests, creates_tasks, value_type, imported) = (false, false, None, vec![]);
        Session {
            sources,
            context,
            lowering,
            program,
            machine,
            loader,
            deny_warnings,
            observer_options,
            keeps_tests,
            test_cases: declared_tests::TestCases::default(),
            creates_tasks,
            loops,
            value_type,
            imported,
            requests_files: false,
            interrupt,
            catalog: None,
            abbreviates,
            answer: None,
            assigned: HashSet::new(),
            redeclares_assigned: false,
            rejects_unknown_linearity: false,
        }
    }

    /// Restarts the generator of random numbers with another seed.
    pub fn seed(&mut self, seed: u64) {
        self.machine.host.random = Random::seeded(seed);
    }

    /// Changes the limits of the session, and the checks performed during differentiation.
    pub fn adjust(&mut self, options: &Options) {
        self.observer_options = run::observer_options(options);
        self.deny_warnings = options.deny_warnings;
        self.abbreviates = options.abbreviates;
        run::adjust(&mut self.machine, options);
    }

    /// Returns the type of the value of the last text, in source syntax.
    pub fn value_type(&self) -> Option<&str> {
        self.value_type.as_deref()
    }

    /// Returns the source texts of the session, which rendering diagnostics requires.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Compiles and runs the files of a module.
    pub fn run(&mut self, inputs: &[Input]) -> Outcome {
        match self.compile_written(inputs, false) {
            Ok(compiled) => self.execute(compiled),
            Err(outcome) => outcome,
        }
    }

    /// Runs a text; the outcome includes the value of its last expression.
    pub fn eval(&mut self, name: &str, text: &str) -> Outcome {
        match self.compile_written(&[Input { name, text }], true) {
            Ok(compiled) => self.execute(compiled),
            Err(outcome) => outcome,
        }
    }

    /// Returns the kinks at which functions were differentiated since the last call, in order, one for each source
    /// location and operation; requires [`Kinks::Noted`].
    pub fn take_kinks(&mut self) -> Vec<Kink> {
        self.machine.take_kinks()
    }

    /// Checks the files of a module for errors without running the program.
    pub fn check(&mut self, inputs: &[Input]) -> Outcome {
        match self.compile_with_tests(inputs) {
            Ok(compiled) => Outcome { diagnostics: compiled.diagnostics, status: Status::Done, value: None },
            Err(outcome) => outcome,
        }
    }
}
