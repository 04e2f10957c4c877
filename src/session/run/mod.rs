//! Run: executes compiled programs, and describes how a run ended: limits, faults, backtraces.

pub(crate) mod implicit_declaration;
pub(crate) mod index_fault;
pub(crate) mod interactive_input;
pub(crate) mod lazy_compiler;
pub(crate) mod test_suite;

use super::{CheckNan, Compiled, Kinks, Options, Outcome, Session, Status};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::FunctionId;
use crate::native::library::{Host, ProgressReport, Random, Streams};
use crate::session::run::lazy_compiler::LazyCompiler;
use crate::tape::ObserverOptions;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::FunctionRef;
use crate::value::{Cells, Components, Ref};
use crate::vm::{BacktraceEntry, Fault, FaultKind, Limits, LoopProgress, Machine, ProgressReporter, Remark};
use std::time::Duration;

/// The time before the first progress report of a loop.
const FIRST_REPORT_DELAY: Duration = Duration::from_secs(2);

/// Creates a machine with the limits of a session.
pub(super) fn machine(options: &Options, streams: Streams) -> Machine {
    let host = Host {
        streams,
        arguments: options.arguments.clone(),
        random: Random::seeded(options.seed),
        progress: options.progress,
        text_style: options.text_style,
        access: options.access.clone(),
        ..Host::silent()
    };
    let mut machine = Machine::new(host, limits(options), options.max_tape);
    adjust(&mut machine, options);
    machine
}

fn limits(options: &Options) -> Limits {
    Limits {
        depth: options.max_depth,
        steps: options.max_steps,
        memory: options.max_memory,
        time: options.timeout,
        interrupt: options.interrupt.clone(),
    }
}

/// Sets the limits and the checks of a machine.
pub(super) fn adjust(machine: &mut Machine, options: &Options) {
    let most = Host::silent().largest;
    machine.host.largest = options.max_memory.map_or(most, |allowed| allowed.min(most));
    machine.limits = limits(options);
    machine.set_compile_mode(options.compiled);
    machine.limit_tensors(options.threads);
    machine.levels.set_limit(options.max_tape);
    machine.levels.watch(observer_options(options));
    machine.check_rules(options.check_derivatives);
}

/// Returns the checks performed during differentiation.
pub(super) fn observer_options(options: &Options) -> ObserverOptions {
    ObserverOptions {
        not_finite: options.check_nan != CheckNan::Off,
        stops_at_first: options.check_nan == CheckNan::Always,
        kinks: options.kinks != Kinks::Ignored,
        stops_at_kinks: options.kinks == Kinks::Refused,
        is_brief: options.kinks == Kinks::Noted && options.interactive,
        steps: false,
    }
}

impl Session {
    /// Runs the script of a compiled module.
    pub(super) fn execute(&mut self, compiled: Compiled) -> Outcome {
        let Compiled { checked, script, diagnostics } = compiled;
        self.value_type = checked.value.as_ref().map(|ty| display::show(&self.context, ty));
        let result = self.start(script, checked.value.as_ref(), "_describe");
        self.concluded(result, diagnostics)
    }

    /// Runs a script and formats the value of the script's last expression with `writer`.
    pub(super) fn start(
        &mut self,
        script: FunctionId,
        value: Option<&Type>,
        writer: &str,
    ) -> Result<Option<Cells>, Box<Fault>> {
        let text = value.and_then(|ty| self.text_function(writer, ty));
        let values = self.computed(script)?;
        let mut compiler = LazyCompiler::new(&self.program);
        text.map(|text| self.machine.run(&mut compiler, text.0, values.all())).transpose()
    }

    /// Runs a script, and returns the value of its last expression.
    pub(super) fn computed(&mut self, script: FunctionId) -> Result<Cells, Box<Fault>> {
        self.machine.reserve_globals(self.program.globals);
        self.machine.diagnosis.progress = self.loops.map(|report| self.progress_reporter(report));
        // A run that failed may have left requests for explanations.
        self.machine.host.pending_explanations.clear();
        // With the new text, tangents may be lost in functions in which none was lost before.
        if self.context.module.is_interactive {
            self.machine.set_derivatives_aside();
        }
        let mut compiler = LazyCompiler::with_sources(&self.program, &mut self.context, &self.sources)
            .marking_thresholds(self.observer_options.kinks);
        self.machine.run(&mut compiler, script.0, Components::default())
    }

    /// Creates a reporter of the line and the iteration of loops of the script.
    pub(super) fn progress_reporter(&self, report: fn(&ProgressReport<'_>)) -> ProgressReporter {
        let texts: Vec<(u32, String)> = self.sources.written().map(|s| (s.start, s.text.to_string())).collect();
        let line = move |at: u32| {
            let after = texts.partition_point(|(start, _)| *start <= at);
            let (start, text) = texts.get(after.checked_sub(1)?)?;
            Some(text.bytes().take((at - start) as usize).filter(|byte| *byte == b'\n').count() + 1)
        };
        ProgressReporter::new(
            FIRST_REPORT_DELAY,
            Box::new(move |LoopProgress { span, iterations, total }| {
                let label = line(span.start).map_or_else(String::new, |line| format!("line {line}"));
                report(&ProgressReport { label: &label, done: Some(iterations), total });
            }),
        )
    }

    /// Returns the outcome of a run.
    pub(super) fn concluded(
        &mut self,
        result: Result<Option<Cells>, Box<Fault>>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Outcome {
        let flushed = self.machine.host.streams.output.flush();
        let text = match result {
            Ok(text) => text,
            Err(fault) => {
                let status = match fault.kind {
                    FaultKind::Exit(status) => Status::Exited(status),
                    FaultKind::Error(number) => {
                        diagnostics.push(self.describe(&fault, number));
                        status_of(number)
                    }
                };
                return Outcome { diagnostics, status, value: None };
            }
        };
        drop(flushed);
        let value = text.map(|text| match text.r.first() {
            Some(Ref::Text(text)) => text.to_string(),
            _ => String::new(),
        });
        Outcome { diagnostics, status: Status::Done, value }
    }

    /// Instantiates a function of the prelude that formats values for a type: `_describe` formats like `print`.
    pub(super) fn text_function(&mut self, writer: &str, ty: &Type) -> Option<FunctionId> {
        let function = self.context.prelude_function(writer)?;
        let text = FunctionRef { function, generics: vec![ty.clone()] };
        Some(self.lowering.function(&mut self.context, &mut self.program, &text))
    }

    /// Converts a fault to a diagnostic: line, values, backtrace.
    fn describe(&self, fault: &Fault, number: Code) -> Diagnostic {
        // A fault without a source location occurred before the program started.
        let span = if fault.span == crate::source::Span::default() { self.last_text() } else { fault.span };
        let mut diagnostic = Diagnostic::error(number, span, fault.message.clone());
        let values = match number {
            Code::IndexOutOfRange => {
                crate::session::run::index_fault::explained(&fault.values, self.sources.text(fault.span))
            }
            _ => fault.values.clone(),
        };
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            diagnostic = diagnostic.label(values.join(", "));
        }
        for remark in &fault.remarks {
            diagnostic = match remark.clone() {
                Remark::Here(text) => diagnostic.label(text),
                Remark::There(span, text) => diagnostic.also(span, text),
                Remark::Note(text) => diagnostic.note(text),
                Remark::Help(text) => diagnostic.help(text),
            };
        }
        if number == Code::Shapes {
            diagnostic = self.with_origins_of(diagnostic, fault);
        }
        let is_informative = |call: &BacktraceEntry| call.span != fault.span || call.iteration.is_some();
        if fault.backtrace.len() > 1 || fault.backtrace.iter().any(is_informative) {
            diagnostic = diagnostic.note(self.backtrace(&fault.backtrace));
        }
        if number == Code::Internal {
            diagnostic =
                diagnostic.note("this is a bug in dscript; please report it with the program that triggers it");
        }
        diagnostic
    }

    /// Returns the calls that led to a fault, one per line; calls from the same place in succession share a line.
    fn backtrace(&self, calls: &[BacktraceEntry]) -> String {
        let mut text = "backtrace, innermost first".to_owned();
        let line = |BacktraceEntry { name, span, iteration }: &BacktraceEntry| {
            let place = match self.sources.place(span.start) {
                Some(place) if *span != crate::source::Span::default() => {
                    format!("   {}:{}:{}", place.name, place.line, place.column)
                }
                _ => String::new(),
            };
            let iteration = iteration.map_or(String::new(), |n| format!("   iteration {n} of the loop"));
            format!("\n  {name}{place}{iteration}")
        };
        let lines: Vec<String> = calls.iter().map(line).collect();
        for same in lines.chunk_by(|a, b| a == b) {
            text.push_str(&same[0]);
            if same.len() > 1 {
                text.push_str(&format!("   {} times", same.len()));
            }
        }
        text
    }

    pub(super) fn show_tape(&mut self, compiled: Compiled) -> Result<String, Outcome> {
        self.machine.host.streams = Streams::silent();
        self.machine.diagnosis.tape_listings = Some(vec![]);
        let outcome = self.execute(compiled);
        let tapes = self.machine.diagnosis.tape_listings.take().unwrap_or_default();
        if outcome.status == Status::Done { Ok(tapes.join("\n")) } else { Err(outcome) }
    }
}

fn status_of(number: Code) -> Status {
    match number {
        Code::TimeLimit => Status::TimeLimit,
        Code::Interrupted => Status::Interrupted,
        Code::Internal => Status::Internal,
        _ => Status::Failed,
    }
}
