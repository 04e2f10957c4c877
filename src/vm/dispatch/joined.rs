//! Joined arithmetic of derivative code where it is recorded step by step: in several levels, while somebody watches,
//! and where a partial derivative is not finite.

use super::save;
use crate::bytecode::operand::*;
use crate::bytecode::{Arithmetic, Instruction, Joined};
use crate::native::ids;
use crate::tape::Num;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::registers::Registers;

/// `out = (a ∘ b) ∘ c`
pub fn left(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    (a, b): (FIn, FIn),
    how: Ways,
) -> Result<(), Box<Fault>> {
    let (how, whole) = (Joined::of(how.0), at.pc);
    let c = at.extra();
    let left = step(machine, at.pc, how.first, at.num(a), at.num(b))?;
    let value = step(machine, whole, how.last, left, at.num(c))?;
    at.set_num(out, value);
    Ok(())
}

/// `out = a ∘ (b ∘ c)`
pub fn right(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    (a, b): (FIn, FIn),
    how: Ways,
) -> Result<(), Box<Fault>> {
    let (how, whole) = (Joined::of(how.0), at.pc);
    let c = at.extra();
    let right = step(machine, at.pc, how.first, at.num(b), at.num(c))?;
    let value = step(machine, whole, how.last, at.num(a), right)?;
    at.set_num(out, value);
    Ok(())
}

/// `out = (a ∘ b) ∘ (c ∘ d)`
pub fn both(
    machine: &mut Machine,
    at: &mut Registers,
    out: FOut,
    (a, b): (FIn, FIn),
    how: Ways,
) -> Result<(), Box<Fault>> {
    let (how, whole) = (Joined::of(how.0), at.pc);
    let c = at.extra();
    let left = step(machine, at.pc, how.first, at.num(a), at.num(b))?;
    let d = at.extra();
    let right = step(machine, at.pc, how.second, at.num(c), at.num(d))?;
    let value = step(machine, whole, how.last, left, right)?;
    at.set_num(out, value);
    Ok(())
}

/// Records one of the operations, which stands in the text where the instruction before `behind` does.
fn step(machine: &mut Machine, behind: *const Instruction, op: Arithmetic, x: Num, y: Num) -> Result<Num, Box<Fault>> {
    save(machine, behind);
    if machine.levels.is_watched() {
        machine.note_place();
    }
    let id = match op {
        Arithmetic::Add => ids::ADD,
        Arithmetic::Sub => ids::SUB,
        Arithmetic::Mul => ids::MUL,
        Arithmetic::Div => ids::DIV,
    };
    Ok(machine.levels.record(id, &[x, y])?)
}
