//! Running what was compiled: the machine, and what it asks of the compiler.

use super::derive;
use super::explain::names_of_parameters;
use super::told::told;
use super::{CheckNan, Compiled, Kinks, Options, Outcome, Session, Status};
use crate::bytecode;
use crate::diagnostic::{Code, Diagnostic};
use crate::diff;
use crate::emit;
use crate::ir::flatten::flatten;
use crate::ir::{FunctionId, MethodId, Program};
use crate::native::library::{ExplainRequest, Host, Random, Step, Streams};
use crate::source::SourceMap;
use crate::stop;
use crate::tape::watch::Wanted;
use crate::types::World;
use crate::types::tree::FunctionRef;
use crate::types::ty::Type;
use crate::types::world::Declarations;
use crate::value::shape::{OwnId, ShapeId, Shapes, Tangents};
use crate::value::{Cells, Components, Ref, Signature};
use crate::vm::{Compiler, Fault, Kind, Kink, Limits, Machine, Onlooker, Passage, Remark, Running, Swept, Trace};
use std::rc::Rc;
use std::time::Duration;

/// After this time a person would like to know how far a loop has come.
const PATIENCE: Duration = Duration::from_secs(2);

/// A machine with the limits of a session.
pub(super) fn machine(options: &Options, streams: Streams) -> Machine {
    let host = Host {
        streams,
        arguments: options.arguments.clone(),
        random: Random::seeded(options.seed),
        progress: options.progress,
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

/// Gives a machine the limits of options, and says what it is to look for.
pub(super) fn adjust(machine: &mut Machine, options: &Options) {
    let most = Host::silent().largest;
    machine.host.largest = options.max_memory.map_or(most, |allowed| allowed.min(most));
    machine.limits = limits(options);
    machine.levels.set_limit(options.max_tape);
    machine.levels.watch(wanted(options));
    machine.check_rules(options.check_derivatives);
}

/// What is looked for while numbers are differentiated.
pub(super) fn wanted(options: &Options) -> Wanted {
    Wanted {
        not_finite: options.check_nan != CheckNan::Off,
        at_once: options.check_nan == CheckNan::Always,
        kinks: options.kinks != Kinks::Ignored,
        no_kinks: options.kinks == Kinks::Refused,
        briefly: options.kinks == Kinks::Noted && options.interactive,
        steps: false,
    }
}

/// The compiler as the machine sees it: code is made when it is first asked for.
pub(super) struct OnDemand<'p> {
    program: &'p Program,
    chains: diff::Chains<'p>,
    /// Whether comparisons on which branches depend are marked in derivative code.
    marks_thresholds: bool,
    /// What names and places are known by; absent where nobody asks.
    known: Option<(&'p mut World, &'p SourceMap)>,
}

impl<'p> OnDemand<'p> {
    /// The compiler of a program.
    pub(super) fn new(program: &'p Program) -> OnDemand<'p> {
        OnDemand { program, chains: diff::Chains::new(program), marks_thresholds: false, known: None }
    }

    /// The same for somebody who may look for kinks.
    pub(super) fn marking_thresholds(self, marks_thresholds: bool) -> OnDemand<'p> {
        OnDemand { marks_thresholds, ..self }
    }

    /// The compiler of a program that may ask how its derivatives come about.
    pub(super) fn knowing(program: &'p Program, world: &'p mut World, sources: &'p SourceMap) -> OnDemand<'p> {
        OnDemand { known: Some((world, sources)), ..OnDemand::new(program) }
    }

    fn differentiated(
        &mut self,
        id: FunctionId,
        graph: &crate::ir::Function,
    ) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let differentiated = stop::caught(|| {
            let marked = self.chains.marked(id, graph);
            let graph = marked.as_ref().unwrap_or(graph);
            let thresholds =
                if self.marks_thresholds { diff::threshold::marked(self.program, id, graph) } else { None };
            diff::derivative(self.program, thresholds.as_ref().unwrap_or(graph))
        });
        self.emit(&differentiated.ok_or_else(Fault::stopped)?, true)
    }

    fn emit(&self, function: &crate::ir::Function, is_derivative: bool) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        emitted(self.program, function, is_derivative)
    }

    fn graph(&self, function: u32) -> Result<&'p Rc<crate::ir::Function>, Box<Fault>> {
        self.program.function(FunctionId(function)).ok_or_else(|| Fault::internal("a function that was never compiled"))
    }
}

impl Compiler for OnDemand<'_> {
    fn original(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        self.emit(graph, false)
    }

    fn derivative(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        match diff::entry(FunctionId(function), graph) {
            Some(entry) => self.emit(&entry, true),
            None => self.differentiated(FunctionId(function), graph),
        }
    }

    fn beneath(&mut self, function: u32) -> Result<Rc<bytecode::Code>, Box<Fault>> {
        let graph = self.graph(function)?;
        self.differentiated(FunctionId(function), graph)
    }

    fn chains_may_break(&mut self) -> Result<bool, Box<Fault>> {
        stop::caught(|| self.chains.may_break()).ok_or_else(Fault::stopped)
    }

    fn sweep(&mut self, function: &Signature, kind: Swept) -> Result<Option<Rc<bytecode::Code>>, Box<Fault>> {
        let made = stop::caught(|| transformed(self.program, function, kind));
        let made = made.ok_or_else(Fault::stopped)?;
        // What cannot be encoded is done without.
        Ok(made.and_then(|code| self.emit(&code, false).ok()))
    }

    fn own_text(&mut self, own: OwnId, inside: bool) -> Result<u32, Box<Fault>> {
        let texts = self.program.own_texts.get(own.0 as usize);
        let texts = texts.ok_or_else(|| Fault::internal("a type whose text was never compiled"))?;
        Ok(texts[usize::from(inside)].0)
    }

    fn method(&mut self, method: u16, shape: ShapeId) -> Result<u32, Box<Fault>> {
        let id = MethodId(u32::from(method));
        match self.program.dispatch.get(&(id, shape)) {
            Some(function) => Ok(function.0),
            None => Err(Fault::internal("a method that a type does not have")),
        }
    }

    fn told(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let Some((world, sources)) = &mut self.known else { return vec![] };
        let names = names_of_parameters(world, &request.function);
        told((&names, sources), (trace, kinks), request)
    }

    fn derived(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let Some((_, sources)) = &self.known else { return vec![] };
        derive::forms(&derive::written(self.program, FunctionId(function), sources), name, order)
    }

    fn shapes(&self) -> &Shapes {
        &self.program.shapes
    }

    fn tangents(&self) -> &Tangents {
        &self.program.tangents
    }
}

/// The bytecode of a graph.
pub(super) fn emitted(
    program: &Program,
    function: &crate::ir::Function,
    is_derivative: bool,
) -> Result<Rc<bytecode::Code>, Box<Fault>> {
    let emitted = stop::caught(|| emit::emit(program, function, is_derivative));
    emitted.ok_or_else(Fault::stopped)?.map(Rc::new).map_err(|why| {
        let message = format!("'{}' cannot be compiled: {why}", function.name);
        match why {
            emit::Unencodable::TooManyRegisters => {
                Box::new(Fault { span: function.span, ..*Fault::new(Code::TooLarge, message) })
            }
            _ => Fault::internal(message),
        }
    })
}

/// Tangent or adjoint code of a function, if there is any.
pub(super) fn transformed(program: &Program, function: &Signature, kind: Swept) -> Option<crate::ir::Function> {
    let flat = flatten(program, function)?;
    match kind {
        Swept::Tangent => diff::transform::tangent(&flat),
        Swept::ValueWithGradient => diff::transform::adjoint(&flat, true),
        Swept::Gradient => diff::transform::adjoint(&flat, false),
    }
}

impl Session {
    /// Runs the script of a module that was compiled.
    pub(super) fn execute(&mut self, compiled: Compiled) -> Outcome {
        let Compiled { checked, script, diagnostics } = compiled;
        self.value_type = checked.value.as_ref().map(|ty| self.world.show(ty));
        let result = self.start(script, checked.value.as_ref(), "_describe");
        self.concluded(result, diagnostics)
    }

    /// Runs a script, and what writes the value of its last expression.
    pub(super) fn start(
        &mut self,
        script: FunctionId,
        value: Option<&Type>,
        writer: &str,
    ) -> Result<Option<Cells>, Box<Fault>> {
        let text = value.and_then(|ty| self.text_function(writer, ty));
        let values = self.computed(script)?;
        let mut compiler = OnDemand::new(&self.program);
        text.map(|text| self.machine.run(&mut compiler, text.0, values.all())).transpose()
    }

    /// Runs a script, and gives the value of its last expression.
    pub(super) fn computed(&mut self, script: FunctionId) -> Result<Cells, Box<Fault>> {
        self.machine.reserve_globals(self.program.globals);
        self.machine.onlooker = self.loops.map(|tell| self.onlooker(tell));
        // Requests of a run that failed.
        self.machine.host.pending_explanations.clear();
        // With the new text, chains that break may lead through functions that none led through before.
        if self.world.is_interactive {
            self.machine.set_derivatives_aside();
        }
        let mut compiler =
            OnDemand::knowing(&self.program, &mut self.world, &self.sources).marking_thresholds(self.wanted.kinks);
        self.machine.run(&mut compiler, script.0, Components::default())
    }

    /// Who tells the line and the round of the script's loop.
    pub(super) fn onlooker(&self, tell: fn(&Step<'_>)) -> Onlooker {
        let texts: Vec<(u32, String)> = self.sources.written().map(|s| (s.start, s.text.to_string())).collect();
        let line = move |at: u32| {
            let after = texts.partition_point(|(start, _)| *start <= at);
            let (start, text) = texts.get(after.checked_sub(1)?)?;
            Some(text.bytes().take((at - start) as usize).filter(|byte| *byte == b'\n').count() + 1)
        };
        Onlooker::new(
            PATIENCE,
            Box::new(move |Passage { span, rounds, total }| {
                let label = line(span.start).map_or_else(String::new, |line| format!("line {line}"));
                tell(&Step { label: &label, done: Some(rounds), total });
            }),
        )
    }

    /// What came of a run.
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
                    Kind::Exit(status) => Status::Exited(status),
                    Kind::Error(number) => {
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

    /// The function of the prelude that writes values, for those of a type: `_describe` does as `print` would.
    pub(super) fn text_function(&mut self, writer: &str, ty: &Type) -> Option<FunctionId> {
        let function = self.world.prelude_function(writer)?;
        let text = FunctionRef { function, generics: vec![ty.clone()] };
        Some(self.lowering.function(&mut self.world, &mut self.program, &text))
    }

    /// A run-time error in words: line, values, backtrace.
    fn describe(&self, fault: &Fault, number: Code) -> Diagnostic {
        // Nothing of the program was running yet.
        let span = if fault.span == crate::source::Span::default() { self.last_text() } else { fault.span };
        let mut diagnostic = Diagnostic::error(number, span, fault.message.clone());
        let values = match number {
            Code::IndexOutOfRange => super::indexed::explained(&fault.values, self.sources.text(fault.span)),
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
        let tells = |call: &Running| call.span != fault.span || call.round.is_some();
        if fault.backtrace.len() > 1 || fault.backtrace.iter().any(tells) {
            let mut lines = vec!["backtrace, innermost first".to_string()];
            for Running { name, span, round } in &fault.backtrace {
                let place = match self.sources.place(span.start) {
                    Some(place) if *span != crate::source::Span::default() => {
                        format!("  {name}   {}:{}:{}", place.name, place.line, place.column)
                    }
                    _ => format!("  {name}"),
                };
                let round = round.map_or(String::new(), |n| format!("   round {n} of the loop"));
                lines.push(place + &round);
            }
            diagnostic = diagnostic.note(lines.join("\n"));
        }
        if number == Code::Internal {
            diagnostic = diagnostic.note("this is a bug of dscript; please report it with the program that shows it");
        }
        diagnostic
    }

    pub(super) fn show_tape(&mut self, compiled: Compiled) -> Result<String, Outcome> {
        self.machine.host.streams = Streams::silent();
        self.machine.tapes = Some(vec![]);
        let outcome = self.execute(compiled);
        let tapes = self.machine.tapes.take().unwrap_or_default();
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
