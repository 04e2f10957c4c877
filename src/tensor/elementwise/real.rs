//! The elementwise operations on `Float` and `Double`, in place on blocks, compiled for several sets of vector instructions.

use super::super::reader::Operand;
use super::super::scalar::Scalar;
use super::functions::Function;
use super::operation::{Binary, Comparison, Kept, Unary};
use super::polygamma::polygamma;
use multiversion::multiversion;
use multiversion::target::match_target;

/// A type of real numbers.
pub trait Real:
    Scalar
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
    + std::ops::DivAssign
{
    /// Positive infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;

    /// Replaces each number by the result of an operation.
    fn unary(operation: Unary, x: &mut [Self]);

    /// Replaces each number by the result of an operation with a second operand; `is_swapped` makes it the second operand.
    fn binary(operation: Binary, x: &mut [Self], y: Operand<'_, Self>, is_swapped: bool);

    /// Sets each number of a block to the result of an operation that has a loop for a separate target; `is_swapped` makes the
    /// slice the second operand.
    fn binary_to(operation: Binary, target: &mut [Self], x: &[Self], y: Operand<'_, Self>, is_swapped: bool);

    /// Replaces each number by 1 if a comparison holds, and by 0 if not.
    fn comparison(operation: Comparison, x: &mut [Self], y: Operand<'_, Self>);

    /// Replaces each number of a mask by the number of the first operand where it is not 0, or else of the second.
    fn select(mask: &mut [Self], chosen: Operand<'_, Self>, other: Operand<'_, Self>);

    /// Sets each number of a block to a number, or to the zero that another number at its place requires.
    fn keep_to(rule: Kept, target: &mut [Self], x: &[Self], other: Operand<'_, Self>);

    /// Replaces each number by the difference to its maximum, exponentiated, and returns the sum; of one row of `softmax`.
    fn exp_of_difference(x: &mut [Self], maximum: Self);

    /// Returns `self · factor + addend`, rounded once if the processor has a fused multiply-add.
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;

    /// Returns the natural logarithm of one number.
    fn ln(self) -> Self;

    /// Returns the number of this type that is nearest.
    fn nearest(value: f64) -> Self;
}

#[inline(always)]
fn map<T: Copy>(x: &mut [T], function: impl Fn(T) -> T) {
    for x in x {
        *x = function(*x);
    }
}

#[inline(always)]
fn zip<T: Copy>(x: &mut [T], y: Operand<'_, T>, is_swapped: bool, function: impl Fn(T, T) -> T) {
    match (y, is_swapped) {
        (Operand::Slice(y), false) => x.iter_mut().zip(y).for_each(|(x, &y)| *x = function(*x, y)),
        (Operand::Slice(y), true) => x.iter_mut().zip(y).for_each(|(x, &y)| *x = function(y, *x)),
        (Operand::Scalar(y), false) => map(x, |x| function(x, y)),
        (Operand::Scalar(y), true) => map(x, |x| function(y, x)),
    }
}

#[inline(always)]
fn zip_to<T: Copy>(target: &mut [T], x: &[T], y: Operand<'_, T>, is_swapped: bool, function: impl Fn(T, T) -> T) {
    let all = target.iter_mut().zip(x);
    match (y, is_swapped) {
        (Operand::Slice(y), false) => all.zip(y).for_each(|((target, &x), &y)| *target = function(x, y)),
        (Operand::Slice(y), true) => all.zip(y).for_each(|((target, &x), &y)| *target = function(y, x)),
        (Operand::Scalar(y), false) => all.for_each(|(target, &x)| *target = function(x, y)),
        (Operand::Scalar(y), true) => all.for_each(|(target, &x)| *target = function(y, x)),
    }
}

/// The larger number; a NaN is the largest one.
#[inline(always)]
#[expect(clippy::eq_op, reason = "a NaN differs from itself")]
fn larger<T: Real>(x: T, y: T) -> T {
    if x >= y || x != x { x } else { y }
}

/// The smaller number; a NaN is the smallest one.
#[inline(always)]
#[expect(clippy::eq_op, reason = "a NaN differs from itself")]
fn smaller<T: Real>(x: T, y: T) -> T {
    if x <= y || x != x { x } else { y }
}

/// A number, or its product with a factor if it is negative.
#[inline(always)]
fn leaky<T: Real>(x: T, factor: T) -> T {
    if x < T::default() { x * factor } else { x }
}

macro_rules! real {
    ($type:ident, $unary:ident, $binary:ident, $comparison:ident, $select:ident, $exponentials:ident, $plain_unary:ident,
     [$erf:path, $erfc:path, $gamma:path, $log_gamma:path]) => {
        #[inline(always)]
        fn $unary<const FUSED: bool>(operation: Unary, x: &mut [$type]) {
            const ROOT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
            const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
            const SELU_FACTOR: f64 = 1.673_263_242_354_377_2;
            #[inline(always)]
            fn sigmoid<const FUSED: bool>(x: $type) -> $type {
                1.0 / (1.0 + Function::exp::<FUSED>(-x))
            }
            #[inline(always)]
            fn softplus<const FUSED: bool>(x: $type) -> $type {
                // As in TensorFlow: beyond the limits, one of the two terms in log(1 + eˣ) is lost in rounding.
                let limit = -($type::EPSILON.ln() + 2.0);
                let exponential = Function::exp::<FUSED>(x);
                let logarithm = Function::log1p::<FUSED>(exponential);
                let bounded = if x < -limit { exponential } else { logarithm };
                if x > limit { x } else { bounded }
            }
            #[inline(always)]
            fn relu6(x: $type) -> $type {
                let x = if x < 0.0 { 0.0 } else { x };
                if x > 6.0 { 6.0 } else { x }
            }
            match operation {
                Unary::Negate => map(x, |x| -x),
                Unary::Abs => map(x, |x| x.abs()),
                Unary::Sign => map(x, |x| {
                    let sign = if x > 0.0 { 1.0 } else { x };
                    if x < 0.0 { -1.0 } else { sign }
                }),
                Unary::Squared => map(x, |x| x * x),
                Unary::Reciprocal => map(x, |x| 1.0 / x),
                Unary::Sqrt => map(x, |x| x.sqrt()),
                Unary::Rsqrt => map(x, |x| 1.0 / x.sqrt()),
                Unary::Floor => map(x, |x| x.floor()),
                Unary::Ceil => map(x, |x| x.ceil()),
                Unary::Round => map(x, |x| x.round_ties_even()),
                Unary::Exp => map(x, |x| Function::exp::<FUSED>(x)),
                Unary::Expm1 => map(x, |x| Function::expm1::<FUSED>(x)),
                Unary::Log => map(x, |x| Function::log::<FUSED>(x)),
                Unary::Log1p => map(x, |x| Function::log1p::<FUSED>(x)),
                Unary::Sin | Unary::Cos if x.iter().any(|x| x.abs() > $type::LARGEST_ANGLE) => {
                    $plain_unary(operation, x)
                }
                Unary::Sin => map(x, |x| Function::sin::<FUSED>(x)),
                Unary::Cos => map(x, |x| Function::cos::<FUSED>(x)),
                Unary::Tanh => map(x, |x| Function::tanh::<FUSED>(x)),
                Unary::Sigmoid => map(x, sigmoid::<FUSED>),
                Unary::LogSigmoid => map(x, |x| -softplus::<FUSED>(-x)),
                Unary::Softplus => map(x, softplus::<FUSED>),
                Unary::Softsign => map(x, |x| x / (1.0 + x.abs())),
                // The sum is no choice between the number in memory and another one, which would be stored with a mask: that takes
                // several times as long as the choice. It makes a negative zero an ordinary one.
                Unary::Relu => map(x, |x| (if 0.0 > x { 0.0 } else { x }) + 0.0),
                Unary::Relu6 => map(x, relu6),
                Unary::Elu => map(x, |x| if x < 0.0 { Function::expm1::<FUSED>(x) } else { x }),
                Unary::Selu => map(x, |x| {
                    let elu = if x < 0.0 { SELU_FACTOR as $type * Function::expm1::<FUSED>(x) } else { x };
                    SELU_SCALE as $type * elu
                }),
                Unary::Gelu => map(x, |x| {
                    let inner = ROOT_2_OVER_PI as $type * (x + 0.044_715 * x * x * x);
                    0.5 * x * (1.0 + Function::tanh::<FUSED>(inner))
                }),
                Unary::Swish => map(x, |x| x * sigmoid::<FUSED>(x)),
                Unary::Mish => map(x, |x| x * Function::tanh::<FUSED>(softplus::<FUSED>(x))),
                Unary::HardSigmoid => map(x, |x| relu6(x + 3.0) / 6.0),
                Unary::HardSwish => map(x, |x| x * relu6(x + 3.0) / 6.0),
                Unary::Log1mexp => map(x, |x| {
                    let near = Function::log::<FUSED>(-Function::expm1::<FUSED>(x));
                    let far = Function::log1p::<FUSED>(-Function::exp::<FUSED>(x));
                    if x > -std::f64::consts::LN_2 as $type { near } else { far }
                }),
                _ => $plain_unary(operation, x),
            }
        }

        /// The operations for which the functions of the standard library are called for each number.
        #[inline(never)]
        fn $plain_unary(operation: Unary, x: &mut [$type]) {
            let function: fn($type) -> $type = match operation {
                Unary::Sin => $type::sin,
                Unary::Cos => $type::cos,
                Unary::Tan => $type::tan,
                Unary::Asin => $type::asin,
                Unary::Acos => $type::acos,
                Unary::Atan => $type::atan,
                Unary::Sinh => $type::sinh,
                Unary::Cosh => $type::cosh,
                Unary::Asinh => $type::asinh,
                Unary::Acosh => $type::acosh,
                Unary::Atanh => $type::atanh,
                Unary::Exp2 => $type::exp2,
                Unary::Exp10 => |x| (10.0 as $type).powf(x),
                Unary::Log2 => $type::log2,
                Unary::Log10 => $type::log10,
                Unary::Erf => $erf,
                Unary::Erfc => $erfc,
                Unary::Gamma => $gamma,
                Unary::LogGamma => $log_gamma,
                _ => unreachable!("the other operations have loops of their own"),
            };
            map(x, function);
        }

        #[inline(always)]
        fn $binary(operation: Binary, x: &mut [$type], y: Operand<'_, $type>, is_swapped: bool) {
            match operation {
                Binary::Add => zip(x, y, false, |x, y| x + y),
                Binary::Subtract => zip(x, y, is_swapped, |x, y| x - y),
                Binary::Multiply => zip(x, y, false, |x, y| x * y),
                Binary::Divide => zip(x, y, is_swapped, |x, y| x / y),
                Binary::Max => zip(x, y, is_swapped, larger),
                Binary::Min => zip(x, y, is_swapped, smaller),
                Binary::SquaredDifference => zip(x, y, false, |x, y| (x - y) * (x - y)),
                Binary::LeakyRelu => zip(x, y, is_swapped, leaky),
                Binary::Pow => match y {
                    Operand::Scalar(1.0) if !is_swapped => {}
                    Operand::Scalar(2.0) if !is_swapped => map(x, |x| x * x),
                    Operand::Scalar(-1.0) if !is_swapped => map(x, |x| 1.0 / x),
                    _ => zip(x, y, is_swapped, $type::powf),
                },
                Binary::Remainder => zip(x, y, is_swapped, |x, y| x % y),
                Binary::Atan2 => zip(x, y, is_swapped, $type::atan2),
                Binary::Hypot => zip(x, y, is_swapped, $type::hypot),
                Binary::Polygamma => {
                    zip(x, y, is_swapped, |x, order| polygamma(f64::from(x), f64::from(order) as i64) as $type)
                }
                Binary::Root => zip(x, y, is_swapped, |x, n| {
                    let size = if n == 2.0 {
                        x.abs().sqrt()
                    } else if n == 3.0 {
                        x.abs().cbrt()
                    } else {
                        x.abs().powf(1.0 / n)
                    };
                    if n % 2.0 == 0.0 && x < 0.0 { $type::NAN } else { size.copysign(x) }
                }),
            }
        }

        #[inline(always)]
        fn $comparison(operation: Comparison, x: &mut [$type], y: Operand<'_, $type>) {
            let number = |holds: bool| if holds { 1.0 } else { 0.0 };
            match operation {
                Comparison::Equal => zip(x, y, false, |x, y| number(x == y)),
                Comparison::NotEqual => zip(x, y, false, |x, y| number(x != y)),
                Comparison::Less => zip(x, y, false, |x, y| number(x < y)),
                Comparison::LessEqual => zip(x, y, false, |x, y| number(x <= y)),
                Comparison::Greater => zip(x, y, false, |x, y| number(x > y)),
                Comparison::GreaterEqual => zip(x, y, false, |x, y| number(x >= y)),
            }
        }

        #[inline(always)]
        fn $select(mask: &mut [$type], chosen: Operand<'_, $type>, other: Operand<'_, $type>) {
            let all = mask.iter_mut();
            match (chosen, other) {
                (Operand::Slice(a), Operand::Slice(b)) => {
                    all.zip(a).zip(b).for_each(|((m, &a), &b)| *m = if *m != 0.0 { a } else { b });
                }
                (Operand::Slice(a), Operand::Scalar(b)) => {
                    all.zip(a).for_each(|(m, &a)| *m = if *m != 0.0 { a } else { b })
                }
                (Operand::Scalar(a), Operand::Slice(b)) => {
                    all.zip(b).for_each(|(m, &b)| *m = if *m != 0.0 { a } else { b })
                }
                (Operand::Scalar(a), Operand::Scalar(b)) => all.for_each(|m| *m = if *m != 0.0 { a } else { b }),
            }
        }

        #[inline(always)]
        fn $exponentials<const FUSED: bool>(x: &mut [$type], maximum: $type) {
            map(x, |x| Function::exp::<FUSED>(x - maximum));
        }

        impl Real for $type {
            const INFINITY: $type = $type::INFINITY;
            const NAN: $type = $type::NAN;

            fn unary(operation: Unary, x: &mut [$type]) {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(operation: Unary, x: &mut [$type]) {
                    match_target! {
                        "x86_64+avx2+fma" => $unary::<true>(operation, x),
                        "aarch64" => $unary::<true>(operation, x),
                        _ => $unary::<false>(operation, x),
                    }
                }
                dispatch(operation, x);
            }

            fn binary(operation: Binary, x: &mut [$type], y: Operand<'_, $type>, is_swapped: bool) {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(operation: Binary, x: &mut [$type], y: Operand<'_, $type>, is_swapped: bool) {
                    $binary(operation, x, y, is_swapped);
                }
                dispatch(operation, x, y, is_swapped);
            }

            fn binary_to(
                operation: Binary,
                target: &mut [$type],
                x: &[$type],
                y: Operand<'_, $type>,
                is_swapped: bool,
            ) {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(
                    operation: Binary,
                    target: &mut [$type],
                    x: &[$type],
                    y: Operand<'_, $type>,
                    is_swapped: bool,
                ) {
                    match operation {
                        Binary::Add => zip_to(target, x, y, false, |x, y| x + y),
                        Binary::Subtract => zip_to(target, x, y, is_swapped, |x, y| x - y),
                        Binary::Multiply => zip_to(target, x, y, false, |x, y| x * y),
                        Binary::Max => zip_to(target, x, y, is_swapped, larger),
                        Binary::Min => zip_to(target, x, y, is_swapped, smaller),
                        Binary::LeakyRelu => zip_to(target, x, y, is_swapped, leaky),
                        _ => zip_to(target, x, y, is_swapped, |x, y| x / y),
                    }
                }
                dispatch(operation, target, x, y, is_swapped);
            }

            fn comparison(operation: Comparison, x: &mut [$type], y: Operand<'_, $type>) {
                #[multiversion(targets("x86_64+avx2+fma"))]
                fn dispatch(operation: Comparison, x: &mut [$type], y: Operand<'_, $type>) {
                    $comparison(operation, x, y);
                }
                dispatch(operation, x, y);
            }

            fn select(mask: &mut [$type], chosen: Operand<'_, $type>, other: Operand<'_, $type>) {
                #[multiversion(targets("x86_64+avx2+fma"))]
                fn dispatch(mask: &mut [$type], chosen: Operand<'_, $type>, other: Operand<'_, $type>) {
                    $select(mask, chosen, other);
                }
                dispatch(mask, chosen, other);
            }

            fn keep_to(rule: Kept, target: &mut [$type], x: &[$type], y: Operand<'_, $type>) {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(rule: Kept, target: &mut [$type], x: &[$type], y: Operand<'_, $type>) {
                    match rule {
                        Kept::ZeroOfNan => {
                            zip_to(target, x, y, false, |x, y| if x.is_nan() & (y == 0.0) { y } else { x });
                        }
                        Kept::Zero => zip_to(target, x, y, false, |x, y| if y == 0.0 { 0.0 } else { x + 0.0 }),
                        Kept::Infinite => {
                            zip_to(target, x, y, false, |x, y| if y.is_infinite() { 0.0 } else { x + 0.0 });
                        }
                        Kept::NegativeZero => {
                            zip_to(target, x, y, false, |x, y| if (y == 0.0) & y.is_sign_negative() { y } else { x });
                        }
                    }
                }
                dispatch(rule, target, x, y);
            }

            fn exp_of_difference(x: &mut [$type], maximum: $type) {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(x: &mut [$type], maximum: $type) {
                    match_target! {
                        "x86_64+avx2+fma" => $exponentials::<true>(x, maximum),
                        "aarch64" => $exponentials::<true>(x, maximum),
                        _ => $exponentials::<false>(x, maximum),
                    }
                }
                dispatch(x, maximum);
            }

            #[inline(always)]
            fn multiply_add<const FUSED: bool>(self, factor: $type, addend: $type) -> $type {
                if FUSED { self.mul_add(factor, addend) } else { self * factor + addend }
            }

            fn ln(self) -> $type {
                $type::ln(self)
            }

            fn nearest(value: f64) -> $type {
                value as $type
            }
        }
    };
}

real!(
    f32,
    unary_single,
    binary_single,
    comparison_single,
    select_single,
    exponentials_single,
    plain_single,
    [libm::erff, libm::erfcf, libm::tgammaf, libm::lgammaf]
);
real!(
    f64,
    unary_double,
    binary_double,
    comparison_double,
    select_double,
    exponentials_double,
    plain_double,
    [libm::erf, libm::erfc, libm::tgamma, libm::lgamma]
);
