//! Liveness: which registers are still needed, block by block.

use super::graph::{Graph, Reg};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

/// A set of registers. There are several for each block: they lie in an arena that is dropped with the function.
#[derive(Clone, PartialEq, Debug)]
pub struct Set<'a>(BumpVec<'a, u64>);

impl<'a> Set<'a> {
    /// The empty set of registers below `size`.
    pub fn new(size: usize, arena: &'a Bump) -> Set<'a> {
        Set(bumpalo::vec![in arena; 0; size.div_ceil(64)])
    }

    /// Whether it is in the set.
    pub fn has(&self, reg: Reg) -> bool {
        self.0[reg / 64] >> (reg % 64) & 1 != 0
    }

    /// Puts it in; whether it was new.
    pub fn insert(&mut self, reg: Reg) -> bool {
        let new = !self.has(reg);
        self.0[reg / 64] |= 1 << (reg % 64);
        new
    }

    /// Takes it out.
    pub fn remove(&mut self, reg: Reg) {
        self.0[reg / 64] &= !(1 << (reg % 64));
    }

    /// Puts in all of the other; whether any was new.
    fn extend(&mut self, other: &Set<'_>) -> bool {
        let mut changed = false;
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *other & !*mine != 0;
            *mine |= other;
        }
        changed
    }

    /// What is in it.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut bits = *bits;
            std::iter::from_fn(move || {
                (bits != 0).then(|| {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    word * 64 + bit
                })
            })
        })
    }
}

/// What is needed at the beginning and at the end of each block.
#[derive(Debug)]
pub struct Liveness<'a> {
    /// At the beginning.
    pub entry: Vec<Set<'a>>,
    /// At the end.
    pub exit: Vec<Set<'a>>,
}

/// Computes it, walking backwards until nothing changes.
pub fn liveness<'a>(graph: &Graph, order: &[usize], arena: &'a Bump) -> Liveness<'a> {
    let empty = Set::new(graph.banks.len(), arena);
    let mut live =
        Liveness { entry: vec![empty.clone(); graph.blocks.len()], exit: vec![empty.clone(); graph.blocks.len()] };
    let mut set = empty;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev() {
            let block = &graph.blocks[at];
            for to in block.end.targets() {
                live.exit[at].extend(&live.entry[to]);
            }
            set.0.copy_from_slice(&live.exit[at].0);
            block.end.ins().iter().for_each(|r| {
                set.insert(*r);
            });
            for step in block.steps.iter().rev() {
                step.outs.iter().for_each(|r| set.remove(*r));
                step.ins.iter().for_each(|r| {
                    set.insert(*r);
                });
            }
            changed |= live.entry[at].extend(&set);
        }
    }
    live
}
