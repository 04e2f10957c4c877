//! Jumps: conditional and backward jumps. A backward jump takes a step, after which the limits may have to be checked.

use super::super::context::offsets;
use super::super::site::Continuation;
use super::Translator;
use crate::bytecode::Instruction;
use crate::bytecode::operand::{FIn, IIn};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, Value};

impl Translator<'_, '_> {
    /// Translates a jump.
    pub(super) fn jump_instruction(&mut self, at: usize, instruction: &Instruction) {
        use Instruction as I;
        let (condition, is_negated) = match *instruction {
            I::Jump { .. } => {
                self.jump(at);
                self.is_ended = true;
                return;
            }
            I::If { a, .. } => (self.i(a.0), false),
            I::Unless { a, .. } => (self.i(a.0), true),
            I::IfEqI { a, b, .. } => (self.compare(IntCC::Equal, a, b), false),
            I::IfNeI { a, b, .. } => (self.compare(IntCC::NotEqual, a, b), false),
            I::IfLtI { a, b, .. } => (self.compare(IntCC::SignedLessThan, a, b), false),
            I::IfLeI { a, b, .. } => (self.compare(IntCC::SignedLessThanOrEqual, a, b), false),
            I::IfEqIK { a, k, .. } => (self.compare_constant(IntCC::Equal, a, k.0), false),
            I::IfNeIK { a, k, .. } => (self.compare_constant(IntCC::NotEqual, a, k.0), false),
            I::IfLtIK { a, k, .. } => (self.compare_constant(IntCC::SignedLessThan, a, k.0), false),
            I::IfLeIK { a, k, .. } => (self.compare_constant(IntCC::SignedLessThanOrEqual, a, k.0), false),
            I::IfGtIK { a, k, .. } => (self.compare_constant(IntCC::SignedGreaterThan, a, k.0), false),
            I::IfGeIK { a, k, .. } => (self.compare_constant(IntCC::SignedGreaterThanOrEqual, a, k.0), false),
            I::IfEqF { a, b, .. } => (self.compare_numbers(FloatCC::Equal, a, b), false),
            I::IfNeF { a, b, .. } => (self.compare_numbers(FloatCC::NotEqual, a, b), false),
            I::IfLtF { a, b, .. } => (self.compare_numbers(FloatCC::LessThan, a, b), false),
            I::IfLeF { a, b, .. } => (self.compare_numbers(FloatCC::LessThanOrEqual, a, b), false),
            I::UnlessLtF { a, b, .. } => (self.compare_numbers(FloatCC::LessThan, a, b), true),
            I::UnlessLeF { a, b, .. } => (self.compare_numbers(FloatCC::LessThanOrEqual, a, b), true),
            I::LoopLtI { .. } | I::LoopLtIK { .. } => {
                let Some((counter, end)) = self.counter_and_end(at) else { return };
                (self.increment(counter, end), false)
            }
            // All other instructions are translated elsewhere.
            _ => {
                self.leave_before(at);
                self.is_ended = true;
                return;
            }
        };
        let (taken, next) = (self.builder.create_block(), self.builder.create_block());
        let (then, otherwise) = if is_negated { (next, taken) } else { (taken, next) };
        self.builder.ins().brif(condition, then, &[], otherwise, &[]);
        self.continue_in(taken);
        self.jump(at);
        self.continue_in(next);
        self.check_steps(at);
    }

    fn compare(&mut self, comparison: IntCC, a: IIn, b: IIn) -> Value {
        let (a, b) = (self.i(a.0), self.i(b.0));
        self.builder.ins().icmp(comparison, a, b)
    }

    fn compare_constant(&mut self, comparison: IntCC, a: IIn, k: i16) -> Value {
        let a = self.i(a.0);
        self.builder.ins().icmp_imm_s(comparison, a, i64::from(k))
    }

    fn compare_numbers(&mut self, comparison: FloatCC, a: FIn, b: FIn) -> Value {
        let (a, b) = (self.f(a.0), self.f(b.0));
        self.builder.ins().fcmp(comparison, a, b)
    }

    /// Returns the register that counts the iterations of a loop and the value at which it ends, given the last instruction.
    pub(super) fn counter_and_end(&mut self, last: usize) -> Option<(u16, Value)> {
        match self.code.instructions[last] {
            Instruction::LoopLtI { i, n, .. } => Some((i.0, self.i(n.0))),
            Instruction::LoopLtIK { i, k, .. } => Some((i.0, self.constant(i64::from(k.0)))),
            _ => None,
        }
    }

    /// Adds one to the counter of a loop; returns whether the loop continues.
    fn increment(&mut self, counter: u16, end: Value) -> Value {
        let old = self.i(counter);
        let new = self.checked_add_constant(old, 1);
        self.set((Bank::I, counter), new);
        let end = self.end_of_steps().unwrap_or(end);
        self.builder.ins().icmp(IntCC::SignedLessThan, new, end)
    }

    /// Jumps to the target of an instruction, in a block of its own.
    fn jump(&mut self, at: usize) {
        let Some(target) = self.flow.targets[at] else { return };
        if target <= at {
            self.take_step(at);
        }
        match self.block_of(at, target) {
            Some(block) => {
                if self.leaf_loop.as_ref().is_some_and(|found| !found.contains(target)) {
                    self.store_steps();
                }
                self.builder.ins().jump(block, &[]);
            }
            None => self.leave_before(target),
        }
    }

    /// Returns the block to which a jump leads: the block before a loop, if the jump enters the loop.
    fn block_of(&self, at: usize, target: usize) -> Option<Block> {
        if !self.region.contains(&target) {
            return None;
        }
        let is_entered = self.flow.loop_at(target).is_some_and(|around| !around.contains(&at));
        self.block_before(target).filter(|_| is_entered).or(self.blocks[target])
    }

    /// Counts a step. When the limits must be checked, the interpreter executes the jump again.
    fn take_step(&mut self, at: usize) {
        if self.is_derivative {
            self.count_step();
            return;
        }
        if self.end_of_steps().is_some() {
            return;
        }
        let steps = self.steps();
        let left = self.builder.ins().iadd_imm_s(steps, -1);
        self.set_steps(left);
        let is_empty = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        let (empty, next) = self.branch_rarely(is_empty);
        self.continue_in(empty);
        self.set_steps(steps);
        self.repeat_jump(at);
        self.continue_in(next);
    }

    fn set_steps(&mut self, steps: Value) {
        match self.leaf_loop {
            Some(_) => self.builder.def_var(self.fuel, steps),
            None => self.store_context(steps, offsets::FUEL),
        }
    }

    /// Leaves if a loop that counts its steps by its counter ends before the counter has reached the end.
    fn check_steps(&mut self, at: usize) {
        if self.end_of_steps().is_none() {
            return;
        }
        let Some((counter, end)) = self.counter_and_end(at) else { return };
        let counter = self.i(counter);
        let is_out_of_steps = self.builder.ins().icmp(IntCC::SignedLessThan, counter, end);
        let (empty, next) = self.branch_rarely(is_out_of_steps);
        self.continue_in(empty);
        self.repeat_jump(at);
        self.continue_in(next);
    }

    /// Leaves before a jump backward.
    fn repeat_jump(&mut self, at: usize) {
        if let Instruction::LoopLtI { i, .. } | Instruction::LoopLtIK { i, .. } = self.code.instructions[at] {
            let new = self.i(i.0);
            let old = self.builder.ins().iadd_imm_s(new, -1);
            self.set((Bank::I, i.0), old);
        }
        let saved = self.flow.live(at).collect();
        self.leave(at, Continuation::Before, saved);
    }
}
