//! Forward data flow over the graph of one function: what is known of each register at the start of each block.

use crate::ir::{BlockId, Function, Terminator};

/// Something that is known of a register; the default says that nothing reaches it.
pub trait Fact: Clone + Default {
    /// Takes up what is known on another path; says whether that changed anything.
    fn join(&mut self, other: &Self) -> bool;
}

/// Runs `step` over the blocks until nothing changes. `step` is given the number of a block and the facts at its start,
/// and leaves the facts at its end. Gives the facts at the start of each block; `None` where no path leads.
pub fn forward<F: Fact>(f: &Function, entry: Vec<F>, mut step: impl FnMut(usize, &mut [F])) -> Vec<Option<Vec<F>>> {
    let mut starts: Vec<Option<Vec<F>>> = vec![None; f.blocks.len()];
    if f.blocks.is_empty() {
        return starts;
    }
    let order = reverse_postorder(f);
    let mut waiting = vec![false; f.blocks.len()];
    starts[0] = Some(entry);
    waiting[0] = true;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in &order {
            if !std::mem::replace(&mut waiting[at], false) {
                continue;
            }
            changed = true;
            let mut facts = starts[at].clone().unwrap_or_default();
            step(at, &mut facts);
            for next in successors(f, at) {
                let next = next.0 as usize;
                match &mut starts[next] {
                    Some(known) => {
                        // Every register must be joined, so no short-circuit.
                        let grown = known.iter_mut().zip(&facts).fold(false, |any, (a, b)| a.join(b) | any);
                        waiting[next] |= grown;
                    }
                    start @ None => {
                        *start = Some(facts.clone());
                        waiting[next] = true;
                    }
                }
            }
        }
    }
    starts
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
