//! Differentiation mechanism: the kind of code that differentiates a function, and the reason if that is not tangent or
//! adjoint code.

use crate::bytecode::Code;
use crate::diagnostic::Diagnostic;
use crate::diff;
use crate::emit::{EncodeError, emit};
use crate::ir::passes::full_inlining::{Inlined, Transforms, inline_all};
use crate::ir::{Fallback, Function, FunctionId, Program};
use crate::native::library::Streams;
use crate::session::query::command_text::{self, CommandText};
use crate::session::{Compiled, Input, Outcome, Session, Status};
use crate::source::GENERATED;
use crate::value::{Bank, Signature};
use crate::vm::{TransformKind, translate};

/// Returns tangent or adjoint code of a function as a graph.
///
/// # Errors
/// Returns the reason why the function has no such code.
pub(crate) fn transformed(program: &Program, function: &Signature, kind: TransformKind) -> Result<Function, Fallback> {
    Ok(with_fallbacks(program, function, kind)?.graph)
}

/// Returns tangent or adjoint code with the fallbacks of the paths that it does not cover.
fn with_fallbacks(program: &Program, function: &Signature, kind: TransformKind) -> Result<Inlined, Fallback> {
    if program.function(FunctionId(function.function)).is_some_and(|f| f.throws) {
        return Err(Fallback::Throws);
    }
    let transforms = Transforms { tangent: diff::transform::tangent, adjoint: diff::transform::adjoint };
    let inlined = inline_all(program, function, transforms)?;
    let graph = match kind {
        TransformKind::Tangent => diff::transform::tangent(&inlined.graph),
        TransformKind::ValueWithGradient => diff::transform::adjoint(&inlined.graph, true),
        TransformKind::Gradient => diff::transform::adjoint(&inlined.graph, false),
        TransformKind::Jacobian => diff::transform::jacobian(&inlined.graph),
        TransformKind::Linearization => diff::transform::linearization(&inlined.graph),
    };
    match (graph, inlined.fallbacks.first()) {
        (Ok(graph), _) => Ok(Inlined { graph, ..inlined }),
        // The operations that would make the result vary are on a path that ends early.
        (Err(Fallback::Constant), Some(why)) => Err(why.clone()),
        (Err(why), _) => Err(why),
    }
}

/// Returns the fallbacks of the paths that tangent or adjoint code does not cover.
///
/// # Errors
/// Returns the reason why there is no such code.
fn early_ends(program: &Program, function: &Signature, kind: TransformKind) -> Result<Vec<Fallback>, Fallback> {
    let Inlined { graph, fallbacks } = with_fallbacks(program, function, kind)?;
    let code: Code = emit(program, &graph, false).map_err(|why| match why {
        EncodeError::TooManyRegisters => Fallback::TooManyRegisters,
        _ => Fallback::Instruction,
    })?;
    translate(&code).ok_or(Fallback::Instruction)?;
    Ok(fallbacks)
}

/// A request for tangent or adjoint code during a run.
struct Request {
    signature: Signature,
    /// Whether the code exists, and every run of the code completed.
    succeeded: bool,
}

/// Formats the mechanism of one kind of derivative.
fn line(program: &Program, id: FunctionId, kind: TransformKind, request: Option<&Request>) -> String {
    let (word, code, other) = match kind {
        TransformKind::Tangent => ("derivative", "tangent code", "forward level"),
        TransformKind::Gradient | TransformKind::ValueWithGradient => ("gradient", "adjoint code", "tape"),
        TransformKind::Jacobian => ("jacobian", "Jacobian code", "linearization code"),
        TransformKind::Linearization => ("pullback", "linearization code", "derivative code"),
    };
    let plain = Signature { function: id.0, captured: vec![] };
    let mechanism = match early_ends(program, request.map_or(&plain, |request| &request.signature), kind) {
        Err(why) => format!("{other}: {why}"),
        Ok(_) if request.is_some_and(|request| !request.succeeded) => {
            format!("{other}: the {code} reached a step or a number that it cannot handle")
        }
        Ok(fallbacks) if fallbacks.is_empty() => code.to_owned(),
        Ok(fallbacks) => {
            let reasons: Vec<String> = fallbacks.iter().map(ToString::to_string).collect();
            format!("{code}; {other} where {}", reasons.join(", or "))
        }
    };
    let executed = if request.is_some() { " (executed)" } else { "" };
    format!("{word:<10}  {mechanism}{executed}")
}

/// Formats the mechanisms of a function: for the gradient if the result is one number, or else for the pullback, and for its
/// derivative along a tangent. Returns nothing for a function without differentiable parameters or results.
fn lines(program: &Program, id: FunctionId, requested: impl Fn(TransformKind) -> Option<Request>) -> Vec<String> {
    let Some(f) = program.function(id) else { return vec![] };
    let varies = f.parameters.iter().any(|parameter| parameter.tangent.is_some());
    if !varies || f.results.iter().all(|bank| *bank == Bank::I) {
        return vec![];
    }
    let has_gradient = f.throws || f.results == [Bank::F] && f.result_len == 1;
    let of = |kind: TransformKind| line(program, id, kind, requested(kind).as_ref());
    if has_gradient {
        let request = requested(TransformKind::Gradient).or_else(|| requested(TransformKind::ValueWithGradient));
        let gradient = line(program, id, TransformKind::ValueWithGradient, request.as_ref());
        return vec![gradient, of(TransformKind::Tangent)];
    }
    // A function without Jacobian code computes its Jacobian by the mechanism of the pullback.
    let plain = Signature { function: id.0, captured: vec![] };
    let has_jacobian = early_ends(program, &plain, TransformKind::Jacobian).is_ok();
    let jacobian = has_jacobian.then(|| of(TransformKind::Jacobian));
    [of(TransformKind::Linearization)].into_iter().chain(jacobian).chain([of(TransformKind::Tangent)]).collect()
}

impl Session {
    /// Returns the mechanisms by which a function is differentiated when no other derivative is being computed, one per
    /// line.
    ///
    /// # Errors
    /// Returns the diagnostics when the function does not compile.
    pub fn mechanisms(&mut self, typed: &str) -> Result<Vec<String>, Vec<Diagnostic>> {
        let function = &*self.function_text(typed);
        let program = CommandText::new(typed).around(function, typed);
        let snapshot = self.snapshot();
        let compiled = self.compile(&[Input { name: GENERATED, text: function }], true);
        let found = compiled.map(|compiled| {
            let first = self.functions_in(compiled.script).first().copied();
            first.map_or(vec![], |id| lines(&self.program, id, |_| None))
        });
        self.restore(snapshot);
        found.map_err(|outcome| self.at_input_parts(outcome.diagnostics, command_text::NAME, &program))
    }

    /// Returns the mechanisms of a function that was not run.
    pub(super) fn mechanisms_of(&self, id: FunctionId) -> String {
        self.listed_mechanisms(id, |_| None)
    }

    /// Runs a program without its output, and lists the mechanisms of its functions; the mechanisms that were executed
    /// are marked.
    pub(super) fn executed_mechanisms(&mut self, compiled: Compiled, own: &[FunctionId]) -> Result<String, Outcome> {
        self.machine.host.streams = Streams::silent();
        let outcome = self.execute(compiled);
        if outcome.status != Status::Done {
            return Err(outcome);
        }
        let listed = own.iter().map(|id| {
            self.listed_mechanisms(*id, |kind| {
                let mut requests = self.machine.functions.requested(kind);
                let (signature, succeeded) = requests.find(|(signature, _)| signature.function == id.0)?;
                Some(Request { signature: signature.clone(), succeeded })
            })
        });
        Ok(listed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"))
    }

    fn listed_mechanisms(&self, id: FunctionId, requested: impl Fn(TransformKind) -> Option<Request>) -> String {
        let lines = lines(&self.program, id, requested);
        let name = self.program.function(id).map_or("", |f| &f.name);
        if lines.is_empty() { String::new() } else { format!("{name}\n  {}\n", lines.join("\n  ")) }
    }
}
