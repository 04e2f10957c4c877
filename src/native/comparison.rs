//! Comparisons: the table entries for comparisons of numbers, and for conversions between numbers and integers.

use super::{Primitive, Rule, Single, Trap, Value};

/// The end of the diagnostic "… has no derivative: …" for conversions from numbers to integers.
const INTEGER_RESULT: &str = "an integer does not vary with the number that it was converted from";

/// The comparisons and conversions of the table of primitives.
pub(super) const TABLE: &[Primitive] = &[
    Primitive::new("double.eq", Value::Test2(|a, b| a == b), Rule::Flat)
        .symbol("==")
        .doc("Whether two numbers are equal."),
    Primitive::new("double.ne", Value::Test2(|a, b| a != b), Rule::Flat)
        .symbol("!=")
        .doc("Whether two numbers differ."),
    Primitive::new("double.lt", Value::Test2(|a, b| a < b), Rule::Flat)
        .symbol("<")
        .doc("Whether one number is below another."),
    Primitive::new("double.le", Value::Test2(|a, b| a <= b), Rule::Flat)
        .symbol("<=")
        .doc("Whether one number is not above another."),
    Primitive::new("double.gt", Value::Test2(|a, b| a > b), Rule::Flat)
        .symbol(">")
        .doc("Whether one number is above another."),
    Primitive::new("double.ge", Value::Test2(|a, b| a >= b), Rule::Flat)
        .symbol(">=")
        .doc("Whether one number is not below another."),
    Primitive::new("double.isNaN", Value::Test1(f64::is_nan), Rule::Flat).doc("Whether it is NaN."),
    Primitive::new("double.isFinite", Value::Test1(f64::is_finite), Rule::Flat).doc("Whether it is finite."),
    Primitive::new("double.isInfinite", Value::Test1(f64::is_infinite), Rule::Flat).doc("Whether it is infinite."),
    Primitive::new("double.signBit", Value::Test1(f64::is_sign_negative), Rule::Flat)
        .doc("Whether its sign bit is set."),
    Primitive::new("double.fromInt", Value::ItoF(|n| n as f64), Rule::Flat).cheap().doc("The number of an integer."),
    Primitive::new("double.fromBits", Value::ItoF(|n| f64::from_bits(n as u64)), Rule::Flat)
        .single(Single::None)
        .doc("The number with these bits."),
    Primitive::new("double.bits", Value::FtoI(|x| Ok(x.to_bits() as i64)), Rule::Opaque(INTEGER_RESULT))
        .single(Single::None)
        .doc("The bits of a number."),
    Primitive::new("int.fromDouble", Value::FtoI(to_integer), Rule::Opaque(INTEGER_RESULT))
        .symbol("Int")
        .defined("-2⁶³ ≤ x < 2⁶³")
        .doc("A number without its fraction, as an integer."),
];

fn to_integer(x: f64) -> Result<i64, Trap> {
    // 2⁶³ is representable as a number and 2⁶³ - 1 is not, hence the strict upper bound below.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if (-END..END).contains(&x) { Ok(x as i64) } else { Err(Trap::NotRepresentable) }
}
