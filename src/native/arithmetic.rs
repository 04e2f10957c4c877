//! Arithmetic: the table entries for sums, products, powers, rounding, and functions with kinks.

use super::field::{Field, IntegerParam, Test};
use super::math;
use super::partial::{self, Partial, integer_param, partial, partials};
use super::{Kink, Primitive, Rule, Single, Value};

const ANY: &[f64] = &[-2.25, -0.75, 0.4, 1.3, 3.6];
const PAIRS: &[f64] = &[1.6, -0.75, -2.1, 0.5, 0.3, 2.25, -1.25, -3.5];

/// The arithmetic part of the table of primitives.
pub(super) const TABLE: &[Primitive] = &[
    Primitive::new("double.add", Value::F2(|a, b| a + b), Rule::Partials(&partial::SUM)).on(PAIRS).symbol("+").cheap().doc("Sum."),
    Primitive::new("double.sub", Value::F2(|a, b| a - b), Rule::Partials(&partial::DIFFERENCE)).on(PAIRS).symbol("-").cheap().doc("Difference."),
    Primitive::new("double.mul", Value::F2(|a, b| a * b), Rule::Partials(&partial::PRODUCT))
        .on(PAIRS)
        .kink("0·∞ has no partial derivatives: they are NaN", &[Kink { at: &[0.0, f64::INFINITY], partials: &[f64::NAN, f64::NAN] }])
        .symbol("*").cheap().doc("Product."),
    Primitive::new("double.div", Value::F2(|a, b| a / b), Rule::Partials(&partial::QUOTIENT)).on(PAIRS).symbol("/").defined("x ≠ 0 or y ≠ 0").cheap().doc("Quotient."),
    Primitive::new("double.neg", Value::F1(|a| -a), Rule::Partials(&partial::NEGATION)).on(ANY).cheap().doc("The number with the other sign."),
    Primitive::new("double.fma", Value::F3(f64::mul_add), Rule::Partials(&partial::MULTIPLY_ADD))
        .on(&[1.5, -0.75, 0.4, -2.0, 0.5, 3.0])
        .doc("`x * y + z`, rounded once."),
    Primitive::new("float.round", Value::F1(math::to_single), Rule::Partials(&[Partial::Constant(1.0)]))
        .cheap().doc("The nearest number of single precision."),
    Primitive::new("double.abs", Value::F1(f64::abs), partial!(|x, _| x.sign()))
        .on(ANY)
        .kink("the derivative at 0 is 0", &[Kink { at: &[0.0], partials: &[0.0] }, Kink { at: &[-0.0], partials: &[0.0] }])
        .one_sided(|_, x| at(x, 0.0, [-1.0, 1.0]))
        .cheap().doc("Absolute value."),
    Primitive::new("double.sign", Value::F1(math::sign), Rule::Flat)
        .on(ANY)
        .kink("the derivative is 0 everywhere", &[Kink { at: &[0.0], partials: &[0.0] }])
        .one_sided(|_, x| at(x, 0.0, [f64::INFINITY; 2]))
        .single(Single::Exact).doc("-1, 0 or 1 with the sign of `x`; its derivative is 0."),
    Primitive::new(
        "double.copysign",
        Value::F2(f64::copysign),
        partials!(|x, y, _| x.sign() * T::constant(1.0).copysign(y), |_, _, _| T::constant(0.0)),
    )
    .on(PAIRS)
    .kink("the derivative at 0 is 0", &[Kink { at: &[0.0, 1.0], partials: &[0.0, 0.0] }])
    .one_sided(|k, x| match k {
        0 => at(x, 0.0, [-1.0, 1.0].map(|partial| partial * 1.0_f64.copysign(x[1]))),
        _ if x[0] == 0.0 || x[1] != 0.0 => None,
        _ => jump(x[1].is_sign_positive(), f64::INFINITY, 0.0),
    })
    .doc("`x` with the sign of `y`."),
    Primitive::new(
        "double.min",
        Value::F2(math::min),
        partials!(
            |x, y, _| larger(y, x),
            |x, y, _| larger(x, y)
        ),
    )
    .on(PAIRS)
    .kink("for equal arguments both partial derivatives are 1/2", &[Kink { at: &[2.0, 2.0], partials: &[0.5, 0.5] }])
    .one_sided(|_, x| (x[0] == x[1]).then_some([1.0, 0.0]))
    .latex(r"\min").doc("The lesser one."),
    Primitive::new(
        "double.max",
        Value::F2(math::max),
        partials!(
            |x, y, _| larger(x, y),
            |x, y, _| larger(y, x)
        ),
    )
    .on(PAIRS)
    .kink("for equal arguments both partial derivatives are 1/2", &[Kink { at: &[0.0, 0.0], partials: &[0.5, 0.5] }])
    .one_sided(|_, x| (x[0] == x[1]).then_some([0.0, 1.0]))
    .latex(r"\max").doc("The greater one."),
    Primitive::new(
        "double.relu",
        Value::F1(math::relu),
        partial!(|x, _| T::select(Test::Less(T::constant(0.0), x), || T::constant(1.0), || T::constant(0.0))),
    )
    .on(ANY)
    .kink("the derivative at 0 is 0", &[Kink { at: &[0.0], partials: &[0.0] }])
    .one_sided(|_, x| at(x, 0.0, [0.0, 1.0]))
    .doc("`x` where it is positive, otherwise 0."),
    Primitive::new("double.floor", Value::F1(f64::floor), Rule::Flat)
        .on(ANY)
        .kink(FLAT, AT_INTEGERS)
        .one_sided(|_, x| if is_integer(x[0]) { jump(true, f64::INFINITY, 0.0) } else { None })
        .single(Single::Exact).doc("Greatest integer not above `x`."),
    Primitive::new("double.ceil", Value::F1(f64::ceil), Rule::Flat)
        .on(ANY)
        .kink(FLAT, AT_INTEGERS)
        .one_sided(|_, x| if is_integer(x[0]) { jump(false, f64::INFINITY, 0.0) } else { None })
        .single(Single::Exact).doc("Least integer not below `x`."),
    Primitive::new("double.round", Value::F1(f64::round), Rule::Flat)
        .on(ANY)
        .kink(FLAT, &[Kink { at: &[0.5], partials: &[0.0] }])
        .one_sided(|_, x| if is_half_integer(x[0]) { jump(x[0] > 0.0, f64::INFINITY, 0.0) } else { None })
        .single(Single::Exact).doc("Nearest integer; halves are rounded away from zero."),
    Primitive::new("double.trunc", Value::F1(f64::trunc), Rule::Flat)
        .on(ANY)
        .kink(FLAT, AT_INTEGERS)
        .one_sided(|_, x| if is_integer(x[0]) && x[0] != 0.0 { jump(x[0] > 0.0, f64::INFINITY, 0.0) } else { None })
        .single(Single::Exact).doc("`x` without its fraction."),
    Primitive::new("double.rint", Value::F1(f64::round_ties_even), Rule::Flat)
        .on(ANY)
        .kink(FLAT, &[Kink { at: &[0.5], partials: &[0.0] }])
        .one_sided(|_, x| if is_half_integer(x[0]) { jump(x[0].round_ties_even() > x[0], f64::INFINITY, 0.0) } else { None })
        .single(Single::Exact).doc("Nearest integer; halves are rounded to the even one."),
    Primitive::new(
        "double.fmod",
        Value::F2(|a, b| a % b),
        partials!(|_, _, _| T::constant(1.0), |x, y, z| -((x - z) / y).rint()),
    )
    .on(PAIRS)
    .kink("the jumps do not count", &[Kink { at: &[4.0, 2.0], partials: &[1.0, -2.0] }])
    .one_sided(jumps_of_fmod)
    .defined("y ≠ 0").doc("Remainder of a division, with the sign of `x`."),
    Primitive::new(
        "double.remainder",
        Value::F2(libm::remainder),
        partials!(|_, _, _| T::constant(1.0), |x, y, z| -((x - z) / y).rint()),
    )
    .on(PAIRS)
    .kink("the jumps do not count", &[Kink { at: &[4.0, 2.0], partials: &[1.0, -2.0] }])
    .one_sided(jumps_of_remainder)
    .defined("y ≠ 0").doc("Remainder of a division, nearest to zero."),
    Primitive::new("double.sqrt", Value::F1(f64::sqrt), partial!(|_, y| T::constant(0.5) / y.without_sign_of_zero()))
        .on(&[0.3, 1.0, 2.5, 9.0])
        .kink("the derivative at 0 is +inf", INFINITE_AT_0)
        .one_sided(|_, x| at(x, 0.0, [f64::NAN, f64::INFINITY]))
        .latex(r"\sqrt{}").defined("x ≥ 0").doc("Square root."),
    Primitive::new("double.cbrt", Value::F1(f64::cbrt), partial!(|_, y| T::constant(1.0) / (T::constant(3.0) * y.clone() * y)))
        .on(&[-2.5, -0.4, 0.3, 1.0, 8.0])
        .kink("the derivative at 0 is +inf", INFINITE_AT_0)
        .one_sided(|_, x| at(x, 0.0, [f64::INFINITY; 2]))
        .doc("Cube root."),
    Primitive::new(
        "double.pow",
        Value::F2(f64::powf),
        partials!(|x, y, _| power_in_base(x, y), |x, y, z| power_in_exponent(x, y, z)),
    )
    .on(&[2.0, 3.0, 0.5, -1.5, 1.7, 0.25, 3.0, 0.0])
    .kink(
        "the derivative of `pow(x, 0)` in x is 0 at x = 0 too; the derivative of `pow(0, y)` in y is 0 for y >= 0; a negative base has no derivative in the exponent",
        &[
            Kink { at: &[0.0, 0.0], partials: &[0.0, 0.0] },
            Kink { at: &[0.0, 1.5], partials: &[0.0, 0.0] },
            Kink { at: &[-2.0, 2.0], partials: &[-4.0, f64::NAN] },
        ],
    )
    .one_sided(|k, x| if k == 0 && 0.0 < x[1] && x[1] < 1.0 { at(x, 0.0, [f64::NAN, f64::INFINITY]) } else { None })
    .defined("x ≥ 0, or y an integer").doc("`x` to the power of `y`."),
    Primitive::new(
        "double.powi",
        Value::FI(math::powi),
        integer_param!(|x, n, _| T::select(
            Test::Equal(n.number(), T::constant(0.0)),
            || T::constant(0.0),
            || n.number() * x.clone().without_sign_of_zero().powi(n.offset(-1)),
        )),
    )
    .on(&[-1.5, 0.4, 2.0])
    .kink("the derivative of `pow(x, 0)` is 0 everywhere", &[])
    .symbol("pow").doc("`x` to the power of `n`."),
    Primitive::new(
        "double.hypot",
        Value::F2(f64::hypot),
        partials!(|x, _, z| share(x, z), |_, y, z| share(y, z)),
    )
    .on(PAIRS)
    .kink("the partial derivatives at (0, 0) are 0", &[Kink { at: &[0.0, 0.0], partials: &[0.0, 0.0] }])
    .one_sided(|_, x| (x == [0.0, 0.0]).then_some([-1.0, 1.0]))
    .doc("Length of (`x`, `y`)."),
];

const INFINITE_AT_0: &[Kink] =
    &[Kink { at: &[0.0], partials: &[f64::INFINITY] }, Kink { at: &[-0.0], partials: &[f64::INFINITY] }];
const FLAT: &str = "the derivative is 0 everywhere";
const AT_INTEGERS: &[Kink] = &[Kink { at: &[1.0], partials: &[0.0] }];

fn is_integer(x: f64) -> bool {
    x.is_finite() && x == x.trunc()
}

fn is_half_integer(x: f64) -> bool {
    (x - x.trunc()).abs() == 0.5
}

/// Returns the one-sided partial derivatives at a jump: `partial` on the side of the jump (the left side if `on_left`),
/// and `other` on the other side.
fn jump(on_left: bool, partial: f64, other: f64) -> Option<[f64; 2]> {
    Some(if on_left { [partial, other] } else { [other, partial] })
}

/// Returns the one-sided partial derivatives of `x % y` in operand `k`; the operation jumps where `x` is a multiple of
/// `y`, except at 0.
fn jumps_of_fmod(k: usize, x: &[f64]) -> Option<[f64; 2]> {
    let (x, y) = (x[0], x[1]);
    if x == 0.0 || x % y != 0.0 {
        return None;
    }
    match k {
        0 => jump(x > 0.0, f64::NEG_INFINITY, 1.0),
        _ => jump(y < 0.0, f64::INFINITY.copysign(x) * y.signum(), -(x / y).trunc()),
    }
}

/// Returns the one-sided partial derivatives of the IEEE remainder in operand `k`; the remainder jumps where its
/// magnitude is half of `y`.
fn jumps_of_remainder(k: usize, x: &[f64]) -> Option<[f64; 2]> {
    let (x, y) = (x[0], x[1]);
    let rest = libm::remainder(x, y);
    if rest == 0.0 || rest.abs() != y.abs() / 2.0 {
        return None;
    }
    // Across the jump the remainder has the opposite sign.
    let grows = rest.is_sign_positive() != x.is_sign_positive();
    match k {
        0 => jump(rest < 0.0, f64::NEG_INFINITY, 1.0),
        _ => {
            let on_left = grows != (y > 0.0);
            let down = if on_left { f64::INFINITY } else { f64::NEG_INFINITY };
            jump(on_left, down * rest, -((x - rest) / y).round())
        }
    }
}

/// Returns the one-sided partial derivatives `partials` if the kink is in the first operand.
pub(super) fn at(x: &[f64], kink: f64, partials: [f64; 2]) -> Option<[f64; 2]> {
    (x[0] == kink).then_some(partials)
}

/// Returns the partial derivative of the maximum of `a` and `b` in `a`: 0, 1, or ½ at a tie.
fn larger<T: Field>(a: T, b: T) -> T {
    T::select(
        Test::Less(b.clone(), a.clone()),
        || T::constant(1.0),
        || T::select(Test::Less(a, b), || T::constant(0.0), || T::constant(0.5)),
    )
}

/// Computes `x / length`, or 0 for a length of 0: the subgradient of least norm.
fn share<T: Field>(x: T, length: T) -> T {
    T::select(Test::Equal(length.clone(), T::constant(0.0)), || T::constant(0.0), || x / length)
}

/// Computes the partial derivative of `xʸ` in `x`. Only (0, 0), where y·xʸ⁻¹ would be 0·∞, is a kink; elsewhere, such
/// as at (2, 0), the formula is correct in every order.
fn power_in_base<T: Field>(x: T, y: T) -> T {
    let zero = || T::constant(0.0);
    let formula = || y.clone() * x.clone().without_sign_of_zero().pow(y.clone() - T::constant(1.0));
    T::select(Test::Equal(x.clone(), zero()), || T::select(Test::Equal(y.clone(), zero()), zero, formula), formula)
}

/// Computes the partial derivative of `z = xʸ` in `y`; at `x = 0` the result is the limit from the right, 0, as long as
/// `z` is finite.
fn power_in_exponent<T: Field>(x: T, y: T, z: T) -> T {
    let zero = || T::constant(0.0);
    let formula = || z.clone() * x.clone().log();
    T::select(Test::Equal(x.clone(), zero()), || T::select(Test::AtMost(zero(), y), zero, formula), formula)
}
