//! Loop versions: the translation of leaf loops, the innermost loops without calls.
//!
//! They do not store the number of steps in each iteration, because a number that each iteration loads and stores bounds the time of
//! a short iteration. A loop with integers that overflow only if they are large is translated twice: without checks for small
//! integers, and with them.

use super::super::context::offsets;
use super::super::site::Continuation;
use super::super::treatment::{Treatment, treatment};
use super::super::value_range::{ExactArithmetic, exact_arithmetic};
use super::inline_primitives::is_inline;
use super::views::{Shown, access};
use super::{FLAGS, Translator};
use crate::bytecode::Instruction;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::ops::RangeInclusive;

/// The largest number of instructions of a loop that is translated twice.
const MAX_LENGTH: usize = 60;

/// The largest number of instructions for each check that the second translation saves.
const LENGTH_PER_CHECK: usize = 20;

/// The largest number of constants that occupy registers during a loop.
const MAX_CONSTANTS: usize = 4;

/// A leaf loop: an innermost loop without calls, which only computes.
#[derive(Clone)]
pub(super) struct LeafLoop {
    around: RangeInclusive<usize>,
    /// The counter of the loop, if the number of steps follows from it. Otherwise that number is in a variable.
    counter: Option<StepCounter>,
    /// The bits of numbers that the loop loads, and their values, which were loaded before the loop.
    constants: Vec<(u64, Value)>,
}

/// A register that each iteration increases by one.
#[derive(Clone, Copy)]
struct StepCounter {
    register: u16,
    /// The sum of the register and of the number of steps that are left.
    total: Value,
    /// The number at which the loop ends, or the steps do.
    end: Value,
}

impl LeafLoop {
    pub(super) fn contains(&self, at: usize) -> bool {
        self.around.contains(&at)
    }
}

impl Translator<'_, '_> {
    /// Loads the number of steps and the constants in the block before a loop, if it is a leaf loop.
    pub(super) fn enter_leaf_loop(&mut self, around: &RangeInclusive<usize>) {
        if !self.is_derivative && around.clone().all(|at| self.is_simple(at, around)) {
            self.load_fuel();
            let constants = self.load_constants(around);
            self.leaf_loop = Some(LeafLoop { around: around.clone(), counter: None, constants });
        }
    }

    /// Loads the constants of a loop from memory, because the code generator makes other constants again at each use, by two
    /// instructions.
    fn load_constants(&mut self, around: &RangeInclusive<usize>) -> Vec<(u64, Value)> {
        let mut constants: Vec<(u64, Value)> = vec![];
        for at in around.clone() {
            let Instruction::LoadF { k, .. } = self.code.instructions[at] else { continue };
            let number = &self.code.numbers[usize::from(k)];
            let bits = number.to_bits();
            // A single instruction makes zero.
            let is_made = bits == 0 || constants.iter().any(|(known, _)| *known == bits);
            if !is_made && constants.len() < MAX_CONSTANTS {
                let address = self.constant(std::ptr::from_ref(number).addr() as i64);
                constants.push((bits, self.builder.ins().load(types::F64, FLAGS, address, 0)));
            }
        }
        constants
    }

    /// Returns a constant that was loaded before the current loop.
    pub(super) fn constant_of_loop(&self, bits: u64) -> Option<Value> {
        let constants = &self.leaf_loop.as_ref()?.constants;
        constants.iter().find(|(known, _)| *known == bits).map(|(_, value)| *value)
    }

    /// Translates a leaf loop without checks, if small integers do not need them, and continues in the block before the loop with the
    /// case of large integers.
    pub(super) fn split_loop(&mut self, around: &RangeInclusive<usize>) {
        let length = around.clone().count();
        // The record of the function is created once.
        let creates_link = around.contains(&self.first_limited) && self.first_limited != *self.region.start();
        if self.leaf_loop.is_none() || creates_link || length > MAX_LENGTH {
            return;
        }
        let found = exact_arithmetic(self.code, &self.flow, around, self.signature);
        let saved = found.instructions.iter().filter(|at| !self.in_range[**at]).count();
        if length <= saved * LENGTH_PER_CHECK {
            self.translate_unchecked(around, &found);
        }
    }

    /// Stores the number of steps after the last instruction of a leaf loop.
    pub(super) fn finish_leaf_loop(&mut self, at: usize) {
        if self.leaf_loop.as_ref().is_none_or(|found| *found.around.end() != at) {
            return;
        }
        if !self.is_ended {
            self.store_steps();
        }
        self.leaf_loop = None;
    }

    /// Whether an instruction of a loop is translated without calls, and neither begins another loop nor returns.
    fn is_simple(&self, at: usize, around: &RangeInclusive<usize>) -> bool {
        use Instruction as I;
        let is_other_loop = at != *around.start() && self.block_before(at).is_some();
        let instruction = &self.code.instructions[at];
        let only_computes = match treatment(instruction.opcode()) {
            Treatment::Translated => {
                let is_end = instruction.opcode().is_end() && !matches!(instruction, I::Jump { .. });
                let calls = match *instruction {
                    I::Call { .. } | I::DCall { .. } => true,
                    I::Prim1F { p, .. } | I::Prim2F { p, .. } | I::Prim3F { p, .. } | I::PrimFI { p, .. } => {
                        !is_inline(p)
                    }
                    I::PrimNumber { p, .. } | I::Prim1Test { p, .. } | I::Prim2Test { p, .. } => !is_inline(p),
                    I::PrimWhole { p, .. } | I::Prim1I { p, .. } | I::Prim2I { p, .. } => !is_inline(p),
                    _ => false,
                };
                !is_end && !calls
            }
            Treatment::Object => match instruction {
                I::LoadGlobalF { .. } | I::LoadGlobalI { .. } | I::StoreGlobalF { .. } | I::StoreGlobalI { .. } => true,
                _ => access(self.code, at)
                    .is_some_and(|access| !matches!(access.key.shown, Shown::Components(Bank::R, _) | Shown::Slots)),
            },
            _ => false,
        };
        only_computes && !is_other_loop
    }

    /// Translates a loop without the given checks, and continues in the block before the loop with the case of large integers.
    fn translate_unchecked(&mut self, around: &RangeInclusive<usize>, found: &ExactArithmetic) {
        let head = *around.start();
        let Some(before) = self.before_loops.iter().position(|(at, _)| *at == head) else { return };
        // The block that leaves before the loop is not reached from this version, in which more is known.
        self.finish_exit(self.borrowed_elements.resumed_at(head), Continuation::Before);
        let is_small = self.are_small(&found.assumed, found.limit);
        let (small, large) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_small, small, &[], large, &[]);
        self.continue_in(small);

        let entry = self.before_loops.swap_remove(before);
        let kept = self.in_range.clone();
        found.instructions.iter().for_each(|at| self.in_range[*at] = true);
        let blocks = self.blocks[around.clone()].to_vec();
        for at in around.clone().filter(|at| blocks[at - head].is_some()) {
            self.blocks[at] = Some(self.builder.create_block());
        }
        let checked = self.leaf_loop.take();
        let constants = checked.as_ref().map_or_else(Vec::new, |found| found.constants.clone());
        let counter = self.step_counter(around, found);
        self.leaf_loop = Some(LeafLoop { around: around.clone(), counter, constants });
        self.is_ended = false;
        self.translate_range(around.clone());
        if !self.is_ended {
            self.continue_after(around);
        }
        self.blocks[around.clone()].copy_from_slice(&blocks);
        self.in_range = kept;
        self.before_loops.push(entry);

        self.at = head;
        self.continue_in(large);
        self.restore_views(head);
        self.leaf_loop = checked;
    }

    /// Returns the counter of a loop, if each iteration takes a step when it increases the counter, which stays small.
    fn step_counter(&mut self, around: &RangeInclusive<usize>, found: &ExactArithmetic) -> Option<StepCounter> {
        let last = *around.end();
        if !found.instructions.contains(&last) {
            return None;
        }
        let (register, end) = self.counter_and_end(last)?;
        let (start, fuel) = (self.i(register), self.builder.use_var(self.fuel));
        let total = self.builder.ins().iadd(start, fuel);
        let out_of_steps = self.builder.ins().iadd_imm_s(total, 1);
        let end = self.builder.ins().smin(end, out_of_steps);
        Some(StepCounter { register, total, end })
    }

    /// Returns the number at which the counter of the current loop leaves the loop, if steps are counted by it.
    pub(super) fn end_of_steps(&self) -> Option<Value> {
        Some(self.leaf_loop.as_ref()?.counter?.end)
    }

    /// Returns the number of steps until the limits must be checked.
    pub(super) fn steps(&mut self) -> Value {
        match self.leaf_loop {
            None => self.load_context(types::I64, offsets::FUEL),
            Some(LeafLoop { counter: None, .. }) => self.builder.use_var(self.fuel),
            Some(LeafLoop { counter: Some(StepCounter { register, total, .. }), .. }) => {
                let counter = self.i(register);
                self.builder.ins().isub(total, counter)
            }
        }
    }

    /// Stores the number of steps in the context, if it is not there.
    pub(super) fn store_steps(&mut self) {
        if self.leaf_loop.is_some() {
            let steps = self.steps();
            self.store_context(steps, offsets::FUEL);
        }
    }

    /// Continues after the last instruction of a loop, as another translation of the loop does, too.
    fn continue_after(&mut self, around: &RangeInclusive<usize>) {
        let next = around.end() + 1;
        if !self.region.contains(&next) {
            self.leave_before(next);
            return;
        }
        let block = match self.block_before(next).or(self.blocks[next]) {
            Some(block) => block,
            None => *self.blocks[next].insert(self.builder.create_block()),
        };
        self.builder.ins().jump(block, &[]);
    }

    /// Returns whether all given registers are at least 0 and less than a power of two.
    fn are_small(&mut self, registers: &[u16], limit: i64) -> Value {
        let mut all = self.constant(0);
        for register in registers {
            let value = self.i(*register);
            all = self.builder.ins().bor(all, value);
        }
        self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, all, limit)
    }
}
