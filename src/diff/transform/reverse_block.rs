//! Reverse block: emits the reverse pass over one block, from the adjoints of the results to the adjoints of the values
//! that the block reads.

use crate::diff::transform::GraphBuilder;
use crate::diff::transform::contribution::{Term, operands_read, reads_result};
use crate::diff::transform::kept_adjoints::read_kept_adjoints;
use crate::diff::transform::recomputation::{Blocks, Restore, ToBeRecorded, Version, Versions};
use crate::ir::analysis::liveness::Liveness;
use crate::ir::{Instruction, Op, Reg, TransformedOp};
use crate::native::{PrimitiveId, primitive, primitive_ids};
use crate::value::Bank;
use hashbrown::HashMap;

/// The registers of the adjoints that are passed from block to block.
pub struct Adjoints {
    /// The adjoints of numbers that live from one block to another; zero in blocks where the number does not live.
    pub numbers: HashMap<Reg, Reg>,
    /// The adjoints of the reference arguments.
    pub objects: Vec<Reg>,
    /// The adjoints of the numbers in local arrays, by the register of the array. Missing numbers are zero, and so are
    /// all numbers where the register holds no array that is read later.
    pub arrays: HashMap<Reg, Reg>,
}

/// The reverse pass over a block, under construction.
pub struct ReverseBlock<'b, 'f> {
    pub blocks: &'b Blocks<'f>,
    pub adjoints: &'b Adjoints,
    pub builder: &'b mut GraphBuilder,
    /// The index of the block over which the reverse pass goes.
    pub at: usize,
    /// The numbers whose adjoints are needed, by block.
    pub live: &'b Liveness,
}

/// The state of the reverse pass within a block.
pub(super) struct Local {
    pub(super) versions: Versions,
    /// The registers that hold the values that were recomputed or popped.
    values: HashMap<Version, Reg>,
    /// The adjoints of values, as far as they are known at this point.
    sums: HashMap<Version, Term>,
    /// The registers that hold the numbers of elements before steps that append to local arrays, by step.
    pub(super) counts: HashMap<usize, Reg>,
    /// The inverses of divisors that are the same in all iterations of a loop.
    inverses: HashMap<Reg, Reg>,
}

/// An adjoint in a register, with its sign.
struct SignedAdjoint {
    adjoint: Reg,
    /// Whether the register holds the negative of the adjoint.
    is_negative: bool,
}

impl<'f> ReverseBlock<'_, 'f> {
    /// Emits the reverse pass over the block; `None` where a step cannot be transformed.
    pub fn block(&mut self, needs: &ToBeRecorded) -> Option<()> {
        let steps: &'f [Instruction] = &self.blocks.f.blocks[self.at].instructions;
        let mut local = Local {
            versions: self.blocks.versions(steps),
            values: HashMap::new(),
            sums: HashMap::new(),
            counts: HashMap::new(),
            inverses: HashMap::new(),
        };
        self.restore(steps, needs, &mut local)?;
        for (reg, step) in &local.versions.last {
            if self.live.leaves(self.at, (*reg).into())
                && let Some(adjoint) = self.adjoints.numbers.get(reg)
            {
                local.sums.insert((*reg, Some(*step)), Term::Plus(*adjoint));
            }
        }
        let moved = self.moved_elements(steps);
        for (i, step) in steps.iter().enumerate().rev() {
            self.builder.span = step.span;
            for load in moved.iter().filter(|moved| moved.last_use == i).map(|moved| moved.load) {
                self.move_out(load, &steps[load], &local)?;
            }
            self.step(i, step, &mut local)?;
        }
        self.propagate_adjoint(&local);
        read_kept_adjoints(&mut self.builder.steps);
        Some(())
    }

    /// Restores the values at the beginning of the block, and recomputes the values of its steps that are needed.
    fn restore(&mut self, steps: &[Instruction], needs: &ToBeRecorded, local: &mut Local) -> Option<()> {
        for (i, step) in steps.iter().enumerate().rev() {
            if needs.recorded[i] {
                let out = step.outs[0];
                let value = self.pop(self.bank(out));
                local.values.insert((out, Some(i)), value);
            }
            if needs.counted[i] {
                let count = self.pop(Bank::I);
                local.counts.insert(i, count);
            }
        }
        for (reg, how) in needs.restored.iter().rev() {
            match how {
                Restore::Pop => self.builder.step(Op::Transformed(TransformedOp::Pop(self.bank(*reg))), &[*reg], &[]),
                Restore::Subtract(n) => {
                    let less = self.builder.register(Bank::I);
                    self.builder.step(Op::ConstI(*n), &[less], &[]);
                    self.builder.step(Op::Primitive(primitive("int.sub")?), &[*reg], &[*reg, less]);
                }
            }
        }
        for (i, step) in steps.iter().enumerate().filter(|(i, _)| needs.recomputed[*i]) {
            self.builder.span = step.span;
            let ins: Vec<Reg> = (0..step.ins.len()).map(|k| self.operand(i, step, k, local)).collect::<Option<_>>()?;
            let value = self.builder.register(self.bank(step.outs[0]));
            self.builder.step(step.op.clone(), &[value], &ins);
            local.values.insert((step.outs[0], Some(i)), value);
        }
        Some(())
    }

    /// Emits a step that pops a value from the value stack; returns the register of the value.
    fn pop(&mut self, bank: Bank) -> Reg {
        let value = self.builder.register(bank);
        self.builder.step(Op::Transformed(TransformedOp::Pop(bank)), &[value], &[]);
        value
    }

    pub(super) fn bank(&self, reg: Reg) -> Bank {
        self.blocks.f.registers[reg.0 as usize].bank
    }

    /// Returns a register that holds the value of an operand of a step.
    pub(super) fn operand(&self, i: usize, step: &Instruction, k: usize, local: &Local) -> Option<Reg> {
        let reg = step.ins[k];
        if self.bank(reg) == Bank::R {
            return self.blocks.same(reg);
        }
        self.value(local.versions.operands[i][k], local)
    }

    /// Returns a register that holds the given version of a value.
    pub(super) fn value(&self, version: Version, local: &Local) -> Option<Reg> {
        match local.values.get(&version) {
            Some(value) => Some(*value),
            None => (version.1.is_none() || self.blocks.is_unchanged(self.at, &local.versions, version))
                .then_some(version.0),
        }
    }

    /// Adds the contributions of a step to the adjoints of its operands.
    fn step(&mut self, i: usize, step: &Instruction, local: &mut Local) -> Option<()> {
        let Some(out) = step.outs.first() else { return Some(()) };
        if let Some(array) = self.adjoints.arrays.get(out).copied() {
            return self.array_step(i, step, array, local);
        }
        let Some(adjoint) = local.sums.remove(&(*out, Some(i))) else { return Some(()) };
        if !self.blocks.varied.is_step(step) {
            return Some(());
        }
        if step.op == Op::Copy {
            self.add(local.versions.operands[i][0], adjoint, local);
            return Some(());
        }
        // The sign is propagated, because changing the sign would take a step.
        let (adjoint, is_negative) = match adjoint {
            Term::Minus(r) => (Term::Plus(r), true),
            Term::MinusProduct(a, b) => (Term::PlusProduct(a, b), true),
            adjoint => (adjoint, false),
        };
        let adjoint = self.builder.value(adjoint);
        if is_negative && !matches!(step.op, Op::Primitive(_)) {
            let negative = self.builder.arithmetic(primitive_ids::NEG, &[adjoint]);
            return self.read(i, step, SignedAdjoint { adjoint: negative, is_negative: false }, local);
        }
        self.read(i, step, SignedAdjoint { adjoint, is_negative }, local)
    }

    /// Adds the contributions of a primitive to the adjoints of its operands, given the adjoint of its result.
    fn read(&mut self, i: usize, step: &Instruction, of_result: SignedAdjoint, local: &mut Local) -> Option<()> {
        let SignedAdjoint { adjoint, is_negative } = of_result;
        match &step.op {
            Op::LoadElement { offset, stride, .. } => {
                let object = self.object(step.ins[0])?;
                let index = self.operand(i, step, 1, local)?;
                let (offset, stride) = (*offset, *stride);
                let op = match self.blocks.varied.is_local(step.ins[0]) {
                    true => TransformedOp::Accumulate { offset, stride },
                    false => TransformedOp::AddElement { offset, stride },
                };
                let op = Op::Transformed(op);
                self.builder.step(op, &[object], &[object, index, adjoint]);
            }
            Op::LoadRecord { bank, index } => {
                let object = self.object(step.ins[0])?;
                let before = self.builder.emit(Op::LoadRecord { bank: *bank, index: *index }, &[object]);
                let sum = self.builder.arithmetic(primitive_ids::ADD, &[before, adjoint]);
                self.builder.step(Op::StoreRecord { bank: *bank, index: *index }, &[object], &[object, sum]);
            }
            Op::Primitive(id) => {
                let banks = id.info().operands;
                for (k, _) in step.ins.iter().enumerate().filter(|(_, r)| self.blocks.varied.is(**r)) {
                    // The register of a value that the partial does not read may be arbitrary.
                    let needed = operands_read(*id, k);
                    let x: Vec<Reg> = (0..banks.len())
                        .map(|n| if needed.contains(&n) { self.operand(i, step, n, local) } else { Some(adjoint) })
                        .collect::<Option<_>>()?;
                    let y = if reads_result(*id, k) { self.value((step.outs[0], Some(i)), local)? } else { adjoint };
                    let by_inverse = match self.inverse_of_divisor(i, *id, step, local) {
                        Some(inverse) => self.builder.term_by_inverse(id.partial(k), inverse, y, adjoint),
                        None => None,
                    };
                    let term = match by_inverse {
                        Some(term) => term,
                        None => self.builder.term((*id, k), &x, y, adjoint)?,
                    };
                    let term = if is_negative { term.negative() } else { term };
                    self.add(local.versions.operands[i][k], term, local);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Emits the inverse of the divisor of a quotient that is the same in all iterations of a loop, so that it is computed before
    /// the loop.
    fn inverse_of_divisor(&mut self, i: usize, id: PrimitiveId, step: &Instruction, local: &mut Local) -> Option<Reg> {
        let version = local.versions.operands[i].get(1).copied()?;
        if id != primitive_ids::DIV || version.1.is_some() || !self.blocks.is_invariant(self.at, version.0) {
            return None;
        }
        let divisor = self.operand(i, step, 1, local)?;
        if let Some(inverse) = local.inverses.get(&divisor) {
            return Some(*inverse);
        }
        let one = self.builder.emit(Op::ConstF(1.0), &[]);
        let inverse = self.builder.arithmetic(primitive_ids::DIV, &[one, divisor]);
        local.inverses.insert(divisor, inverse);
        Some(inverse)
    }

    /// Returns the register of the adjoints of the numbers in an array or record.
    pub(super) fn object(&self, reg: Reg) -> Option<Reg> {
        match self.blocks.varied.param(reg) {
            Some(k) => self.adjoints.objects.get(k).copied(),
            None => self.adjoints.arrays.get(&reg).copied(),
        }
    }

    /// Adds a term to the adjoint of a value.
    pub(super) fn add(&mut self, version: Version, term: Term, local: &mut Local) {
        let (reg, step) = version;
        let passes = step.is_none() && !local.versions.last.contains_key(&reg);
        if passes && let Some(adjoint) = self.adjoints.numbers.get(&reg) {
            // The block does not write the register, so the adjoint is in the register that holds it after the block.
            let sum = self.builder.sum(Some(Term::Plus(*adjoint)), term);
            let sum = self.builder.value(sum);
            self.builder.copy(*adjoint, sum);
            return;
        }
        let sum = self.builder.sum(local.sums.get(&version).copied(), term);
        local.sums.insert(version, sum);
    }

    /// Moves the adjoints that the block has computed to the registers where its predecessors read them.
    fn propagate_adjoint(&mut self, local: &Local) {
        let mut moves = vec![];
        let mut written: Vec<Reg> = local.versions.last.keys().copied().collect();
        written.sort_unstable();
        for reg in written {
            let Some(home) = self.adjoints.numbers.get(&reg).copied() else { continue };
            match local.sums.get(&(reg, None)) {
                Some(sum) => {
                    let sum = self.builder.value(*sum);
                    moves.push((home, Some(sum)));
                }
                None if self.live.leaves(self.at, reg.into()) => moves.push((home, None)),
                None => {}
            }
        }
        // All registers are read before the first one is written.
        for k in 0..moves.len() {
            if let (_, Some(from)) = moves[k]
                && moves[..k].iter().any(|(home, _)| *home == from)
            {
                let copy = self.builder.number();
                self.builder.copy(copy, from);
                moves[k].1 = Some(copy);
            }
        }
        for (home, from) in moves {
            match from {
                Some(from) => {
                    self.builder.copy(home, from);
                    if self.blocks.repeats[self.at] && from != home {
                        self.builder.step(Op::Transformed(TransformedOp::Flush), &[home], &[home]);
                    }
                }
                None => self.builder.step(Op::ConstF(0.0), &[home], &[]),
            }
        }
    }
}
