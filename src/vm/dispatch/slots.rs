//! Moves and arithmetic of derivative code: the value, and what the live levels keep of it.

use crate::bytecode::operand::*;
use crate::native::product_slope;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::record;
use crate::vm::registers::Registers;

/// `out = a + b`
#[inline(always)]
pub fn d_add_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    let id = machine.ids.add;
    let value = x.value + y.value;
    record::binary(&mut machine.levels, id, (x, y), value, (|| 1.0, || 1.0), sink(at, out))?;
    Ok(())
}

/// `out = a - b`
#[inline(always)]
pub fn d_sub_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    let id = machine.ids.sub;
    let value = x.value - y.value;
    record::binary(&mut machine.levels, id, (x, y), value, (|| 1.0, || -1.0), sink(at, out))?;
    Ok(())
}

/// `out = a · b`
#[inline(always)]
pub fn d_mul_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    let id = machine.ids.mul;
    let value = x.value * y.value;
    let slopes = (|| product_slope(value, y.value, x.value), || product_slope(value, x.value, y.value));
    record::binary(&mut machine.levels, id, (x, y), value, slopes, sink(at, out))?;
    Ok(())
}

/// `out = a / b`
#[inline(always)]
pub fn d_div_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, b: FIn) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    let id = machine.ids.div;
    let value = x.value / y.value;
    let slopes = (|| 1.0 / y.value, || -(value / y.value));
    record::binary(&mut machine.levels, id, (x, y), value, slopes, sink(at, out))?;
    Ok(())
}

/// `out = -a`
#[inline(always)]
pub fn d_neg_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn) -> Result<(), Box<Fault>> {
    let x = at.num(a);
    let id = machine.ids.neg;
    record::unary(&mut machine.levels, id, (x, None), -x.value, || -1.0, sink(at, out))?;
    Ok(())
}

/// `out = p(a)`
#[inline(always)]
pub fn d_prim1_f(machine: &mut Machine, at: &mut Registers, out: FOut, a: FIn, p: Prim) -> Result<(), Box<Fault>> {
    let x = at.num(a);
    record::primitive1(&mut machine.levels, p.0, x, None, sink(at, out))?;
    Ok(())
}

/// `out = p(a, b)`
#[inline(always)]
pub fn d_prim2_f(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    b: FIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let (x, y) = (at.num(a), at.num(b));
    record::primitive2(&mut machine.levels, p.0, x, y, sink(at, out))?;
    Ok(())
}

/// `out = p(a, b, c)`, where `c` stands in the [`Extra`](Instruction::Extra) behind.
#[inline(always)]
pub fn d_prim3_f(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    b: FIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let c = at.extra();
    at.set_num(out, record::primitive3(&mut machine.levels, p.0, [at.num(a), at.num(b), at.num(c)])?);
    Ok(())
}

/// `out = p(a, n)`
#[inline(always)]
pub fn d_prim_fi(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    a: FIn,
    n: IIn,
    p: Prim,
) -> Result<(), Box<Fault>> {
    let (x, n) = (at.num(a), at.i(n));
    record::primitive1(&mut machine.levels, p.0, x, Some(n), sink(at, out))?;
    Ok(())
}

/// Writes a result with its slot.
#[inline(always)]
fn sink(at: &mut Registers, out: FOut) -> impl FnOnce(f64, u64, u64) {
    move |value, epoch, payload| {
        at.set_f(out, value);
        at.set_slot(out, epoch, payload);
    }
}
