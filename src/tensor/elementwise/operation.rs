//! The table of elementwise operations.

/// Declares an enum of operations together with their names and the list of all.
macro_rules! operations {
    ($(#[$doc:meta])* $enum:ident { $($(#[$entry:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($(#[$entry])* $name,)*
        }

        impl $enum {
            /// All operations.
            pub const ALL: &[$enum] = &[$($enum::$name,)*];

            /// Returns the name of the operation in programs.
            pub fn name(self) -> &'static str {
                match self {
                    $($enum::$name => $text,)*
                }
            }

            /// Returns the operation with a name.
            pub fn named(name: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|operation| operation.name() == name)
            }
        }
    };
}

operations! {
    /// An operation with one operand.
    Unary {
        /// `-x`
        Negate = "negate",
        /// `|x|`
        Abs = "abs",
        /// -1, 0 or 1; NaN of NaN
        Sign = "sign",
        /// `x²`
        Squared = "squared",
        /// `1 / x`
        Reciprocal = "reciprocal",
        /// The square root.
        Sqrt = "sqrt",
        /// `1 / √x`
        Rsqrt = "rsqrt",
        /// The largest integer that is not larger.
        Floor = "floor",
        /// The smallest integer that is not smaller.
        Ceil = "ceil",
        /// The nearest integer; the even one of two.
        Round = "round",
        /// `eˣ`
        Exp = "exp",
        /// `2ˣ`
        Exp2 = "exp2",
        /// `10ˣ`
        Exp10 = "exp10",
        /// `eˣ - 1`
        Expm1 = "expm1",
        /// The natural logarithm.
        Log = "log",
        /// The logarithm to base 2.
        Log2 = "log2",
        /// The logarithm to base 10.
        Log10 = "log10",
        /// `log(1 + x)`
        Log1p = "log1p",
        /// The sine.
        Sin = "sin",
        /// The cosine.
        Cos = "cos",
        /// The tangent.
        Tan = "tan",
        /// The inverse of the sine.
        Asin = "asin",
        /// The inverse of the cosine.
        Acos = "acos",
        /// The inverse of the tangent.
        Atan = "atan",
        /// The hyperbolic sine.
        Sinh = "sinh",
        /// The hyperbolic cosine.
        Cosh = "cosh",
        /// The hyperbolic tangent.
        Tanh = "tanh",
        /// The inverse of the hyperbolic sine.
        Asinh = "asinh",
        /// The inverse of the hyperbolic cosine.
        Acosh = "acosh",
        /// The inverse of the hyperbolic tangent.
        Atanh = "atanh",
        /// The error function.
        Erf = "erf",
        /// `1 - erf(x)`, accurate for large `x`.
        Erfc = "erfc",
        /// The gamma function.
        Gamma = "gamma",
        /// The logarithm of the magnitude of the gamma function.
        LogGamma = "logGamma",
        /// `1 / (1 + e⁻ˣ)`
        Sigmoid = "sigmoid",
        /// `log(sigmoid(x))`
        LogSigmoid = "logSigmoid",
        /// `log(1 + eˣ)`
        Softplus = "softplus",
        /// `x / (1 + |x|)`
        Softsign = "softsign",
        /// `max(x, 0)`
        Relu = "relu",
        /// `min(max(x, 0), 6)`
        Relu6 = "relu6",
        /// `x`, or `eˣ - 1` for negative numbers
        Elu = "elu",
        /// The scaled `elu`.
        Selu = "selu",
        /// `0.5x(1 + tanh(√(2/π)(x + 0.044715x³)))`
        Gelu = "gelu",
        /// `x · sigmoid(x)`
        Swish = "swish",
        /// `x · tanh(softplus(x))`
        Mish = "mish",
        /// `relu6(x + 3) / 6`
        HardSigmoid = "hardSigmoid",
        /// `x · relu6(x + 3) / 6`
        HardSwish = "hardSwish",
        /// `log(1 - eˣ)`
        Log1mexp = "log1mexp",
    }
}

operations! {
    /// An operation with two operands.
    Binary {
        /// `a + b`
        Add = "+",
        /// `a - b`
        Subtract = "-",
        /// `a · b`
        Multiply = "*",
        /// `a / b`
        Divide = "/",
        /// `a - b · trunc(a / b)`
        Remainder = "%",
        /// `aᵇ`
        Pow = "pow",
        /// The larger operand; NaN if one is NaN.
        Max = "max",
        /// The smaller operand; NaN if one is NaN.
        Min = "min",
        /// `(a - b)²`
        SquaredDifference = "squaredDifference",
        /// The angle of the point (b, a).
        Atan2 = "atan2",
        /// `√(a² + b²)`
        Hypot = "hypot",
        /// The `b`-th root of `a`, which keeps the sign of `a` if `b` is odd.
        Root = "root",
        /// `a`, or `a · b` for negative `a`
        LeakyRelu = "leakyRelu",
        /// The derivative of order `b` of the digamma function, for constant integers `b`.
        Polygamma = "polygamma",
    }
}

operations! {
    /// A comparison of two operands.
    Comparison {
        /// `a == b`
        Equal = ".==",
        /// `a != b`
        NotEqual = ".!=",
        /// `a < b`
        Less = ".<",
        /// `a <= b`
        LessEqual = ".<=",
        /// `a > b`
        Greater = ".>",
        /// `a >= b`
        GreaterEqual = ".>=",
    }
}

operations! {
    /// A property of a real number.
    Test {
        /// Whether it is not a number.
        IsNan = "isNaN",
        /// Whether it is neither infinite nor NaN.
        IsFinite = "isFinite",
        /// Whether it is infinite.
        IsInfinite = "isInfinite",
    }
}

operations! {
    /// A logical operation.
    Logical {
        /// `a && b`
        And = "&&",
        /// `a || b`
        Or = "||",
        /// `a != b`
        ExclusiveOr = "^",
    }
}

impl Unary {
    /// Returns the number of simple operations that the operation takes, roughly.
    pub(super) fn cost(self) -> usize {
        use Unary::*;
        match self {
            Negate | Abs | Sign | Squared | Relu | Relu6 | Floor | Ceil | Round | HardSigmoid | HardSwish => 1,
            Reciprocal | Sqrt | Rsqrt | Softsign => 4,
            _ => 16,
        }
    }
}

impl Binary {
    /// Returns the number of simple operations that the operation takes, roughly.
    pub(super) fn cost(self) -> usize {
        use Binary::*;
        match self {
            Remainder | Pow | Atan2 | Hypot | Root | Polygamma => 32,
            Divide => 4,
            _ => 1,
        }
    }

    /// Whether the operation is so simple that to copy an operand first takes as long as the operation itself, and that it therefore has a
    /// loop that reads two operands and writes a third block.
    pub(super) fn has_separate_target(self) -> bool {
        matches!(self, Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide) || self.chooses()
    }

    /// Whether the result is one of two numbers. If it replaces the first one in memory, processors store it with a mask, which takes
    /// several times as long as the operation with a separate target.
    pub(super) fn chooses(self) -> bool {
        matches!(self, Binary::Max | Binary::Min | Binary::LeakyRelu)
    }
}

/// The numbers that are replaced by zeros, in a step of a [`Chain`](super::Chain).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// A NaN beside a zero becomes this zero.
    ZeroOfNan,
    /// A number beside a zero becomes zero, and a negative zero an ordinary one.
    Zero,
    /// A number beside an infinite number becomes zero, and a negative zero an ordinary one.
    Infinite,
    /// A number beside a negative zero becomes this zero.
    NegativeZero,
}
