//! Slots: executes the arithmetic of derivative code, and records it in the live levels.

use crate::bytecode::operand::*;
use crate::native::PrimitiveId;
use crate::native::partial::{self, Partial};
use crate::tape::{Mode, Num};
use crate::vm::fault::Fault;
use crate::vm::recorder;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;

/// Adds two numbers with slots on the fast path, `out = a + b`. The functions for the fast path return
/// `None`, without a change, when several levels are live or the tape must be extended.
#[inline(always)]
pub fn add(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Option<()> {
    let (x, y) = (at.num(a), at.num(b));
    let value = x.value + y.value;
    recorder::usual_binary(&mut machine.levels, (x, y), value, both(&partial::SUM, x, y, value), sink(at, out))
}

/// Subtracts two numbers with slots on the fast path: `out = a - b`.
#[inline(always)]
pub fn sub(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Option<()> {
    let (x, y) = (at.num(a), at.num(b));
    let value = x.value - y.value;
    recorder::usual_binary(&mut machine.levels, (x, y), value, both(&partial::DIFFERENCE, x, y, value), sink(at, out))
}

/// Multiplies two numbers with slots on the fast path: `out = a · b`.
#[inline(always)]
pub fn mul(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Option<()> {
    let (x, y) = (at.num(a), at.num(b));
    let value = x.value * y.value;
    recorder::usual_binary(&mut machine.levels, (x, y), value, both(&partial::PRODUCT, x, y, value), sink(at, out))
}

/// Divides two numbers with slots on the fast path: `out = a / b`.
#[inline(always)]
pub fn div(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Option<()> {
    let (x, y) = (at.num(a), at.num(b));
    let value = x.value / y.value;
    recorder::usual_binary(&mut machine.levels, (x, y), value, both(&partial::QUOTIENT, x, y, value), sink(at, out))
}

/// Negates a number with its slot on the fast path: `out = -a`.
#[inline(always)]
pub fn neg(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn) -> Option<()> {
    let x = at.num(a);
    recorder::usual_unary(
        &mut machine.levels,
        x,
        -x.value,
        || partial::NEGATION[0].number(&[x.value], 0, -x.value).unwrap_or(0.0),
        sink(at, out),
    )
}

/// Returns the partial derivatives in both operands, each of which is only computed where it is needed.
#[inline(always)]
fn both(partials: &[Partial; 2], x: Num, y: Num, value: f64) -> (impl FnOnce() -> f64, impl FnOnce() -> f64) {
    let [first, second] = *partials;
    (move || first.of_two(x.value, y.value, value), move || second.of_two(x.value, y.value, value))
}

/// Executes an operation to which the fast path does not apply: when several levels are live, records the operation by
/// the general rule and returns `true`; otherwise allocates memory for the tape.
pub fn general(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    id: PrimitiveId,
    x: &[Num],
) -> Result<bool, Box<Fault>> {
    if machine.levels.mode() != Mode::General {
        machine.levels.make_room()?;
        return Ok(false);
    }
    at.set_num(out, machine.levels.record(id, x)?);
    Ok(true)
}

/// Applies a primitive of one number with its slot: `out = p(a)`.
pub fn d_prim1_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, p: Prim) -> Result<(), Box<Fault>> {
    let x = at.num(a);
    recorder::primitive1(&mut machine.levels, p.0, x, None, sink(at, out))?;
    Ok(())
}

/// Applies a primitive of two numbers with their slots: `out = p(a, b)`.
pub fn d_prim2_f(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    b: FIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    recorder::primitive2(&mut machine.levels, p.0, x, y, sink(at, out))?;
    Ok(())
}

/// Applies a primitive of three numbers with their slots: `out = p(a, b, c)`, where `c` is in the
/// [`Extra`](Instruction::Extra) after the instruction.
pub fn d_prim3_f(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    b: FIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let c = at.extra();
    at.set_num(out, recorder::primitive3(&mut machine.levels, p.0, [at.num(a), at.num(b), at.num(c)])?);
    Ok(())
}

/// Applies a primitive of a number with its slot and an integer: `out = p(a, n)`.
pub fn d_prim_fi(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    n: IIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let (x, n) = (at.num(a), at.i(n));
    recorder::primitive1(&mut machine.levels, p.0, x, Some(n), sink(at, out))?;
    Ok(())
}

/// Returns a function that writes a result with its slot to a register.
#[inline(always)]
fn sink(at: &mut Registers, out: FOut) -> impl FnOnce(f64, u64, u64) {
    move |value, epoch, payload| {
        at.set_f(out, value);
        at.set_slot(out, epoch, payload);
    }
}
