//! Recomputation: determines which values of the forward pass the reverse pass recomputes, and which are recorded.
//!
//! While the reverse pass goes over a block, its variables hold the values at the entry of the block on the forward
//! pass, as far as these values are needed. The values that the steps of the block have computed from the variables are
//! recomputed where that is cheap, and otherwise pushed onto the value stack by the forward pass. A variable that a
//! block writes is restored to its former value from the value stack, or by undoing a step like `i = i + 1`.

use crate::diff::transform::contribution::{operands_read, reads_result};
use crate::diff::transform::varied_registers::Varied;
use crate::ir::analysis::control_flow::{in_loops, predecessors};
use crate::ir::analysis::flow_graph::count;
use crate::ir::passes::loops::Loop;
use crate::ir::{BlockId, Function, Instruction, Op, Reg, TransformedOp};
use crate::native::{Cost, primitive_ids};
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// A version of a register in a block: its content after a step, or at the beginning of the block.
pub type Version = (Reg, Option<usize>);

/// The values that the reverse pass over one block needs.
#[derive(Debug, Default)]
pub struct ToBeRecorded {
    /// Registers whose values at the beginning of the block are needed, by the reverse pass over the block or over its
    /// predecessors.
    pub entry: Vec<bool>,
    /// Whether each step of the block is recomputed in the reverse pass.
    pub recomputed: Vec<bool>,
    /// Whether the result of each step of the block is recorded on the value stack.
    pub recorded: Vec<bool>,
    /// Whether each step appends to a local array whose number of elements no register counts; it is recorded on the value
    /// stack.
    pub counted: Vec<bool>,
    /// Registers that are restored to their values at the beginning of the block.
    pub restored: Vec<(Reg, Restore)>,
}

/// The way in which the reverse pass restores a register to its former value.
#[derive(Clone, Copy, Debug)]
pub enum Restore {
    /// The former value is popped from the value stack.
    Pop,
    /// The former value is the current value minus this integer.
    Subtract(i64),
}

/// The properties of the blocks of a function that decide between recomputing and recording.
pub struct Blocks<'f> {
    pub f: &'f Function,
    pub varied: &'f Varied,
    /// The predecessors of each block, indexed by block.
    pub before: Vec<Vec<BlockId>>,
    /// Whether each block may run more than once.
    pub repeats: Vec<bool>,
    /// The number of reads of each register.
    pub reads: Vec<u32>,
    /// The blocks that write each register; a parameter is written before all blocks.
    writers: Vec<Vec<usize>>,
    /// The integer registers that are assigned a constant by exactly one step, with the constant.
    known: HashMap<Reg, i64>,
    /// The reference registers that hold the same reference wherever they are read.
    stable: HashSet<Reg>,
    /// The registers that retain the reference arguments, even if the parameters are written.
    homes: Vec<Reg>,
    /// The registers that count the elements of local arrays, by the register of the array.
    lengths: HashMap<Reg, Reg>,
    /// The loops, each after the loops in it, and their blocks.
    loops: Vec<(Loop, Vec<bool>)>,
}

/// The versions of registers that each operand of a step in a block reads, and the last version of each register in the
/// block.
pub struct Versions {
    /// The version that is read, by step, then by operand.
    pub operands: Vec<Vec<Version>>,
    /// The last version in the block, by register.
    pub last: HashMap<Reg, usize>,
    /// The number of elements before each step that appends to an array, if a register counts them.
    pub lengths: HashMap<usize, Version>,
}

impl<'f> Blocks<'f> {
    /// Analyzes the blocks of a function.
    pub fn of(f: &'f Function, varied: &'f Varied, homes: Vec<Reg>, lengths: HashMap<Reg, Reg>) -> Blocks<'f> {
        let predecessors = predecessors(f);
        let loops = Loop::all(f).into_iter().map(|found| {
            let inside = found.blocks(&predecessors);
            (found, inside)
        });
        let loops = loops.collect();
        let before = predecessors.into_iter().map(|all| all.into_iter().map(|b| BlockId(b as u32)).collect()).collect();
        let mut writers = vec![vec![]; f.registers.len()];
        for (b, block) in f.blocks.iter().enumerate() {
            for out in block.instructions.iter().flat_map(|step| &step.outs) {
                let all: &mut Vec<usize> = &mut writers[out.0 as usize];
                if all.last() != Some(&b) {
                    all.push(b);
                }
            }
        }
        let repeats = in_loops(f);
        let (known, stable) = (HashMap::new(), HashSet::new());
        let reads = count(f).reads;
        let mut blocks = Blocks { f, varied, before, repeats, reads, writers, known, stable, homes, lengths, loops };
        blocks.find_constants();
        blocks
    }

    fn find_constants(&mut self) {
        let writes = count(self.f).writes;
        let steps =
            || self.f.blocks.iter().enumerate().flat_map(|(b, block)| block.instructions.iter().map(move |s| (b, s)));
        let mut taken = vec![false; self.f.registers.len()];
        for (_, step) in steps() {
            if step.op == Op::Take {
                taken[step.ins[0].0 as usize] = true;
            }
        }
        let is_unchanged = |r: &Reg| writes[r.0 as usize] == 1 && !taken[r.0 as usize];
        self.stable.extend(self.f.params.iter().copied().filter(is_unchanged));
        for (b, step) in steps() {
            let Some(out) = step.outs.first().copied().filter(|r| writes[r.0 as usize] == 1) else { continue };
            match &step.op {
                Op::ConstI(n) => drop(self.known.insert(out, *n)),
                Op::LoadGlobal { bank: Bank::R, .. }
                | Op::Capture { bank: Bank::R, .. }
                | Op::Constants(_)
                | Op::Transformed(TransformedOp::CaptureOf { bank: Bank::R, .. })
                    if !self.repeats[b] && is_unchanged(&out) =>
                {
                    self.stable.insert(out);
                }
                _ => {}
            }
        }
    }

    /// Returns the versions of registers in a block.
    pub fn versions(&self, steps: &[Instruction]) -> Versions {
        let mut versions = Versions { operands: vec![], last: HashMap::new(), lengths: HashMap::new() };
        for (i, step) in steps.iter().enumerate() {
            let current = |r: &Reg| (*r, versions.last.get(r).copied());
            versions.operands.push(step.ins.iter().map(current).collect());
            if let (Op::Append(_), Some(length)) = (&step.op, step.outs.first().and_then(|r| self.lengths.get(r))) {
                versions.lengths.insert(i, current(length));
            }
            versions.last.extend(step.outs.iter().map(|r| (*r, i)));
        }
        versions
    }

    /// Returns a register that holds the same array or record as the given register for as long as the function runs.
    pub fn same(&self, reg: Reg) -> Option<Reg> {
        match self.varied.param(reg) {
            Some(k) => self.homes.get(k).copied(),
            None => self.stable.get(&reg).copied(),
        }
    }

    /// Whether a value stays in its register until the reverse pass, because the register is not written again.
    pub fn is_unchanged(&self, b: usize, versions: &Versions, (reg, step): Version) -> bool {
        let alone = self.writers[reg.0 as usize] == [b] && !self.f.params.contains(&reg);
        !self.repeats[b] && alone && step == versions.last.get(&reg).copied()
    }

    /// Whether a register has the same content in all iterations of the innermost loop around a block, which each of them
    /// executes.
    pub fn is_invariant(&self, b: usize, reg: Reg) -> bool {
        let Some((found, inside)) = self.loops.iter().find(|(_, inside)| inside[b]) else { return false };
        let is_written = self.writers[reg.0 as usize].iter().any(|block| inside[*block]);
        !is_written && found.always_executes(self.f, inside, b)
    }

    /// Whether recomputing a step costs no more than recording its result.
    fn is_cheap(&self, step: &Instruction) -> bool {
        match &step.op {
            // A function that changes a global variable has no adjoint code.
            Op::LoadGlobal { bank: Bank::F | Bank::I, .. } => true,
            Op::ConstF(_)
            | Op::ConstI(_)
            | Op::Copy
            | Op::Transformed(TransformedOp::DropTangent | TransformedOp::RequireConstant) => true,
            Op::Primitive(id) => id.info().cost == Cost::Cheap,
            Op::LoadElement { bank: Bank::F | Bank::I, .. }
            | Op::LoadRecord { bank: Bank::F | Bank::I, .. }
            | Op::Count => self.same(step.ins[0]).is_some(),
            _ => false,
        }
    }

    /// Returns a variable that counts the iterations of a loop, which is entered from `from` and again from `again`:
    /// the variable starts with a known integer, grows at the end of every iteration, and is written nowhere else.
    pub fn counter(&self, from: BlockId, again: BlockId) -> Option<(Reg, i64)> {
        let (from, again) = (from.0 as usize, again.0 as usize);
        let mut growing: Vec<Reg> =
            self.increments(again).iter().filter(|(_, n)| **n > 0).map(|(reg, _)| *reg).collect();
        growing.sort_unstable();
        growing.into_iter().find_map(|variable| {
            let from = self.last_writer(variable, from);
            let is_variable = self.writers[variable.0 as usize] == [from.min(again), from.max(again)]
                && !self.f.params.contains(&variable);
            if !is_variable {
                return None;
            }
            let mut first = self.f.blocks[from].instructions.iter().filter(|step| step.outs.contains(&variable));
            match (first.next()?, first.next()) {
                (Instruction { op: Op::ConstI(n), .. }, None) => Some((variable, *n)),
                (Instruction { op: Op::Copy, ins, .. }, None) => Some((variable, *self.known.get(&ins[0])?)),
                _ => None,
            }
        })
    }

    /// Returns the block that has written a register when a block ends, as far as each block has one predecessor.
    fn last_writer(&self, reg: Reg, mut block: usize) -> usize {
        while let ([before], false) = (&self.before[block][..], self.writers[reg.0 as usize].contains(&block)) {
            block = before.0 as usize;
        }
        block
    }

    /// Determines the values that the reverse passes over all blocks need. `also` are registers that are needed in
    /// addition, at the beginnings of blocks.
    pub fn needs(&self, also: &[(usize, Reg)]) -> Vec<ToBeRecorded> {
        let mut all: Vec<ToBeRecorded> = (0..self.f.blocks.len()).map(|b| self.to_be_recorded_in(b)).collect();
        also.iter().for_each(|(b, reg)| all[*b].entry[reg.0 as usize] = true);
        let increments: Vec<HashMap<Reg, i64>> = (0..all.len()).map(|b| self.increments(b)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..all.len() {
                crate::cancel::check();
                for p in self.before[b].clone() {
                    let p = p.0 as usize;
                    for reg in 0..self.f.registers.len() {
                        // To undo a step in the reverse pass, the result of the step must be available.
                        let passes = all[p].entry[reg]
                            && (!self.writers[reg].contains(&p) || increments[p].contains_key(&Reg(reg as u32)));
                        if passes && !all[b].entry[reg] {
                            all[b].entry[reg] = true;
                            changed = true;
                        }
                    }
                }
            }
        }
        for (b, needs) in all.iter_mut().enumerate() {
            for (reg, writers) in self.writers.iter().enumerate() {
                if needs.entry[reg] && writers.contains(&b) {
                    let reg = Reg(reg as u32);
                    let how = increments[b].get(&reg).map_or(Restore::Pop, |n| Restore::Subtract(*n));
                    needs.restored.push((reg, how));
                }
            }
        }
        all
    }

    /// Returns the variables to which a block adds a known integer, exactly once, and these integers.
    fn increments(&self, b: usize) -> HashMap<Reg, i64> {
        let steps = &self.f.blocks[b].instructions;
        let is_alone = |reg: &Reg| steps.iter().filter(|step| step.outs.contains(reg)).count() == 1;
        let sum = |step: &Instruction| match &step.op {
            Op::Primitive(id) if *id == primitive_ids::INT_ADD && step.ins[0] == step.outs[0] => {
                let n = self.known.get(&step.ins[1])?;
                is_alone(&step.outs[0]).then_some((step.outs[0], *n))
            }
            _ => None,
        };
        steps.iter().filter_map(sum).collect()
    }

    fn to_be_recorded_in(&self, b: usize) -> ToBeRecorded {
        let steps = &self.f.blocks[b].instructions;
        let versions = self.versions(steps);
        let none = vec![false; steps.len()];
        let entry = vec![false; self.f.registers.len()];
        let is_counted = |(i, step): (usize, &Instruction)| {
            matches!(step.op, Op::Append(_)) && self.varied.is_step(step) && !versions.lengths.contains_key(&i)
        };
        let counted = steps.iter().enumerate().map(is_counted).collect();
        let mut needs = ToBeRecorded { entry, recomputed: none.clone(), recorded: none, counted, restored: vec![] };
        for (i, step) in steps.iter().enumerate().filter(|(_, step)| self.varied.is_step(step)) {
            for version in self.values_read(step, i, &versions) {
                self.need(b, &versions, version, &mut needs);
            }
        }
        needs
    }

    /// Returns the values that the adjoint of a step reads.
    fn values_read(&self, step: &Instruction, i: usize, versions: &Versions) -> Vec<Version> {
        let mut out = vec![];
        match &step.op {
            Op::Primitive(id) => {
                for (k, _) in step.ins.iter().enumerate().filter(|(_, r)| self.varied.is(**r)) {
                    out.extend(operands_read(*id, k).into_iter().map(|n| versions.operands[i][n]));
                    if reads_result(*id, k) {
                        out.push((step.outs[0], Some(i)));
                    }
                }
            }
            Op::LoadElement { .. } | Op::StoreElement { .. } | Op::TakeElement { .. } => {
                out.push(versions.operands[i][1]);
            }
            Op::Append(_) => out.extend(versions.lengths.get(&i)),
            _ => {}
        }
        out
    }

    fn need(&self, b: usize, versions: &Versions, version: Version, needs: &mut ToBeRecorded) {
        let mut work = vec![version];
        while let Some(version) = work.pop() {
            let (reg, Some(i)) = version else {
                needs.entry[version.0.0 as usize] = true;
                continue;
            };
            let step = &self.f.blocks[b].instructions[i];
            if needs.recomputed[i] || needs.recorded[i] || self.is_unchanged(b, versions, (reg, Some(i))) {
                continue;
            }
            if self.is_cheap(step) {
                needs.recomputed[i] = true;
                let numbers =
                    versions.operands[i].iter().filter(|(r, _)| self.f.registers[r.0 as usize].bank != Bank::R);
                work.extend(numbers);
            } else {
                needs.recorded[i] = true;
            }
        }
    }
}
