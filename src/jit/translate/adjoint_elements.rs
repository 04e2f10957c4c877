//! Adjoint elements: adds to the adjoints of an array that is an element of an array of arrays, where they are.
//!
//! Adjoint code moves such an array to a register, adds to it, and moves it back. If these steps follow each other, machine
//! code adds to the array in its place instead, which takes no calls.

use super::super::context::offsets;
use super::super::layout::Layout;
use super::super::own_numbers::OwnNumbers;
use super::Translator;
use super::views::{Key, Owner, Shown};
use crate::bytecode::operand::{Access, FIn, IIn, Role};
use crate::bytecode::{Code, Instruction};
use crate::jit::flow::Flow;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use hashbrown::HashMap;

/// An element of an array of arrays of adjoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AdjointElement {
    array: u16,
    index: IIn,
    place: (u16, u16),
}

/// Returns the instructions that move an element to a register and back, and those that add to it there, if machine code adds
/// to the element in its place.
pub(super) fn adjoint_elements(code: &Code, flow: &Flow) -> HashMap<usize, AdjointElement> {
    let mut found = HashMap::new();
    let ends = flow.block_ends(code);
    for at in 0..code.instructions.len() {
        if let Some((element, steps)) = moved_element(code, &ends, at) {
            found.extend(steps.into_iter().map(|step| (step, element)));
        }
    }
    found
}

/// Returns the place of the component that an instruction accesses.
fn place(code: &Code, at: usize) -> (u16, u16) {
    match code.instructions.get(at + 1) {
        Some(Instruction::Element { offset, stride }) => (offset.0, stride.0),
        _ => (0, 1),
    }
}

/// Returns the element that an instruction moves to a register, and the instructions up to the one that moves it back.
fn moved_element(code: &Code, ends: &[bool], first: usize) -> Option<(AdjointElement, Vec<usize>)> {
    use Instruction as I;
    let I::TakeAdjointR { out, array, index } = code.instructions[first] else { return None };
    let element = AdjointElement { array: array.0, index, place: place(code, first) };
    let mut steps = vec![first];
    for (at, instruction) in code.instructions.iter().enumerate().skip(first + 1) {
        if ends[at] {
            return None;
        }
        match *instruction {
            I::Accumulate { array, .. } if array.0 == out.0 => steps.push(at),
            I::AccumulateR { array, from, index } if from.0 == out.0 => {
                let same = AdjointElement { array: array.0, index, place: place(code, at) };
                steps.push(at);
                // The register is emptied next, so that nothing reads what it would have held.
                let is_emptied = matches!(code.instructions.get(at + 2), Some(I::Clear { a }) if a.0 == out.0);
                return (same == element && is_emptied && !ends[at + 2]).then_some((element, steps));
            }
            _ => {}
        }
        let mut is_other_use = false;
        instruction.visit(&mut |field| {
            let Role::Register(bank, access) = field.role else { return };
            let number = field.number;
            is_other_use |= match bank {
                Bank::R => number == i64::from(out.0) && !steps.contains(&at),
                Bank::I => number == i64::from(index.0) && access != Access::In,
                Bank::F => false,
            };
            // The array of arrays is only used to move other elements.
            is_other_use |= bank == Bank::R
                && number == i64::from(element.array)
                && !matches!(instruction, I::TakeAdjointR { .. } | I::AccumulateR { .. });
        });
        if is_other_use {
            return None;
        }
    }
    None
}

impl Translator<'_, '_> {
    /// Translates an instruction that moves an element to a register or back, or adds to it there, if machine code adds to the
    /// element in its place; returns whether it does.
    pub(super) fn adjoint_element(&mut self, layout: &Layout, instruction: &Instruction, at: usize) -> bool {
        let Some(element) = self.adjoint_elements.get(&at).copied() else { return false };
        if let Instruction::Accumulate { a, index, .. } = *instruction {
            self.accumulate_in_place(layout, element, (index, self.place(at)), a);
        }
        true
    }

    fn accumulate_in_place(
        &mut self,
        layout: &Layout,
        element: AdjointElement,
        (index, place): (IIn, (u16, u16)),
        a: FIn,
    ) {
        let array = self.address_of_element(layout, element);
        let position = self.position_of(index, place);
        let numbers = OwnNumbers::look_up(self.builder, layout, (array, 0));
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, numbers.count);
        let more = self.f(a.0);
        let [usual, rare, next] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(exists, usual, &[], rare, &[]);
        self.continue_in(rare);
        self.store_context(more, offsets::PASSED);
        let succeeded = self.call_rare(self.rare.accumulate, [array, position]);
        self.leave_unless(succeeded);
        self.set_cold();
        self.builder.ins().jump(next, &[]);
        self.continue_in(usual);
        self.add_to(&numbers, position, more);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    /// Returns the address of the reference in an element, which is created if it is missing.
    fn address_of_element(&mut self, layout: &Layout, element: AdjointElement) -> Value {
        let AdjointElement { array, index, place } = element;
        let key = Key { register: array, owner: Owner::Cells, shown: Shown::Components(Bank::R, 0), is_modified: true };
        // The view is not kept: where an element is created, the array may move.
        let view = self.compute_view(&key, layout);
        let position = self.position_of(index, place);
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, view.count);
        let [usual, rare, next] = [(); 3].map(|()| self.builder.create_block());
        let address = self.builder.append_block_param(next, types::I64);
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(exists, usual, &[], rare, &[]);
        self.continue_in(rare);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let (register, index, place) = (self.register_address(array), self.i(index.0), self.packed(place));
        let helper = self.helpers.adjoint_element as *const () as usize;
        let made = self.call_address(helper, &[context, register, index, place], types::I64);
        self.leave_unless(made);
        self.set_cold();
        self.builder.ins().jump(next, &[made.into()]);
        self.continue_in(usual);
        let distance = self.builder.ins().imul_imm_s(position, i64::from(layout.reference));
        let found = self.builder.ins().iadd(view.address, distance);
        self.builder.ins().jump(next, &[found.into()]);
        self.continue_in(next);
        address
    }
}
