//! Reused arrays: an array of numbers that a loop makes anew in each iteration keeps its object and memory from one iteration
//! to the next, where it has no other owner. The register holds it in between, although it has been emptied.

use super::super::flow::Flow;
use super::super::layout::Layout;
use super::super::own_numbers::OwnNumbers;
use super::views::{Key, Owner, Shown, View};
use super::{FLAGS, Translator};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use crate::value::spare_arrays;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use std::ops::RangeInclusive;

/// A register whose arrays are reused, and the loop that makes them.
#[derive(Debug)]
pub(super) struct ReusedArray {
    register: u16,
    around: RangeInclusive<usize>,
}

/// Returns the registers whose arrays are reused. They hold nothing but arrays of numbers that the loop makes.
pub(super) fn reused_arrays(code: &Code, flow: &Flow) -> Vec<ReusedArray> {
    let made = code.instructions.iter().enumerate().filter_map(|(at, step)| match step {
        Instruction::NewArray { out } => Some((at, out.0)),
        _ => None,
    });
    let mut found: Vec<ReusedArray> = vec![];
    for (at, register) in made.filter(|(_, register)| usize::from(*register) >= usize::from(code.params[2])) {
        let is_known = found.iter().any(|known| known.register == register);
        if !is_known
            && let Some(around) = outermost_loop(flow, at)
            && holds_numbers_only(code, flow, register)
        {
            found.push(ReusedArray { register, around });
        }
    }
    found
}

fn outermost_loop(flow: &Flow, at: usize) -> Option<RangeInclusive<usize>> {
    flow.loops.iter().filter(|around| around.contains(&at)).max_by_key(|around| around.end() - around.start()).cloned()
}

/// Whether all arrays in a register are made by this code, and consist of numbers.
fn holds_numbers_only(code: &Code, flow: &Flow, register: u16) -> bool {
    use Instruction as I;
    let written = flow.references_written.iter().enumerate().filter(|(_, written)| written.contains(&register));
    written.map(|(at, _)| code.instructions[at]).all(|step| {
        matches!(
            step,
            I::NewArray { .. } | I::AppendF { .. } | I::SetElementF { .. } | I::SetPartF { .. } | I::Clear { .. }
        )
    })
}

impl Translator<'_, '_> {
    /// Whether the array in a register is reused after an instruction.
    pub(super) fn is_reused(&self, at: usize, register: u16) -> bool {
        self.reused_arrays.iter().any(|reused| reused.register == register && reused.around.contains(&at))
    }

    /// Whether an instruction makes such an array in a register, or empties the register.
    pub(super) fn is_made_again(&self, at: usize, register: u16) -> bool {
        let named = match self.code.instructions[at] {
            Instruction::NewArray { out } => out.0,
            Instruction::Clear { a } => a.0,
            _ => return false,
        };
        named == register && self.is_reused(at, register)
    }

    /// Returns the view of such an array, whose numbers are known.
    pub(super) fn view_of_reused(&mut self, key: &Key) -> Option<View> {
        if key.owner != Owner::Cells || key.is_modified || !self.is_reused(self.at, key.register) {
            return None;
        }
        let is_first = match key.shown {
            Shown::Components(Bank::F, 0) => true,
            Shown::Elements => false,
            Shown::Components(..) | Shown::Slots => return None,
        };
        let OwnNumbers { object, first, count, .. } = self.known_numbers(key.register)?;
        Some(View { address: if is_first { first } else { object }, count })
    }

    /// Makes an array without elements, out of the array of the iteration before if that has no other owner.
    pub(super) fn make_again(&mut self, layout: &Layout, out: u16) {
        let register = self.reference(out);
        let numbers = OwnNumbers::look_up(self.builder, layout, register);
        let [reset, make, next] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(make);
        self.builder.ins().brif(numbers.room, reset, &[], make, &[]);
        self.continue_in(make);
        self.new_array(out);
        let made = OwnNumbers::look_up(self.builder, layout, register);
        self.know(out, made);
        self.builder.ins().jump(next, &[]);
        self.continue_in(reset);
        let none = self.constant(0);
        self.builder.ins().store(FLAGS, none, numbers.counter, 0);
        self.builder.ins().store(FLAGS, none, numbers.object, layout.cells + layout.elements);
        self.know(out, OwnNumbers { count: none, ..numbers });
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    /// Continues in `next` if the object of a reference, which is at an address and an offset, is a small array without another
    /// owner.
    pub(super) fn unless_reusable(&mut self, layout: &Layout, (base, at): (Value, i32), tag: Value, next: Block) {
        let [array, other] = [(); 2].map(|()| self.builder.create_block());
        let is_array = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.cells));
        self.builder.ins().brif(is_array, array, &[], other, &[]);
        self.continue_in(array);
        let object = self.builder.ins().load(types::I64, FLAGS, base, at + layout.object);
        let owners = self.builder.ins().load(types::I64, FLAGS, object, layout.owners);
        let numbers = layout.cells + layout.banks[Bank::F as usize] + layout.vectors[Bank::F as usize].capacity;
        let capacity = self.builder.ins().load(types::I64, FLAGS, object, numbers);
        let is_own = self.builder.ins().icmp_imm_u(IntCC::Equal, owners, 1);
        let is_small =
            self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, capacity, spare_arrays::LARGEST as i64);
        let is_reusable = self.builder.ins().band(is_own, is_small);
        self.builder.ins().brif(is_reusable, next, &[], other, &[]);
        self.continue_in(other);
    }
}
