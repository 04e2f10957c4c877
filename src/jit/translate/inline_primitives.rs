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

/// The translation of a primitive, given its operands.
enum Translation {
    Unary(fn(&mut Translator<'_, '_>, Value) -> Value),
    Binary(fn(&mut Translator<'_, '_>, Value, Value) -> Value),
}

/// Whether a primitive is translated without a call.
pub(super) fn is_inline(p: Prim) -> bool {
    translation(p).is_some()
}

/// Returns the translation of a primitive without a call, if there is one.
fn translation(p: Prim) -> Option<Translation> {
    use Translation::{Binary, Unary};
    Some(match PrimitiveId(p.0.into()) {
        ids::FLOOR if rounds() => Unary(|t, a| t.builder.ins().floor(a)),
        ids::CEIL if rounds() => Unary(|t, a| t.builder.ins().ceil(a)),
        ids::TRUNC if rounds() => Unary(|t, a| t.builder.ins().trunc(a)),
        ids::RINT if rounds() => Unary(|t, a| t.builder.ins().nearest(a)),
        ids::RELU => Unary(|t, a| {
            let zero = t.builder.ins().f64const(0.0);
            let is_negative = t.builder.ins().fcmp(FloatCC::LessThan, a, zero);
            t.builder.ins().select(is_negative, zero, a)
        }),
        ids::COPYSIGN => Binary(|t, a, b| t.builder.ins().fcopysign(a, b)),
        // Of equal numbers, and of numbers that cannot be compared, the functions return a certain one.
        ids::MIN => Binary(|t, a, b| {
            let is_less = t.builder.ins().fcmp(FloatCC::LessThan, b, a);
            t.builder.ins().select(is_less, b, a)
        }),
        ids::MAX => Binary(|t, a, b| {
            let is_at_least = t.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, b, a);
            t.builder.ins().select(is_at_least, b, a)
        }),
        ids::TO_INT => Unary(|t, a| t.integer_of(a)),
        ids::INT_NEG => Unary(|t, a| {
            t.leave_if_smallest(a);
            t.builder.ins().ineg(a)
        }),
        ids::INT_ABS => Unary(|t, a| {
            t.leave_if_smallest(a);
            t.builder.ins().iabs(a)
        }),
        ids::INT_MIN => Binary(|t, a, b| t.builder.ins().smin(a, b)),
        ids::INT_MAX => Binary(|t, a, b| t.builder.ins().smax(a, b)),
        ids::INT_ADD_WRAPPING => Binary(|t, a, b| t.builder.ins().iadd(a, b)),
        ids::INT_SUB_WRAPPING => Binary(|t, a, b| t.builder.ins().isub(a, b)),
        ids::INT_MUL_WRAPPING => Binary(|t, a, b| t.builder.ins().imul(a, b)),
        ids::INT_AND => Binary(|t, a, b| t.builder.ins().band(a, b)),
        ids::INT_OR => Binary(|t, a, b| t.builder.ins().bor(a, b)),
        ids::INT_XOR => Binary(|t, a, b| t.builder.ins().bxor(a, b)),
        ids::INT_NOT => Unary(|t, a| t.builder.ins().bnot(a)),
        ids::INT_SHL => Binary(|t, a, b| {
            let opposite = t.builder.ins().ineg(b);
            let (left, right) = (t.shifted_left(a, b), t.shifted_right(a, opposite));
            t.by_sign(b, right, left)
        }),
        ids::INT_SHR => Binary(|t, a, b| {
            let opposite = t.builder.ins().ineg(b);
            let (left, right) = (t.shifted_left(a, opposite), t.shifted_right(a, b));
            t.by_sign(b, left, right)
        }),
        ids::INT_FIT8 => Unary(|t, a| t.fitted(a, types::I8, true)),
        ids::INT_FIT16 => Unary(|t, a| t.fitted(a, types::I16, true)),
        ids::INT_FIT32 => Unary(|t, a| t.fitted(a, types::I32, true)),
        ids::INT_FIT_U8 => Unary(|t, a| t.fitted(a, types::I8, false)),
        ids::INT_FIT_U16 => Unary(|t, a| t.fitted(a, types::I16, false)),
        ids::INT_FIT_U32 => Unary(|t, a| t.fitted(a, types::I32, false)),
        ids::INT_FIT_U64 => Unary(|t, a| {
            let is_negative = t.builder.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0);
            t.leave_if(is_negative);
            a
        }),
        _ => return None,
    })
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
        match (translation(p)?, operands) {
            (Translation::Unary(translate), [a]) => Some(translate(self, *a)),
            (Translation::Binary(translate), [a, b]) => Some(translate(self, *a, *b)),
            _ => None,
        }
    }

    /// Leaves if an integer is the smallest one, whose opposite does not exist.
    fn leave_if_smallest(&mut self, a: Value) {
        let is_smallest = self.builder.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
        self.leave_if(is_smallest);
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
