//! Control-flow trace: determines how the reverse pass finds the block from which a block was entered.

use crate::diff::transform::GraphBuilder;
use crate::diff::transform::recomputation::Blocks;
use crate::ir::analysis::control_flow::back_edges;
use crate::ir::{BlockId, Function, Reg};
use crate::value::Bank;

/// The way in which the reverse pass determines from which block a block was entered.
pub enum Entry {
    /// The block has at most one predecessor.
    Single,
    /// The block is the head of a loop: an integer is `first` when the loop is entered from elsewhere, and has another
    /// value when it is entered from its own end.
    Loop { integer: Reg, first: i64, how: PredecessorCounter, from: BlockId, again: BlockId },
    /// The block has several predecessors: the number of the predecessor is on the value stack.
    Recorded,
}

/// The source of the integer that distinguishes the iterations of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PredecessorCounter {
    /// The integer is a variable of the loop itself.
    LoopVariable,
    /// The integer is a generated counter, which is incremented whenever the loop is entered.
    Added,
}

pub struct ControlFlowTrace(pub Vec<Entry>);

impl ControlFlowTrace {
    /// Determines the control-flow trace of a function.
    pub fn of(f: &Function, blocks: &Blocks<'_>, builder: &mut GraphBuilder) -> ControlFlowTrace {
        let back_edges = back_edges(f);
        let is_back = |from: BlockId, to: usize| back_edges.contains(&(from.0 as usize, to));
        let entry = |b: usize| match &blocks.before[b][..] {
            [] | [_] => Entry::Single,
            &[p, q] => match (is_back(p, b), is_back(q, b)) {
                (false, true) => ControlFlowTrace::loop_entry(blocks, (p, q), builder),
                (true, false) => ControlFlowTrace::loop_entry(blocks, (q, p), builder),
                _ => Entry::Recorded,
            },
            _ => Entry::Recorded,
        };
        ControlFlowTrace((0..f.blocks.len()).map(entry).collect())
    }
}

impl ControlFlowTrace {
    fn loop_entry(blocks: &Blocks<'_>, (from, again): (BlockId, BlockId), builder: &mut GraphBuilder) -> Entry {
        match blocks.counter(from, again) {
            Some((integer, first)) => {
                Entry::Loop { integer, first, how: PredecessorCounter::LoopVariable, from, again }
            }
            None => Entry::Loop {
                integer: builder.register(Bank::I),
                first: 0,
                how: PredecessorCounter::Added,
                from,
                again,
            },
        }
    }

    /// Returns the variables that distinguish iterations of loops: their values are needed where the loop begins.
    pub fn needed(&self) -> Vec<(usize, Reg)> {
        let variable = |(b, entry): (usize, &Entry)| match entry {
            Entry::Loop { integer, how: PredecessorCounter::LoopVariable, .. } => Some((b, *integer)),
            _ => None,
        };
        self.0.iter().enumerate().filter_map(variable).collect()
    }
}
