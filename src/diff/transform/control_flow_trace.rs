//! How the way back finds from a block to the one that led to it.

use crate::diff::transform::Maker;
use crate::diff::transform::recompute::Blocks;
use crate::ir::{BlockId, Function, Reg, verify};
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
        let order = depth_first(f);
        let entry = |b: usize| match &blocks.before[b][..] {
            [] | [_] => Entry::Known,
            &[p, q] => match (order.is_back(p, b), order.is_back(q, b)) {
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

/// When a search that goes deep first enters and leaves each block.
struct DepthFirst(Vec<[usize; 2]>);

impl DepthFirst {
    /// Whether a block leads back to one that leads to it.
    fn is_back(&self, from: BlockId, to: usize) -> bool {
        let ([in_from, out_from], [in_to, out_to]) = (self.0[from.0 as usize], self.0[to]);
        in_to <= in_from && out_from <= out_to
    }
}

fn depth_first(f: &Function) -> DepthFirst {
    let mut times = vec![[0, 0]; f.blocks.len()];
    let mut seen = vec![false; f.blocks.len()];
    let (mut time, mut work) = (0, vec![(0usize, 0usize)]);
    seen[0] = true;
    while let Some((b, next)) = work.pop() {
        time += 1;
        if next == 0 {
            times[b][0] = time;
        }
        let targets: Vec<BlockId> = f.blocks[b].end.iter().flat_map(verify::targets).collect();
        match targets.get(next) {
            Some(to) => {
                work.push((b, next + 1));
                let to = to.0 as usize;
                if !std::mem::replace(&mut seen[to], true) {
                    work.push((to, 0));
                }
            }
            None => times[b][1] = time,
        }
    }
    DepthFirst(times)
}
