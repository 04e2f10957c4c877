//! Non-finite values: explains why a derivative is infinite or NaN: the step where it became infinite, the step where
//! it became NaN, and the path between the two steps.
//!
//! A value that is not finite is detected when it is computed. A non-finite adjoint is searched for after the sweep,
//! from the result to the inputs: the cause is the first node with a finite adjoint that propagates a non-finite
//! adjoint.

use crate::diagnostic::Code as Number;
use crate::native::primitive_ids;
use crate::tape::step_observer::NonFinite;
use crate::tape::{Direction, LinearMap, Num, Sweep, Tape};
use crate::tape::{NonFiniteScalar, TensorPart};
use crate::value::Ref;
use crate::value::number_format::in_formula as text;
use crate::value::walk::Walk;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::apply::opaque_vector::{self, non_finite};
use crate::vm::operators::check::provenance::{operation, time};
use crate::vm::operators::{Offset, leaves};
use crate::vm::state::machine::Machine;

/// Checks that the numbers that a sweep returned are finite.
pub(crate) fn check_sweep(
    machine: &Machine,
    walk: Walk<'_>,
    sweep: &Sweep,
    suspect: &mut Option<Box<Fault>>,
    map: &LinearMap,
    numbers: &[Num],
) -> Result<(), Box<Fault>> {
    if !machine.levels.checks_not_finite() {
        return Ok(());
    }
    let not_finite = numbers.iter().find_map(non_finite);
    if not_finite.is_none() && !machine.levels.stops_at_once() {
        return Ok(());
    }
    if map.direction() == Direction::Forward {
        return not_finite.map_or(Ok(()), |x| Err(tangent(machine, x)));
    }
    let adjoint_path = AdjointPath::find(sweep, map);
    match (not_finite, adjoint_path) {
        (None, None) => Ok(()),
        (Some(_), None) if suspect.is_some() => suspect.take().map_or(Ok(()), Err),
        (Some(_), None) if machine.levels.first_non_finite().is_none() => Ok(()),
        (not_finite, adjoint_path) => {
            let what = adjoint_path.as_ref().map_or(f64::NAN, |adjoint_path| adjoint_path.last);
            let mut values = vec![];
            if !opaque_vector::any(walk, map.y.iter()) {
                for y in map.y.iter() {
                    values.append(&mut leaves(walk, y.tangent, &y.cells, Offset::default())?);
                }
            }
            Err(adjoint(machine, map, adjoint_path, not_finite.unwrap_or(what), &values))
        }
    }
}

/// Checks that the adjoints that a function of the program has returned are finite.
pub(crate) fn check_pullback(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    function: &Ref,
    is_registered: bool,
    given: &[f64],
    adjoints: &[Num],
) -> Result<Option<Box<Fault>>, Box<Fault>> {
    let is_finite = |x: &f64| non_finite(&Num::constant(*x)).is_none();
    let wrong = adjoints.iter().find_map(non_finite);
    let (Some(wrong), true) = (wrong, given.iter().all(is_finite)) else { return Ok(None) };
    let what = if is_registered { "a registered derivative" } else { "'withDerivative'" };
    let given = match given.iter().any(|v| v.is_nan()) {
        true => "a finite adjoint".to_owned(),
        false => format!("the adjoint {}", given.iter().map(|v| text(*v)).collect::<Vec<_>>().join(", ")),
    };
    let came = format!("{what} turned {given} into {}", text(wrong));
    let mut fault = Fault::new(Number::NotFinite, format!("the derivative became {}", text(wrong)));
    if let Ref::Closure(closure) = function {
        fault.span = machine.original(compiler, closure.function)?.span;
        return Ok(Some(fault.remark(Remark::Here(came))));
    }
    Ok(Some(fault.remark(Remark::Note(came))))
}

/// Checks that the tangents that forward mode returned are finite.
pub(crate) fn check_tangents(machine: &Machine, tangents: &[Num]) -> Result<(), Box<Fault>> {
    if !machine.levels.checks_not_finite() {
        return Ok(());
    }
    tangents.iter().find_map(non_finite).map_or(Ok(()), |t| Err(tangent(machine, t)))
}

fn tangent(machine: &Machine, became: f64) -> Box<Fault> {
    let message = format!("the derivative became {}", text(became));
    with_first(machine, Fault::new(Number::NotFinite, message))
}

/// Adds the origin of the first number that is not finite to a fault.
pub(in crate::vm) fn with_first(machine: &Machine, mut fault: Box<Fault>) -> Box<Fault> {
    let Some(wrong) = machine.levels.first_non_finite() else { return fault };
    let (step, what) = match wrong {
        NonFinite::Value(step) => (step, format!("a value became {} here: {}", text(step.result), operation(&step))),
        NonFinite::Tangent(step, tangent) => {
            (step, format!("the tangent became {} here, in the derivative of {}", text(tangent), operation(&step)))
        }
        NonFinite::Scalar(NonFiniteScalar { place, name, part, number }) => {
            fault.span = machine.diagnosis.places.span_at(place);
            let number = text(number);
            return fault.remark(Remark::Here(match part {
                TensorPart::Value => format!("a scalar became {number} here, in the result of '{name}'"),
                TensorPart::Tangent => format!("the tangent became {number} here, in the derivative of '{name}'"),
                TensorPart::Adjoint => format!("the adjoint became {number} here, in the derivative of '{name}'"),
            }));
        }
    };
    fault.span = machine.diagnosis.places.span(&step);
    fault.remark(Remark::Here(what)).remark(Remark::Note(time(step.time)))
}

/// Whether the first number that is not finite is a value.
fn became_in_value(machine: &Machine) -> bool {
    match machine.levels.first_non_finite() {
        Some(NonFinite::Value(_)) => true,
        Some(NonFinite::Scalar(scalar)) => scalar.part == TensorPart::Value,
        _ => false,
    }
}

fn adjoint(
    machine: &Machine,
    map: &LinearMap,
    adjoint_path: Option<AdjointPath>,
    became: f64,
    values: &[Num],
) -> Box<Fault> {
    let message = match values {
        _ if became_in_value(machine) => {
            format!("the derivative became {} because a value did", text(became))
        }
        [y] if y.value.is_finite() => {
            format!("the derivative became {}; the value itself is finite ({})", text(became), text(y.value))
        }
        _ => format!("the derivative became {}", text(became)),
    };
    let mut fault = Fault::new(Number::NotFinite, message);
    let adjoint_path = match (machine.levels.first_non_finite(), adjoint_path) {
        (Some(NonFinite::Value(_) | NonFinite::Scalar(_)), _) | (_, None) => return with_first(machine, fault),
        (_, Some(adjoint_path)) => adjoint_path,
    };
    let Some(cause) = map.tape.step(adjoint_path.cause) else {
        return fault.remark(Remark::Note("it was returned by a registered derivative".into()));
    };
    fault.span = machine.diagnosis.places.span(cause);
    let product = format!("{} · {}", text(adjoint_path.adjoint), text(adjoint_path.partial));
    fault = fault.remark(Remark::Here(format!(
        "the adjoint became {} here: {product}, in the derivative of {}",
        text(adjoint_path.adjoint * adjoint_path.partial),
        operation(cause)
    )));
    let victim =
        adjoint_path.victim.and_then(|(node, adjoint, partial)| Some((map.tape.step(node)?, adjoint, partial)));
    if let Some((step, adjoint, partial)) = victim {
        let what =
            format!("then {} · {} = NaN, in the derivative of {}", text(adjoint), text(partial), operation(step));
        fault = fault.remark(Remark::There(machine.diagnosis.places.span(step), what));
        // A root of zero whose derivative meets a zero factor is usually the root of a sum of squares.
        if cause.id == primitive_ids::SQRT && cause.x[0] == 0.0 {
            let help = "for a length, use 'norm' of an array or 'hypot' of two numbers, whose derivatives at 0 are 0";
            fault = fault.remark(Remark::Help(help.into()));
        }
    }
    fault.remark(Remark::Note(adjoint_path.path(&map.tape))).remark(Remark::Note(time(cause.time)))
}

/// The path of an adjoint that is not finite, from the node where it arose to an input.
struct AdjointPath {
    /// The node that propagated a non-finite adjoint first, with the adjoint of the node and the partial derivative.
    cause: u32,
    adjoint: f64,
    partial: f64,
    /// The node where the adjoint became NaN, with the incoming adjoint and the partial derivative.
    victim: Option<(u32, f64, f64)>,
    /// The nodes after the cause of the non-finite adjoint, with their adjoints, up to an input or a step that does not
    /// propagate the adjoint.
    following: Vec<(u32, f64)>,
    /// The adjoint at the end of the path.
    last: f64,
}

/// The maximum number of nodes of a path that a message lists.
const MAX_LISTED: usize = 8;

impl AdjointPath {
    fn find(sweep: &Sweep, map: &LinearMap) -> Option<AdjointPath> {
        let tape = &map.tape;
        let adjoint = |node: u32| sweep.number(node).value;
        let mut n = tape.len() as u32 + 1;
        for node in tape.chunks().iter().rev().flat_map(|chunk| chunk.iter().rev()) {
            n -= 1;
            let here = adjoint(n);
            if here == 0.0 || !here.is_finite() {
                continue;
            }
            for (operand, partial) in [(node.a, node.pa), (node.b, node.pb)] {
                if operand != n && !(here * partial).is_finite() {
                    let mut adjoint_path = AdjointPath {
                        cause: n,
                        adjoint: here,
                        partial,
                        victim: None,
                        following: vec![],
                        last: here * partial,
                    };
                    adjoint_path.follow(tape, operand, &adjoint);
                    return Some(adjoint_path);
                }
            }
        }
        None
    }

    /// Follows a non-finite adjoint from its cause to the inputs.
    fn follow(&mut self, tape: &Tape, mut n: u32, adjoint: &dyn Fn(u32) -> f64) {
        loop {
            let here = adjoint(n);
            self.following.push((n, here));
            self.last = here;
            let Some(node) = tape.record(n) else { return };
            let operands = [(node.a, node.pa), (node.b, node.pb)];
            let mut onward = operands.into_iter().filter(|(operand, _)| *operand < n && !adjoint(*operand).is_finite());
            let becomes_nan = |(_, partial): &(u32, f64)| here.is_infinite() && (here * partial).is_nan();
            let Some(next) = onward.clone().find(becomes_nan).or_else(|| onward.next()) else { return };
            if self.victim.is_none() && becomes_nan(&next) {
                self.victim = Some((n, here, next.1));
            }
            n = next.0;
        }
    }

    /// Describes the path of a non-finite adjoint in one line, from the cause to the input.
    fn path(&self, tape: &Tape) -> String {
        let name = |node: u32| match tape.step(node) {
            Some(step) => step.id.info().symbol,
            None if node <= tape.leaves() => "input",
            None => "…",
        };
        let mut line = format!("reverse pass: {}", name(self.cause));
        for (node, adjoint) in self.following.iter().take(MAX_LISTED) {
            line += &format!(" ─({})→ {}", text(*adjoint), name(*node));
        }
        if self.following.len() > MAX_LISTED {
            line += &format!(" … {} more", self.following.len() - MAX_LISTED);
        }
        line
    }
}
