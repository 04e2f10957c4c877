//! Liveness: which registers are still needed, block by block.

use super::graph::{Graph, Reg};
use crate::ir::analysis::liveness::{Sets, Use, entering};

/// What is needed at the beginning and at the end of each block, in the order of registers.
#[derive(Debug)]
pub struct Liveness {
    entry: Sets,
    exit: Sets,
}

impl Liveness {
    /// Whether a register is needed at the end of a block.
    pub fn leaves(&self, block: usize, reg: Reg) -> bool {
        self.exit.contains(block, reg)
    }

    /// Whether a register is needed at the beginning of a block.
    pub fn enters(&self, block: usize, reg: Reg) -> bool {
        self.entry.contains(block, reg)
    }

    /// What is needed at the beginning of a block.
    pub fn entry(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.entry.of(block)
    }

    /// What is needed at the end of a block.
    pub fn exit(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.exit.of(block)
    }
}

/// Computes it for the blocks in `order`, which are all that any path leads to.
pub fn liveness(graph: &Graph, order: &[usize]) -> Liveness {
    let mut uses = vec![Use::default(); graph.blocks.len()];
    let (mut before, mut after) = (vec![vec![]; graph.blocks.len()], vec![vec![]; graph.blocks.len()]);
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
        after[at].extend(block.end.targets());
        after[at].iter().for_each(|to| before[*to].push(at));
    }
    let entry = entering(&uses, &before, graph.banks.len());
    let exit = entry.unions(&after);
    Liveness { entry, exit }
}
