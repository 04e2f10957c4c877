//! Trace recorder: copies a reverse sweep into a [`Trace`], when [steps are
//! observed](crate::tape::ObserverOptions::steps).

use crate::source::Span;
use crate::tape::ObservedStep;
use crate::tape::wide_node::{CallKind, TensorNode, TensorStep, Wide, WideKind};
use crate::tape::{Direction, LinearMap, Num, Sweep, Tape, tensor_vector};
use crate::tensor::Tensor;
use crate::value::walk::Walk;
use crate::vm::compiler_interface::Compiler;
use crate::vm::diagnosis::trace::{
    Count, MAX_LISTED_SCALARS, MAX_LISTED_STEPS, NodeTensors, Trace, TraceOperation, TraceRow, TracedTensor,
};
use crate::vm::fault::Fault;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::{Offset, mismatch};
use crate::vm::state::machine::Machine;
use hashbrown::HashMap;
use std::rc::Rc;

/// Stores the trace of a reverse sweep that goes back to the inputs, if an explanation requests the sweep. `shares` are
/// the adjoints that calls and checkpoints have propagated.
pub(crate) fn store_trace(
    machine: &mut Machine,
    walk: Walk<'_>,
    sweep: &Sweep,
    shares: &[(u32, Vec<f64>)],
    map: &LinearMap,
) -> Result<(), Box<Fault>> {
    if !machine.levels.observes_steps() || map.direction() == Direction::Forward {
        return Ok(());
    }
    let numbers = |templates: &[crate::tape::Template]| -> Result<Vec<Num>, Box<Fault>> {
        let all = templates.iter().map(|t| opaque_vector::numbers_of(walk, t.tangent, &t.cells));
        Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
    };
    let (x, y) = (numbers(&map.x)?, numbers(&map.y)?);
    let tape = &*map.tape;
    let adjoint = |node: u32| sweep.number(node).value;
    let mut paths = vec![];
    for (argument, template) in map.x.iter().enumerate() {
        let of_argument = walk.paths(template.tangent, &template.cells, Offset::default()).map_err(mismatch)?;
        paths.extend(of_argument.into_iter().map(|path| (argument, path)));
    }
    let mut tensors: HashMap<u32, NodeTensors> = HashMap::new();
    for (node, x) in (1..=tape.leaves()).zip(&x) {
        let found = NodeTensors { value: traced(x.value), adjoint: traced(adjoint(node)) };
        if found.value.is_some() || found.adjoint.is_some() {
            tensors.insert(node, found);
        }
    }
    let inputs = (1..=tape.leaves()).zip(&x).map(|(node, x)| (x.value, adjoint(node))).collect();
    let outputs = map.outputs.iter().zip(&y).map(|(node, y)| (*node, y.value)).collect();
    let (steps, counts) = counted(machine, tape);
    let is_listed = steps <= MAX_LISTED_STEPS;
    let rows = if is_listed { rows(machine, tape, shares, &adjoint) } else { vec![] };
    for wide in tape.wide().iter().filter(|_| is_listed) {
        if let WideKind::Tensor(of) = &wide.kind {
            tensors.extend(results_of(wide, of, &adjoint));
        }
    }
    let bytes = tape.len() * size_of::<crate::tape::Node>();
    machine.diagnosis.trace = Some(Trace { inputs, paths, rows, steps, counts, outputs, bytes, tensors });
    Ok(())
}

/// Renders the explanation that the program requested.
pub(crate) fn report_trace(machine: &mut Machine, compiler: &mut dyn Compiler) {
    if machine.host.pending_explanations.is_empty() {
        return;
    }
    let before = machine.diagnosis.kinks.len();
    machine.keep_kinks();
    if let (Some(trace), Some(request)) = (machine.diagnosis.trace.take(), machine.host.pending_explanations.last_mut())
    {
        request.forms = compiler.explain(&trace, machine.diagnosis.kinks.get(before..).unwrap_or_default(), request);
    }
}

fn counted(machine: &Machine, tape: &Tape) -> (usize, Vec<Count>) {
    let mut counts: Vec<Count> = vec![];
    let mut known: HashMap<(Rc<str>, Span), usize> = HashMap::new();
    let mut steps = 0;
    for node in tape.leaves() + 1..=tape.len() as u32 {
        let step = tape.step(node);
        if step.is_some_and(|step| tape.is_first_of_two(node, step)) {
            continue;
        }
        let called = || {
            tape.wide_at(node)?
                .description
                .as_ref()
                .map(|s| (s.name.clone(), machine.diagnosis.places.span_at(s.place)))
        };
        let (symbol, span) = match step {
            Some(step) => (step.id.info().symbol.into(), machine.diagnosis.places.span(step)),
            None => called().unwrap_or_else(|| ("other".into(), Span::default())),
        };
        let at = *known.entry((symbol.clone(), span)).or_insert(counts.len());
        if at == counts.len() {
            counts.push(Count { symbol, span, times: 0 });
        }
        counts[at].times += 1;
        steps += 1;
    }
    (steps, counts)
}

fn rows(machine: &Machine, tape: &Tape, shares: &[(u32, Vec<f64>)], adjoint: &dyn Fn(u32) -> f64) -> Vec<TraceRow> {
    let mut rows = vec![];
    let mut wide = tape.wide().iter().peekable();
    // The operands of the first of the two nodes that record a step with three operands.
    let mut begun: Vec<(u32, f64)> = vec![];
    // The last node of a call or checkpoint whose first result was listed: its further results are not listed.
    let mut listed = 0;
    for node in tape.leaves() + 1..=tape.len() as u32 {
        let Some(record) = tape.record(node).filter(|_| node > listed) else { continue };
        if let Some(found) = wide.next_if(|wide| wide.first == node) {
            if let WideKind::Sum(terms) = &found.kind {
                let operation = TraceOperation::Sum(tape.step(node).map(|step| step.result));
                let partials = terms.iter().map(|(n, partial, _)| (*n, *partial)).collect();
                rows.push(TraceRow { node, operation, partials, adjoint: adjoint(node) });
            } else {
                listed = node + found.results.max(1) - 1;
                let shares = shares.iter().find(|(first, _)| *first == node).map_or(&[][..], |(_, given)| given);
                rows.extend(called(machine, found, shares, adjoint));
            }
            continue;
        }
        let operands = [(record.a, record.pa), (record.b, record.pb)];
        let step = tape.step(node);
        if step.is_some_and(|step| tape.is_first_of_two(node, step)) {
            begun = operands.into_iter().filter(|(n, _)| *n != node).collect();
            continue;
        }
        let mut partials = std::mem::take(&mut begun);
        let is_second = !partials.is_empty();
        partials.extend(operands.into_iter().filter(|(n, _)| *n != node && !(is_second && *n == node - 1)));
        let operation = step.map_or(TraceOperation::Other, |step| operation(machine, step));
        rows.push(TraceRow { node, operation, partials, adjoint: adjoint(node) });
    }
    rows
}

fn operation(machine: &Machine, step: &ObservedStep) -> TraceOperation {
    let count = usize::from(step.operands).min(step.x.len());
    let operands = step.nodes.iter().copied().zip(step.x).take(count).collect();
    TraceOperation::Primitive {
        id: step.id,
        operands,
        n: step.n,
        value: step.result,
        span: machine.diagnosis.places.span(step),
    }
}

/// Returns a tensor that a number represents, for a trace.
fn traced(number: f64) -> Option<TracedTensor> {
    tensor_vector(Num::constant(number)).map(|value| of_tensor(&value.tensor))
}

fn of_tensor(tensor: &Tensor) -> TracedTensor {
    let shape = tensor.shape().to_vec();
    let is_listed = tensor.scalar_count() <= MAX_LISTED_SCALARS;
    let scalars = if is_listed { crate::native::tensor::unpack(tensor).unwrap_or_default() } else { vec![] };
    TracedTensor { shape, scalars }
}

/// Returns the tensors among the values and adjoints of the results of an operation of tensors.
fn results_of(wide: &Wide, node: &TensorNode, adjoint: &dyn Fn(u32) -> f64) -> Vec<(u32, NodeTensors)> {
    let value = match &node.step {
        TensorStep::Operation(_, _, result) => Some(of_tensor(&result.tensor)),
        TensorStep::Pack(..) | TensorStep::Unpack(..) => None,
    };
    let of = |node: u32| (node, NodeTensors { value: value.clone(), adjoint: traced(adjoint(node)) });
    (wide.first..).take(wide.results as usize).map(of).collect()
}

/// Returns the rows of the trace for an operation of tensors.
fn of_tensors(machine: &Machine, wide: &Wide, node: &TensorNode, adjoint: &dyn Fn(u32) -> f64) -> Vec<TraceRow> {
    let constant = |k: usize| match &node.step {
        TensorStep::Operation(_, operands, _) => operands.get(k).map(|operand| of_tensor(&operand.tensor)),
        TensorStep::Pack(..) | TensorStep::Unpack(..) => None,
    };
    let operand = |(k, operand): (usize, &u32)| match *operand {
        0 => constant(k).map(|tensor| (0, Some(tensor))),
        operand => Some((operand, None)),
    };
    let operands: Vec<_> = node.operands.iter().enumerate().filter_map(operand).collect();
    let row = |i: u32| TraceRow {
        node: wide.first + i,
        operation: wide.description.as_ref().map_or(TraceOperation::Other, |seen| TraceOperation::Tensor {
            name: seen.name.clone(),
            operands: operands.clone(),
            value: seen.values.get(i as usize).copied().unwrap_or(f64::NAN),
            span: machine.diagnosis.places.span_at(seen.place),
        }),
        partials: vec![],
        adjoint: adjoint(wide.first + i),
    };
    (0..wide.results).map(row).collect()
}

/// Returns the rows of the trace for a call or a checkpoint. The partials are known if there is one result, or if
/// results and operands correspond one to one.
fn called(machine: &Machine, wide: &Wide, shares: &[f64], adjoint: &dyn Fn(u32) -> f64) -> Vec<TraceRow> {
    if let WideKind::Tensor(of) = &wide.kind {
        return of_tensors(machine, wide, of, adjoint);
    }
    let operands = wide.kind.operands();
    let is_edit = matches!(&wide.kind, WideKind::Call(call) if call.kind == CallKind::Edit);
    let row = |i: u32| {
        let node = wide.first + i;
        let of = |(k, (operand, given)): (usize, (&u32, &f64))| {
            let is_known = wide.results == 1 || is_edit && k == i as usize;
            (is_known && *operand != 0 && adjoint(node) != 0.0).then(|| (*operand, given / adjoint(node)))
        };
        let partials = operands.iter().zip(shares).enumerate().filter_map(of).collect();
        let operation = wide.description.as_ref().map_or(TraceOperation::Other, |seen| TraceOperation::Called {
            name: seen.name.clone(),
            operands: operands.iter().copied().filter(|node| *node != 0).collect(),
            value: seen.values.get(i as usize).copied().unwrap_or(f64::NAN),
            span: machine.diagnosis.places.span_at(seen.place),
        });
        TraceRow { node, operation, partials, adjoint: adjoint(node) }
    };
    (0..wide.results).map(row).collect()
}
