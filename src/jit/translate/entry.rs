//! Entry: receives the arguments of a function, or reads the registers that a loop needs, and checks the limits.

use super::super::context::{Link, offsets};
use super::super::convention::{self, Place};
use super::super::site::Continuation;
use super::super::treatment::{Treatment, treatment};
use super::super::{Callee, Signature};
use super::{FLAGS, Translator, kind_of};
use crate::bytecode::Instruction;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, types};

/// Whether a function with an instruction needs a record: it calls a function, or executes a single step.
fn needs_link(instruction: &Instruction) -> bool {
    let treatment = treatment(instruction.opcode());
    matches!(treatment, Treatment::Object | Treatment::Step | Treatment::Recorded | Treatment::CallOfObject)
        || Callee::of(instruction).is_some()
}

impl Translator<'_, '_> {
    /// Translates the entry: the arguments of a function, or the registers that a loop needs.
    pub(super) fn enter(&mut self, start: usize) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.continue_in(entry);
        let given = self.builder.block_params(entry).to_vec();
        let needs_link = !self.is_derivative && self.region.clone().any(|at| needs_link(&self.code.instructions[at]));
        self.load_tape();
        let signature = Signature::of(self.code);
        self.caller = if self.is_function {
            self.references = given[1];
            self.slots = given[convention::addresses(&signature) - 1];
            given[0]
        } else {
            self.references = given[0];
            self.slots = given[3];
            let context = self.builder.ins().get_pinned_reg(types::I64);
            self.builder.ins().iadd_imm_s(context, i64::from(offsets::ROOT))
        };
        if needs_link && self.is_function && !self.code.is_derivative && self.code.frame()[2] == 0 {
            self.first_limited = self.first_limited();
        }
        let has_limits = needs_link && self.first_limited == start;
        if has_limits {
            self.create_link();
        }
        if self.is_function {
            let mut next = convention::addresses(&signature);
            for ((bank, register), place) in convention::arguments(&signature) {
                let value = match place {
                    Place::Machine => {
                        next += 1;
                        given[next - 1]
                    }
                    Place::Context(at) => self.load_context(kind_of(bank), at),
                };
                self.set((bank, register), value);
            }
            if has_limits {
                self.check_limits();
            }
            self.check_stacks();
            self.clear_inactive_slots();
        } else {
            self.frame = [given[1], given[2]];
            if self.is_derivative {
                self.load_tops();
                self.load_fuel();
            }
            let live: Vec<_> = self.flow.live(start).collect();
            for (bank, register) in live {
                let from = given[1 + bank as usize];
                let value = self.builder.ins().load(kind_of(bank), FLAGS, from, 8 * i32::from(register));
                self.set((bank, register), value);
            }
        }
        if let Some(first) = self.block_before(start).or(self.blocks[start]) {
            self.builder.ins().jump(first, &[]);
        }
        self.is_ended = true;
    }

    /// Creates the record of the function, which states where its registers and its window lie.
    pub(super) fn create_link(&mut self) {
        let caller = self.caller;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size_of::<Link>() as u32, 3);
        let link = self.builder.create_sized_stack_slot(slot);
        let [numbers, integers, _] = self.code.registers.map(i64::from);
        let base = self.builder.ins().load(types::I64, FLAGS, caller, offsets::WINDOW);
        let window = self.builder.ins().iadd_imm_s(base, numbers | integers << 32);
        self.builder.ins().stack_store(types::I64, caller, link, offsets::CALLER);
        self.builder.ins().stack_store(types::I64, window, link, offsets::WINDOW);
        self.builder.ins().stack_store(types::I64, self.references, link, offsets::REFERENCES);
        self.link = Some(link);
    }

    /// Returns the instruction before which the limits can be checked: a function that begins with a jump on which it
    /// depends whether the function calls another one checks them after the jump.
    fn first_limited(&self) -> usize {
        let Some(target) = self.flow.targets[0] else { return 0 };
        let is_only_target =
            |at: usize| self.flow.targets.iter().enumerate().all(|(from, to)| from == 0 || *to != Some(at));
        if self.code.instructions[0].opcode().is_end()
            || target <= 1
            || !self.code.instructions[target - 1].opcode().is_end()
        {
            return 0;
        }
        match [1, target].map(|at| self.reaches_limits(at)) {
            [true, false] if is_only_target(1) => 1,
            [false, true] if is_only_target(target) => target,
            _ => 0,
        }
    }

    /// Whether an instruction that needs the record of the function can follow an instruction.
    fn reaches_limits(&self, from: usize) -> bool {
        let mut reached = vec![false; self.code.instructions.len()];
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            if at >= reached.len() || std::mem::replace(&mut reached[at], true) {
                continue;
            }
            let instruction = &self.code.instructions[at];
            if needs_link(instruction) {
                return true;
            }
            waiting.extend(self.flow.targets[at]);
            if !instruction.opcode().is_end() {
                waiting.push(at + 1);
            }
        }
        false
    }

    /// Checks the limits of a function that calls others: the steps and the stack of the processor.
    pub(super) fn check_limits(&mut self) {
        let fuel = self.load_context(types::I64, offsets::FUEL);
        let fuel = self.builder.ins().iadd_imm_s(fuel, -1);
        self.store_context(fuel, offsets::FUEL);
        let is_empty = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, fuel, 0);
        self.leave_if(is_empty);
        let stack = self.builder.ins().get_stack_pointer(types::I64);
        let limit = self.load_context(types::I64, offsets::STACK_LIMIT);
        let is_deep = self.builder.ins().icmp(IntCC::UnsignedLessThan, stack, limit);
        self.leave_if(is_deep);
    }

    /// Checks the stacks of references and of slots.
    fn check_stacks(&mut self) {
        let references = self.code.frame()[2];
        if references > 0 {
            let end = self.load_context(types::I64, offsets::REFERENCES_END);
            let size = i64::from(self.helpers.reference) * references as i64;
            let needed = self.builder.ins().iadd_imm_s(self.references, size);
            let is_full = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, needed, end);
            self.leave_if(is_full);
        }
        if self.code.is_derivative {
            let end = self.load_context(types::I64, offsets::SLOTS_END);
            let needed = self.slot_address(self.code.frame()[0] as u16);
            let is_full = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, needed, end);
            self.leave_if(is_full);
        }
        self.finish_exit(0, Continuation::Entry);
    }
}
