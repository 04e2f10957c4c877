//! Flow graph: what analyses and passes need of a graph. [`Function`] is one, and so is the graph that `emit` works on.

use crate::ir::analysis::effects::is_pure;
use crate::ir::graph::{Function, Instruction, Op, Reg, Targets, Terminator};
use std::hash::Hash;

/// Blocks of steps that read and write registers; the first block is the entry.
pub trait FlowGraph {
    /// A register, which is also an index.
    type Reg: Copy + Eq + Hash + Into<usize>;
    /// A step.
    type Step: Step<Reg = Self::Reg>;

    /// How many registers there are.
    fn register_count(&self) -> usize;
    /// The registers that have values before the first step.
    fn inputs(&self) -> impl Iterator<Item = Self::Reg>;
    /// How many blocks there are.
    fn block_count(&self) -> usize;
    /// The steps of a block.
    fn steps(&self, block: usize) -> &[Self::Step];
    /// The steps of a block, to change them.
    fn steps_mut(&mut self, block: usize) -> &mut Vec<Self::Step>;
    /// The blocks that may follow a block.
    fn successors(&self, block: usize) -> Targets<usize>;
    /// What the end of a block reads.
    fn end_reads(&self, block: usize) -> &[Self::Reg];
    /// What the end of a block reads, to change it.
    fn end_reads_mut(&mut self, block: usize) -> &mut [Self::Reg];
}

/// A step of a block.
pub trait Step {
    /// A register.
    type Reg: Copy + Eq + Hash + Into<usize>;

    /// The operation; `None` for a step that only `emit` knows.
    fn op(&self) -> Option<&Op>;
    /// What it writes.
    fn outs(&self) -> &[Self::Reg];
    /// What it writes, to change it.
    fn outs_mut(&mut self) -> &mut [Self::Reg];
    /// What it reads.
    fn ins(&self) -> &[Self::Reg];
    /// What it reads, to change it.
    fn ins_mut(&mut self) -> &mut [Self::Reg];

    /// Whether it does nothing but write its results.
    fn is_pure(&self) -> bool {
        self.op().is_some_and(is_pure)
    }
}

impl From<Reg> for usize {
    fn from(reg: Reg) -> usize {
        reg.0 as usize
    }
}

impl FlowGraph for Function {
    type Reg = Reg;
    type Step = Instruction;

    fn register_count(&self) -> usize {
        self.registers.len()
    }

    fn inputs(&self) -> impl Iterator<Item = Reg> {
        self.params.iter().copied()
    }

    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn steps(&self, block: usize) -> &[Instruction] {
        &self.blocks[block].instructions
    }

    fn steps_mut(&mut self, block: usize) -> &mut Vec<Instruction> {
        &mut self.blocks[block].instructions
    }

    fn successors(&self, block: usize) -> Targets<usize> {
        let end = self.blocks[block].end.as_ref();
        let mut targets = end.into_iter().flat_map(Terminator::targets).map(|to| to.0 as usize);
        [targets.next(), targets.next()].into_iter().flatten()
    }

    fn end_reads(&self, block: usize) -> &[Reg] {
        self.blocks[block].end.as_ref().map_or(&[], Terminator::reads)
    }

    fn end_reads_mut(&mut self, block: usize) -> &mut [Reg] {
        self.blocks[block].end.as_mut().map_or(&mut [], Terminator::reads_mut)
    }
}

impl Step for Instruction {
    type Reg = Reg;

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn outs(&self) -> &[Reg] {
        &self.outs
    }

    fn outs_mut(&mut self) -> &mut [Reg] {
        &mut self.outs
    }

    fn ins(&self) -> &[Reg] {
        &self.ins
    }

    fn ins_mut(&mut self) -> &mut [Reg] {
        &mut self.ins
    }
}

/// How often each register is written and read.
pub struct Counts {
    /// Writes; an input has one from the caller.
    pub writes: Vec<u32>,
    /// Reads.
    pub reads: Vec<u32>,
}

/// Counts writes and reads.
pub fn count<G: FlowGraph>(graph: &G) -> Counts {
    let size = graph.register_count();
    let mut counts = Counts { writes: vec![0; size], reads: vec![0; size] };
    for reg in graph.inputs() {
        counts.writes[reg.into()] += 1;
    }
    for block in 0..graph.block_count() {
        for step in graph.steps(block) {
            step.outs().iter().for_each(|r| counts.writes[(*r).into()] += 1);
            step.ins().iter().for_each(|r| counts.reads[(*r).into()] += 1);
        }
        graph.end_reads(block).iter().for_each(|r| counts.reads[(*r).into()] += 1);
    }
    counts
}
