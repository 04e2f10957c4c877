//! Ids: constants for the primitives that the compiler and the machine refer to.

use super::primitive::PrimitiveId;
use super::table::PARTS;

macro_rules! ids {
    ($($(#[$doc:meta])+ $id:ident = $name:literal;)*) => {
        $($(#[$doc])+ pub const $id: PrimitiveId = find($name);)*
    };
}

ids! {
    /// `a + b`
    ADD = "double.add";
    /// `a - b`
    SUB = "double.sub";
    /// `a · b`
    MUL = "double.mul";
    /// `a / b`
    DIV = "double.div";
    /// `-a`
    NEG = "double.neg";
    /// `a · b + c`
    FMA = "double.fma";
    /// Sine.
    SIN = "double.sin";
    /// Cosine.
    COS = "double.cos";
    /// Hyperbolic sine.
    SINH = "double.sinh";
    /// Hyperbolic cosine.
    COSH = "double.cosh";
    /// Natural exponential.
    EXP = "double.exp";
    /// The magnitude.
    ABS = "double.abs";
    /// Square root.
    SQRT = "double.sqrt";
    /// Natural logarithm.
    LOG = "double.log";
    /// Power with an exponent that is a number.
    POW = "double.pow";
    /// Power with an integer exponent.
    POWI = "double.powi";
    /// The magnitude of `a` with the sign of `b`.
    COPYSIGN = "double.copysign";
    /// -1, 0 or 1.
    SIGN = "double.sign";
    /// The nearest integer, ties to even.
    RINT = "double.rint";
    /// Derivative of order `n` of the digamma function.
    POLYGAMMA = "double.polygamma";
    /// `a == b`
    EQ = "double.eq";
    /// `a != b`
    NE = "double.ne";
    /// `a < b`
    LT = "double.lt";
    /// `a <= b`
    LE = "double.le";
    /// `a > b`
    GT = "double.gt";
    /// `a >= b`
    GE = "double.ge";
    /// A number rounded to single precision.
    TO_SINGLE = "float.round";
    /// An integer as a number.
    FROM_INT = "double.fromInt";
    /// A number truncated to an integer.
    TO_INT = "int.fromDouble";
    /// `a + b` of integers
    INT_ADD = "int.add";
    /// `a - b` of integers
    INT_SUB = "int.sub";
    /// `a · b` of integers
    INT_MUL = "int.mul";
    /// `a / b` of integers
    INT_DIV = "int.div";
    /// The remainder of `a / b` of integers
    INT_REM = "int.rem";
    /// `a == b` of integers
    INT_EQ = "int.eq";
    /// `a != b` of integers
    INT_NE = "int.ne";
    /// `a < b` of integers
    INT_LT = "int.lt";
    /// `a <= b` of integers
    INT_LE = "int.le";
    /// `a > b` of integers
    INT_GT = "int.gt";
    /// `a >= b` of integers
    INT_GE = "int.ge";
    /// Logical negation.
    NOT = "bool.not";
}

/// Returns the index of the entry with a name. Used in constants only, where a missing entry is a compile-time error.
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
