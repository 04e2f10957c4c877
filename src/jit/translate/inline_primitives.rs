//! Inline primitives: primitives for which the processor has instructions, so that machine code does not call their functions.
//!
//! Promises: the values are those of the functions in the table of primitives, bit for bit. Where such a function fails, machine code
//! leaves for the interpreter.

use super::Translator;
use crate::bytecode::operand::Prim;
use crate::native::{PrimitiveId, primitive_ids as ids};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

/// The first number that is larger than all integers.
const END_OF_INTEGERS: f64 = 9_223_372_036_854_775_808.0;

/// The largest number of places by which the processor shifts an integer.
const MAX_SHIFT: i64 = 63;

/// Whether a primitive is translated without a call.
pub(super) fn is_inline(p: Prim) -> bool {
    match PrimitiveId(p.0.into()) {
        ids::FLOOR | ids::CEIL | ids::TRUNC | ids::RINT => rounds(),
        ids::COPYSIGN | ids::MIN | ids::MAX | ids::RELU | ids::TO_INT => true,
        ids::INT_NEG | ids::INT_ABS | ids::INT_NOT | ids::INT_MIN | ids::INT_MAX => true,
        ids::INT_ADD_WRAPPING | ids::INT_SUB_WRAPPING | ids::INT_MUL_WRAPPING => true,
        ids::INT_AND | ids::INT_OR | ids::INT_XOR | ids::INT_SHL | ids::INT_SHR => true,
        ids::INT_FIT8 | ids::INT_FIT16 | ids::INT_FIT32 => true,
        ids::INT_FIT_U8 | ids::INT_FIT_U16 | ids::INT_FIT_U32 | ids::INT_FIT_U64 => true,
        _ => false,
    }
}

/// Whether the processor rounds numbers to integers.
fn rounds() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

impl Translator<'_, '_> {
    /// Returns the value of a primitive that is translated without a call.
    pub(super) fn inline_primitive(&mut self, p: Prim, operands: &[Value]) -> Option<Value> {
        if !is_inline(p) {
            return None;
        }
        let id = PrimitiveId(p.0.into());
        match *operands {
            [a] => self.inline_unary(id, a),
            [a, b] => self.inline_binary(id, a, b),
            _ => None,
        }
    }

    fn inline_unary(&mut self, id: PrimitiveId, a: Value) -> Option<Value> {
        Some(match id {
            ids::FLOOR => self.builder.ins().floor(a),
            ids::CEIL => self.builder.ins().ceil(a),
            ids::TRUNC => self.builder.ins().trunc(a),
            ids::RINT => self.builder.ins().nearest(a),
            ids::RELU => {
                let zero = self.builder.ins().f64const(0.0);
                let is_negative = self.builder.ins().fcmp(FloatCC::LessThan, a, zero);
                self.builder.ins().select(is_negative, zero, a)
            }
            ids::TO_INT => self.integer_of(a),
            ids::INT_NEG | ids::INT_ABS => {
                let is_smallest = self.builder.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
                self.leave_if(is_smallest);
                if id == ids::INT_NEG { self.builder.ins().ineg(a) } else { self.builder.ins().iabs(a) }
            }
            ids::INT_NOT => self.builder.ins().bnot(a),
            ids::INT_FIT8 => self.fitted(a, types::I8, true),
            ids::INT_FIT16 => self.fitted(a, types::I16, true),
            ids::INT_FIT32 => self.fitted(a, types::I32, true),
            ids::INT_FIT_U8 => self.fitted(a, types::I8, false),
            ids::INT_FIT_U16 => self.fitted(a, types::I16, false),
            ids::INT_FIT_U32 => self.fitted(a, types::I32, false),
            ids::INT_FIT_U64 => {
                let is_negative = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0);
                self.leave_if(is_negative);
                a
            }
            _ => return None,
        })
    }

    fn inline_binary(&mut self, id: PrimitiveId, a: Value, b: Value) -> Option<Value> {
        Some(match id {
            ids::COPYSIGN => self.builder.ins().fcopysign(a, b),
            // Of equal numbers, and of numbers that cannot be compared, the functions return a certain one.
            ids::MIN => {
                let is_less = self.builder.ins().fcmp(FloatCC::LessThan, b, a);
                self.builder.ins().select(is_less, b, a)
            }
            ids::MAX => {
                let is_at_least = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, b, a);
                self.builder.ins().select(is_at_least, b, a)
            }
            ids::INT_ADD_WRAPPING => self.builder.ins().iadd(a, b),
            ids::INT_SUB_WRAPPING => self.builder.ins().isub(a, b),
            ids::INT_MUL_WRAPPING => self.builder.ins().imul(a, b),
            ids::INT_AND => self.builder.ins().band(a, b),
            ids::INT_OR => self.builder.ins().bor(a, b),
            ids::INT_XOR => self.builder.ins().bxor(a, b),
            ids::INT_MIN => self.builder.ins().smin(a, b),
            ids::INT_MAX => self.builder.ins().smax(a, b),
            ids::INT_SHL => {
                let opposite = self.builder.ins().ineg(b);
                let (left, right) = (self.shifted_left(a, b), self.shifted_right(a, opposite));
                self.by_sign(b, right, left)
            }
            ids::INT_SHR => {
                let opposite = self.builder.ins().ineg(b);
                let (left, right) = (self.shifted_left(a, opposite), self.shifted_right(a, b));
                self.by_sign(b, left, right)
            }
            _ => return None,
        })
    }

    /// Returns one of two values, depending on whether an integer is negative.
    fn by_sign(&mut self, of: Value, negative: Value, other: Value) -> Value {
        let is_negative = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, of, 0);
        self.builder.ins().select(is_negative, negative, other)
    }

    /// Returns an integer shifted by a number of places, which is not negative.
    fn shifted_left(&mut self, a: Value, places: Value) -> Value {
        let shifted = self.builder.ins().ishl(a, places);
        let nothing = self.constant(0);
        let is_short = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, places, MAX_SHIFT);
        self.builder.ins().select(is_short, shifted, nothing)
    }

    /// Returns an integer shifted by a number of places, which is not negative.
    fn shifted_right(&mut self, a: Value, places: Value) -> Value {
        let most = self.constant(MAX_SHIFT);
        let places = self.builder.ins().umin(places, most);
        self.builder.ins().sshr(a, places)
    }

    /// Returns an integer, and leaves unless it has the bits of a type.
    fn fitted(&mut self, a: Value, of: Type, is_signed: bool) -> Value {
        let part = self.builder.ins().ireduce(of, a);
        let whole = match is_signed {
            true => self.builder.ins().sextend(types::I64, part),
            false => self.builder.ins().uextend(types::I64, part),
        };
        let fits = self.builder.ins().icmp(IntCC::Equal, whole, a);
        self.leave_unless(fits);
        a
    }

    /// Returns a number without its fraction as an integer, and leaves unless there is such an integer.
    fn integer_of(&mut self, a: Value) -> Value {
        let magnitude = self.builder.ins().fabs(a);
        let end = self.builder.ins().f64const(END_OF_INTEGERS);
        let is_integer = self.builder.ins().fcmp(FloatCC::LessThan, magnitude, end);
        self.leave_unless(is_integer);
        self.builder.ins().fcvt_to_sint_sat(types::I64, a)
    }
}
