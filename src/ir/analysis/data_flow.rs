//! Data flow: a forward analysis of one function, which computes a fact for each register at the start of each block.

use crate::ir::analysis::control_flow::reverse_postorder;
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::analysis::liveness::live_at_entry;
use crate::ir::graph::{Function, Reg, Terminator};

/// A fact about a register at one point of a function. The default value is the bottom of the lattice: no path reaches
/// the point.
pub trait Fact: Clone + Default {
    /// Joins the fact with the fact of another path; returns whether this fact changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// A fact of a flat lattice: paths with different values lead to a point without a known value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Flat<T> {
    /// No path reaches the point.
    #[default]
    Unreached,
    /// All paths lead to this value.
    Value(T),
    /// The value is not known, or depends on the path.
    Unknown,
}

impl<T: Copy + PartialEq> Fact for Flat<T> {
    fn join(&mut self, other: &Flat<T>) -> bool {
        let joined = match (*self, *other) {
            (Flat::Unreached, fact) | (fact, Flat::Unreached) => fact,
            (a, b) if a == b => a,
            _ => Flat::Unknown,
        };
        std::mem::replace(self, joined) != joined
    }
}

/// Runs `step` over the blocks until a fixed point is reached, and then once more over the blocks that return, for
/// `returned`. `step` receives the index of a block and the facts of all registers at the start of the block, and
/// replaces these facts by the facts at the end of the block.
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
    // The facts at the start of each block about the registers that are live there; `None` for blocks that no path has
    // reached.
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
                        // Every register must be joined, so there must be no short-circuit evaluation.
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
