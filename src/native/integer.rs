//! Integers: the table entries for integers and Booleans, none of which has a derivative.

use super::{Primitive, Rule, Trap, Value};

const fn unary(name: &'static str, value: fn(i64) -> Result<i64, Trap>, doc: &'static str) -> Primitive {
    Primitive::new(name, Value::I1(value), Rule::Flat).doc(doc)
}

const fn binary(name: &'static str, value: fn(i64, i64) -> Result<i64, Trap>, doc: &'static str) -> Primitive {
    Primitive::new(name, Value::I2(value), Rule::Flat).doc(doc)
}

/// The integer operations of the table of primitives.
pub(super) const TABLE: &[Primitive] = &[
    binary("int.add", |a, b| a.checked_add(b).ok_or(Trap::Overflow), "Sum.").symbol("+").cheap(),
    binary("int.sub", |a, b| a.checked_sub(b).ok_or(Trap::Overflow), "Difference.").symbol("-").cheap(),
    binary("int.mul", |a, b| a.checked_mul(b).ok_or(Trap::Overflow), "Product.").symbol("*").cheap(),
    binary("int.div", divide, "Quotient, rounded towards 0.").symbol("/"),
    binary("int.rem", remainder, "Remainder, with the sign of the first number.").symbol("%"),
    unary("int.neg", |a| a.checked_neg().ok_or(Trap::Overflow), "The number with its sign changed."),
    unary("int.abs", |a| a.checked_abs().ok_or(Trap::Overflow), "Distance from 0."),
    binary("int.addWrapping", |a, b| Ok(a.wrapping_add(b)), "Sum, wrapped around."),
    binary("int.subWrapping", |a, b| Ok(a.wrapping_sub(b)), "Difference, wrapped around."),
    binary("int.mulWrapping", |a, b| Ok(a.wrapping_mul(b)), "Product, wrapped around."),
    binary("int.and", |a, b| Ok(a & b), "Bits that are set in both."),
    binary("int.or", |a, b| Ok(a | b), "Bits that are set in one or both."),
    binary("int.xor", |a, b| Ok(a ^ b), "Bits that are set in one of both."),
    unary("int.not", |a| Ok(!a), "The other bits."),
    binary("int.shl", |a, b| Ok(shift_left(a, b)), "Bits moved towards the higher places."),
    binary("int.shr", |a, b| Ok(shift_right(a, b)), "Bits moved towards the lower places; the sign stays."),
    binary("int.min", |a, b| Ok(a.min(b)), "The smaller of two integers."),
    binary("int.max", |a, b| Ok(a.max(b)), "The larger of two integers."),
    binary("int.eq", |a, b| Ok(i64::from(a == b)), "Whether two integers are equal.").symbol("=="),
    binary("int.ne", |a, b| Ok(i64::from(a != b)), "Whether two integers differ.").symbol("!="),
    binary("int.lt", |a, b| Ok(i64::from(a < b)), "Whether one integer is below another.").symbol("<"),
    binary("int.le", |a, b| Ok(i64::from(a <= b)), "Whether one integer is not above another.").symbol("<="),
    binary("int.gt", |a, b| Ok(i64::from(a > b)), "Whether one integer is above another.").symbol(">"),
    binary("int.ge", |a, b| Ok(i64::from(a >= b)), "Whether one integer is not below another.").symbol(">="),
    unary("int.fit8", |a| fit(a, i8::try_from(a).is_ok()), "The integer, if it has 8 bits."),
    unary("int.fit16", |a| fit(a, i16::try_from(a).is_ok()), "The integer, if it has 16 bits."),
    unary("int.fit32", |a| fit(a, i32::try_from(a).is_ok()), "The integer, if it has 32 bits."),
    unary("int.fitU8", |a| fit(a, u8::try_from(a).is_ok()), "The integer, if it has 8 bits and no sign."),
    unary("int.fitU16", |a| fit(a, u16::try_from(a).is_ok()), "The integer, if it has 16 bits and no sign."),
    unary("int.fitU32", |a| fit(a, u32::try_from(a).is_ok()), "The integer, if it has 32 bits and no sign."),
    unary("int.fitU64", |a| fit(a, a >= 0), "The integer, if it is not negative."),
    unary("bool.not", |a| Ok(i64::from(a == 0)), "The other truth value."),
    binary("bool.and", |a, b| Ok(i64::from(a != 0 && b != 0)), "Whether both hold."),
    binary("bool.or", |a, b| Ok(i64::from(a != 0 || b != 0)), "Whether one or both hold."),
    binary("bool.eq", |a, b| Ok(i64::from((a != 0) == (b != 0))), "Whether two truth values are equal.").symbol("=="),
];

fn divide(a: i64, b: i64) -> Result<i64, Trap> {
    if b == 0 { Err(Trap::DivisionByZero) } else { a.checked_div(b).ok_or(Trap::Overflow) }
}

fn remainder(a: i64, b: i64) -> Result<i64, Trap> {
    if b == 0 { Err(Trap::DivisionByZero) } else { a.checked_rem(b).ok_or(Trap::Overflow) }
}

fn fit(a: i64, fits: bool) -> Result<i64, Trap> {
    if fits { Ok(a) } else { Err(Trap::Overflow) }
}

/// Shifts left, as in Swift: shifting by the number of bits or more returns 0, and a negative count shifts right.
fn shift_left(a: i64, by: i64) -> i64 {
    match by {
        0..64 => a << by,
        64.. => 0,
        _ => shift_right(a, by.saturating_neg()),
    }
}

fn shift_right(a: i64, by: i64) -> i64 {
    match by {
        0..64 => a >> by,
        64.. => a >> 63,
        _ => shift_left(a, by.saturating_neg()),
    }
}
