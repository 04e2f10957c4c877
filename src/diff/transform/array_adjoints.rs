//! Array adjoints: emits the reverse of steps that make, read and modify arrays, whose adjoints are in arrays, too.

use crate::diff::transform::contribution::Term;
use crate::diff::transform::reverse_block::{Local, ReverseBlock};
use crate::ir::{Instruction, Op, Reg, Stride, TransformedOp};
use crate::value::Bank;

/// A step that loads an array out of an array of arrays, whose elements are read in the same block only. In the reverse pass over
/// these reads, the array of its adjoints is moved out of the adjoints of the array of arrays, so that it is not copied.
pub(super) struct MovedElement {
    /// The index of the step.
    pub(super) load: usize,
    /// The index of the last step that reads the array.
    pub(super) last_use: usize,
}

impl ReverseBlock<'_, '_> {
    /// Emits the reverse of a step that writes or modifies a local array, whose adjoints are in the register `array`.
    pub(super) fn array_step(&mut self, i: usize, step: &Instruction, array: Reg, local: &mut Local) -> Option<()> {
        match step.op {
            Op::Append(stride) => {
                let count = match local.versions.lengths.get(&i) {
                    Some(length) => self.value(*length, local)?,
                    None => local.counts.get(&i).copied()?,
                };
                let numbers: Vec<usize> = (1..step.ins.len()).filter(|k| self.bank(step.ins[*k]) == Bank::F).collect();
                // The last number is taken first, so that the array of adjoints becomes shorter.
                for (offset, k) in numbers.into_iter().enumerate().rev() {
                    self.take_adjoint((i, k), step, (array, count), (offset as u16, stride), local);
                }
                let references = step.ins[1..].iter().filter(|reg| self.bank(**reg) == Bank::R);
                for (offset, element) in references.copied().collect::<Vec<Reg>>().into_iter().enumerate() {
                    self.take_array(element, (array, count), (offset as u16, stride));
                }
            }
            Op::LoadElement { offset, stride, .. } | Op::TakeElement { offset, stride } => {
                self.add_to_element(i, step, (array, step.ins[0]), (offset, stride), local)?;
            }
            Op::StoreElement { bank: Bank::R, offset, stride } => {
                let index = self.operand(i, step, 1, local)?;
                self.take_array(step.ins[2], (array, index), (offset, stride));
            }
            Op::StoreElement { bank: Bank::F, offset, stride } => {
                let index = self.operand(i, step, 1, local)?;
                self.take_adjoint((i, 2), step, (array, index), (offset, stride), local);
            }
            Op::Copy | Op::Take => {
                let from = step.ins[0];
                match (self.object(from), &step.op) {
                    (Some(adjoint), Op::Take) if self.adjoints.arrays.contains_key(&from) => {
                        // The array of zeros is kept for the adjoints of the next array in the register.
                        let zeros = self.builder.register(Bank::R);
                        self.builder.step(Op::Take, &[zeros], &[adjoint]);
                        self.builder.step(Op::Take, &[adjoint], &[array]);
                        self.builder.step(Op::Take, &[array], &[zeros]);
                    }
                    (Some(adjoint), _) => {
                        self.builder.step(Op::Transformed(TransformedOp::AddArray), &[adjoint], &[adjoint, array]);
                        self.builder.step(Op::Null, &[array], &[]);
                    }
                    (None, _) => self.builder.step(Op::Null, &[array], &[]),
                }
            }
            // The adjoints of all elements that were appended have been taken out of the array.
            Op::NewArray(_) | Op::Null | Op::StoreElement { .. } => {}
            // The array holds constants.
            _ => self.builder.step(Op::Null, &[array], &[]),
        }
        Some(())
    }

    /// Moves an adjoint out of an array of adjoints to the number that a step has stored in the array.
    fn take_adjoint(
        &mut self,
        (i, k): (usize, usize),
        step: &Instruction,
        (array, index): (Reg, Reg),
        (offset, stride): (u16, Stride),
        local: &mut Local,
    ) {
        let adjoint = self.builder.number();
        let op = Op::Transformed(TransformedOp::TakeAdjoint { offset, stride });
        self.builder.step(op, &[adjoint, array], &[array, index]);
        if self.blocks.varied.is(step.ins[k]) {
            if self.blocks.repeats[self.at] {
                self.builder.step(Op::Transformed(TransformedOp::Flush), &[adjoint], &[adjoint]);
            }
            self.add(local.versions.operands[i][k], Term::Plus(adjoint), local);
        }
    }

    /// Adds the adjoints of an element that was loaded or moved out of an array of arrays to those of that array; none
    /// remain for the element.
    fn add_to_element(
        &mut self,
        i: usize,
        step: &Instruction,
        (adjoints, array): (Reg, Reg),
        (offset, stride): (u16, Stride),
        local: &Local,
    ) -> Option<()> {
        if let Some(object) = self.object(array) {
            let index = self.operand(i, step, 1, local)?;
            let op = Op::Transformed(TransformedOp::AccumulateArray { offset, stride });
            self.builder.step(op, &[object], &[object, index, adjoints]);
        }
        self.builder.step(Op::Null, &[adjoints], &[]);
        Some(())
    }

    /// Moves the adjoints of an element out of an array of arrays, and adds them to those of the array that a step has
    /// stored there.
    fn take_array(&mut self, stored: Reg, (array, index): (Reg, Reg), (offset, stride): (u16, Stride)) {
        let taken = self.builder.register(Bank::R);
        let op = Op::Transformed(TransformedOp::TakeAdjointArray { offset, stride });
        self.builder.step(op, &[taken, array], &[array, index]);
        if let Some(adjoints) = self.object(stored) {
            self.builder.step(Op::Transformed(TransformedOp::AddArray), &[adjoints], &[adjoints, taken]);
        }
        self.builder.step(Op::Null, &[taken], &[]);
    }

    /// Returns the arrays whose adjoints are moved while the reverse pass goes over their uses.
    pub(super) fn moved_elements(&self, steps: &[Instruction]) -> Vec<MovedElement> {
        let loads = steps.iter().enumerate().filter(|(_, step)| {
            matches!(step.op, Op::LoadElement { bank: Bank::R, .. }) && self.blocks.varied.is_local(step.outs[0])
        });
        loads.filter_map(|(load, step)| self.moved_element(steps, load, step)).collect()
    }

    fn moved_element(&self, steps: &[Instruction], load: usize, step: &Instruction) -> Option<MovedElement> {
        let (element, array) = (step.outs[0], step.ins[0]);
        self.object(array)?;
        let reads = steps.iter().flat_map(|step| &step.ins).filter(|reg| **reg == element).count();
        if reads != self.blocks.reads[element.0 as usize] as usize {
            return None;
        }
        let after = || steps.iter().enumerate().skip(load + 1);
        let end = after().find(|(_, step)| step.outs.contains(&element)).map_or(steps.len(), |(i, _)| i + 1);
        let (last_use, _) =
            after().take_while(|(i, _)| *i < end).filter(|(_, step)| step.ins.contains(&element)).last()?;
        if !steps[load + 1..=last_use]
            .iter()
            .any(|step| step.ins.contains(&element) && self.blocks.varied.is_step(step))
        {
            return None;
        }
        // The adjoints of the array of arrays must be those of its state at the load.
        let is_unchanged =
            |step: &Instruction| !(step.outs.contains(&array) || step.op == Op::Take && step.ins.contains(&array));
        let is_read = |step: &Instruction| {
            let reads = matches!(step.op, Op::LoadElement { bank: Bank::F | Bank::I, .. } | Op::Count | Op::CheckIndex);
            reads || !step.ins.contains(&element)
        };
        steps[load + 1..=last_use]
            .iter()
            .all(|step| is_unchanged(step) && is_read(step))
            .then_some(MovedElement { load, last_use })
    }

    /// Moves the adjoints of an array out of those of the array of arrays from which a step has loaded it.
    pub(super) fn move_out(&mut self, i: usize, step: &Instruction, local: &Local) -> Option<()> {
        let Op::LoadElement { offset, stride, .. } = step.op else { return Some(()) };
        let adjoints = self.adjoints.arrays.get(&step.outs[0]).copied()?;
        let object = self.object(step.ins[0])?;
        let index = self.operand(i, step, 1, local)?;
        let op = Op::Transformed(TransformedOp::TakeAdjointArray { offset, stride });
        self.builder.step(op, &[adjoints, object], &[object, index]);
        Some(())
    }
}
