//! A sweep that is shown step by step, while somebody [wants to see](crate::tape::watch::Wanted::steps) it.

use super::super::fault::Fault;
use super::super::functions::Compiler;
use super::super::machine::Machine;
use super::{At, leaves};
use crate::native::PrimitiveId;
use crate::source::Span;
use crate::tape::watch::Step;
use crate::tape::wide::{CallKind, Wide, WideKind};
use crate::tape::{Direction, LinearMap, Num, Sweep, Tape};
use crate::value::walk::Walk;
use hashbrown::HashMap;
use std::rc::Rc;

/// What was recorded, with the adjoints of one sweep from the result to the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Value and adjoint of each number that it was differentiated by; they are the nodes from 1 on.
    pub inputs: Vec<(f64, f64)>,
    /// The steps, in the order in which they were computed; none when there are more than a thousand.
    pub rows: Vec<Row>,
    /// How many steps there are.
    pub steps: usize,
    /// What was done where, and how often, in the order in which that was met first.
    pub counts: Vec<Count>,
    /// The node of each number of the result, 0 for a constant one, and its value.
    pub outputs: Vec<(u32, f64)>,
    /// How many bytes the tape takes.
    pub bytes: usize,
}

/// More steps than these are only counted: nobody reads them, and they would take more memory than the tape.
pub const MOST_SHOWN: usize = 1000;

/// How often something was done at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The operation in a word: `*`, `sin`.
    pub symbol: Rc<str>,
    /// Where in the text.
    pub span: Span,
    /// How often.
    pub times: usize,
}

/// A step of a computation that is differentiated.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of its node.
    pub node: u32,
    /// What was done.
    pub did: Did,
    /// Operand nodes, and the derivative of the result by each.
    pub partials: Vec<(u32, f64)>,
    /// The derivative of the final result by this one.
    pub adjoint: f64,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq)]
pub enum Did {
    /// A primitive.
    Primitive {
        /// Which.
        id: PrimitiveId,
        /// Its operands: node, 0 for one that does not move, and value.
        operands: Vec<(u32, f64)>,
        /// Its integer operand, where it has one.
        n: i64,
        /// Its result.
        value: f64,
        /// Where in the text.
        span: Span,
    },
    /// Many products at once: a scalar product or a sum.
    Sum(Option<f64>),
    /// A function with a registered derivative, an edit of an adjoint, or a checkpoint.
    Called {
        /// What was called.
        name: Rc<str>,
        /// The operands that move.
        operands: Vec<u32>,
        /// Its result.
        value: f64,
        /// Where in the text.
        span: Span,
    },
    /// What nobody saw.
    Other,
}

/// Keeps a sweep that goes back to the inputs, if it is to be shown.
/// `shares`: what calls and blocks handed on.
pub(super) fn keep(
    machine: &mut Machine,
    walk: Walk<'_>,
    (sweep, shares): (&Sweep, &[(u32, Vec<f64>)]),
    map: &LinearMap,
) -> Result<(), Box<Fault>> {
    if !machine.levels.is_shown() || map.direction() == Direction::Forward {
        return Ok(());
    }
    let numbers = |templates: &[crate::tape::Template]| -> Result<Vec<Num>, Box<Fault>> {
        let all = templates.iter().map(|t| leaves(walk, t.tangent, &t.cells, At::default()));
        Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
    };
    let (x, y) = (numbers(&map.x)?, numbers(&map.y)?);
    let tape = &*map.tape;
    let adjoint = |node: u32| sweep.number(node).value;
    let inputs = (1..=tape.leaves()).zip(&x).map(|(node, x)| (x.value, adjoint(node))).collect();
    let outputs = map.outputs.iter().zip(&y).map(|(node, y)| (*node, y.value)).collect();
    let (steps, counts) = counted(machine, tape);
    let rows = if steps <= MOST_SHOWN { rows(machine, tape, shares, &adjoint) } else { vec![] };
    let bytes = tape.len() * size_of::<crate::tape::Node>();
    machine.shown = Some(Trace { inputs, rows, steps, counts, outputs, bytes });
    Ok(())
}

/// Tells the program the explanation that it requested.
pub(super) fn tell(machine: &mut Machine, compiler: &mut dyn Compiler) {
    if machine.host.pending_explanations.is_empty() {
        return;
    }
    let before = machine.kinks.len();
    machine.keep_kinks();
    if let (Some(trace), Some(request)) = (machine.shown.take(), machine.host.pending_explanations.last_mut()) {
        request.forms = compiler.told(&trace, machine.kinks.get(before..).unwrap_or_default(), request);
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
        let called = || tape.wide_at(node)?.seen.as_ref().map(|s| (s.name.clone(), machine.places.span_at(s.place)));
        let (symbol, span) = match step {
            Some(step) => (step.id.info().symbol.into(), machine.places.span(step)),
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

fn rows(machine: &Machine, tape: &Tape, shares: &[(u32, Vec<f64>)], adjoint: &dyn Fn(u32) -> f64) -> Vec<Row> {
    let mut rows = vec![];
    let mut wide = tape.wide().iter().peekable();
    // What the first of two nodes of a step with three operands says.
    let mut begun: Vec<(u32, f64)> = vec![];
    // Further results of a call or a block were told with its first one.
    let mut told = 0;
    for node in tape.leaves() + 1..=tape.len() as u32 {
        let Some(record) = tape.record(node).filter(|_| node > told) else { continue };
        if let Some(found) = wide.next_if(|wide| wide.first == node) {
            if let WideKind::Sum(terms) = &found.kind {
                let did = Did::Sum(tape.step(node).map(|step| step.result));
                let partials = terms.iter().map(|(n, partial, _)| (*n, *partial)).collect();
                rows.push(Row { node, did, partials, adjoint: adjoint(node) });
            } else {
                told = node + found.results.max(1) - 1;
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
        let did = step.map_or(Did::Other, |step| did(machine, step));
        rows.push(Row { node, did, partials, adjoint: adjoint(node) });
    }
    rows
}

fn did(machine: &Machine, step: &Step) -> Did {
    let count = usize::from(step.operands).min(step.x.len());
    let operands = step.nodes.iter().copied().zip(step.x).take(count).collect();
    Did::Primitive { id: step.id, operands, n: step.n, value: step.result, span: machine.places.span(step) }
}

/// The results of a call or a block. What a result does to an operand is known where there is one result, or where they
/// belong to each other one by one.
fn called(machine: &Machine, wide: &Wide, shares: &[f64], adjoint: &dyn Fn(u32) -> f64) -> Vec<Row> {
    let operands = wide.kind.operands();
    let is_edit = matches!(&wide.kind, WideKind::Call(call) if call.kind == CallKind::Edit);
    let row = |i: u32| {
        let node = wide.first + i;
        let of = |(k, (operand, given)): (usize, (&u32, &f64))| {
            let is_known = wide.results == 1 || is_edit && k == i as usize;
            (is_known && *operand != 0 && adjoint(node) != 0.0).then(|| (*operand, given / adjoint(node)))
        };
        let partials = operands.iter().zip(shares).enumerate().filter_map(of).collect();
        let did = wide.seen.as_ref().map_or(Did::Other, |seen| Did::Called {
            name: seen.name.clone(),
            operands: operands.iter().copied().filter(|node| *node != 0).collect(),
            value: seen.values.get(i as usize).copied().unwrap_or(f64::NAN),
            span: machine.places.span_at(seen.place),
        });
        Row { node, did, partials, adjoint: adjoint(node) }
    };
    (0..wide.results).map(row).collect()
}
