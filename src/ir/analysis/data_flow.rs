//! Data flow: what is known of each register at the start of each block of one function, computed forward.

use crate::ir::analysis::control_flow::reverse_postorder;
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::analysis::liveness::live_at_entry;
use crate::ir::graph::{Function, Reg, Terminator};

/// Something that is known of a register; the default says that nothing reaches it.
pub trait Fact: Clone + Default {
    /// Adds what is known on another path; returns whether that changed anything.
    fn join(&mut self, other: &Self) -> bool;
}

/// Runs `step` over the blocks until nothing changes, and then once more over those that return, for `returned`. `step` is
/// given the number of a block and what is known of all registers at its start, and leaves what is known at its end.
pub fn forward<F: Fact>(
    f: &Function,
    entry: Vec<F>,
    mut step: impl FnMut(usize, &mut [F]),
    mut returned: impl FnMut(&[Reg], &[F]),
) {
    if f.blocks.is_empty() {
        return;
    }
    let live = live_at_entry(f);
    let facts_at = |at: usize, facts: &[F]| -> Vec<F> { live.of(at).map(|r| facts[r].clone()).collect() };
    // What is known at the start of each block of the registers that are live there; `None` where no path leads.
    let mut starts: Vec<Option<Vec<F>>> = vec![None; f.blocks.len()];
    starts[0] = Some(facts_at(0, &entry));
    let mut facts = entry;
    let load = |at: usize, facts: &mut [F], start: &[F]| {
        live.of(at).zip(start).for_each(|(r, known)| facts[r].clone_from(known));
    };
    let order = reverse_postorder(f);
    let mut waiting = vec![false; f.blocks.len()];
    waiting[0] = true;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in &order {
            if !std::mem::replace(&mut waiting[at], false) {
                continue;
            }
            changed = true;
            crate::cancel::check();
            load(at, &mut facts, starts[at].as_deref().unwrap_or_default());
            step(at, &mut facts);
            for next in f.successors(at) {
                match &mut starts[next] {
                    Some(known) => {
                        // Every register must be joined, so no short-circuit.
                        let ends = live.of(next).map(|r| &facts[r]);
                        let grown = known.iter_mut().zip(ends).fold(false, |any, (a, b)| a.join(b) | any);
                        waiting[next] |= grown;
                    }
                    start @ None => {
                        *start = Some(facts_at(next, &facts));
                        waiting[next] = true;
                    }
                }
            }
        }
    }
    for (at, start) in starts.iter().enumerate() {
        if let (Some(start), Some(Terminator::Return(regs))) = (start, &f.blocks[at].end) {
            load(at, &mut facts, start);
            step(at, &mut facts);
            returned(regs, &facts);
        }
    }
}
