//! Flow graph: the interface of graphs for analyses and passes. [`Function`] and the graph of `emit` implement this
//! interface.

use crate::ir::analysis::effects::is_pure;
use crate::ir::graph::{Function, Instruction, Op, Reg, Targets, Terminator};
use std::hash::Hash;

/// A graph of blocks whose steps read and write registers; the first block is the entry.
pub trait FlowGraph {
    /// The type of a register, which can be converted to an index.
    type Reg: Copy + Eq + Hash + Into<usize>;
    /// The type of a step.
    type Step: Step<Reg = Self::Reg>;

    /// Returns the number of registers of the graph.
    fn register_count(&self) -> usize;
    /// Returns the registers that have values before the first step.
    fn inputs(&self) -> impl Iterator<Item = Self::Reg>;
    /// Returns the number of blocks.
    fn block_count(&self) -> usize;
    /// Returns the steps of a block.
    fn steps(&self, block: usize) -> &[Self::Step];
    /// Returns the steps of a block, mutably.
    fn steps_mut(&mut self, block: usize) -> &mut Vec<Self::Step>;
    /// Returns the successors of a block.
    fn successors(&self, block: usize) -> Targets<usize>;
    /// Returns the registers that the terminator of a block reads.
    fn end_reads(&self, block: usize) -> &[Self::Reg];
    /// Returns the registers that the terminator of a block reads, mutably.
    fn end_reads_mut(&mut self, block: usize) -> &mut [Self::Reg];
}

/// A step of a block.
pub trait Step {
    /// The type of a register.
    type Reg: Copy + Eq + Hash + Into<usize>;

    /// Returns the operation; `None` for a step that exists only in `emit`.
    fn op(&self) -> Option<&Op>;
    /// Returns the registers that the step writes.
    fn outs(&self) -> &[Self::Reg];
    /// Returns the registers that the step writes, mutably.
    fn outs_mut(&mut self) -> &mut [Self::Reg];
    /// Returns the registers that the step reads.
    fn ins(&self) -> &[Self::Reg];
    /// Returns the registers that the step reads, mutably.
    fn ins_mut(&mut self) -> &mut [Self::Reg];

    /// Whether the step has no effect except writing its results.
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

/// Implements the access to the registers of a [`Step`] with the fields `outs` and `ins`, which have the type
/// `Vec<$reg>`.
macro_rules! step_registers {
    ($reg:ty) => {
        type Reg = $reg;

        fn outs(&self) -> &[$reg] {
            &self.outs
        }

        fn outs_mut(&mut self) -> &mut [$reg] {
            &mut self.outs
        }

        fn ins(&self) -> &[$reg] {
            &self.ins
        }

        fn ins_mut(&mut self) -> &mut [$reg] {
            &mut self.ins
        }
    };
}

pub(crate) use step_registers;

impl Step for Instruction {
    step_registers!(Reg);

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }
}

/// The numbers of writes and reads of each register in a graph.
pub struct Counts {
    /// The number of writes of each register; the caller counts an input as written once.
    pub writes: Vec<u32>,
    /// The number of reads of each register.
    pub reads: Vec<u32>,
}

/// Counts the writes and reads of each register.
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
