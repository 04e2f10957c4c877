//! Numbers: applies primitives to plain numbers and integers, and constructs the faults of integer arithmetic.

use super::primitive;
use crate::bytecode::operand::*;
use crate::native::{Trap, Value};
use crate::vm::fault::{Fault, not_an_integer, trapped};
use crate::vm::state::registers::Registers;

/// Applies a primitive of one number: `p(a)`. In this file, the verifier has checked that a primitive has the required
/// kind.
#[inline(always)]
pub fn prim1_f(p: Prim, a: f64) -> f64 {
    if let Value::F1(f) = primitive(p).value { f(a) } else { f64::NAN }
}

/// Applies a primitive of two numbers: `p(a, b)`.
#[inline(always)]
pub fn prim2_f(p: Prim, a: f64, b: f64) -> f64 {
    if let Value::F2(f) = primitive(p).value { f(a, b) } else { f64::NAN }
}

/// Applies a primitive of three numbers: `p(a, b, c)`.
#[inline(always)]
pub fn prim3_f(p: Prim, a: f64, b: f64, c: f64) -> f64 {
    if let Value::F3(f) = primitive(p).value { f(a, b, c) } else { f64::NAN }
}

/// Applies a primitive of a number and an integer: `p(a, n)`.
#[inline(always)]
pub fn prim_fi(p: Prim, a: f64, n: i64) -> f64 {
    if let Value::FI(f) = primitive(p).value { f(a, n) } else { f64::NAN }
}

/// Applies a primitive that converts an integer to a number: `p(n)`.
#[inline(always)]
pub fn prim_number(p: Prim, n: i64) -> f64 {
    if let Value::ItoF(f) = primitive(p).value { f(n) } else { f64::NAN }
}

/// Applies a primitive that converts a number to an integer, which may fail: `p(a)`.
#[inline(always)]
pub fn prim_whole(p: Prim, a: f64) -> Result<i64, Box<Fault>> {
    if let Value::FtoI(f) = primitive(p).value { f(a).map_err(|_| not_an_integer(a)) } else { Ok(0) }
}

/// Applies a predicate of one number: `p(a)`.
#[inline(always)]
pub fn prim1_test(p: Prim, a: f64) -> bool {
    if let Value::Test1(f) = primitive(p).value { f(a) } else { false }
}

/// Applies a predicate of two numbers: `p(a, b)`.
#[inline(always)]
pub fn prim2_test(p: Prim, a: f64, b: f64) -> bool {
    if let Value::Test2(f) = primitive(p).value { f(a, b) } else { false }
}

/// Applies a primitive of one integer, which may fail: `p(n)`.
#[inline(always)]
pub fn prim1_i(p: Prim, n: i64) -> Result<i64, Box<Fault>> {
    if let Value::I1(f) = primitive(p).value { f(n).map_err(|trap| integer_trap(trap, p, &[n])) } else { Ok(0) }
}

/// Applies a primitive of two integers, which may fail: `p(m, n)`.
#[inline(always)]
pub fn prim2_i(p: Prim, m: i64, n: i64) -> Result<i64, Box<Fault>> {
    if let Value::I2(f) = primitive(p).value { f(m, n).map_err(|trap| integer_trap(trap, p, &[m, n])) } else { Ok(0) }
}

#[cold]
fn integer_trap(trap: Trap, p: Prim, operands: &[i64]) -> Box<Fault> {
    trapped(trap, primitive(p).name, operands)
}

/// Returns the fault of `a ∘ b` when the result is not an integer of 64 bits.
#[cold]
pub fn overflow(name: &str, a: i64, b: i64) -> Box<Fault> {
    trapped(Trap::Overflow, name, &[a, b])
}

/// Returns the fault of `a / b` or `a % b` when the operation has no integer result.
#[cold]
pub fn undivided(name: &str, a: i64, b: i64) -> Box<Fault> {
    let trap = if b == 0 { Trap::DivisionByZero } else { Trap::Overflow };
    trapped(trap, name, &[a, b])
}

/// Returns the fault of adding a constant to an integer, which may represent a subtraction.
#[cold]
pub fn added(a: i64, b: i64) -> Box<Fault> {
    let (name, b) = if b < 0 { ("int.sub", -b) } else { ("int.add", b) };
    overflow(name, a, b)
}

/// Moves a reference from one register to another: `out = a`.
pub fn take(at: &mut Registers, out: ROut, a: RTake) {
    let value = at.take(a);
    at.set_r(out, value);
}
