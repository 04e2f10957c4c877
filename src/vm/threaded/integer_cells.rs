//! Integer cells: cells of threaded code that compute an integer, or jump.

use super::{Cell, Context, bail_out, n, next, x};
use crate::native::Value;

/// The computation of an integer by a cell from the numbers and integers in registers; `None` when the operation has no
/// integer result.
pub(super) trait Integer {
    /// Computes the integer of the cell.
    unsafe fn of(cell: &Cell, f: *const f64, i: *const i64) -> Option<i64>;
}

/// Executes a cell: writes the integer that `N` computes to the result register.
pub(super) unsafe fn write_result<N: Integer>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers.
    unsafe {
        let cell = &*at;
        match N::of(cell, f, i) {
            Some(value) => *i.add(cell.regs[0] as usize) = value,
            None => return bail_out(),
        }
        next(at, f, i, context)
    }
}

/// The condition of a conditional jump.
pub(super) trait Condition {
    /// Whether the condition holds for the registers 1 and 2 of the cell.
    unsafe fn holds(cell: &Cell, f: *const f64, i: *const i64) -> bool;
}

/// Executes a conditional jump: jumps when the condition `C` holds.
pub(super) unsafe fn branch<C: Condition, const BACK: bool>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers; `translate` has stored the distance in the cell.
    unsafe {
        let cell = &*at;
        if C::holds(cell, f, i) { jump::<BACK>(at, f, i, context) } else { next(at, f, i, context) }
    }
}

/// Adds one to an integer, and then jumps when the condition `C` holds.
pub(super) unsafe fn increment_and_branch<C: Condition, const BACK: bool>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers; `translate` has stored the distance in the cell.
    unsafe {
        let place = i.add((*at).regs[1] as usize);
        match (*place).checked_add(1) {
            Some(value) => *place = value,
            None => return bail_out(),
        }
        branch::<C, BACK>(at, f, i, context)
    }
}

/// Executes a jump. After a number of backward jumps, the jump returns to the loop in [`run`](super::run).
#[inline(always)]
pub(super) unsafe fn jump<const BACK: bool>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked that jumps lead to an instruction.
    unsafe {
        let to = at.offset((*at).more.distance);
        if BACK {
            (*context).jumps -= 1;
            if (*context).jumps == 0 {
                return to;
            }
        }
        ((*to).run)(to, f, i, context)
    }
}

/// Returns a constant of 16 bits, which is stored instead of the third register of a cell.
#[inline(always)]
fn small(cell: &Cell) -> i64 {
    i64::from(cell.regs[2].cast_signed())
}

macro_rules! integers {
    ($($name:ident |$cell:ident, $f:ident, $i:ident| $value:expr;)*) => {
        $(
            pub(super) struct $name;

            impl Integer for $name {
                #[inline(always)]
                unsafe fn of($cell: &Cell, $f: *const f64, $i: *const i64) -> Option<i64> {
                    // SAFETY: the verifier has checked the registers; `translate` has stored the operands in the cell.
                    unsafe { $value }
                }
            }
        )*
    };
}

integers! {
    Constant |cell, _f, _i| Some(cell.more.integer);
    Same |cell, _f, i| Some(n(cell, i, 1));
    Sum |cell, _f, i| n(cell, i, 1).checked_add(n(cell, i, 2));
    SumConstant |cell, _f, i| n(cell, i, 1).checked_add(small(cell));
    Difference |cell, _f, i| n(cell, i, 1).checked_sub(n(cell, i, 2));
    Product |cell, _f, i| n(cell, i, 1).checked_mul(n(cell, i, 2));
    Quotient |cell, _f, i| n(cell, i, 1).checked_div(n(cell, i, 2));
    Remainder |cell, _f, i| n(cell, i, 1).checked_rem(n(cell, i, 2));
    Not |cell, _f, i| Some(i64::from(n(cell, i, 1) == 0));
    One |cell, _f, i| match cell.more.primitive.value {
        Value::I1(f) => f(n(cell, i, 1)).ok(),
        _ => None,
    };
    Two |cell, _f, i| match cell.more.primitive.value {
        Value::I2(f) => f(n(cell, i, 1), n(cell, i, 2)).ok(),
        _ => None,
    };
    Whole |cell, f, _i| match cell.more.primitive.value {
        Value::FtoI(convert) => convert(x(cell, f, 1)).ok(),
        _ => None,
    };
    Test1 |cell, f, _i| match cell.more.primitive.value {
        Value::Test1(test) => Some(i64::from(test(x(cell, f, 1)))),
        _ => None,
    };
    Test2 |cell, f, _i| match cell.more.primitive.value {
        Value::Test2(test) => Some(i64::from(test(x(cell, f, 1), x(cell, f, 2)))),
        _ => None,
    };
}

/// Whether a condition holds, as an integer.
pub(super) struct ConditionValue<C>(std::marker::PhantomData<C>);

impl<C: Condition> Integer for ConditionValue<C> {
    #[inline(always)]
    unsafe fn of(cell: &Cell, f: *const f64, i: *const i64) -> Option<i64> {
        // SAFETY: the verifier has checked the registers that the condition reads.
        unsafe { Some(i64::from(C::holds(cell, f, i))) }
    }
}

macro_rules! conditions {
    ($($name:ident |$cell:ident, $f:ident, $i:ident| $holds:expr;)*) => {
        $(
            pub(super) struct $name;

            impl Condition for $name {
                #[inline(always)]
                unsafe fn holds($cell: &Cell, $f: *const f64, $i: *const i64) -> bool {
                    // SAFETY: the verifier has checked the registers.
                    unsafe { $holds }
                }
            }
        )*
    };
}

conditions! {
    True |cell, _f, i| n(cell, i, 1) != 0;
    False |cell, _f, i| n(cell, i, 1) == 0;
    Equal |cell, _f, i| n(cell, i, 1) == n(cell, i, 2);
    Unequal |cell, _f, i| n(cell, i, 1) != n(cell, i, 2);
    Less |cell, _f, i| n(cell, i, 1) < n(cell, i, 2);
    AtMost |cell, _f, i| n(cell, i, 1) <= n(cell, i, 2);
    EqualConstant |cell, _f, i| n(cell, i, 1) == small(cell);
    UnequalConstant |cell, _f, i| n(cell, i, 1) != small(cell);
    LessConstant |cell, _f, i| n(cell, i, 1) < small(cell);
    AtMostConstant |cell, _f, i| n(cell, i, 1) <= small(cell);
    GreaterConstant |cell, _f, i| n(cell, i, 1) > small(cell);
    AtLeastConstant |cell, _f, i| n(cell, i, 1) >= small(cell);
    NumberEqual |cell, f, _i| x(cell, f, 1) == x(cell, f, 2);
    NumberUnequal |cell, f, _i| x(cell, f, 1) != x(cell, f, 2);
    NumberLess |cell, f, _i| x(cell, f, 1) < x(cell, f, 2);
    NumberAtMost |cell, f, _i| x(cell, f, 1) <= x(cell, f, 2);
    // The conditions of this kind are not negations of comparisons: with NaN both are false.
    NumberNotLess |cell, f, _i| {
        let holds = x(cell, f, 1) < x(cell, f, 2);
        !holds
    };
    NumberNotAtMost |cell, f, _i| {
        let holds = x(cell, f, 1) <= x(cell, f, 2);
        !holds
    };
}
