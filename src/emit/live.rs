//! Liveness: which registers are still needed, block by block.

use super::graph::{Graph, Reg};

/// A set of registers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Set(Vec<u64>);

impl Set {
    /// The empty set of registers below `size`.
    pub fn new(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
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
    fn extend(&mut self, other: &Set) -> bool {
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
pub struct Liveness {
    /// At the beginning.
    pub entry: Vec<Set>,
    /// At the end.
    pub exit: Vec<Set>,
}

/// Computes it, walking backwards until nothing changes.
pub fn liveness(graph: &Graph, order: &[usize]) -> Liveness {
    let size = graph.banks.len();
    let mut live =
        Liveness { entry: vec![Set::new(size); graph.blocks.len()], exit: vec![Set::new(size); graph.blocks.len()] };
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev() {
            let block = &graph.blocks[at];
            let mut set = std::mem::take(&mut live.exit[at]);
            for to in block.end.targets() {
                set.extend(&live.entry[to]);
            }
            live.exit[at] = set.clone();
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
