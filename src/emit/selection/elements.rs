//! Elements: selection of the instructions for elements of arrays.

use super::Selector;
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::emit::graph::Step;
use crate::ir::Stride;
use crate::value::Bank;

impl Selector<'_> {
    pub(super) fn append(&mut self, step: &Step, stride: Stride) {
        use Instruction as I;
        let array = self.changed(step, 0);
        let instruction = match (stride.f, stride.i, stride.r) {
            (1, 0, 0) if step.active => I::DAppendF { array, a: FIn(self.n(step.ins[1])) },
            (1, 0, 0) => I::AppendF { array, a: FIn(self.n(step.ins[1])) },
            (0, 1, 0) => I::AppendI { array, a: IIn(self.n(step.ins[1])) },
            (0, 0, 1) => I::AppendR { array, a: self.taken(step, 1) },
            _ => {
                self.arguments(step);
                let parts = self.writer.parts([stride.f, stride.i, stride.r]);
                if step.active && stride.f > 0 { I::DAppend { array, parts } } else { I::Append { array, parts } }
            }
        };
        self.writer.push(instruction);
    }

    pub(super) fn load_element(&mut self, step: &Step, bank: Bank, offset: u16, stride: Stride) {
        use Instruction as I;
        let (out, array, index) = (self.n(step.outs[0]), RIn(self.n(step.ins[0])), IIn(self.n(step.ins[1])));
        let single = is_single(bank, stride);
        self.writer.push(match (bank, single) {
            (Bank::F, true) if step.active => I::DElementF { out: FOut(out), array, index },
            (Bank::F, true) => I::ElementF { out: FOut(out), array, index },
            (Bank::I, true) => I::ElementI { out: IOut(out), array, index },
            (Bank::R, true) => I::ElementR { out: ROut(out), array, index },
            (Bank::F, false) if step.active => I::DPartF { out: FOut(out), array, index },
            (Bank::F, false) => I::PartF { out: FOut(out), array, index },
            (Bank::I, false) => I::PartI { out: IOut(out), array, index },
            (Bank::R, false) => I::PartR { out: ROut(out), array, index },
        });
        if !single {
            self.element(bank, offset, stride);
        }
    }

    pub(super) fn store_element(&mut self, step: &Step, bank: Bank, offset: u16, stride: Stride) {
        use Instruction as I;
        let (array, index) = (self.changed(step, 0), IIn(self.n(step.ins[1])));
        let single = is_single(bank, stride);
        let a = if bank == Bank::R { self.taken(step, 2).0 } else { self.n(step.ins[2]) };
        self.writer.push(match (bank, single) {
            (Bank::F, true) if step.active => I::DSetElementF { array, a: FIn(a), index },
            (Bank::F, true) => I::SetElementF { array, a: FIn(a), index },
            (Bank::I, true) => I::SetElementI { array, a: IIn(a), index },
            (Bank::R, true) => I::SetElementR { array, a: RTake(a), index },
            (Bank::F, false) if step.active => I::DSetPartF { array, a: FIn(a), index },
            (Bank::F, false) => I::SetPartF { array, a: FIn(a), index },
            (Bank::I, false) => I::SetPartI { array, a: IIn(a), index },
            (Bank::R, false) => I::SetPartR { array, a: RTake(a), index },
        });
        if !single {
            self.element(bank, offset, stride);
        }
    }

    pub(super) fn element(&mut self, bank: Bank, offset: u16, stride: Stride) {
        let stride = [stride.f, stride.i, stride.r][bank as usize];
        self.writer.push(Instruction::Element { offset: Part(offset), stride: Part(stride) });
    }
}

/// Whether elements have exactly one component in a bank.
fn is_single(bank: Bank, stride: Stride) -> bool {
    [stride.f, stride.i, stride.r][bank as usize] == 1
}
