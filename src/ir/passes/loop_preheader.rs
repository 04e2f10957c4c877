//! Loop preheader: the block before a loop, which is executed once each time the loop is entered.

use crate::ir::analysis::control_flow::{back_edges, natural_loop, predecessors};
use crate::ir::graph::{Block, BlockId, Function, Instruction, Terminator};

/// A loop: its first block, and the blocks from which it is repeated.
pub(crate) struct Loop {
    pub head: usize,
    pub latches: Vec<usize>,
}

impl Loop {
    /// Returns the loops of a function, each after the loops in it.
    pub fn all(function: &Function) -> Vec<Loop> {
        let mut loops: Vec<Loop> = vec![];
        for (latch, head) in back_edges(function) {
            match loops.iter_mut().find(|known| known.head == head) {
                Some(known) => known.latches.push(latch),
                None => loops.push(Loop { head, latches: vec![latch] }),
            }
        }
        let before = predecessors(function);
        loops.sort_by_cached_key(|found| found.blocks(&before).iter().filter(|inside| **inside).count());
        loops
    }

    /// Returns for each block whether it belongs to the loop. `before` are the predecessors of each block.
    pub fn blocks(&self, before: &[Vec<usize>]) -> Vec<bool> {
        let mut inside = vec![false; before.len()];
        for latch in &self.latches {
            let one = natural_loop(before, (*latch, self.head));
            inside.iter_mut().zip(one).for_each(|(all, one)| *all |= one);
        }
        inside
    }

    /// Whether each iteration that is repeated executes a block.
    pub fn always_executes(&self, function: &Function, inside: &[bool], block: usize) -> bool {
        let mut seen = vec![false; inside.len()];
        let mut work = if block == self.head { vec![] } else { vec![self.head] };
        while let Some(at) = work.pop() {
            if self.latches.contains(&at) {
                return false;
            }
            if !std::mem::replace(&mut seen[at], true) {
                let targets = function.blocks[at].end.iter().flat_map(Terminator::targets).map(|to| to.0 as usize);
                work.extend(targets.filter(|to| inside[*to] && *to != block));
            }
        }
        true
    }

    /// Inserts steps before the loop, whose blocks are `inside`.
    pub fn insert_before(&self, function: &mut Function, inside: &[bool], steps: Vec<Instruction>) {
        let head = BlockId(self.head as u32);
        let enters = |block: &Block| block.end.iter().flat_map(Terminator::targets).any(|to| to == head);
        let outside = (0..function.blocks.len()).filter(|at| !inside.get(*at).is_some_and(|inside| *inside));
        let entering: Vec<usize> = outside.filter(|at| enters(&function.blocks[*at])).collect();
        if let [only] = entering[..]
            && let block = &mut function.blocks[only]
            && matches!(block.end, Some(Terminator::Jump(_)))
        {
            block.instructions.extend(steps);
            return;
        }
        let new = BlockId(function.blocks.len() as u32);
        let redirect = |to: &mut BlockId| {
            if *to == head {
                *to = new;
            }
        };
        for at in entering {
            match &mut function.blocks[at].end {
                Some(Terminator::Jump(to)) => redirect(to),
                Some(Terminator::Branch { then, otherwise, .. }) => {
                    redirect(then);
                    redirect(otherwise);
                }
                Some(Terminator::Return(_) | Terminator::Trap(_)) | None => {}
            }
        }
        let end_span = function.blocks[self.head].end_span;
        function.blocks.push(Block { instructions: steps, end: Some(Terminator::Jump(head)), end_span });
    }
}
