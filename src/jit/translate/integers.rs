//! Integers: arithmetic of integers, and comparisons.

use super::Translator;
use crate::bytecode::Instruction;
use crate::bytecode::operand::{FIn, IIn};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    /// Translates an instruction that computes an integer; returns whether it is one.
    pub(super) fn integer(&mut self, instruction: &Instruction) -> bool {
        use Instruction as I;
        let (out, value) = match *instruction {
            I::MoveI { out, a } => (out, self.i(a.0)),
            I::LoadI { out, k } => (out, self.constant(self.code.integers[usize::from(k)])),
            I::SetI { out, value } => (out, self.constant(i64::from(value.0))),
            I::AddI { out, a, b } => {
                let (a, b) = (self.i(a.0), self.i(b.0));
                (out, self.checked_add(a, b))
            }
            I::AddIK { out, a, k } => {
                let a = self.i(a.0);
                (out, self.checked_add_constant(a, i64::from(k.0)))
            }
            I::SubI { out, a, b } => {
                let (a, b) = (self.i(a.0), self.i(b.0));
                (out, self.checked_subtract(a, b))
            }
            I::MulI { out, a, b } => {
                let (a, b) = (self.i(a.0), self.i(b.0));
                (out, self.checked_multiply(a, b))
            }
            I::DivI { out, a, b } => (out, self.quotient(a, b)),
            I::RemI { out, a, b } => (out, self.remainder(a, b)),
            I::Not { out, a } => {
                let a = self.i(a.0);
                let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, a, 0);
                (out, self.extended(is_zero))
            }
            I::EqI { out, a, b } => (out, self.compared(IntCC::Equal, a, b)),
            I::NeI { out, a, b } => (out, self.compared(IntCC::NotEqual, a, b)),
            I::LtI { out, a, b } => (out, self.compared(IntCC::SignedLessThan, a, b)),
            I::LeI { out, a, b } => (out, self.compared(IntCC::SignedLessThanOrEqual, a, b)),
            I::EqF { out, a, b } => (out, self.compared_numbers(FloatCC::Equal, a, b)),
            I::NeF { out, a, b } => (out, self.compared_numbers(FloatCC::NotEqual, a, b)),
            I::LtF { out, a, b } => (out, self.compared_numbers(FloatCC::LessThan, a, b)),
            I::LeF { out, a, b } => (out, self.compared_numbers(FloatCC::LessThanOrEqual, a, b)),
            I::PrimWhole { out, a, p } => {
                let a = self.f(a.0);
                (out, self.failing_primitive(p, &[a]))
            }
            I::Prim1I { out, a, p } => {
                let a = self.i(a.0);
                (out, self.failing_primitive(p, &[a]))
            }
            I::Prim2I { out, a, b, p } => {
                let operands = [self.i(a.0), self.i(b.0)];
                (out, self.failing_primitive(p, &operands))
            }
            I::Prim1Test { out, a, p } => {
                let a = self.f(a.0);
                (out, self.primitive(p, &[a]))
            }
            I::Prim2Test { out, a, b, p } => {
                let operands = [self.f(a.0), self.f(b.0)];
                (out, self.primitive(p, &operands))
            }
            _ => return false,
        };
        self.set((Bank::I, out.0), value);
        true
    }

    /// Adds a constant, and leaves on overflow: the sum is on the wrong side of the operand then. To compare them takes
    /// fewer instructions than to read the flag of the processor.
    pub(super) fn checked_add_constant(&mut self, a: Value, k: i64) -> Value {
        let sum = self.builder.ins().iadd_imm_s(a, k);
        if self.in_range[self.at] {
            return sum;
        }
        let wrong = if k < 0 { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
        let overflow = self.builder.ins().icmp(wrong, sum, a);
        self.leave_if(overflow);
        sum
    }

    /// Adds two integers, and leaves on overflow.
    fn checked_add(&mut self, a: Value, b: Value) -> Value {
        if self.in_range[self.at] {
            return self.builder.ins().iadd(a, b);
        }
        let (value, overflow) = self.builder.ins().sadd_overflow(a, b);
        self.leave_if(overflow);
        value
    }

    /// Subtracts two integers, and leaves on overflow.
    fn checked_subtract(&mut self, a: Value, b: Value) -> Value {
        if self.in_range[self.at] {
            return self.builder.ins().isub(a, b);
        }
        let (value, overflow) = self.builder.ins().ssub_overflow(a, b);
        self.leave_if(overflow);
        value
    }

    /// Multiplies two integers, and leaves on overflow.
    fn checked_multiply(&mut self, a: Value, b: Value) -> Value {
        if self.in_range[self.at] {
            return self.builder.ins().imul(a, b);
        }
        let (value, overflow) = self.builder.ins().smul_overflow(a, b);
        self.leave_if(overflow);
        value
    }

    fn quotient(&mut self, a: IIn, b: IIn) -> Value {
        if self.in_range[self.at] {
            let (a, b) = (self.i(a.0), self.i(b.0));
            return self.builder.ins().udiv(a, b);
        }
        let (a, b) = self.divisible(a, b);
        self.builder.ins().sdiv(a, b)
    }

    fn remainder(&mut self, a: IIn, b: IIn) -> Value {
        if self.in_range[self.at] {
            let (a, b) = (self.i(a.0), self.i(b.0));
            return self.builder.ins().urem(a, b);
        }
        let (a, b) = self.divisible(a, b);
        self.builder.ins().srem(a, b)
    }

    /// Returns the operands of a division, and leaves unless the processor can divide them.
    fn divisible(&mut self, a: IIn, b: IIn) -> (Value, Value) {
        let (a, b) = (self.i(a.0), self.i(b.0));
        let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        self.leave_if(is_zero);
        // The quotient of the smallest integer and -1 is too large.
        let is_negative_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        self.leave_if(is_negative_one);
        (a, b)
    }

    /// Converts a condition to an integer.
    fn extended(&mut self, condition: Value) -> Value {
        self.builder.ins().uextend(types::I64, condition)
    }

    fn compared(&mut self, comparison: IntCC, a: IIn, b: IIn) -> Value {
        let (a, b) = (self.i(a.0), self.i(b.0));
        let holds = self.builder.ins().icmp(comparison, a, b);
        self.extended(holds)
    }

    fn compared_numbers(&mut self, comparison: FloatCC, a: FIn, b: FIn) -> Value {
        let (a, b) = (self.f(a.0), self.f(b.0));
        let holds = self.builder.ins().fcmp(comparison, a, b);
        self.extended(holds)
    }
}
