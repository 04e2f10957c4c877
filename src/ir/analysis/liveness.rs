//! Liveness: determines for each block the registers whose values are read later.
//!
//! Promises: memory is proportional to the number of live range boundaries, not to blocks times registers.

use crate::cancel;
use crate::ir::analysis::control_flow::predecessors;
use crate::ir::analysis::flow_graph::{FlowGraph, Step};
use bumpalo::Bump;
use std::ops::Range;
use std::rc::Rc;

/// The registers that a block reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// The registers that the block reads before it writes them.
    pub reads: Vec<usize>,
    /// The registers that the block writes.
    pub writes: Vec<usize>,
}

impl Use {
    /// Adds a read of a register, unless the block has already written it.
    pub fn read(&mut self, reg: usize, written: &[usize], block: usize) {
        if written[reg] != block {
            self.reads.push(reg);
        }
    }
}

/// A set of registers for each block, stored as ranges. Variables that were declared consecutively are often live
/// together, so that even a long function with many variables needs few ranges.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegisterSets {
    /// The registers that occur in any of the sets, in ascending order.
    registers: Rc<[usize]>,
    /// The set of each block, as ranges of indices into `registers`.
    ranges: Vec<Vec<Range<usize>>>,
}

impl RegisterSets {
    /// Returns the registers in the set of a block, in ascending order.
    pub fn of(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.ranges[block].iter().flat_map(|range| &self.registers[range.clone()]).copied()
    }

    /// Whether a register is in the set of a block.
    pub fn contains(&self, block: usize, register: usize) -> bool {
        let Ok(at) = self.registers.binary_search(&register) else { return false };
        let ranges = &self.ranges[block];
        ranges.get(ranges.partition_point(|range| range.end <= at)).is_some_and(|range| range.start <= at)
    }

    /// Returns the union of the sets of the blocks in each list.
    pub fn unions(&self, lists: &[Vec<usize>]) -> Self {
        let union = |blocks: &Vec<usize>| {
            let mut all: Vec<Range<usize>> = blocks.iter().flat_map(|block| &self.ranges[*block]).cloned().collect();
            all.sort_unstable_by_key(|range| range.start);
            all.dedup_by(|next, range| {
                let touches = next.start <= range.end;
                if touches {
                    range.end = range.end.max(next.end);
                }
                touches
            });
            all
        };
        Self { registers: self.registers.clone(), ranges: cancel::checking_each(lists).map(union).collect() }
    }
}

/// A linked list of blocks in an arena, so that all lists are dropped together.
#[derive(Clone, Copy)]
struct List<'a> {
    block: usize,
    next: Option<&'a List<'a>>,
}

impl<'a> List<'a> {
    fn add(arena: &'a Bump, block: usize, next: Option<&'a List<'a>>) -> &'a List<'a> {
        arena.alloc(List { block, next })
    }

    fn blocks(list: Option<&'a List<'a>>) -> impl Iterator<Item = usize> {
        std::iter::successors(list, |list| list.next).map(|list| list.block)
    }
}

/// Computes the registers that are live at the start of each block. `before` are the predecessors of each block.
pub fn entering(uses: &[Use], before: &[Vec<usize>], registers: usize) -> RegisterSets {
    let arena = Bump::new();
    let (mut readers, mut writers) = (vec![None; registers], vec![None; registers]);
    for (block, used) in uses.iter().enumerate() {
        used.reads.iter().for_each(|r| readers[*r] = Some(List::add(&arena, block, readers[*r])));
        used.writes.iter().for_each(|r| writers[*r] = Some(List::add(&arena, block, writers[*r])));
    }
    let mut ranges: Vec<Vec<Range<usize>>> = vec![vec![]; uses.len()];
    let mut crossing = vec![];
    // The last register that was found to be live at the start of each block, and the last register that the block was
    // found to write.
    let (mut found, mut written) = (vec![usize::MAX; uses.len()], vec![usize::MAX; uses.len()]);
    for (reg, readers) in cancel::checking_each(readers).enumerate() {
        if readers.is_none() {
            continue;
        }
        let number = crossing.len();
        crossing.push(reg);
        let mut enter = |block: usize| match ranges[block].last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges[block].push(number..number + 1),
        };
        List::blocks(writers[reg]).for_each(|block| written[block] = reg);
        let mut work = vec![];
        for block in List::blocks(readers) {
            if std::mem::replace(&mut found[block], reg) != reg {
                enter(block);
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            for &from in &before[block] {
                if written[from] != reg && std::mem::replace(&mut found[from], reg) != reg {
                    enter(from);
                    work.push(from);
                }
            }
        }
    }
    RegisterSets { registers: crossing.into(), ranges }
}

/// Computes the registers that are live at the start of each block.
pub fn live_at_entry<G: FlowGraph>(graph: &G) -> RegisterSets {
    live_at_entry_where(graph, |_| true, |_| true)
}

/// Computes the tracked registers that are live at the start of each block, where only the steps that `reads` accepts
/// count as readers.
fn live_at_entry_where<G: FlowGraph>(
    graph: &G,
    reads: impl Fn(&G::Step) -> bool,
    is_tracked: impl Fn(G::Reg) -> bool,
) -> RegisterSets {
    let mut uses = vec![Use::default(); graph.block_count()];
    // The last block that was found to write each register.
    let mut written = vec![usize::MAX; graph.register_count()];
    let is_tracked = |reg: &&G::Reg| is_tracked(**reg);
    for (at, block) in uses.iter_mut().enumerate() {
        for step in graph.steps(at) {
            if reads(step) {
                step.ins().iter().filter(is_tracked).for_each(|r| block.read((*r).into(), &written, at));
            }
            for out in step.outs().iter().filter(is_tracked) {
                let out: usize = (*out).into();
                if std::mem::replace(&mut written[out], at) != at {
                    block.writes.push(out);
                }
            }
        }
        graph.end_reads(at).iter().filter(is_tracked).for_each(|r| block.read((*r).into(), &written, at));
    }
    entering(&uses, &predecessors(graph), graph.register_count())
}

/// The registers that are live at the start and at the end of each block.
#[derive(Debug)]
pub struct Liveness {
    entry: RegisterSets,
    exit: RegisterSets,
}

impl Liveness {
    /// Computes the liveness of all registers of a graph.
    pub fn of<G: FlowGraph>(graph: &G) -> Liveness {
        Liveness::of_reads(graph, |_| true, |_| true)
    }

    /// Computes the liveness of the tracked registers, where only the steps that `reads` accepts count as readers.
    pub fn of_reads<G: FlowGraph>(
        graph: &G,
        reads: impl Fn(&G::Step) -> bool,
        is_tracked: impl Fn(G::Reg) -> bool,
    ) -> Liveness {
        let entry = live_at_entry_where(graph, reads, is_tracked);
        let after: Vec<Vec<usize>> = (0..graph.block_count()).map(|block| graph.successors(block).collect()).collect();
        let exit = entry.unions(&after);
        Liveness { entry, exit }
    }

    /// Whether a register is live at the end of a block.
    pub fn leaves(&self, block: usize, reg: usize) -> bool {
        self.exit.contains(block, reg)
    }

    /// Whether a register is live at the start of a block.
    pub fn enters(&self, block: usize, reg: usize) -> bool {
        self.entry.contains(block, reg)
    }

    /// Returns the registers that are live at the start of a block, in ascending order.
    pub fn entry(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.entry.of(block)
    }

    /// Returns the registers that are live at the end of a block, in ascending order.
    pub fn exit(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.exit.of(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(sets: &RegisterSets, blocks: usize) -> Vec<Vec<usize>> {
        (0..blocks).map(|block| sets.of(block).collect()).collect()
    }

    #[test]
    fn a_register_is_live_from_where_it_is_written_to_where_it_is_read() {
        // 0 → 1 ⇄ 2, 1 → 3: register 0 is live across the loop, 1 is carried around it, 2 is local to a block.
        let used = |reads: &[usize], writes: &[usize]| Use { reads: reads.to_vec(), writes: writes.to_vec() };
        let uses = [used(&[], &[0, 1]), used(&[1], &[]), used(&[1], &[1, 2]), used(&[0], &[])];
        let before = [vec![], vec![0, 2], vec![1], vec![1]];
        let live = entering(&uses, &before, 3);
        assert_eq!(listed(&live, 4), [vec![], vec![0, 1], vec![0, 1], vec![0]]);
        assert!(live.contains(2, 1) && live.contains(3, 0) && !live.contains(3, 1) && !live.contains(1, 2));
        let after = live.unions(&[vec![1], vec![2, 3], vec![1], vec![]]);
        assert_eq!(listed(&after, 4), [vec![0, 1], vec![0, 1], vec![0, 1], vec![]]);
    }

    #[test]
    fn registers_that_are_live_together_are_one_range() {
        // Each block after the first reads the next of a thousand registers.
        let first = Use { reads: vec![], writes: (0..1000).collect() };
        let uses: Vec<Use> =
            std::iter::once(first).chain((0..1000).map(|r| Use { reads: vec![r], writes: vec![] })).collect();
        let before: Vec<Vec<usize>> =
            (0..=1000_usize).map(|block| block.checked_sub(1).into_iter().collect()).collect();
        let live = entering(&uses, &before, 1000);
        assert_eq!(live.of(600).count(), 401);
        assert!(live.ranges.iter().all(|ranges| ranges.len() <= 1));
    }

    #[test]
    fn a_register_read_in_the_entry_is_live_there() {
        let uses = [Use { reads: vec![1], writes: vec![] }];
        assert_eq!(listed(&entering(&uses, &[vec![]], 2), 1), [vec![1]]);
    }
}
