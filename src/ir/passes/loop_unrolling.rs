//! Loop unrolling: a loop with a small, known number of iterations that uses arrays of known length is replaced by its
//! iterations. The elements of the arrays can then be kept in registers (`scalar_replacement`).

use crate::ir::analysis::constants::{Known, length, step};
use crate::ir::analysis::control_flow::{back_edges, natural_loop, predecessors, reverse_postorder};
use crate::ir::analysis::data_flow::{Fact, Flat, forward};
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::graph::{Block, BlockId, Function, Op, Terminator, Trap};
use crate::ir::passes::constant_propagation::known_target;
use hashbrown::HashMap;

/// The maximum number of iterations of a loop that is unrolled.
const MAX_ITERATIONS: usize = 8;

/// The maximum number of steps of an unrolled loop.
const MAX_STEPS: usize = 400;

/// Unrolls one loop that contains no other loop; returns whether there was one.
pub(crate) fn unroll_one(function: &mut Function) -> bool {
    let loops = innermost_loops(function);
    if loops.is_empty() {
        return false;
    }
    let entries = facts_at_entries(function, &loops);
    let found = loops.iter().zip(entries).find_map(|(candidate, entry)| {
        let count = iterations(function, candidate, entry?)?;
        (count * candidate.size(function) <= MAX_STEPS).then_some((candidate, count))
    });
    if let Some((unrolled, count)) = found {
        repeat(function, unrolled, count);
    }
    found.is_some()
}

/// A loop with one back edge that contains no other loop.
struct Loop {
    head: usize,
    latch: usize,
    /// The blocks of the loop, each before its successors: the head comes first.
    blocks: Vec<usize>,
}

impl Loop {
    fn size(&self, function: &Function) -> usize {
        self.blocks.iter().map(|b| function.blocks[*b].instructions.len()).sum()
    }
}

/// Returns the loops that contain no other loop.
fn innermost_loops(function: &Function) -> Vec<Loop> {
    let edges = back_edges(function);
    let order = reverse_postorder(function);
    let before = predecessors(function);
    let mut loops = vec![];
    for (latch, head) in &edges {
        let inside = natural_loop(&before, (*latch, *head));
        let heads = edges.iter().filter(|(_, other)| inside[*other]).count();
        // A loop that is entered elsewhere than at its head contains the entry of the function.
        if heads == 1 && !(inside[0] && *head != 0) {
            let blocks = order.iter().copied().filter(|block| inside[*block]).collect();
            loops.push(Loop { head: *head, latch: *latch, blocks });
        }
    }
    loops
}

/// Returns the facts where each loop is entered.
fn facts_at_entries(function: &Function, loops: &[Loop]) -> Vec<Option<Vec<Known>>> {
    let mut ends: HashMap<usize, Vec<Known>> = HashMap::new();
    let before = predecessors(function);
    let outside = |candidate: &Loop| {
        before[candidate.head].iter().copied().filter(|from| *from != candidate.latch).collect::<Vec<usize>>()
    };
    for from in loops.iter().flat_map(outside) {
        ends.insert(from, vec![]);
    }
    let entry = vec![Flat::Unknown; function.registers.len()];
    let analyze = |at: usize, facts: &mut [Known]| {
        function.blocks[at].instructions.iter().for_each(|instruction| step(instruction, facts));
        if let Some(end) = ends.get_mut(&at) {
            *end = facts.to_vec();
        }
    };
    forward(function, entry, analyze, |_, _| {});
    let joined = |candidate: &Loop| outside(candidate).iter().filter_map(|from| ends.get(from)).cloned().reduce(join);
    loops.iter().map(|candidate| joined(candidate).filter(|facts| !facts.is_empty())).collect()
}

/// Joins the facts of two paths.
fn join(mut facts: Vec<Known>, other: Vec<Known>) -> Vec<Known> {
    if facts.is_empty() {
        return other;
    }
    facts.iter_mut().zip(&other).for_each(|(fact, other)| {
        fact.join(other);
    });
    facts
}

/// Returns the number of iterations of a loop that uses an array of known length, given the facts where it is entered.
fn iterations(function: &Function, candidate: &Loop, mut facts: Vec<Known>) -> Option<usize> {
    for count in 1..=MAX_ITERATIONS {
        let iteration = Iteration::of(function, candidate, facts);
        match iteration.again {
            _ if !iteration.uses_array => return None,
            Some(again) => facts = again,
            None => return Some(count),
        }
    }
    None
}

/// What is known about one iteration of a loop.
struct Iteration {
    /// Whether an array of known length is used.
    uses_array: bool,
    /// The facts where the next iteration begins, if there is one.
    again: Option<Vec<Known>>,
}

impl Iteration {
    fn of(function: &Function, candidate: &Loop, entry: Vec<Known>) -> Iteration {
        let mut starts: HashMap<usize, Vec<Known>> = HashMap::from([(candidate.head, entry)]);
        let mut iteration = Iteration { uses_array: false, again: None };
        for at in &candidate.blocks {
            let Some(mut facts) = starts.remove(at) else { continue };
            for instruction in &function.blocks[*at].instructions {
                let is_access =
                    matches!(instruction.op, Op::Append(_) | Op::LoadElement { .. } | Op::StoreElement { .. });
                iteration.uses_array |= is_access && length(&facts, instruction.ins[0]).is_some();
                step(instruction, &mut facts);
            }
            let target = known_target(function.blocks[*at].end.as_ref(), &facts).map(|to| to.0 as usize);
            for to in function.successors(*at).filter(|to| target.is_none_or(|only| only == *to)) {
                if to == candidate.head {
                    iteration.again = Some(facts.clone());
                } else if candidate.blocks.contains(&to) {
                    let joined = starts.remove(&to).map_or(facts.clone(), |other| join(facts.clone(), other));
                    starts.insert(to, joined);
                }
            }
        }
        iteration
    }
}

/// Replaces a loop by copies of its body, each of which continues with the next one.
fn repeat(function: &mut Function, unrolled: &Loop, count: usize) {
    let body: Vec<Block> = unrolled.blocks.iter().map(|b| function.blocks[*b].clone()).collect();
    let own = function.blocks.len() + 1;
    // The block after the last iteration, which is never reached.
    let end = Some(Terminator::Trap(Trap::Unsupported));
    function.blocks.push(Block { end, ..Block::default() });
    // The head of a copy is its first block.
    let head = |copy: usize| match copy {
        0 => unrolled.head,
        _ if copy == count => own - 1,
        _ => own + (copy - 1) * body.len(),
    };
    for copy in 0..count {
        let place = |k: usize| if copy == 0 { unrolled.blocks[k] } else { head(copy) + k };
        let target = |to: BlockId| match unrolled.blocks.iter().position(|b| *b == to.0 as usize) {
            Some(0) => BlockId(head(copy + 1) as u32),
            Some(k) => BlockId(place(k) as u32),
            None => to,
        };
        for (k, block) in body.iter().enumerate() {
            let mut block = block.clone();
            match &mut block.end {
                Some(Terminator::Jump(to)) => *to = target(*to),
                Some(Terminator::Branch { then, otherwise, .. }) => {
                    (*then, *otherwise) = (target(*then), target(*otherwise));
                }
                Some(Terminator::Return(_) | Terminator::Trap(_)) | None => {}
            }
            match copy {
                0 => function.blocks[place(k)] = block,
                _ => function.blocks.push(block),
            }
        }
    }
}
