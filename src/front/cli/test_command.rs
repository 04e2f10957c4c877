//! Test command: runs each test block in isolation, `dscript test`.

use super::super::output::{CaptureBuffer, Output, report};
use super::super::{exit_status, process_guard};
use super::args::Settings;
use super::json_record::Record;
use super::program_input::{self, Content, Program};
use super::program_search::TestModule;
use super::{program_search, render_style};
use crate::session::{Input, Options, Outcome, Session, Status, Suite, Test, TestRun};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The maximum size of a test's captured output in bytes: a failing test that prints without end must not fill the
/// memory.
const MAX_CAPTURED_OUTPUT: usize = 1 << 16;

/// Runs the tests in files and folders whose names contain `filter`.
pub(super) fn test(paths: &[PathBuf], filter: Option<&str>, settings: &Settings) -> i32 {
    let started = Instant::now();
    let files = match program_search::found(paths) {
        Ok(files) => files,
        Err(problem) => {
            report(&problem);
            return exit_status::USAGE;
        }
    };
    let mut run = Run {
        settings,
        interrupt: process_guard::interrupt(),
        filter,
        output: Output::stdout(),
        counts: TestCounts::default(),
    };
    for module in &program_search::test_modules(files) {
        if run.module(module).is_err() {
            break;
        }
    }
    run.conclude(started.elapsed())
}

/// The numbers of tests by result.
#[derive(Default)]
struct TestCounts {
    passed: usize,
    failed: usize,
    skipped: usize,
    filtered_out: usize,
    /// The exit status of an error outside the tests.
    error_status: Option<i32>,
}

/// A module whose tests can run.
struct CompiledModule {
    session: Session,
    suite: Suite,
    /// The names of the files whose tests run.
    tested: Vec<String>,
    options: Options,
}

/// Files that do not compile.
struct Failure {
    session: Session,
    outcome: Outcome,
}

/// The signal that no further file is tested.
struct Aborted;

struct Run<'a> {
    settings: &'a Settings,
    interrupt: Arc<AtomicBool>,
    filter: Option<&'a str>,
    output: Output,
    counts: TestCounts,
}

impl Run<'_> {
    /// Runs the tests of a module. If its files do not compile together, each file with tests is compiled alone, or else
    /// with the files without tests, so that an error in one file does not prevent the tests in the others.
    fn module(&mut self, module: &TestModule) -> Result<(), Aborted> {
        let Some(texts) = self.texts(module) else { return Ok(()) };
        let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input { name, text }).collect();
        let given = inputs.len().saturating_sub(module.tested.len());
        if !inputs[given..].iter().any(|input| may_have_tests(input.text)) {
            return Ok(());
        }
        let failure = match self.compiled(&inputs, given) {
            Ok(compiled) => return self.run_compiled(compiled),
            Err(failure) => failure,
        };
        if inputs.len() == 1 || failure.outcome.status != Status::Rejected {
            self.reject(&failure);
            return Ok(());
        }
        let (tests, helpers): (Vec<Input>, Vec<Input>) = inputs.iter().partition(|input| may_have_tests(input.text));
        for test in tests.into_iter().filter(|test| inputs[given..].iter().any(|input| input.name == test.name)) {
            let compiled = self.compiled(&[test], 0).or_else(|failure| {
                let inputs: Vec<Input> = helpers.iter().copied().chain([test]).collect();
                self.compiled(&inputs, helpers.len()).map_err(|_| failure)
            });
            match compiled {
                Ok(compiled) => self.run_compiled(compiled)?,
                Err(failure) => self.reject(&failure),
            }
        }
        Ok(())
    }

    /// Returns the names and the texts of the files of a module, the tested files last; reports a file that cannot be read.
    fn texts(&mut self, module: &TestModule) -> Option<Vec<(String, String)>> {
        let mut texts = vec![];
        for file in module.others.iter().chain(&module.tested) {
            match program_input::read(file) {
                Ok(Program { name, content: Content::Text(text) }) => texts.push((name, text)),
                Ok(_) => {}
                Err(reason) => {
                    report(&reason);
                    self.counts.error_status.get_or_insert(exit_status::USAGE);
                    return None;
                }
            }
        }
        Some(texts)
    }

    /// Compiles files, of which those from `given` on are tested.
    fn compiled(&self, inputs: &[Input], given: usize) -> Result<CompiledModule, Box<Failure>> {
        let tested: Vec<String> = inputs[given..].iter().map(|input| input.name.to_owned()).collect();
        let options = self.settings.options(tested.iter().take(1).cloned().collect(), self.interrupt.clone());
        let options = Options { check_derivatives: true, ..options };
        let mut session = Session::new(options.clone(), Box::new(std::io::sink()));
        match session.suite(inputs) {
            Ok(suite) => Ok(CompiledModule { session, suite, tested, options }),
            Err(outcome) => Err(Box::new(Failure { session, outcome })),
        }
    }

    fn run_compiled(&mut self, compiled: CompiledModule) -> Result<(), Aborted> {
        let CompiledModule { mut session, suite, tested, options } = compiled;
        super::print_diagnostics(&suite.diagnostics, &session, &self.output, self.settings);
        self.suite(&mut session, &suite, &tested, &options)
    }

    /// Reports files that do not compile.
    fn reject(&mut self, Failure { session, outcome }: &Failure) {
        super::print_diagnostics(&outcome.diagnostics, session, &self.output, self.settings);
        let status = exit_status::of(outcome.status);
        self.counts.error_status = Some(self.counts.error_status.map_or(status, |before| before.max(status)));
    }

    /// Runs the tests of the given files.
    fn suite(
        &mut self,
        session: &mut Session,
        suite: &Suite,
        files: &[String],
        options: &Options,
    ) -> Result<(), Aborted> {
        let own: Vec<usize> = (0..suite.tests.len()).filter(|n| files.contains(&suite.tests[*n].file)).collect();
        let is_wanted = |test: &Test| self.filter.is_none_or(|word| test.name.contains(word));
        let wanted: Vec<usize> = own.iter().copied().filter(|n| is_wanted(&suite.tests[*n])).collect();
        self.counts.filtered_out += own.len() - wanted.len();
        let mut file = None;
        for (done, number) in wanted.iter().enumerate() {
            if file.replace(&suite.tests[*number].file) != Some(&suite.tests[*number].file) {
                self.print(&format!("{}\n", suite.tests[*number].file));
            }
            let printed = CaptureBuffer::up_to(MAX_CAPTURED_OUTPUT);
            let started = Instant::now();
            let ran = session.run_test(suite, *number, options, Box::new(printed.clone()));
            let TestRun { outcome, is_before, skip_reason } = &ran;
            if outcome.status == Status::Interrupted {
                self.counts.error_status = Some(exit_status::INTERRUPTED);
                return Err(Aborted);
            }
            let test = &suite.tests[*number];
            let has_passed = outcome.status == Status::Done;
            if self.settings.json {
                self.record(test, &ran, &printed, started.elapsed(), session);
            } else {
                self.line(&test.name, has_passed, skip_reason.as_deref(), started.elapsed());
            }
            match (has_passed, skip_reason) {
                (true, None) => self.counts.passed += 1,
                (true, Some(_)) => self.counts.skipped += 1,
                (false, _) => {}
            }
            if has_passed {
                continue;
            }
            self.counts.failed += 1;
            if !self.settings.json {
                self.explain(&ran, &printed, session);
            }
            if *is_before {
                let rest = wanted.len() - done - 1;
                self.counts.failed += rest;
                if rest > 0 {
                    self.print(&format!("  ✘ {rest} more, for the same reason\n"));
                }
                break;
            }
        }
        Ok(())
    }

    /// Writes text for human readers, unless records are written.
    fn print(&self, text: &str) {
        if !self.settings.json {
            self.output.write_or_end(text);
        }
    }

    /// Writes the JSON record of a test.
    fn record(&self, test: &Test, ran: &TestRun, printed: &CaptureBuffer, took: Duration, session: &Session) {
        super::print_diagnostics(&ran.outcome.diagnostics, session, &self.output, self.settings);
        let passed = ran.outcome.status == Status::Done;
        let Test { name, file, line } = test;
        let (seconds, output) = (took.as_secs_f64(), &printed.text());
        let skipped = passed && ran.skip_reason.is_some();
        Record::Test { name, file, line: *line, passed, skipped, seconds, output }.write(&self.output);
    }

    /// Writes the line that reports the result of a test.
    fn line(&self, name: &str, has_passed: bool, skip_reason: Option<&str>, took: Duration) {
        let line = match (has_passed, skip_reason) {
            (true, Some("")) => format!("  – {name} skipped\n"),
            (true, Some(reason)) => format!("  – {name} skipped: {reason}\n"),
            (true, None) => format!("  ✔ {name}   {}\n", words(took)),
            (false, _) => format!("  ✘ {name}   {}\n", words(took)),
        };
        self.output.write_or_end(&line);
    }

    /// Reports why a test failed, and the output of the test.
    fn explain(&self, ran: &TestRun, printed: &CaptureBuffer, session: &Session) {
        self.output.flush_or_end();
        let mut message = String::new();
        match ran.outcome.status {
            Status::Exited(code) => message += &format!("dscript: the test ended the program with exit({code})\n"),
            Status::Internal => message += process_guard::BUG_REPORT_REQUEST,
            _ => {}
        }
        if ran.is_before {
            message += "dscript: the top-level statements of the file failed before its tests started\n";
        }
        message += &render_style(self.settings).text(&ran.outcome.diagnostics, session);
        let text = printed.text();
        if !text.is_empty() {
            message += "output:\n";
            text.lines().for_each(|line| message += &format!("  | {line}\n"));
        }
        report(&message);
    }

    fn conclude(&self, took: Duration) -> i32 {
        let TestCounts { passed, failed, skipped, filtered_out, error_status } = self.counts;
        if self.settings.json {
            Record::Summary { passed, failed, skipped, left_out: filtered_out }.write(&self.output);
        }
        let skipped_part = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        let filtered_out = if filtered_out > 0 { format!(", {filtered_out} left out") } else { String::new() };
        let summary = match passed + failed + skipped {
            0 if error_status.is_some() => String::new(),
            0 => format!("no tests{filtered_out}\n"),
            _ => format!("{passed} passed, {failed} failed{skipped_part}{filtered_out}   {}\n", words(took)),
        };
        self.print(&summary);
        self.output.flush_or_end();
        match error_status {
            Some(status) => status,
            None if failed > 0 => exit_status::TESTS_FAILED,
            None => exit_status::DONE,
        }
    }
}

/// Whether a text may contain tests: a quick check, because most programs have none and need not be compiled.
fn may_have_tests(text: &str) -> bool {
    let begins = |line: &str| {
        let rest = line.trim_start_matches(['\u{feff}', ' ', '\t', ';', '}']).strip_prefix("test");
        let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '\t', '('])) else { return false };
        // A test in another notation is a syntax error, which must be reported: `test("name") { … }`.
        rest.trim_start().starts_with(['"', '#']) || rest.contains('{')
    };
    // The superclass of a test case may be declared in another file.
    let may_be_case = || text.contains("func test") && text.contains("class ");
    text.lines().any(begins) || Session::may_declare_tests(text) || may_be_case()
}

/// Formats the duration of a test.
fn words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}
