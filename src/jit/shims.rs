//! Shims: functions with the calling convention of machine code that apply the functions of the table of primitives.
#![allow(
    improper_ctypes_definitions,
    reason = "machine code passes the pointers to functions on without looking at them"
)]

use crate::native::{Expression, Trap};

/// Returns the shim and the address of the function that computes a partial derivative from the operands and the result.
pub fn of_expression(expression: Expression) -> (usize, usize) {
    match expression {
        Expression::Unary(f, _) => (two as *const () as usize, f as usize),
        Expression::Binary(f, _) => (three as *const () as usize, f as usize),
        Expression::WithInteger(f, _) => (with_integer_and_result as *const () as usize, f as usize),
    }
}

/// A function of two integers that may fail.
pub type OfTwoIntegers = fn(i64, i64) -> Result<i64, Trap>;

pub extern "C" fn one(f: fn(f64) -> f64, a: f64) -> f64 {
    f(a)
}

pub extern "C" fn two(f: fn(f64, f64) -> f64, a: f64, b: f64) -> f64 {
    f(a, b)
}

pub extern "C" fn three(f: fn(f64, f64, f64) -> f64, a: f64, b: f64, c: f64) -> f64 {
    f(a, b, c)
}

pub extern "C" fn with_integer(f: fn(f64, i64) -> f64, a: f64, n: i64) -> f64 {
    f(a, n)
}

pub extern "C" fn with_integer_and_result(f: fn(f64, i64, f64) -> f64, a: f64, n: i64, y: f64) -> f64 {
    f(a, n, y)
}

pub extern "C" fn of_integer(f: fn(i64) -> f64, n: i64) -> f64 {
    f(n)
}

pub extern "C" fn test_one(f: fn(f64) -> bool, a: f64) -> i64 {
    i64::from(f(a))
}

pub extern "C" fn test_two(f: fn(f64, f64) -> bool, a: f64, b: f64) -> i64 {
    i64::from(f(a, b))
}

/// Applies a conversion of a number to an integer; returns whether it succeeded.
pub extern "C" fn whole(f: fn(f64) -> Result<i64, Trap>, a: f64, out: &mut i64) -> i64 {
    deliver(f(a), out)
}

/// Applies a function of one integer; returns whether it succeeded.
pub extern "C" fn integer(f: fn(i64) -> Result<i64, Trap>, a: i64, out: &mut i64) -> i64 {
    deliver(f(a), out)
}

/// Applies a function of two integers; returns whether it succeeded.
pub extern "C" fn two_integers(f: OfTwoIntegers, a: i64, b: i64, out: &mut i64) -> i64 {
    deliver(f(a, b), out)
}

fn deliver(result: Result<i64, Trap>, out: &mut i64) -> i64 {
    let Ok(value) = result else { return 0 };
    *out = value;
    1
}
