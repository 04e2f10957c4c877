//! Arithmetic cells: cells of threaded code that compute a number.

use super::{Cell, Context, n, next, x};
use crate::bytecode::Fused;

/// The computation of a number by a cell from the numbers and integers in registers.
pub(super) trait Number {
    /// Computes the number of the cell.
    unsafe fn of(cell: &Cell, f: *const f64, i: *const i64) -> f64;
}

/// Executes a cell: writes the number that `N` computes to the result register.
pub(super) unsafe fn write_result<N: Number>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers.
    unsafe {
        let cell = &*at;
        *f.add(cell.regs[0] as usize) = N::of(cell, f, i);
        next(at, f, i, context)
    }
}

macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $name:ident |$cell:ident, $f:ident, $i:ident| $value:expr;)*) => {
        $(
            $(#[doc = $doc])*
            pub(super) struct $name;

            impl Number for $name {
                #[inline(always)]
                unsafe fn of($cell: &Cell, $f: *const f64, $i: *const i64) -> f64 {
                    // SAFETY: the verifier has checked the registers; `translate` has stored the operands in the cell.
                    unsafe { $value }
                }
            }
        )*
    };
}

numbers! {
    /// The value of a constant.
    Constant |cell, _f, _i| cell.more.number;
    /// The value of a number register, `a`.
    Same |cell, f, _i| x(cell, f, 1);
    /// The sum `a + b`.
    Sum |cell, f, _i| x(cell, f, 1) + x(cell, f, 2);
    /// The difference `a - b`.
    Difference |cell, f, _i| x(cell, f, 1) - x(cell, f, 2);
    /// The product `a · b`.
    Product |cell, f, _i| x(cell, f, 1) * x(cell, f, 2);
    /// The quotient `a / b`.
    Quotient |cell, f, _i| x(cell, f, 1) / x(cell, f, 2);
    /// The negated number `-a`.
    Negative |cell, f, _i| -x(cell, f, 1);
    /// The absolute value `|a|`.
    Magnitude |cell, f, _i| x(cell, f, 1).abs();
    /// The square root `√a`.
    Root |cell, f, _i| x(cell, f, 1).sqrt();
    /// The number `a`, rounded to single precision.
    Rounded |cell, f, _i| f64::from(x(cell, f, 1) as f32);
    /// An integer, converted to a number.
    OfInteger |cell, _f, i| n(cell, i, 1) as f64;
    /// The result of a primitive of one number, `p(a)`.
    One |cell, f, _i| (cell.more.one)(x(cell, f, 1));
    /// The result of a primitive of two numbers, `p(a, b)`.
    Two |cell, f, _i| (cell.more.two)(x(cell, f, 1), x(cell, f, 2));
    /// The result of a primitive of three numbers, `p(a, b, c)`.
    Three |cell, f, _i| (cell.more.three)(x(cell, f, 1), x(cell, f, 2), x(cell, f, 3));
    /// The result of a primitive of a number and an integer, `p(a, n)`.
    WithInteger |cell, f, i| {
        cell.more.primitive.number(&[x(cell, f, 1)], n(cell, i, 2)).unwrap_or(f64::NAN)
    };
    /// The result of a primitive of an integer, `p(n)`.
    MadeOfInteger |cell, _f, i| {
        cell.more.primitive.number(&[], n(cell, i, 1)).unwrap_or(f64::NAN)
    };
    /// The partial derivative of a primitive of one number at `a`, where the result of the primitive is `y`.
    Partial |cell, f, _i| (cell.more.two)(x(cell, f, 1), x(cell, f, 2));
    /// The partial derivative of a primitive of two numbers in one of them, where the result of the primitive is `y`.
    PartialOfTwo |cell, f, _i| (cell.more.three)(x(cell, f, 1), x(cell, f, 2), x(cell, f, 3));
    /// The partial derivative of a primitive in a number, where the other operand is an integer.
    PartialWithInteger |cell, f, i| {
        cell.more.primitive.partial_at(0, &[x(cell, f, 1)], n(cell, i, 2), x(cell, f, 3)).unwrap_or(0.0)
    };
}

/// The result of fused arithmetic of the form `(a ∘ b) ∘ c`.
pub(super) struct JoinLeft<const HOW: u8>;
/// The result of fused arithmetic of the form `a ∘ (b ∘ c)`.
pub(super) struct JoinRight<const HOW: u8>;
/// The result of fused arithmetic of the form `(a ∘ b) ∘ (c ∘ d)`.
pub(super) struct JoinBoth<const HOW: u8>;

impl<const HOW: u8> Number for JoinLeft<HOW> {
    #[inline(always)]
    unsafe fn of(cell: &Cell, f: *const f64, _: *const i64) -> f64 {
        let how = const { Fused::of(HOW) };
        // SAFETY: the verifier has checked the registers.
        unsafe { how.last.apply(how.first.apply(x(cell, f, 1), x(cell, f, 2)), x(cell, f, 3)) }
    }
}

impl<const HOW: u8> Number for JoinRight<HOW> {
    #[inline(always)]
    unsafe fn of(cell: &Cell, f: *const f64, _: *const i64) -> f64 {
        let how = const { Fused::of(HOW) };
        // SAFETY: the verifier has checked the registers.
        unsafe { how.last.apply(x(cell, f, 1), how.first.apply(x(cell, f, 2), x(cell, f, 3))) }
    }
}

impl<const HOW: u8> Number for JoinBoth<HOW> {
    #[inline(always)]
    unsafe fn of(cell: &Cell, f: *const f64, _: *const i64) -> f64 {
        let how = const { Fused::of(HOW) };
        // SAFETY: the verifier has checked the registers.
        unsafe {
            let first = how.first.apply(x(cell, f, 1), x(cell, f, 2));
            how.last.apply(first, how.second.apply(x(cell, f, 3), x(cell, f, 4)))
        }
    }
}

/// Defines the table of the functions for one form of fused arithmetic, by number.
macro_rules! forms {
    ($name:ident, $form:ident, $count:literal, $($how:literal)*) => {
        /// The functions that execute fused arithmetic of this form, by number.
        pub(super) const $name: [super::Handler; $count] = [$(write_result::<$form<$how>>),*];
    };
}

forms!(LEFT, JoinLeft, 16, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
forms!(RIGHT, JoinRight, 16, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
forms!(BOTH, JoinBoth, 64,
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
    16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
    48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
