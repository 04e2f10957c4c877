//! Liveness: which registers are still needed, block by block.

use super::graph::{Graph, Reg};
use crate::ir::live::{Use, entering};
use bumpalo::Bump;

/// What is needed at the beginning and at the end of each block, in the order of registers.
#[derive(Debug)]
pub struct Liveness<'a> {
    entry: Vec<&'a [Reg]>,
    exit: Vec<&'a [Reg]>,
}

impl Liveness<'_> {
    /// Whether a register is needed at the end of a block.
    pub fn leaves(&self, block: usize, reg: Reg) -> bool {
        self.exit[block].binary_search(&reg).is_ok()
    }

    /// Whether a register is needed at the beginning of a block.
    pub fn enters(&self, block: usize, reg: Reg) -> bool {
        self.entry[block].binary_search(&reg).is_ok()
    }

    /// What is needed at the beginning of a block.
    pub fn entry(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.entry[block].iter().copied()
    }

    /// What is needed at the end of a block.
    pub fn exit(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.exit[block].iter().copied()
    }
}

/// Computes it for the blocks in `order`, which are all that any path leads to. The sets lie in the arena, since they are dropped together.
pub fn liveness<'a>(graph: &Graph, order: &[usize], arena: &'a Bump) -> Liveness<'a> {
    let mut uses = vec![Use::default(); graph.blocks.len()];
    let mut before = vec![vec![]; graph.blocks.len()];
    // The block that wrote each register last.
    let mut written = vec![usize::MAX; graph.banks.len()];
    for &at in order {
        let (block, used) = (&graph.blocks[at], &mut uses[at]);
        for step in &block.steps {
            step.ins.iter().for_each(|r| used.read(*r, &written, at));
            step.outs.iter().for_each(|r| written[*r] = at);
            used.writes.extend(&step.outs);
        }
        block.end.ins().iter().for_each(|r| used.read(*r, &written, at));
        block.end.targets().for_each(|to| before[to].push(at));
    }
    let entry = entering(&uses, &before, graph.banks.len());
    let mut exit: Vec<&[Reg]> = vec![&[]; graph.blocks.len()];
    let mut needed: Vec<Reg> = vec![];
    for &at in order {
        crate::stop::look();
        needed.clear();
        needed.extend(graph.blocks[at].end.targets().flat_map(|to| &entry[to]));
        needed.sort_unstable();
        needed.dedup();
        exit[at] = arena.alloc_slice_copy(&needed);
    }
    let entry = entry.iter().map(|regs| &*arena.alloc_slice_copy(regs)).collect();
    Liveness { entry, exit }
}
