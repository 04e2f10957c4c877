//! Forward data flow over the graph of one function: what is known of each register at the start of each block.

use crate::ir::analysis::liveness::live;
use crate::ir::{BlockId, Function, Reg, Terminator};

/// Something that is known of a register; the default says that nothing reaches it.
pub trait Fact: Clone + Default {
    /// Takes up what is known on another path; says whether that changed anything.
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
    let live = live(f);
    let kept = |at: usize, facts: &[F]| -> Vec<F> { live.of(at).map(|r| facts[r].clone()).collect() };
    // What is known at the start of each block of the registers that are live there; `None` where no path leads.
    let mut starts: Vec<Option<Vec<F>>> = vec![None; f.blocks.len()];
    starts[0] = Some(kept(0, &entry));
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
            for next in successors(f, at) {
                let next = next.0 as usize;
                match &mut starts[next] {
                    Some(known) => {
                        // Every register must be joined, so no short-circuit.
                        let ends = live.of(next).map(|r| &facts[r]);
                        let grown = known.iter_mut().zip(ends).fold(false, |any, (a, b)| a.join(b) | any);
                        waiting[next] |= grown;
                    }
                    start @ None => {
                        *start = Some(kept(next, &facts));
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

/// Where a block may go on.
pub fn successors(f: &Function, block: usize) -> Vec<BlockId> {
    match &f.blocks[block].end {
        Some(Terminator::Jump(to)) => vec![*to],
        Some(Terminator::Branch { then, otherwise, .. }) => vec![*then, *otherwise],
        Some(Terminator::Return(_) | Terminator::Trap(_)) | None => vec![],
    }
}

fn reverse_postorder(f: &Function) -> Vec<usize> {
    let mut order = vec![];
    let mut seen = vec![false; f.blocks.len()];
    seen[0] = true;
    let mut open = vec![(0, successors(f, 0))];
    while let Some((at, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) => {
                let next = next.0 as usize;
                if !std::mem::replace(&mut seen[next], true) {
                    open.push((next, successors(f, next)));
                }
            }
            None => {
                order.push(*at);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
