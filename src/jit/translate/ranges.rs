//! Ranges: indices that are compared with the number of components once before a loop, and not in each iteration.
//!
//! The loop is executed by the interpreter if an index leaves its range in any iteration. Only accesses that each
//! iteration executes are compared before the loop, so that the interpreter finds an index outside of its range, unless
//! the loop ends early.

use super::super::induction::{Counter, Induction, Linear, Operand, induction};
use super::Translator;
use super::views::{Key, View, access, key};
use crate::bytecode::Instruction;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::ops::RangeInclusive;

/// The indices in a loop, and what was compared before the loop so far.
pub(super) struct Ranges {
    found: Induction,
    /// The number of iterations, if it was needed.
    iterations: Option<Value>,
    /// The indices and the numbers of components.
    checked: Vec<(Linear, Value)>,
}

impl Translator<'_, '_> {
    /// Finds the indices in a loop.
    pub(super) fn ranges(&self, around: &RangeInclusive<usize>) -> Ranges {
        let found = induction(self.code, &self.flow, around, self.signature, |at| access(self.code, at)?.index);
        Ranges { found, iterations: None, checked: vec![] }
    }

    /// Compares the indices of the accesses to the components of a view, in the block before the loop.
    pub(super) fn check_ranges(&mut self, ranges: &mut Ranges, of: Key, view: View) {
        for i in 0..ranges.found.indices.len() {
            let (at, operand, ref index) = ranges.found.indices[i];
            if self.in_range[at] || key(self.code, at) != Some(of) {
                continue;
            }
            let checked = (index.clone(), view.count);
            if !ranges.checked.contains(&checked) {
                self.check_index(ranges, &checked.0, view.count);
                ranges.checked.push(checked);
            }
            self.in_range[at] = true;
            self.mark_sums(ranges, operand);
        }
    }

    /// Leaves unless an index is in its range in each iteration.
    fn check_index(&mut self, ranges: &mut Ranges, index: &Linear, count: Value) {
        if index.step != 0 && ranges.iterations.is_none() {
            ranges.iterations = ranges.found.counter.map(|counter| self.iterations(&counter));
        }
        let first = self.first_value(&index.terms, index.constant);
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, first, count);
        self.leave_unless(exists);
        let room = match index.step {
            0 => return,
            1 => self.builder.ins().isub(count, first),
            _ => self.builder.ins().iadd_imm_s(first, 1),
        };
        if let Some(iterations) = ranges.iterations {
            let is_enough = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, iterations, room);
            self.leave_unless(is_enough);
        }
    }

    /// Returns the number of iterations of a loop, after checks that the loop counts from a number to a larger or smaller
    /// one, neither of which is negative.
    fn iterations(&mut self, counter: &Counter) -> Value {
        let start = self.i(counter.register);
        let end = match counter.end {
            Operand::Register(register) => self.i(register),
            Operand::Constant(constant) => self.constant(constant),
        };
        let (from, to) = if counter.step > 0 { (start, end) } else { (end, start) };
        let is_negative = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, from, 0);
        self.leave_if(is_negative);
        let order = if counter.is_inclusive { IntCC::SignedLessThanOrEqual } else { IntCC::SignedLessThan };
        let is_ordered = self.builder.ins().icmp(order, from, to);
        self.leave_unless(is_ordered);
        // The counter passes no number beyond the end, and overflows only after the largest number.
        self.in_range[counter.changed_at] |= !counter.is_inclusive;
        let distance = self.builder.ins().isub(to, from);
        self.builder.ins().iadd_imm_s(distance, i64::from(counter.is_inclusive))
    }

    /// Returns the value of an index in the first iteration.
    fn first_value(&mut self, terms: &[u16], constant: i64) -> Value {
        let mut sum = None;
        for register in terms {
            let term = self.i(*register);
            sum = Some(sum.map_or(term, |sum| self.builder.ins().iadd(sum, term)));
        }
        match sum {
            Some(sum) => self.builder.ins().iadd_imm_s(sum, constant),
            None => self.constant(constant),
        }
    }

    /// Marks the additions that compute an index that is in its range: they do not overflow. Of two numbers, at least one
    /// must be known not to be negative, as a counter whose start and end were compared: the sum of the two smallest numbers
    /// is 0 without the carry.
    fn mark_sums(&mut self, ranges: &Ranges, index: Operand) {
        let counter = ranges.found.counter.filter(|_| ranges.iterations.is_some()).map(|counter| counter.register);
        for (at, register) in &ranges.found.sums {
            let is_exact = match self.code.instructions[*at] {
                Instruction::AddI { a, b, .. } => counter.is_some_and(|counter| a.0 == counter || b.0 == counter),
                _ => true,
            };
            self.in_range[*at] |= is_exact && index == Operand::Register(*register);
        }
    }
}
