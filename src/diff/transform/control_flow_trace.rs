//! How the way back finds from a block to the one that led to it.

use crate::diff::transform::Maker;
use crate::diff::transform::recompute::Blocks;
use crate::ir::analysis::control_flow::back_edges;
use crate::ir::{BlockId, Function, Reg};
use crate::value::Bank;

/// How the way back knows from where a block was entered.
pub enum Entry {
    /// There is one block before it, or none.
    Known,
    /// A loop: an integer that is `first` when it is entered from elsewhere, and another one when it is entered from its
    /// own end.
    Turns { integer: Reg, first: i64, how: Counted, from: BlockId, again: BlockId },
    /// The number of the block before it was kept.
    Kept,
}

/// Where the integer that tells the turns of a loop comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It is a variable of the loop itself.
    Already,
    /// It is counted for that purpose, one more whenever the loop is entered.
    Besides,
}

pub struct Entries(pub Vec<Entry>);

impl Entries {
    /// Of a function.
    pub fn of(f: &Function, blocks: &Blocks<'_>, make: &mut Maker) -> Entries {
        let back_edges = back_edges(f);
        let is_back = |from: BlockId, to: usize| back_edges.contains(&(from.0 as usize, to));
        let entry = |b: usize| match &blocks.before[b][..] {
            [] | [_] => Entry::Known,
            &[p, q] => match (is_back(p, b), is_back(q, b)) {
                (false, true) => Entries::turns(blocks, (p, q), make),
                (true, false) => Entries::turns(blocks, (q, p), make),
                _ => Entry::Kept,
            },
            _ => Entry::Kept,
        };
        Entries((0..f.blocks.len()).map(entry).collect())
    }
}

impl Entries {
    fn turns(blocks: &Blocks<'_>, (from, again): (BlockId, BlockId), make: &mut Maker) -> Entry {
        match blocks.counter(from, again) {
            Some((integer, first)) => Entry::Turns { integer, first, how: Counted::Already, from, again },
            None => Entry::Turns { integer: make.register(Bank::I), first: 0, how: Counted::Besides, from, again },
        }
    }

    /// Variables that tell the turns of loops: their values are needed where the loop begins.
    pub fn needed(&self) -> Vec<(usize, Reg)> {
        let variable = |(b, entry): (usize, &Entry)| match entry {
            Entry::Turns { integer, how: Counted::Already, .. } => Some((b, *integer)),
            _ => None,
        };
        self.0.iter().enumerate().filter_map(variable).collect()
    }
}
