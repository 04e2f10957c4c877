//! Loops: the natural loops of a function, and the places before and after them.

use crate::ir::analysis::control_flow::{back_edges, natural_loop, predecessors};
use crate::ir::graph::{Block, BlockId, Function, Instruction, Terminator};

/// A loop: its first block, and the blocks from which it is repeated.
pub(crate) struct Loop {
    pub head: usize,
    pub latches: Vec<usize>,
}

/// Whether a block belongs to a loop; blocks that were added later do not.
fn is_in(inside: &[bool], block: usize) -> bool {
    inside.get(block).is_some_and(|inside| *inside)
}

impl Loop {
    /// Returns the loops of a function that are entered at their first block only, each after the loops in it. The first block
    /// of the function is in none of them.
    pub fn all(function: &Function) -> Vec<Loop> {
        let mut loops: Vec<Loop> = vec![];
        for (latch, head) in back_edges(function) {
            match loops.iter_mut().find(|known| known.head == head) {
                Some(known) => known.latches.push(latch),
                None => loops.push(Loop { head, latches: vec![latch] }),
            }
        }
        let before = predecessors(function);
        // The blocks of a loop that is entered elsewhere, as the reverse of a loop that ends in two places, lead back to the first
        // block of the function.
        loops.retain(|found| !found.blocks(&before)[0]);
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
        self.reaches_no(function, inside, block, |to| to == self.head)
    }

    /// Whether the loop executes a block before it ends or is repeated. A path that ends without a result does not count.
    pub fn executes_before_exit(&self, function: &Function, inside: &[bool], block: usize) -> bool {
        let fails = |at: usize| matches!(function.blocks[at].end, Some(Terminator::Trap(_)));
        self.reaches_no(function, inside, block, |to| to == self.head || !is_in(inside, to) && !fails(to))
    }

    /// Whether no path from the head of the loop that avoids a block goes on to a block that `is_end` accepts.
    fn reaches_no(&self, function: &Function, inside: &[bool], block: usize, is_end: impl Fn(usize) -> bool) -> bool {
        let mut seen = vec![false; inside.len()];
        let mut work = if block == self.head { vec![] } else { vec![self.head] };
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            for to in function.blocks[at].end.iter().flat_map(Terminator::targets).map(|to| to.0 as usize) {
                if is_end(to) {
                    return false;
                }
                if is_in(inside, to) && to != block {
                    work.push(to);
                }
            }
        }
        true
    }

    /// Inserts steps before the loop, whose blocks are `inside`.
    pub fn insert_before(&self, function: &mut Function, inside: &[bool], steps: Vec<Instruction>) {
        let head = BlockId(self.head as u32);
        let enters = |block: &Block| block.end.iter().flat_map(Terminator::targets).any(|to| to == head);
        let outside = (0..function.blocks.len()).filter(|at| !is_in(inside, *at));
        let entering: Vec<usize> = outside.filter(|at| enters(&function.blocks[*at])).collect();
        if let [only] = entering[..]
            && let block = &mut function.blocks[only]
            && matches!(block.end, Some(Terminator::Jump(_)))
        {
            block.instructions.extend(steps);
            return;
        }
        let new = BlockId(function.blocks.len() as u32);
        for at in entering {
            let targets = function.blocks[at].end.iter_mut().flat_map(Terminator::targets_mut);
            targets.filter(|to| **to == head).for_each(|to| *to = new);
        }
        let end_span = function.blocks[self.head].end_span;
        function.blocks.push(Block { instructions: steps, end: Some(Terminator::Jump(head)), end_span });
    }

    /// Inserts steps on all edges that leave the loop, whose blocks are `inside`.
    pub fn insert_after(function: &mut Function, inside: &[bool], steps: &[Instruction]) {
        let mut added: Vec<(BlockId, BlockId)> = vec![];
        for b in (0..inside.len()).filter(|b| inside[*b]) {
            let end_span = function.blocks[b].end_span;
            let mut end = function.blocks[b].end.clone();
            for to in end.iter_mut().flat_map(Terminator::targets_mut).filter(|to| !is_in(inside, to.0 as usize)) {
                let known = added.iter().find(|(target, _)| target == to).map(|(_, new)| *new);
                *to = known.unwrap_or_else(|| {
                    let new = BlockId(function.blocks.len() as u32);
                    let end = Some(Terminator::Jump(*to));
                    function.blocks.push(Block { instructions: steps.to_vec(), end, end_span });
                    added.push((*to, new));
                    new
                });
            }
            function.blocks[b].end = end;
        }
    }
}
