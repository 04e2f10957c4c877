//! Adjoint code: there and back.

use super::back::{Adjoints, Back};
use super::entries::{Counted, Entries, Entry};
use super::keep::{Blocks, Needs, Restored};
use super::needless::{skip_counting, sweep_up};
use super::varied::Varied;
use super::{Maker, arithmetic};
use crate::ir::{Block, BlockId, Function, Op, Reg, SweepOp, Terminator, Trap, verify};
use crate::native::Partial;
use crate::value::Bank;
use hashbrown::HashMap;

/// The adjoint code of a function of one number. It takes what the function takes, then for each reference an object of
/// zeros of the same form; it gives the value, an adjoint for each number, and the objects with their adjoints. Without
/// the value it does without what only that needs, unless the value may have to say that a product was 0·∞.
///
/// Nothing where the function cannot be followed.
pub fn adjoint(f: &Function, value: bool) -> Option<Function> {
    if f.results != [Bank::F] || f.result_len != 1 {
        return None;
    }
    let (f, result) = with_one_exit(f);
    let varied = Varied::of(&f)?;
    if !varied.is(result) {
        return None;
    }
    let gives_value = value || may_hide_infinity(&f, &varied);
    let mut make = Maker::new(&f);
    let references: Vec<Reg> = f.params.iter().copied().filter(|r| f.registers[r.0 as usize].bank == Bank::R).collect();
    let homes: Vec<Reg> = references.iter().map(|_| make.register(Bank::R)).collect();
    let objects: Vec<Reg> = references.iter().map(|_| make.register(Bank::R)).collect();
    let blocks = Blocks::of(&f, &varied, homes.clone());
    if !blocks.before[0].is_empty() {
        return None;
    }
    let entries = Entries::of(&f, &blocks, &mut make);
    let needs = blocks.needs(&entries.needed());
    let live = live_behind(&f, &varied);
    let mut numbers = HashMap::new();
    for reg in (0..f.registers.len()).map(|k| Reg(k as u32)).filter(|r| varied.is(*r)) {
        let crosses = live.iter().any(|behind| behind[reg.0 as usize]) || f.params.contains(&reg) || reg == result;
        if crosses {
            numbers.insert(reg, make.number());
        }
    }
    let mut whole = Whole {
        made: vec![],
        adjoints: Adjoints { numbers, objects },
        blocks: &blocks,
        needs: &needs,
        live: &live,
        entries,
        gives_value,
        repeated: vec![],
        make,
    };
    whole.there(&references, &homes);
    whole.back(result)?;
    let params = [&f.params[..], &whole.adjoints.objects].concat();
    let results = whole.results(result).iter().map(|r| whole.make.registers[r.0 as usize].bank).collect::<Vec<_>>();
    let Whole { mut made, make, repeated, .. } = whole;
    sweep_up(&mut made, &make.registers, &repeated);
    skip_counting(&mut made);
    Some(Function {
        result_len: results.len(),
        results,
        params,
        registers: make.registers,
        blocks: made,
        rules: vec![],
        ..f.clone()
    })
}

/// Whether a number that varies is multiplied by one that does not and may be zero: a product 0·∞ has no partial
/// derivatives, and the adjoint of the infinite factor is zero all the same.
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

/// The function with one block that returns, and the register that it returns.
fn with_one_exit(f: &Function) -> (Function, Reg) {
    let mut make = Maker::new(f);
    let result = make.number();
    let exit = BlockId(f.blocks.len() as u32);
    let mut out = Function { registers: make.registers.clone(), ..f.clone() };
    for block in &mut out.blocks {
        if let Some(Terminator::Return(values)) = &block.end {
            make.span = block.end_span;
            make.copy(result, values[0]);
            block.instructions.append(&mut make.steps);
            block.end = Some(Terminator::Jump(exit));
        }
    }
    let end = Some(Terminator::Return(vec![result]));
    out.blocks.push(Block { instructions: vec![], end, end_span: f.span });
    (out, result)
}

/// For each block the numbers that vary and are looked at behind it.
fn live_behind(f: &Function, varied: &Varied) -> Vec<Vec<bool>> {
    let size = f.registers.len();
    let mut entry = vec![vec![false; size]; f.blocks.len()];
    let mut behind = entry.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for (b, block) in f.blocks.iter().enumerate().rev() {
            crate::stop::look();
            let mut live = vec![false; size];
            for to in block.end.iter().flat_map(verify::targets) {
                live.iter_mut().zip(&entry[to.0 as usize]).for_each(|(here, there)| *here |= there);
            }
            behind[b].clone_from(&live);
            let is_number = |r: &&Reg| varied.is(**r);
            block.end.iter().flat_map(verify::reads).filter(|r| varied.is(*r)).for_each(|r| live[r.0 as usize] = true);
            for step in block.instructions.iter().rev() {
                step.outs.iter().filter(is_number).for_each(|r| live[r.0 as usize] = false);
                if varied.is_step(step) {
                    step.ins.iter().filter(is_number).for_each(|r| live[r.0 as usize] = true);
                }
            }
            if live != entry[b] {
                entry[b] = live;
                changed = true;
            }
        }
    }
    behind
}

struct Whole<'b, 'f> {
    blocks: &'b Blocks<'f>,
    needs: &'b [Needs],
    live: &'b [Vec<bool>],
    adjoints: Adjoints,
    entries: Entries,
    make: Maker,
    made: Vec<Block>,
    gives_value: bool,
    /// Steps of the way there that the way back does again, and fails where they do: by block, then by place.
    repeated: Vec<(usize, usize)>,
}

impl Whole<'_, '_> {
    fn f(&self) -> &Function {
        self.blocks.f
    }

    /// What is given back.
    fn results(&self, result: Reg) -> Vec<Reg> {
        let adjoints = self.f().params.iter().filter_map(|r| self.adjoints.numbers.get(r)).copied();
        let value = self.gives_value.then_some(result);
        value.into_iter().chain(adjoints).chain(self.adjoints.objects.iter().copied()).collect()
    }

    /// The first block of the way back over a block.
    fn back_of(&self, b: usize) -> BlockId {
        BlockId((self.f().blocks.len() + b) as u32)
    }

    /// The way there. Block for block as it was, and behind them, later on, as many for the way back.
    fn there(&mut self, references: &[Reg], homes: &[Reg]) {
        let count = self.f().blocks.len();
        self.made = vec![Block::default(); 2 * count];
        for b in 0..count {
            if b == 0 {
                self.begin(references, homes);
            }
            if let Entry::Turns { integer, how: Counted::Besides, .. } = self.entries.0[b] {
                self.plus(integer, 1);
            }
            for (reg, how) in &self.needs[b].restored {
                if matches!(how, Restored::Kept) {
                    let bank = self.f().registers[reg.0 as usize].bank;
                    self.make.step(Op::Sweep(SweepOp::Keep(bank)), &[], &[*reg]);
                }
            }
            for (i, step) in self.blocks.f.blocks[b].instructions.iter().enumerate() {
                self.make.span = step.span;
                if self.needs[b].again[i] {
                    self.repeated.push((b, self.make.steps.len()));
                }
                self.make.steps.push(step.clone());
                if self.needs[b].kept[i] {
                    let bank = self.f().registers[step.outs[0].0 as usize].bank;
                    self.make.step(Op::Sweep(SweepOp::Keep(bank)), &[], &[step.outs[0]]);
                }
            }
            let end_span = self.f().blocks[b].end_span;
            self.make.span = end_span;
            let end = self.leave(b);
            self.made[b] = Block { instructions: std::mem::take(&mut self.make.steps), end: Some(end), end_span };
        }
    }

    /// What comes before all.
    fn begin(&mut self, references: &[Reg], homes: &[Reg]) {
        for (home, reference) in homes.iter().zip(references) {
            self.make.copy(*home, *reference);
        }
        let mut all: Vec<Reg> = self.adjoints.numbers.values().copied().collect();
        all.sort_unstable();
        all.iter().for_each(|adjoint| self.make.step(Op::ConstF(0.0), &[*adjoint], &[]));
        for entry in &self.entries.0 {
            if let Entry::Turns { integer, how: Counted::Besides, .. } = entry {
                self.make.step(Op::ConstI(-1), &[*integer], &[]);
            }
        }
    }

    /// The end of a block on the way there, with what is done where it goes on to blocks that several lead to.
    fn leave(&mut self, b: usize) -> Terminator {
        match self.f().blocks[b].end.clone() {
            Some(Terminator::Jump(to)) => {
                self.cross(b, to);
                Terminator::Jump(to)
            }
            Some(Terminator::Branch { condition, then, otherwise }) => {
                let steps = std::mem::take(&mut self.make.steps);
                let then = self.crossing(b, then);
                let otherwise = self.crossing(b, otherwise);
                self.make.steps = steps;
                Terminator::Branch { condition, then, otherwise }
            }
            Some(Terminator::Return(_)) => Terminator::Jump(self.back_of(b)),
            end => end.unwrap_or(Terminator::Trap(Trap::Unsupported)),
        }
    }

    /// A block for what is done between two others, if that is anything.
    fn crossing(&mut self, from: usize, to: BlockId) -> BlockId {
        self.cross(from, to);
        self.block_to(to)
    }

    /// What is done from one block to another.
    fn cross(&mut self, from: usize, to: BlockId) {
        let at = to.0 as usize;
        match self.entries.0[at] {
            Entry::Known => {}
            Entry::Turns { how: Counted::Already, .. } => {}
            Entry::Turns { again, .. } if again.0 as usize == from => {}
            Entry::Turns { integer, from: elsewhere, .. } => {
                // Inside of another loop it was entered before.
                if self.blocks.repeats[elsewhere.0 as usize] {
                    self.make.step(Op::Sweep(SweepOp::Keep(Bank::I)), &[], &[integer]);
                    self.make.step(Op::ConstI(-1), &[integer], &[]);
                }
            }
            Entry::Kept => {
                let number = self.blocks.before[at].iter().position(|b| b.0 as usize == from).unwrap_or(0);
                self.make.step(Op::Sweep(SweepOp::KeepKnown(number as i32)), &[], &[]);
            }
        }
    }

    /// Adds to an integer.
    fn plus(&mut self, integer: Reg, n: i64) {
        let known = self.make.register(Bank::I);
        self.make.step(Op::ConstI(n), &[known], &[]);
        self.make.step(arithmetic("int.add"), &[integer], &[integer, known]);
    }

    /// The way back.
    fn back(&mut self, result: Reg) -> Option<()> {
        for b in 0..self.f().blocks.len() {
            crate::stop::look();
            self.make.span = self.f().blocks[b].end_span;
            if let Some(Terminator::Return(_)) = &self.f().blocks[b].end {
                let seed = self.adjoints.numbers.get(&result).copied()?;
                self.make.step(Op::ConstF(1.0), &[seed], &[]);
            }
            let at = self.back_of(b).0 as usize;
            if matches!(self.f().blocks[b].end, Some(Terminator::Trap(_)) | None) {
                // Nobody comes back from there.
                self.made[at].end = Some(Terminator::Trap(Trap::Unsupported));
                continue;
            }
            let mut back = Back {
                blocks: self.blocks,
                adjoints: &self.adjoints,
                make: &mut self.make,
                at: b,
                live_behind: &self.live[b],
            };
            back.block(&self.needs[b])?;
            let end = self.enter_before(b, result);
            let instructions = std::mem::take(&mut self.make.steps);
            self.made[at] = Block { instructions, end: Some(end), end_span: self.make.span };
        }
        Some(())
    }

    /// From the beginning of a block to the end of the one that led to it.
    fn enter_before(&mut self, b: usize, result: Reg) -> Terminator {
        let before = self.blocks.before[b].clone();
        match (&self.entries.0[b], &before[..]) {
            (_, []) => Terminator::Return(self.results(result)),
            (Entry::Known, [p, ..]) => Terminator::Jump(self.back_of(p.0 as usize)),
            (Entry::Turns { integer, first, how, from, again }, _) => {
                let (integer, first, how, from, again) = (*integer, *first, *how, *from, *again);
                let known = self.make.register(Bank::I);
                let is_first = self.make.register(Bank::I);
                self.make.step(Op::ConstI(first), &[known], &[]);
                self.make.step(arithmetic("int.eq"), &[is_first], &[integer, known]);
                let steps = std::mem::take(&mut self.make.steps);
                if how == Counted::Besides && self.blocks.repeats[from.0 as usize] {
                    self.make.step(Op::Sweep(SweepOp::Recall(Bank::I)), &[integer], &[]);
                }
                let then = self.block_to(self.back_of(from.0 as usize));
                if how == Counted::Besides {
                    self.plus(integer, -1);
                }
                let otherwise = self.block_to(self.back_of(again.0 as usize));
                self.make.steps = steps;
                Terminator::Branch { condition: is_first, then, otherwise }
            }
            (Entry::Kept, all) => {
                let number = self.make.register(Bank::I);
                self.make.step(Op::Sweep(SweepOp::Recall(Bank::I)), &[number], &[]);
                self.choose(number, all)
            }
        }
    }

    /// Goes back to one of several blocks, by number.
    fn choose(&mut self, number: Reg, all: &[BlockId]) -> Terminator {
        let last = all.len() - 1;
        let mut otherwise = self.back_of(all[last].0 as usize);
        let steps = std::mem::take(&mut self.make.steps);
        for (k, p) in all.iter().enumerate().take(last).rev() {
            let then = self.back_of(p.0 as usize);
            let (known, condition) = (self.make.register(Bank::I), self.make.register(Bank::I));
            self.make.step(Op::ConstI(k as i64), &[known], &[]);
            self.make.step(arithmetic("int.eq"), &[condition], &[number, known]);
            let instructions = std::mem::take(&mut self.make.steps);
            let end = Some(Terminator::Branch { condition, then, otherwise });
            self.made.push(Block { instructions, end, end_span: self.make.span });
            otherwise = BlockId(self.made.len() as u32 - 1);
        }
        self.make.steps = steps;
        Terminator::Jump(otherwise)
    }

    /// A block with the steps that were made, if there are any.
    fn block_to(&mut self, to: BlockId) -> BlockId {
        if self.make.steps.is_empty() {
            return to;
        }
        let instructions = std::mem::take(&mut self.make.steps);
        self.made.push(Block { instructions, end: Some(Terminator::Jump(to)), end_span: self.make.span });
        BlockId(self.made.len() as u32 - 1)
    }
}
