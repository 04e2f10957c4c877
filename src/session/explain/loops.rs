//! Loops: finds repeated sequences of operations in an execution, of which an explanation lists only the first and the
//! last repetitions.

use crate::session::{Explanation, Operation};
use crate::source::{SourceMap, Span};
use hashbrown::HashMap;
use std::rc::Rc;

/// The minimum number of repetitions that count as a loop.
const MIN_ITERATIONS: usize = 5;

/// The number of iterations that are listed at the beginning of a loop.
const FIRST_ITERATIONS: usize = 2;

/// The maximum number of operations of an iteration.
const MAX_PERIOD: usize = 200;

/// The maximum nesting of loops.
const MAX_NESTING: usize = 3;

/// The minimum number of operations from which on loops are abbreviated.
const MIN_OPERATIONS: usize = 24;

/// Consecutive operations of an explanation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Section {
    /// The iteration to which the operations belong, or the number of omitted iterations.
    pub(crate) title: Option<String>,
    /// The indices of the operations.
    pub(crate) operations: Vec<usize>,
}

/// An operation, or a loop of operations.
#[derive(Clone, Debug)]
enum Step {
    Operation(usize),
    Loop(Rc<Vec<Vec<Step>>>),
}

/// A step with the number of its kind: steps with equal source locations are of one kind.
type Kinds = Vec<(u32, Step)>;

/// Returns the operations that an explanation lists, in order. Of a loop, the first iterations and the last one are
/// listed.
pub(crate) fn outline(explained: &Explanation, sources: &SourceMap) -> Vec<Section> {
    let operations = &explained.operations;
    if operations.len() < MIN_OPERATIONS {
        return vec![Section { title: None, operations: (0..operations.len()).collect() }];
    }
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut kinds: HashMap<(&str, Span), u32> = HashMap::new();
    let mut steps: Kinds = vec![];
    for (k, operation) in operations.iter().enumerate() {
        let next = kinds.len() as u32;
        let kind = *kinds.entry((&operation.symbol, operation.span)).or_insert(next);
        steps.push((kind, Step::Operation(k)));
    }
    let mut next = kinds.len() as u32;
    for _ in 0..MAX_NESTING {
        let before = steps.len();
        for period in 1..=MAX_PERIOD.min(steps.len() / MIN_ITERATIONS) {
            steps = collapsed(&steps, period, &mut |body: Vec<u32>| {
                *numbers.entry(body).or_insert_with(|| {
                    next += 1;
                    next - 1
                })
            });
        }
        if steps.len() == before {
            break;
        }
    }
    let mut sections = vec![Section::default()];
    let steps: Vec<Step> = steps.into_iter().map(|(_, step)| step).collect();
    list(&steps, operations, sources, &mut sections);
    sections.retain(|section| section.title.is_some() || !section.operations.is_empty());
    sections
}

/// Replaces repetitions of `period` steps by loops. `number` returns the kind of a loop with a body of some kinds.
fn collapsed(steps: &Kinds, period: usize, number: &mut dyn FnMut(Vec<u32>) -> u32) -> Kinds {
    let mut out = vec![];
    let mut at = 0;
    while at < steps.len() {
        let repeats =
            (at..steps.len().saturating_sub(period)).take_while(|k| steps[*k].0 == steps[*k + period].0).count();
        let iterations = (repeats + period) / period;
        if repeats == 0 || iterations < MIN_ITERATIONS {
            out.push(steps[at].clone());
            at += 1;
            continue;
        }
        let covered = &steps[at..at + iterations * period];
        let body = covered[..period].iter().map(|(kind, _)| *kind).collect();
        let each = covered.chunks(period).map(|iteration| iteration.iter().map(|(_, step)| step.clone()).collect());
        out.push((number(body), Step::Loop(Rc::new(each.collect()))));
        at += covered.len();
    }
    out
}

fn list(steps: &[Step], operations: &[Operation], sources: &SourceMap, sections: &mut Vec<Section>) {
    for step in steps {
        match step {
            Step::Operation(k) => {
                if let Some(section) = sections.last_mut() {
                    section.operations.push(*k);
                }
            }
            Step::Loop(iterations) => {
                let count = iterations.len();
                let line = first(iterations).map_or(String::new(), |k| line(operations[k].span, sources));
                for (n, iteration) in iterations.iter().enumerate() {
                    if n == FIRST_ITERATIONS {
                        let title = format!("… {} more iterations{line}", count - FIRST_ITERATIONS - 1);
                        sections.push(Section { title: Some(title), operations: vec![] });
                    }
                    if n < FIRST_ITERATIONS || n + 1 == count {
                        let title = format!("iteration {} of {count}{line}", n + 1);
                        sections.push(Section { title: Some(title), operations: vec![] });
                        list(iteration, operations, sources, sections);
                    }
                }
                sections.push(Section { title: Some(format!("after the loop{line}")), operations: vec![] });
            }
        }
    }
    if sections.last().is_some_and(|section| section.operations.is_empty() && is_end(section)) {
        sections.pop();
    }
}

fn is_end(section: &Section) -> bool {
    section.title.as_deref().is_some_and(|title| title.starts_with("after"))
}

/// Returns the first operation of a loop.
fn first(iterations: &[Vec<Step>]) -> Option<usize> {
    match iterations.first()?.first()? {
        Step::Operation(k) => Some(*k),
        Step::Loop(inner) => first(inner),
    }
}

fn line(span: Span, sources: &SourceMap) -> String {
    match sources.place(span.start).filter(|_| span != Span::default() && !sources.is_prelude(span)) {
        Some(place) => format!(" (line {})", place.line),
        None => String::new(),
    }
}
