//! Copy propagation: readers of a copy read the original, and a result is written to its variable directly.

use crate::cancel;
use crate::ir::analysis::flow_graph::{FlowGraph, Step, count};
use crate::ir::graph::{Function, Op};
use hashbrown::HashMap;

/// The extent to which copies are propagated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropagationMode {
    /// A copy is propagated to as many readers as possible: other passes may remove the copy later.
    Partial,
    /// A copy is propagated only to all of its readers, so that the copy becomes unnecessary. Otherwise the original
    /// would only be live longer.
    Complete,
}

/// Propagates copies within the blocks of a function.
pub fn propagate(function: &mut Function) {
    propagate_where(function, PropagationMode::Partial, |_| true);
}

/// Makes readers of a copy within its block read the original, as long as neither register changes. The function only
/// propagates copies that are the only writes of their registers, and that `is_copy` accepts.
pub fn propagate_where<G: FlowGraph>(graph: &mut G, mode: PropagationMode, is_copy: impl Fn(&G::Step) -> bool) {
    let counts = count(graph);
    for block in 0..graph.block_count() {
        cancel::check();
        for at in 0..graph.steps(block).len() {
            let step = &graph.steps(block)[at];
            if step.op() != Some(&Op::Copy) || !is_copy(step) {
                continue;
            }
            cancel::check();
            let (copy, original) = (step.outs()[0], step.ins()[0]);
            if copy == original || counts.writes[copy.into()] != 1 {
                continue;
            }
            let readers = readers(graph, (block, at), copy, original, counts.reads[copy.into()]);
            if readers.are_all || mode == PropagationMode::Partial {
                let replace = |reg: &mut G::Reg| {
                    if *reg == copy {
                        *reg = original;
                    }
                };
                for step in &mut graph.steps_mut(block)[at + 1..readers.until] {
                    step.ins_mut().iter_mut().for_each(replace);
                }
                if readers.with_end {
                    graph.end_reads_mut(block).iter_mut().for_each(replace);
                }
            }
        }
    }
}

/// The readers of a copy that may read the original instead.
struct Readers {
    /// The index of the first step that may not read the original.
    until: usize,
    /// Whether the terminator of the block may read the original, too.
    with_end: bool,
    /// Whether all readers of the copy may read the original.
    are_all: bool,
}

/// Finds the readers of the copy at the given index; the register of the copy is read `reads` times.
fn readers<G: FlowGraph>(
    graph: &G,
    (block, at): (usize, usize),
    copy: G::Reg,
    original: G::Reg,
    mut reads: u32,
) -> Readers {
    let steps = graph.steps(block);
    for (place, step) in steps.iter().enumerate().skip(at + 1) {
        let moves = |reg| step.op() == Some(&Op::Take) && step.ins().contains(&reg);
        if reads == 0 {
            return Readers { until: place, with_end: false, are_all: true };
        }
        if moves(copy) || moves(original) {
            // A move empties the register from which it reads, so it must read the copy and not the original.
            return Readers { until: place, with_end: false, are_all: false };
        }
        reads -= step.ins().iter().filter(|r| **r == copy).count() as u32;
        if step.outs().contains(&original) {
            return Readers { until: place + 1, with_end: false, are_all: reads == 0 };
        }
    }
    let at_end = graph.end_reads(block).iter().filter(|r| **r == copy).count() as u32;
    Readers { until: steps.len(), with_end: true, are_all: reads == at_end }
}

/// Coalesces results with the variables to which they are copied, within the blocks of a function.
pub fn coalesce(function: &mut Function) {
    coalesce_where(function, |_| true);
}

/// Replaces `t = …` and a later `x = t` in one block by `x = …`, if `t` has no other reader. The function only replaces
/// copies and moves that `is_copy` accepts.
pub fn coalesce_where<G: FlowGraph>(graph: &mut G, is_copy: impl Fn(&G::Step) -> bool) {
    let counts = count(graph);
    for block in 0..graph.block_count() {
        cancel::check();
        let steps = graph.steps_mut(block);
        // The index of the last write of each register, and of its last write or read.
        let mut written: HashMap<G::Reg, usize> = HashMap::new();
        let mut touched: HashMap<G::Reg, usize> = HashMap::new();
        let mut removed = vec![false; steps.len()];
        for i in 0..steps.len() {
            if matches!(steps[i].op(), Some(Op::Copy | Op::Take)) && is_copy(&steps[i]) {
                let (to, from) = (steps[i].outs()[0], steps[i].ins()[0]);
                let once = counts.writes[from.into()] == 1 && counts.reads[from.into()] == 1;
                let start = written.get(&from).copied().filter(|_| once && to != from);
                // The step that writes the value may read the variable, but no later step may.
                let free = start.filter(|s| touched.get(&to).is_none_or(|t| t <= s));
                if let Some(start) = free.filter(|s| !steps[*s].outs().contains(&to)) {
                    steps[start].outs_mut().iter_mut().filter(|out| **out == from).for_each(|out| *out = to);
                    removed[i] = true;
                    written.insert(to, start);
                    touched.insert(to, start);
                    continue;
                }
            }
            for reg in steps[i].ins().iter().chain(steps[i].outs()) {
                touched.insert(*reg, i);
            }
            for out in steps[i].outs() {
                written.insert(*out, i);
            }
        }
        let mut removed = removed.into_iter();
        steps.retain(|_| removed.next() != Some(true));
    }
}
