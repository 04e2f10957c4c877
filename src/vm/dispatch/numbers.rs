//! Moves, constants, arithmetic and comparisons of plain numbers and integers.

use super::primitive;
use crate::bytecode::operand::*;
use crate::native::{Trap, Value};
use crate::value::Ref;
use crate::vm::fault::{Fault, not_whole, trapped};
use crate::vm::joined;
use crate::vm::registers::Registers;

/// `out = a`, moved.
#[inline(always)]
pub fn take(at: &mut Registers, out: ROut, a: RTake) {
    let value = at.take(a);
    at.set_r(out, value);
}

/// `out = texts[k]`
#[inline(always)]
pub fn load_text(at: &mut Registers, out: ROut, k: Text) {
    let text = at.code().texts[usize::from(k)].clone();
    at.set_r(out, Ref::Text(text));
}

/// `out = p(a)`
#[inline(always)]
pub fn prim1_f(at: &mut Registers, out: FOut, a: FIn, p: Prim) {
    if let Value::F1(f) = primitive(p).value {
        let value = f(at.f(a));
        at.set_f(out, value);
    }
}

/// `out = p(a, b)`
#[inline(always)]
pub fn prim2_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, p: Prim) {
    if let Value::F2(f) = primitive(p).value {
        let value = f(at.f(a), at.f(b));
        at.set_f(out, value);
    }
}

/// `out = p(a, b, c)`, where `c` stands in the [`Extra`](Instruction::Extra) behind.
#[inline(always)]
pub fn prim3_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, p: Prim) {
    let c = at.extra();
    if let Value::F3(f) = primitive(p).value {
        let value = f(at.f(a), at.f(b), at.f(c));
        at.set_f(out, value);
    }
}

/// `out = p(a, n)`
#[inline(always)]
pub fn prim_fi(at: &mut Registers, out: FOut, a: FIn, n: IIn, p: Prim) {
    if let Value::FI(f) = primitive(p).value {
        let value = f(at.f(a), at.i(n));
        at.set_f(out, value);
    }
}

/// `out = p(a)`: a number made of an integer.
#[inline(always)]
pub fn prim_number(at: &mut Registers, out: FOut, a: IIn, p: Prim) {
    if let Value::ItoF(f) = primitive(p).value {
        let value = f(at.i(a));
        at.set_f(out, value);
    }
}

/// `out = p(a)`: an integer made of a number. Can fail.
#[inline(always)]
pub fn prim_whole(at: &mut Registers, out: IOut, a: FIn, p: Prim) -> Result<(), Box<Fault>> {
    if let Value::FtoI(f) = primitive(p).value {
        let x = at.f(a);
        let value = f(x).map_err(|_| not_whole(x))?;
        at.set_i(out, value);
    }
    Ok(())
}

/// `out = p(a)`: a question about a number.
#[inline(always)]
pub fn prim1_test(at: &mut Registers, out: IOut, a: FIn, p: Prim) {
    if let Value::Test1(f) = primitive(p).value {
        let value = f(at.f(a));
        at.set_i(out, i64::from(value));
    }
}

/// `out = p(a, b)`: a question about two numbers.
#[inline(always)]
pub fn prim2_test(at: &mut Registers, out: IOut, a: FIn, b: FIn, p: Prim) {
    if let Value::Test2(f) = primitive(p).value {
        let value = f(at.f(a), at.f(b));
        at.set_i(out, i64::from(value));
    }
}

/// `out = p(a)`. Can fail.
#[inline(always)]
pub fn prim1_i(at: &mut Registers, out: IOut, a: IIn, p: Prim) -> Result<(), Box<Fault>> {
    if let Value::I1(f) = primitive(p).value {
        let a = at.i(a);
        let value = f(a).map_err(|trap| integer_trap(trap, p, &[a]))?;
        at.set_i(out, value);
    }
    Ok(())
}

/// `out = p(a, b)`. Can fail.
#[inline(always)]
pub fn prim2_i(at: &mut Registers, out: IOut, a: IIn, b: IIn, p: Prim) -> Result<(), Box<Fault>> {
    if let Value::I2(f) = primitive(p).value {
        let (a, b) = (at.i(a), at.i(b));
        let value = f(a, b).map_err(|trap| integer_trap(trap, p, &[a, b]))?;
        at.set_i(out, value);
    }
    Ok(())
}

/// `out = (a ∘ b) ∘ c`, where `how` says which operations, and `c` stands in the [`Extra`](Instruction::Extra)
/// behind.
#[inline(always)]
pub fn join_left_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let c = at.extra();
    let value = joined::left(how, at.f(a), at.f(b), at.f(c));
    at.set_f(out, value);
}

/// `out = a ∘ (b ∘ c)`, likewise.
#[inline(always)]
pub fn join_right_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let c = at.extra();
    let value = joined::right(how, at.f(a), at.f(b), at.f(c));
    at.set_f(out, value);
}

/// `out = (a ∘ b) ∘ (c ∘ d)`, where `c` and `d` stand in the [`Extras`](Instruction::Extras) behind.
#[inline(always)]
pub fn join_both_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let (c, d) = at.extras();
    let value = joined::both(how, [at.f(a), at.f(b), at.f(c), at.f(d)]);
    at.set_f(out, value);
}

/// `out = a + b`. Fails on overflow.
#[inline(always)]
pub fn add_i(at: &mut Registers, out: IOut, a: IIn, b: IIn) -> Result<(), Box<Fault>> {
    let (a, b) = (at.i(a), at.i(b));
    match a.checked_add(b) {
        Some(value) => at.set_i(out, value),
        None => return Err(trapped(Trap::Overflow, "int.add", &[a, b])),
    }
    Ok(())
}

/// `out = a + k`. Fails on overflow.
#[inline(always)]
pub fn add_ik(at: &mut Registers, out: IOut, a: IIn, k: Small) -> Result<(), Box<Fault>> {
    let (a, b) = (at.i(a), i64::from(k.0));
    match a.checked_add(b) {
        Some(value) => at.set_i(out, value),
        None => return Err(added(a, b)),
    }
    Ok(())
}

/// `out = a - b`. Fails on overflow.
#[inline(always)]
pub fn sub_i(at: &mut Registers, out: IOut, a: IIn, b: IIn) -> Result<(), Box<Fault>> {
    let (a, b) = (at.i(a), at.i(b));
    match a.checked_sub(b) {
        Some(value) => at.set_i(out, value),
        None => return Err(trapped(Trap::Overflow, "int.sub", &[a, b])),
    }
    Ok(())
}

/// `out = a · b`. Fails on overflow.
#[inline(always)]
pub fn mul_i(at: &mut Registers, out: IOut, a: IIn, b: IIn) -> Result<(), Box<Fault>> {
    let (a, b) = (at.i(a), at.i(b));
    match a.checked_mul(b) {
        Some(value) => at.set_i(out, value),
        None => return Err(trapped(Trap::Overflow, "int.mul", &[a, b])),
    }
    Ok(())
}

#[cold]
fn integer_trap(trap: Trap, p: Prim, operands: &[i64]) -> Box<Fault> {
    trapped(trap, primitive(p).name, operands)
}

/// The fault of `a + b` with a constant, which may stand for a subtraction.
#[cold]
pub fn added(a: i64, b: i64) -> Box<Fault> {
    let (name, b) = if b < 0 { ("int.sub", -b) } else { ("int.add", b) };
    trapped(Trap::Overflow, name, &[a, b])
}
