//! Liveness: which registers are still needed, block by block.

use super::graph::{Graph, Reg};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

/// A set of numbers. There are several for each block: they lie in an arena that is dropped with the function.
#[derive(Clone, PartialEq, Debug)]
pub struct Set<'a>(BumpVec<'a, u64>);

impl<'a> Set<'a> {
    /// The empty set of numbers below `size`.
    pub fn new(size: usize, arena: &'a Bump) -> Set<'a> {
        Set(bumpalo::vec![in arena; 0; size.div_ceil(64)])
    }

    /// Whether it is in the set.
    pub fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    /// Puts it in; whether it was new.
    pub fn insert(&mut self, number: usize) -> bool {
        let new = !self.has(number);
        self.0[number / 64] |= 1 << (number % 64);
        new
    }

    /// Takes it out.
    fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
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
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
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

/// What is needed at the beginning and at the end of each block. Most registers are written and read inside of one block:
/// only the others have a number in the sets, so that these stay small however long the function is.
#[derive(Debug)]
pub struct Liveness<'a> {
    /// The registers that some block needs from those before it.
    crossing: Vec<Reg>,
    /// The place of each register there.
    numbers: Vec<Option<usize>>,
    entry: Vec<Set<'a>>,
    exit: Vec<Set<'a>>,
}

impl Liveness<'_> {
    /// Whether a register is needed at the end of a block.
    pub fn leaves(&self, block: usize, reg: Reg) -> bool {
        self.numbers[reg].is_some_and(|n| self.exit[block].has(n))
    }

    /// Whether a register is needed at the beginning of a block.
    pub fn enters(&self, block: usize, reg: Reg) -> bool {
        self.numbers[reg].is_some_and(|n| self.entry[block].has(n))
    }

    /// What is needed at the beginning of a block.
    pub fn entry(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.entry[block].iter().map(|n| self.crossing[n])
    }

    /// What is needed at the end of a block.
    pub fn exit(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        self.exit[block].iter().map(|n| self.crossing[n])
    }
}

/// Computes it, walking backwards until nothing changes.
pub fn liveness<'a>(graph: &Graph, order: &[usize], arena: &'a Bump) -> Liveness<'a> {
    let crossing = crossing(graph);
    let mut numbers = vec![None; graph.banks.len()];
    crossing.iter().enumerate().for_each(|(n, reg)| numbers[*reg] = Some(n));
    let number = |reg: &Reg| numbers[*reg];
    let empty = Set::new(crossing.len(), arena);
    let (mut entry, mut exit) = (vec![empty.clone(); graph.blocks.len()], vec![empty.clone(); graph.blocks.len()]);
    let mut set = empty;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev() {
            let block = &graph.blocks[at];
            for to in block.end.targets() {
                exit[at].extend(&entry[to]);
            }
            set.0.copy_from_slice(&exit[at].0);
            block.end.ins().iter().filter_map(number).for_each(|n| {
                set.insert(n);
            });
            for step in block.steps.iter().rev() {
                step.outs.iter().filter_map(number).for_each(|n| set.remove(n));
                step.ins.iter().filter_map(number).for_each(|n| {
                    set.insert(n);
                });
            }
            changed |= entry[at].extend(&set);
        }
    }
    Liveness { crossing, numbers, entry, exit }
}

/// The registers that some block reads before it has written them.
fn crossing(graph: &Graph) -> Vec<Reg> {
    let mut crosses = vec![false; graph.banks.len()];
    // The block that wrote each register last.
    let mut written = vec![usize::MAX; graph.banks.len()];
    for (at, block) in graph.blocks.iter().enumerate() {
        for step in &block.steps {
            step.ins.iter().filter(|r| written[**r] != at).for_each(|r| crosses[*r] = true);
            step.outs.iter().for_each(|r| written[*r] = at);
        }
        block.end.ins().iter().filter(|r| written[**r] != at).for_each(|r| crosses[*r] = true);
    }
    (0..crosses.len()).filter(|r| crosses[*r]).collect()
}
