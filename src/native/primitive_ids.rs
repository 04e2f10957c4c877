//! Primitive ids: constants for the primitives that the compiler and the machine refer to.

use super::primitive::PrimitiveId;
use super::primitive_table::PARTS;

macro_rules! ids {
    ($($(#[$doc:meta])+ $id:ident = $name:literal;)*) => {
        $($(#[$doc])+ pub const $id: PrimitiveId = find($name);)*
    };
}

ids! {
    /// The sum of two numbers, `a + b`.
    ADD = "double.add";
    /// The difference of two numbers, `a - b`.
    SUB = "double.sub";
    /// The product of two numbers, `a · b`.
    MUL = "double.mul";
    /// The quotient of two numbers, `a / b`.
    DIV = "double.div";
    /// The negation of a number, `-a`.
    NEG = "double.neg";
    /// The sum of a product and a number, `a · b + c`.
    FMA = "double.fma";
    /// The sine.
    SIN = "double.sin";
    /// The cosine.
    COS = "double.cos";
    /// The hyperbolic sine.
    SINH = "double.sinh";
    /// The hyperbolic cosine.
    COSH = "double.cosh";
    /// The natural exponential function.
    EXP = "double.exp";
    /// The absolute value of a number.
    ABS = "double.abs";
    /// The square root.
    SQRT = "double.sqrt";
    /// The natural logarithm.
    LOG = "double.log";
    /// The power with an exponent that is a number.
    POW = "double.pow";
    /// The power with an integer exponent.
    POWI = "double.powi";
    /// The magnitude of `a` with the sign of `b`.
    COPYSIGN = "double.copysign";
    /// The smaller one of two numbers.
    MIN = "double.min";
    /// The larger one of two numbers.
    MAX = "double.max";
    /// A number, or 0 if it is negative.
    RELU = "double.relu";
    /// The sign of a number: -1, 0 or 1.
    SIGN = "double.sign";
    /// The greatest integer that is not above a number.
    FLOOR = "double.floor";
    /// The least integer that is not below a number.
    CEIL = "double.ceil";
    /// A number without its fraction.
    TRUNC = "double.trunc";
    /// The nearest integer to a number, ties to even.
    RINT = "double.rint";
    /// The derivative of order `n` of the digamma function.
    POLYGAMMA = "double.polygamma";
    /// The comparison whether two numbers are equal, `a == b`.
    EQ = "double.eq";
    /// The comparison whether two numbers differ, `a != b`.
    NE = "double.ne";
    /// The comparison whether one number is less than another, `a < b`.
    LT = "double.lt";
    /// The comparison whether one number is at most another, `a <= b`.
    LE = "double.le";
    /// The comparison whether one number is greater than another, `a > b`.
    GT = "double.gt";
    /// The comparison whether one number is at least another, `a >= b`.
    GE = "double.ge";
    /// The rounding of a number to single precision.
    TO_SINGLE = "float.round";
    /// The conversion of an integer to a number.
    FROM_INT = "double.fromInt";
    /// The truncation of a number to an integer.
    TO_INT = "int.fromDouble";
    /// The sum of two integers, `a + b`.
    INT_ADD = "int.add";
    /// The difference of two integers, `a - b`.
    INT_SUB = "int.sub";
    /// The product of two integers, `a · b`.
    INT_MUL = "int.mul";
    /// The quotient of two integers, `a / b`.
    INT_DIV = "int.div";
    /// The remainder of the division of two integers, `a / b`.
    INT_REM = "int.rem";
    /// The comparison whether two integers are equal, `a == b`.
    INT_EQ = "int.eq";
    /// The comparison whether two integers differ, `a != b`.
    INT_NE = "int.ne";
    /// The comparison whether one integer is less than another, `a < b`.
    INT_LT = "int.lt";
    /// The comparison whether one integer is at most another, `a <= b`.
    INT_LE = "int.le";
    /// The comparison whether one integer is greater than another, `a > b`.
    INT_GT = "int.gt";
    /// The comparison whether one integer is at least another, `a >= b`.
    INT_GE = "int.ge";
    /// An integer with its sign changed.
    INT_NEG = "int.neg";
    /// The absolute value of an integer.
    INT_ABS = "int.abs";
    /// The sum of two integers, without its carry.
    INT_ADD_WRAPPING = "int.addWrapping";
    /// The difference of two integers, without its carry.
    INT_SUB_WRAPPING = "int.subWrapping";
    /// The lower half of the product of two integers.
    INT_MUL_WRAPPING = "int.mulWrapping";
    /// The bits that are set in both integers, `a & b`.
    INT_AND = "int.and";
    /// The bits that are set in an integer, `a | b`.
    INT_OR = "int.or";
    /// The bits in which two integers differ, `a ^ b`.
    INT_XOR = "int.xor";
    /// The bits that are not set, `~a`.
    INT_NOT = "int.not";
    /// An integer shifted left, `a << b`.
    INT_SHL = "int.shl";
    /// An integer shifted right, `a >> b`.
    INT_SHR = "int.shr";
    /// The smaller one of two integers.
    INT_MIN = "int.min";
    /// The larger one of two integers.
    INT_MAX = "int.max";
    /// An integer of 8 bits.
    INT_FIT8 = "int.fit8";
    /// An integer of 16 bits.
    INT_FIT16 = "int.fit16";
    /// An integer of 32 bits.
    INT_FIT32 = "int.fit32";
    /// An integer of 8 bits without a sign.
    INT_FIT_U8 = "int.fitU8";
    /// An integer of 16 bits without a sign.
    INT_FIT_U16 = "int.fitU16";
    /// An integer of 32 bits without a sign.
    INT_FIT_U32 = "int.fitU32";
    /// An integer that is not negative.
    INT_FIT_U64 = "int.fitU64";
    /// The logical negation of a Boolean.
    NOT = "bool.not";
}

/// Returns the index of the primitive with a name. The function is used in constants only, where a missing entry is a
/// compile-time error.
const fn find(name: &str) -> PrimitiveId {
    let (mut part, mut number) = (0, 0);
    while part < PARTS.len() {
        let mut k = 0;
        while k < PARTS[part].len() {
            if is_same(PARTS[part][k].name, name) {
                return PrimitiveId(number);
            }
            number += 1;
            k += 1;
        }
        part += 1;
    }
    panic!("the table has no entry of this name")
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut k = 0;
    while k < a.len() && k < b.len() && a[k] == b[k] {
        k += 1;
    }
    k == a.len() && k == b.len()
}
