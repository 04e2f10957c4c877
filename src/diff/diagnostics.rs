//! Diagnostics: constructs the diagnostics of differentiation.

use super::dependence::{LossReason, TangentLoss};
use super::differentiability_check::DifferentiabilityAssertion;
use super::linearity::{NonlinearStep, base_name};
use crate::diagnostic::{Code, Diagnostic, Note, Severity};
use crate::ir::{Function, Instruction, Obstacle, Reg, Terminator};
use crate::source::Span;
use crate::value::Bank;
use std::rc::Rc;

const THROUGH_RESULT: &str =
    "cannot differentiate through a non-differentiable result; do you want to add 'withoutDerivative(at:)'?";
const THROUGH_ARGUMENT: &str =
    "cannot differentiate through a non-differentiable argument; do you want to add 'withoutDerivative(at:)'?";
const THROUGH_PROPERTY: &str =
    "cannot differentiate through a non-differentiable property; do you want to add 'withoutDerivative(at:)'?";
const NOT_DIFFERENTIABLE: &str = "expression is not differentiable";
const OTHER_MODULE: &str =
    "cannot differentiate functions that have not been marked '@differentiable' and that are defined in other modules";
const ALWAYS_ZERO: &str = "result does not depend on differentiation arguments and will always have a zero derivative; \
                           do you want to add 'withoutDerivative(at:)' to make it explicit?";

/// The maximum number of steps that a diagnostic lists.
const MAX_STEPS: usize = 5;

/// Reports that a path to the result goes through a value that is not a number.
pub fn not_differentiable(assertion: &DifferentiabilityAssertion, losses: &[(usize, Rc<TangentLoss>)]) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::NotDifferentiable, head(assertion), "function is not differentiable");
    for (k, parameter) in assertion.function.parameters.iter().enumerate() {
        if losses.iter().any(|(of, _)| *of == k) {
            diagnostic = with_respect_to(diagnostic, assertion, parameter.span, &parameter.name);
        }
    }
    diagnostic = definition(diagnostic, assertion);
    let mut reported: Vec<Span> = vec![];
    for (_, found) in losses {
        if reported.contains(&found.span) || reported.len() >= MAX_STEPS {
            continue;
        }
        reported.push(found.span);
        diagnostic = calls(diagnostic, found);
        let through = match found.reason {
            LossReason::Argument => THROUGH_ARGUMENT,
            LossReason::Property => THROUGH_PROPERTY,
            _ => THROUGH_RESULT,
        };
        if assertion.function.is_prelude {
            diagnostic = diagnostic.note_at(assertion.at, through);
            continue;
        }
        diagnostic = diagnostic.note_at(found.span, through);
        let (reason, help) = explanation(&found.reason);
        if !diagnostic.notes.iter().any(|n| n.text == reason) {
            diagnostic.notes.push(Note { span: None, text: reason.into() });
        }
        diagnostic = match found.reason {
            LossReason::Property => diagnostic.help(help),
            _ => cut(diagnostic, help, found.span),
        };
    }
    diagnostic
}

/// Returns the reason why a tangent is lost, and the suggested change.
fn explanation(reason: &LossReason) -> (&'static str, &'static str) {
    const CONSTANT: &str = "to treat the value as a constant, with a derivative of zero, use 'withoutDerivative(at:)'";
    match reason {
        LossReason::Argument => (
            "the parameter is marked '@noDerivative': the function is not differentiated with respect to it",
            "to treat the argument as a constant, use 'withoutDerivative(at:)'",
        ),
        LossReason::Property => (
            "the property is marked '@noDerivative': values stored in it are not differentiated",
            "to treat the value as a constant, store 'withoutDerivative(at:)' of it",
        ),
        LossReason::Conversion("int.fromDouble") => (
            "an 'Int' holds integers: a small change of the argument does not change it, so it has no derivative",
            "to treat the integer as a constant, with a derivative of zero, use 'withoutDerivative(at:)'",
        ),
        LossReason::Conversion(name) if is_conversion_to_string(name) => {
            ("the argument is converted to a string, which has no derivative", CONSTANT)
        }
        _ => ("the result is not a number that varies with the argument, so it has no derivative", CONSTANT),
    }
}

/// Whether a function of the native library converts a value to a string.
fn is_conversion_to_string(name: &str) -> bool {
    name.starts_with("describe") || name.starts_with("debugDescribe") || name.starts_with("format.")
}

/// Reports that a path to the result goes through a function whose body is unknown.
pub fn opaque(assertion: &DifferentiabilityAssertion, parameter: usize, found: &TangentLoss, name: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::NoDerivative, found.span, NOT_DIFFERENTIABLE);
    if let Some(parameter) = assertion.function.parameters.get(parameter) {
        diagnostic = with_respect_to(diagnostic, assertion, parameter.span, &parameter.name);
    }
    diagnostic = calls(diagnostic, found).note_at(found.span, OTHER_MODULE);
    if !assertion.is_literal {
        diagnostic = diagnostic.also(assertion.at, "a differentiable function is required here");
    }
    diagnostic.help(format!("register a derivative for it with '@derivative(of: {})'", base_name(name)))
}

/// Reports that a path to the result goes through a function whose registered derivatives are for other types, or a
/// stored property that has no counterpart in its type's tangent vectors.
pub fn obstacle(
    assertion: &DifferentiabilityAssertion,
    parameter: usize,
    found: &TangentLoss,
    obstacle: &Obstacle,
) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::NoDerivative, found.span, NOT_DIFFERENTIABLE);
    if let Some(parameter) = assertion.function.parameters.get(parameter) {
        diagnostic = with_respect_to(diagnostic, assertion, parameter.span, &parameter.name);
    }
    with_obstacle(calls(diagnostic, found), found.span, obstacle)
}

/// Reports the conversion of a function whose registered derivatives are for other types.
pub fn obstacle_reference(assertion: &DifferentiabilityAssertion, obstacle: &Obstacle) -> Diagnostic {
    with_obstacle(Diagnostic::error(Code::NoDerivative, assertion.at, NOT_DIFFERENTIABLE), assertion.at, obstacle)
}

fn with_obstacle(diagnostic: Diagnostic, at: Span, obstacle: &Obstacle) -> Diagnostic {
    let help = match obstacle {
        Obstacle::Requirement(_) => None,
        Obstacle::Property { is_case: true, .. } => Some("use it in a function or method"),
        Obstacle::Property { is_read: true, .. } => Some("read it in a computed property or method"),
        Obstacle::Property { .. } => Some("set it in an initializer or function"),
    };
    let diagnostic = diagnostic.note_at(at, obstacle.to_string());
    match help {
        Some(help) => diagnostic.help(format!("{help}, and register a derivative for that with '@derivative(of:)'")),
        None => diagnostic,
    }
}

/// Reports the conversion of a function of another module.
pub fn other_module(assertion: &DifferentiabilityAssertion) -> Diagnostic {
    let name = &assertion.function.name;
    let message = format!("'{name}' is from a different module and has not been marked with '@differentiable'");
    Diagnostic::error(Code::NoDerivative, assertion.at, message)
        .help(format!("register a derivative for it with '@derivative(of: {})'", base_name(name)))
}

/// Reports that no varied value reaches the result.
pub fn zero_derivative(assertion: &DifferentiabilityAssertion) -> Diagnostic {
    let f = assertion.function;
    let warning = |span| Diagnostic::warning(Code::ZeroDerivative, span, ALWAYS_ZERO);
    if f.is_prelude {
        return warning(assertion.at);
    }
    let place = result_place(f);
    let mut diagnostic = warning(place.map_or(head(assertion), |(span, _)| span));
    let varied: Vec<_> =
        f.parameters.iter().zip(assertion.wrt).filter(|(_, wanted)| **wanted).map(|(p, _)| p).collect();
    for parameter in &varied {
        diagnostic = with_respect_to(diagnostic, assertion, parameter.span, &parameter.name);
    }
    let is_used = varied.iter().any(|p| f.params[p.first..p.first + p.len].iter().any(|r| is_read(f, *r)));
    diagnostic = diagnostic.label(match (&varied[..], is_used) {
        ([parameter], false) if is_name(&parameter.name) => format!("'{}' is not used here", parameter.name),
        ([parameter], true) if is_name(&parameter.name) => format!("this does not depend on '{}'", parameter.name),
        (_, false) => "the arguments are not used here".into(),
        (_, true) => "this does not depend on the arguments".into(),
    });
    if !assertion.is_literal {
        diagnostic = diagnostic.also(assertion.at, "differentiated here");
    }
    match place {
        Some((span, true)) => cut(diagnostic, "if zero is intended, use 'withoutDerivative(at:)'", span),
        _ => diagnostic.help("if zero is intended, write 'withoutDerivative(at:)' around the result"),
    }
}

/// Reports a nonlinear function where a linear function is required.
pub fn not_linear(assertion: &DifferentiabilityAssertion, step: Option<&NonlinearStep>) -> Diagnostic {
    let subject = subject(assertion);
    let nonlinear_step =
        step.map_or_else(|| format!("'{}'", base_name(&assertion.function.name)), |s| format!("'{}'", s.name));
    let message = format!("when differentiating {subject} as a linear map, {nonlinear_step} is not linear");
    let diagnostic = Diagnostic::error(Code::NotLinear, head(assertion), message);
    match step.filter(|_| !assertion.function.is_prelude) {
        Some(step) => {
            let reason = match &*step.name {
                "*" => "both factors vary with the arguments".to_string(),
                "/" => "the divisor varies with the arguments".to_string(),
                "==" | "!=" | "<" | "<=" | ">" | ">=" => {
                    "the branch taken depends on a value that varies with the arguments".to_string()
                }
                name => format!("'{name}' is not linear in a value that varies with the arguments"),
            };
            definition(diagnostic, assertion).note_at(step.span, reason)
        }
        None => diagnostic,
    }
}

/// Changes the error for a registered derivative into a warning, if the derivative need not be linear. `what_happens`
/// describes how the derivative is treated.
pub fn as_warning(not_linear: Diagnostic, what_happens: &str) -> Diagnostic {
    if not_linear.severity == Severity::Warning {
        return not_linear;
    }
    let warning = Diagnostic { severity: Severity::Warning, code: Code::NotLinearDerivative, ..not_linear };
    warning.note(what_happens)
}

/// Reports that a function that must be linear adds a constant.
pub fn affine(assertion: &DifferentiabilityAssertion, step: Option<&NonlinearStep>) -> Diagnostic {
    let message = format!("{} is affine, not linear: its transpose ignores the constant part", subject(assertion));
    let diagnostic = Diagnostic::warning(Code::AffineAsLinear, head(assertion), message);
    match step.filter(|_| !assertion.function.is_prelude) {
        Some(step) => {
            diagnostic.note_at(step.span, "a constant is added here to a value that varies with the arguments")
        }
        None => diagnostic,
    }
}

/// Returns the brace of a closure literal, or the reference to a function.
fn head(assertion: &DifferentiabilityAssertion) -> Span {
    if assertion.is_literal { assertion.function.span } else { assertion.at }
}

fn subject(assertion: &DifferentiabilityAssertion) -> String {
    let name = &assertion.function.name;
    if name.starts_with("closure") { "this closure".into() } else { format!("'{name}'") }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name != "_"
}

fn with_respect_to(
    diagnostic: Diagnostic,
    assertion: &DifferentiabilityAssertion,
    span: Span,
    name: &str,
) -> Diagnostic {
    if assertion.function.is_prelude || span == Span::default() || !is_name(name) {
        return diagnostic;
    }
    diagnostic.also(span, format!("differentiating with respect to '{name}'"))
}

/// Adds the source location of the function's declaration, if the assertion only names the function.
fn definition(diagnostic: Diagnostic, assertion: &DifferentiabilityAssertion) -> Diagnostic {
    if assertion.is_literal || assertion.function.is_prelude {
        return diagnostic;
    }
    diagnostic.note_at(assertion.function.span, "when differentiating this function definition")
}

fn calls(mut diagnostic: Diagnostic, found: &TangentLoss) -> Diagnostic {
    for (name, span) in &found.calls {
        diagnostic = diagnostic.note_at(*span, format!("when differentiating '{name}', called here"));
    }
    diagnostic
}

/// Suggests `withoutDerivative(at:)` around a source location.
fn cut(diagnostic: Diagnostic, text: &str, span: Span) -> Diagnostic {
    diagnostic.wrap(text, span, "withoutDerivative(at: ", ")")
}

/// Returns the source location at which the result of a function is computed, and whether it is the location of a
/// complete expression.
fn result_place(f: &Function) -> Option<(Span, bool)> {
    let carries = |r: &&Reg| f.registers[r.0 as usize].bank != Bank::I;
    for block in &f.blocks {
        let Some(Terminator::Return(regs)) = &block.end else { continue };
        let Some(result) = regs.iter().find(carries) else { continue };
        let writes = |s: &&Instruction| s.outs.contains(result);
        let mut elsewhere = f.blocks.iter().flat_map(|b| &b.instructions).filter(writes);
        let writer = block.instructions.iter().rev().find(writes).or_else(|| {
            let only = elsewhere.next();
            only.filter(|_| elsewhere.next().is_none())
        });
        let end = block.end_span;
        let inside = |s: &Span| end == Span::default() || end.contains(*s);
        let span = writer.map(|s| s.span).filter(inside);
        return Some(span.map_or((end, false), |span| (span, true))).filter(|(span, _)| *span != Span::default());
    }
    None
}

fn is_read(f: &Function, reg: Reg) -> bool {
    f.blocks.iter().any(|block| {
        let at_end = match &block.end {
            Some(Terminator::Return(regs)) => regs.contains(&reg),
            Some(Terminator::Branch { condition, .. }) => *condition == reg,
            _ => false,
        };
        at_end || block.instructions.iter().any(|s| s.ins.contains(&reg))
    })
}
