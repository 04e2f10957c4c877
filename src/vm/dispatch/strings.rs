//! Strings: loads constant strings, and appends strings.

use crate::bytecode::operand::*;
use crate::native::library;
use crate::value::Ref;
use crate::vm::fault::Fault;
use crate::vm::native_call::effort;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;

/// Loads a constant string: `out = texts[k]`.
pub fn load(at: &mut Registers, out: ROut, k: Text) {
    let text = at.code().texts[usize::from(k)].clone();
    at.set_r(out, Ref::Text(text.into()));
}

/// Appends a string to another string. The appended string is moved.
pub fn append(machine: &mut Machine, at: &mut Registers, text: RChange, a: RTake) -> Result<(), Box<Fault>> {
    let more = at.take(a);
    machine.fuel -= effort(&more);
    library::append_text(at.changed(text), &more, &machine.host)?;
    Ok(())
}
