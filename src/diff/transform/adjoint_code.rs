//! Adjoint code: consists of the forward pass of a function, then the reverse pass over the same blocks.

use super::array_lengths::count_elements;
use super::varied_registers::Varied;
use super::{GraphBuilder, arithmetic, is_differentiated, shared_cosines};
use crate::diff::transform::control_flow_trace::{ControlFlowTrace, Entry, PredecessorCounter};
use crate::diff::transform::counting_loop::skip_counting;
use crate::diff::transform::recomputation::{Blocks, Restore, ToBeRecorded};
use crate::diff::transform::reverse_block::{Adjoints, ReverseBlock};
use crate::ir::analysis::effects::is_pure;
use crate::ir::analysis::liveness::Liveness;
use crate::ir::passes::dead_code::eliminate_where;
use crate::ir::passes::{invariant_steps, neutral_operands};
use crate::ir::{Block, BlockId, Fallback, Function, Instruction, Op, Reg, Terminator, TransformedOp, Trap};
use crate::native::Partial;
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// Derives the adjoint code of a function of one number. Its parameters are those of the function, then for each
/// reference an object of zeros of the same shape; its results are the value, an adjoint for each number, and the
/// objects with their adjoints. If `value` is false, the code omits the value and the steps that only the value needs,
/// unless the value may have to reveal a product 0·∞.
///
/// # Errors
/// The reason why the function cannot be transformed.
pub fn adjoint(f: &Function, value: bool) -> Result<Function, Fallback> {
    if f.results != [Bank::F] || f.result_len != 1 {
        return Err(Fallback::NotOneNumber);
    }
    Ok(reverse_mode(f, value, Seeds::One)?.0)
}

/// Derives the adjoint code of a function of several numbers, which returns all values. The code reads the adjoints of the
/// results from registers that it does not write, which are returned with it.
///
/// # Errors
/// The reason why the function cannot be transformed.
pub(super) fn adjoint_with_seeds(f: &Function) -> Result<(Function, Vec<Reg>), Fallback> {
    if f.results.is_empty() || f.results.iter().any(|bank| *bank != Bank::F) {
        return Err(Fallback::NotNumbers);
    }
    reverse_mode(f, true, Seeds::Registers)
}

/// The adjoints of the results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seeds {
    /// The adjoint of the only result is 1.
    One,
    /// The adjoints are in registers.
    Registers,
}

/// Derives adjoint code, and returns it with the registers of the adjoints of the results.
fn reverse_mode(f: &Function, value: bool, seeds: Seeds) -> Result<(Function, Vec<Reg>), Fallback> {
    if uses_value_stack(f) {
        return Err(Fallback::Derivative);
    }
    let (mut f, values) = with_one_exit(f);
    let lengths = count_elements(&mut f);
    let varied = Varied::of(&f, false)?;
    if !values.iter().any(|value| varied.is(*value)) {
        return Err(Fallback::Constant);
    }
    let returns_values = value || may_hide_infinity(&f, &varied);
    let mut builder = GraphBuilder::new(&f);
    let seeds: Vec<Reg> = match seeds {
        Seeds::One => vec![],
        Seeds::Registers => values.iter().map(|_| builder.number()).collect(),
    };
    let references: Vec<Reg> = differentiated_references(&f).collect();
    let homes: Vec<Reg> = references.iter().map(|_| builder.register(Bank::R)).collect();
    let objects: Vec<Reg> = references.iter().map(|_| builder.register(Bank::R)).collect();
    let is_length: HashSet<Reg> = lengths.values().copied().collect();
    let blocks = Blocks::of(&f, &varied, homes.clone(), lengths);
    if !blocks.before[0].is_empty() {
        return Err(Fallback::LoopAtEntry(f.name.clone()));
    }
    let entries = ControlFlowTrace::of(&f, &blocks, &mut builder);
    let needs = blocks.needs(&entries.needed());
    // The varied numbers whose adjoints are needed by the reverse pass.
    let live = Liveness::of_reads(&f, |step| varied.is_step(step), |reg| varied.is(reg));
    let mut numbers = HashMap::new();
    for reg in (0..f.registers.len()).map(|k| Reg(k as u32)).filter(|r| varied.is(*r)) {
        let crosses = (0..f.blocks.len()).any(|block| live.leaves(block, reg.into()))
            || f.params.contains(&reg)
            || values.contains(&reg);
        if crosses {
            numbers.insert(reg, builder.number());
        }
    }
    let all = (0..f.registers.len()).map(|k| Reg(k as u32));
    let arrays = all.filter(|reg| varied.is_local(*reg)).map(|reg| (reg, builder.register(Bank::R))).collect();
    let mut adjoint_builder = AdjointBuilder {
        output: vec![],
        adjoints: Adjoints { numbers, objects, arrays },
        blocks: &blocks,
        needs: &needs,
        live: &live,
        entries,
        values,
        returns_values,
        seeds,
        repeated: vec![],
        builder,
    };
    adjoint_builder.forward_pass(&references, &homes);
    adjoint_builder.reverse_pass().ok_or(Fallback::NoPartial)?;
    let params = [&f.params[..], &adjoint_builder.adjoints.objects].concat();
    let results = adjoint_builder
        .results()
        .iter()
        .map(|r| adjoint_builder.builder.registers[r.0 as usize].bank)
        .collect::<Vec<_>>();
    let AdjointBuilder { output, builder, repeated, seeds, .. } = adjoint_builder;
    let mut adjoint = Function {
        result_len: results.len(),
        results,
        params,
        registers: builder.registers,
        blocks: output,
        rules: vec![],
        ..f.clone()
    };
    neutral_operands::remove(&mut adjoint);
    shared_cosines::share(&mut adjoint, f.blocks.len());
    // A step of the forward pass that may fail stays, unless the reverse pass repeats it, or it only counts elements.
    let counts = |step: &Instruction| step.outs.first().is_some_and(|out| is_length.contains(out));
    eliminate_where(&mut adjoint, |b, i, step| is_pure(&step.op) || repeated.contains(&(b, i)) || counts(step));
    skip_counting(&mut adjoint.blocks);
    invariant_steps::hoist(&mut adjoint);
    Ok((adjoint, seeds))
}

/// Whether a function contains adjoint code of another function: both would use the same value stack in different orders.
fn uses_value_stack(f: &Function) -> bool {
    let is_access = |op: &TransformedOp| {
        matches!(op, TransformedOp::Push(_) | TransformedOp::PushConstant(_) | TransformedOp::Pop(_))
    };
    let mut steps = f.blocks.iter().flat_map(|block| &block.instructions);
    steps.any(|step| matches!(&step.op, Op::Transformed(op) if is_access(op)))
}

/// Returns the reference arguments with respect to which a function is differentiated.
fn differentiated_references(f: &Function) -> impl Iterator<Item = Reg> {
    let references = f.params.iter().enumerate().filter(|(_, r)| f.registers[r.0 as usize].bank == Bank::R);
    references.filter(|(k, _)| is_differentiated(f, *k)).map(|(_, r)| *r)
}

/// Whether a varied number is multiplied by a constant number that may be zero: a product 0·∞ has no partials, and the
/// adjoint of the infinite factor is still zero.
fn may_hide_infinity(f: &Function, varied: &Varied) -> bool {
    let steps = || f.blocks.iter().flat_map(|block| &block.instructions);
    let may_be_zero = |r: &Reg| {
        let mut writers = steps().filter(|step| step.outs.contains(r)).map(|step| &step.op);
        let is_other = |op: &Op| !matches!(op, Op::ConstF(c) if *c != 0.0);
        writers.clone().next().is_none() || writers.any(is_other)
    };
    steps().any(|step| match step.op {
        Op::Primitive(id) if matches!(id.info().partials(), [Partial::Factor(_), Partial::Factor(_), ..]) => {
            let factors = &step.ins[..2];
            factors.iter().any(|r| varied.is(*r)) && factors.iter().any(|r| !varied.is(*r) && may_be_zero(r))
        }
        _ => false,
    })
}

/// Returns the function with exactly one block that returns, and the registers that this block returns.
fn with_one_exit(f: &Function) -> (Function, Vec<Reg>) {
    let mut builder = GraphBuilder::new(f);
    let results: Vec<Reg> = f.results.iter().map(|_| builder.number()).collect();
    let exit = BlockId(f.blocks.len() as u32);
    let mut out = Function { registers: builder.registers.clone(), ..f.clone() };
    for block in &mut out.blocks {
        if let Some(Terminator::Return(values)) = &block.end {
            builder.span = block.end_span;
            results.iter().zip(values).for_each(|(result, value)| builder.copy(*result, *value));
            block.instructions.append(&mut builder.steps);
            block.end = Some(Terminator::Jump(exit));
        }
    }
    let end = Some(Terminator::Return(results.clone()));
    out.blocks.push(Block { instructions: vec![], end, end_span: f.span });
    (out, results)
}

struct AdjointBuilder<'b, 'f> {
    blocks: &'b Blocks<'f>,
    needs: &'b [ToBeRecorded],
    live: &'b Liveness,
    adjoints: Adjoints,
    entries: ControlFlowTrace,
    builder: GraphBuilder,
    output: Vec<Block>,
    /// The registers of the results of the function.
    values: Vec<Reg>,
    returns_values: bool,
    /// The registers of the adjoints of the results; none if the adjoint of the only result is 1.
    seeds: Vec<Reg>,
    /// Steps of the forward pass that the reverse pass repeats, and that fail there too if they fail: by block, then by
    /// index in the block.
    repeated: Vec<(usize, usize)>,
}

impl AdjointBuilder<'_, '_> {
    fn f(&self) -> &Function {
        self.blocks.f
    }

    /// Returns the registers of the results.
    fn results(&self) -> Vec<Reg> {
        let adjoints = self.f().params.iter().filter_map(|r| self.adjoints.numbers.get(r)).copied();
        let values: &[Reg] = if self.returns_values { &self.values } else { &[] };
        values.iter().copied().chain(adjoints).chain(self.adjoints.objects.iter().copied()).collect()
    }

    /// Returns the first block of the reverse pass over a block.
    fn reverse_of(&self, b: usize) -> BlockId {
        BlockId((self.f().blocks.len() + b) as u32)
    }

    /// Emits the forward pass: the original blocks, followed by the blocks that the reverse pass fills later.
    fn forward_pass(&mut self, references: &[Reg], homes: &[Reg]) {
        let count = self.f().blocks.len();
        self.output = vec![Block::default(); 2 * count];
        for b in 0..count {
            if b == 0 {
                self.begin(references, homes);
            }
            if let Entry::Loop { integer, how: PredecessorCounter::Added, .. } = self.entries.0[b] {
                self.plus(integer, 1);
            }
            for (reg, how) in &self.needs[b].restored {
                if matches!(how, Restore::Pop) {
                    let bank = self.f().registers[reg.0 as usize].bank;
                    self.builder.step(Op::Transformed(TransformedOp::Push(bank)), &[], &[*reg]);
                }
            }
            for (i, step) in self.blocks.f.blocks[b].instructions.iter().enumerate() {
                self.builder.span = step.span;
                if self.needs[b].counted[i] {
                    let count = self.builder.register(Bank::I);
                    self.builder.step(Op::Count, &[count], &[step.ins[0]]);
                    self.builder.step(Op::Transformed(TransformedOp::Push(Bank::I)), &[], &[count]);
                }
                if self.needs[b].recomputed[i] {
                    self.repeated.push((b, self.builder.steps.len()));
                }
                self.builder.steps.push(step.clone());
                if self.needs[b].recorded[i] {
                    let bank = self.f().registers[step.outs[0].0 as usize].bank;
                    self.builder.step(Op::Transformed(TransformedOp::Push(bank)), &[], &[step.outs[0]]);
                }
            }
            let end_span = self.f().blocks[b].end_span;
            self.builder.span = end_span;
            let end = self.leave(b);
            self.output[b] = Block { instructions: std::mem::take(&mut self.builder.steps), end: Some(end), end_span };
        }
    }

    /// Emits the steps of the adjoint code that precede the first block of the function.
    fn begin(&mut self, references: &[Reg], homes: &[Reg]) {
        for (home, reference) in homes.iter().zip(references) {
            self.builder.copy(*home, *reference);
        }
        let mut all: Vec<Reg> = self.adjoints.numbers.values().copied().collect();
        all.sort_unstable();
        all.iter().for_each(|adjoint| self.builder.step(Op::ConstF(0.0), &[*adjoint], &[]));
        let mut arrays: Vec<Reg> = self.adjoints.arrays.values().copied().collect();
        arrays.sort_unstable();
        arrays.iter().for_each(|adjoint| self.builder.step(Op::Null, &[*adjoint], &[]));
        for entry in &self.entries.0 {
            if let Entry::Loop { integer, how: PredecessorCounter::Added, .. } = entry {
                self.builder.step(Op::ConstI(-1), &[*integer], &[]);
            }
        }
    }

    /// Emits the end of a block in the forward pass, with the steps on edges to blocks that have several predecessors.
    fn leave(&mut self, b: usize) -> Terminator {
        match self.f().blocks[b].end.clone() {
            Some(Terminator::Jump(to)) => {
                self.cross(b, to);
                Terminator::Jump(to)
            }
            Some(Terminator::Branch { condition, then, otherwise }) => {
                let steps = std::mem::take(&mut self.builder.steps);
                let then = self.crossing(b, then);
                let otherwise = self.crossing(b, otherwise);
                self.builder.steps = steps;
                Terminator::Branch { condition, then, otherwise }
            }
            Some(Terminator::Return(_)) => Terminator::Jump(self.reverse_of(b)),
            end => end.unwrap_or(Terminator::Trap(Trap::Unsupported)),
        }
    }

    /// Returns a block that contains the steps on an edge between two other blocks, if there are any.
    fn crossing(&mut self, from: usize, to: BlockId) -> BlockId {
        self.cross(from, to);
        self.block_to(to)
    }

    /// Emits the steps on an edge from one block to another.
    fn cross(&mut self, from: usize, to: BlockId) {
        let at = to.0 as usize;
        match self.entries.0[at] {
            Entry::Single => {}
            Entry::Loop { how: PredecessorCounter::LoopVariable, .. } => {}
            Entry::Loop { again, .. } if again.0 as usize == from => {}
            Entry::Loop { integer, from: elsewhere, .. } => {
                // Inside another loop, the block may have been entered before.
                if self.blocks.repeats[elsewhere.0 as usize] {
                    self.builder.step(Op::Transformed(TransformedOp::Push(Bank::I)), &[], &[integer]);
                    self.builder.step(Op::ConstI(-1), &[integer], &[]);
                }
            }
            Entry::Recorded => {
                let number = self.blocks.before[at].iter().position(|b| b.0 as usize == from).unwrap_or(0);
                self.builder.step(Op::Transformed(TransformedOp::PushConstant(number as i32)), &[], &[]);
            }
        }
    }

    /// Emits the addition of a constant to an integer register.
    fn plus(&mut self, integer: Reg, n: i64) {
        let known = self.builder.register(Bank::I);
        self.builder.step(Op::ConstI(n), &[known], &[]);
        self.builder.step(arithmetic("int.add"), &[integer], &[integer, known]);
    }

    /// Emits the reverse pass over all blocks.
    fn reverse_pass(&mut self) -> Option<()> {
        for b in 0..self.f().blocks.len() {
            crate::cancel::check();
            self.builder.span = self.f().blocks[b].end_span;
            if let Some(Terminator::Return(_)) = &self.f().blocks[b].end {
                self.begin_reverse_pass();
            }
            let at = self.reverse_of(b).0 as usize;
            if matches!(self.f().blocks[b].end, Some(Terminator::Trap(_)) | None) {
                // The reverse pass never starts at this block.
                self.output[at].end = Some(Terminator::Trap(Trap::Unsupported));
                continue;
            }
            let mut back = ReverseBlock {
                blocks: self.blocks,
                adjoints: &self.adjoints,
                builder: &mut self.builder,
                at: b,
                live: self.live,
            };
            back.block(&self.needs[b])?;
            let end = self.enter_before(b);
            let instructions = std::mem::take(&mut self.builder.steps);
            self.output[at] = Block { instructions, end: Some(end), end_span: self.builder.span };
        }
        Some(())
    }

    /// Emits the adjoints of the results.
    fn begin_reverse_pass(&mut self) {
        for (k, value) in self.values.iter().enumerate() {
            match (self.adjoints.numbers.get(value), self.seeds.get(k)) {
                (Some(adjoint), Some(seed)) => self.builder.copy(*adjoint, *seed),
                (Some(adjoint), None) => self.builder.step(Op::ConstF(1.0), &[*adjoint], &[]),
                (None, _) => {}
            }
        }
    }

    /// Emits the transition of the reverse pass from the beginning of a block to the end of its predecessor.
    fn enter_before(&mut self, b: usize) -> Terminator {
        let before = self.blocks.before[b].clone();
        match (&self.entries.0[b], &before[..]) {
            (_, []) => {
                self.deliver_modified_parameters();
                Terminator::Return(self.results())
            }
            (Entry::Single, [p, ..]) => Terminator::Jump(self.reverse_of(p.0 as usize)),
            (Entry::Loop { integer, first, how, from, again }, _) => {
                let (integer, first, how, from, again) = (*integer, *first, *how, *from, *again);
                let known = self.builder.register(Bank::I);
                let is_first = self.builder.register(Bank::I);
                self.builder.step(Op::ConstI(first), &[known], &[]);
                self.builder.step(arithmetic("int.eq"), &[is_first], &[integer, known]);
                let steps = std::mem::take(&mut self.builder.steps);
                if how == PredecessorCounter::Added && self.blocks.repeats[from.0 as usize] {
                    self.builder.step(Op::Transformed(TransformedOp::Pop(Bank::I)), &[integer], &[]);
                }
                let then = self.block_to(self.reverse_of(from.0 as usize));
                if how == PredecessorCounter::Added {
                    self.plus(integer, -1);
                }
                let otherwise = self.block_to(self.reverse_of(again.0 as usize));
                self.builder.steps = steps;
                Terminator::Branch { condition: is_first, then, otherwise }
            }
            (Entry::Recorded, all) => {
                let number = self.builder.register(Bank::I);
                self.builder.step(Op::Transformed(TransformedOp::Pop(Bank::I)), &[number], &[]);
                self.choose(number, all)
            }
        }
    }

    /// Adds the adjoints of parameters that the function modifies to those that the caller receives.
    fn deliver_modified_parameters(&mut self) {
        let references: Vec<Reg> = differentiated_references(self.f()).collect();
        let modified: Vec<(Reg, Reg)> = references
            .iter()
            .zip(&self.adjoints.objects)
            .filter_map(|(param, object)| Some((*object, *self.adjoints.arrays.get(param)?)))
            .collect();
        for (object, array) in modified {
            self.builder.step(Op::Transformed(TransformedOp::AddArray), &[object], &[object, array]);
        }
    }

    /// Emits a branch to one of several blocks, selected by an integer.
    fn choose(&mut self, number: Reg, all: &[BlockId]) -> Terminator {
        let last = all.len() - 1;
        let mut otherwise = self.reverse_of(all[last].0 as usize);
        let steps = std::mem::take(&mut self.builder.steps);
        for (k, p) in all.iter().enumerate().take(last).rev() {
            let then = self.reverse_of(p.0 as usize);
            let (known, condition) = (self.builder.register(Bank::I), self.builder.register(Bank::I));
            self.builder.step(Op::ConstI(k as i64), &[known], &[]);
            self.builder.step(arithmetic("int.eq"), &[condition], &[number, known]);
            let instructions = std::mem::take(&mut self.builder.steps);
            let end = Some(Terminator::Branch { condition, then, otherwise });
            self.output.push(Block { instructions, end, end_span: self.builder.span });
            otherwise = BlockId(self.output.len() as u32 - 1);
        }
        self.builder.steps = steps;
        Terminator::Jump(otherwise)
    }

    /// Returns a block that contains the steps emitted so far, if there are any.
    fn block_to(&mut self, to: BlockId) -> BlockId {
        if self.builder.steps.is_empty() {
            return to;
        }
        let instructions = std::mem::take(&mut self.builder.steps);
        self.output.push(Block { instructions, end: Some(Terminator::Jump(to)), end_span: self.builder.span });
        BlockId(self.output.len() as u32 - 1)
    }
}
