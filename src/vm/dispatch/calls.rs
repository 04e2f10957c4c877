//! Calls: entering and leaving functions, and calls of function objects of the machine.

use super::{load, save};
use crate::bytecode::NativeSite;
use crate::bytecode::operand::*;
use crate::value::{Ref, Slot};
use crate::vm::compiler::Compiler;
use crate::vm::functions::Entry;
use crate::vm::operators;
use crate::vm::run::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use crate::vm::state::stacks::Frame;
use crate::vm::state::task::Next;

/// Enters a function whose arguments stand in the window.
#[inline(always)]
pub(super) fn enter(machine: &mut Machine, at: Registers, entry: *const Entry) -> Result<Registers, Box<Fault>> {
    // SAFETY: `entry` comes from `Functions`, which never drops one.
    #[allow(unsafe_code)]
    let callee = unsafe { &*entry };
    let own = at.entry().own;
    let Some(frame) = machine.frames.last_mut() else { unreachable!("the caller has a frame") };
    frame.pc = at.pc;
    let base = [frame.base[0] + own[0], frame.base[1] + own[1], frame.base[2] + own[2]];
    // Written out: `map` over an array is a call here.
    let size = callee.frame;
    let end = [(base[0] + size[0]) as usize, (base[1] + size[1]) as usize, (base[2] + size[2]) as usize];
    machine.fuel -= 1;
    if machine.fuel < 0
        || machine.frames.len() >= machine.limits.depth
        || !machine.stacks.has(end, callee.is_derivative)
    {
        admit(machine, end, callee.is_derivative)?;
    }
    if callee.is_derivative {
        let first = base[0] as usize;
        let inactive = first + callee.inactive.0 as usize..first + callee.inactive.1 as usize;
        machine.stacks.slots[inactive].fill(Slot::NONE);
    }
    let frame = Frame { entry, pc: callee.start, base };
    machine.frames.push(frame);
    Ok(Registers::of(&frame, &mut machine.stacks))
}

/// What a call needs rarely: a check of the limits, and larger stacks.
#[cold]
#[inline(never)]
fn admit(machine: &mut Machine, end: [usize; 3], slots: bool) -> Result<(), Box<Fault>> {
    if machine.fuel < 0 {
        machine.poll()?;
    }
    if machine.frames.len() >= machine.limits.depth {
        return Err(machine.too_deep());
    }
    if machine.stacks.has(end, slots) { Ok(()) } else { machine.make_room(end, slots) }
}

/// Leaves a function; its results stand in its first registers. Also whether anything was let go.
#[inline(always)]
pub(super) fn leave(machine: &mut Machine, mut at: Registers) -> (Registers, bool) {
    let mut let_go = false;
    for leftover in at.leftovers() {
        if !matches!(leftover, Ref::Null) {
            *leftover = Ref::Null;
            let_go = true;
        }
    }
    machine.frames.pop();
    (load(machine), let_go)
}

/// The window of the innermost frame, for work in Rust.
pub(super) fn open_window(machine: &mut Machine, at: Registers) {
    save(machine, at.pc);
    if let Some(frame) = machine.frames.last() {
        let own = at.entry().own;
        let base = frame.base;
        machine.window = [(base[0] + own[0]) as usize, (base[1] + own[1]) as usize, (base[2] + own[2]) as usize];
    }
}

/// Calls a function of the native library.
pub(super) fn native(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: Registers,
    site: &NativeSite,
    slots: bool,
) -> Result<(), Box<Fault>> {
    open_window(machine, at);
    let next = crate::vm::native::call(machine, compiler, site, slots)?;
    machine.perform(compiler, next)
}

pub(super) fn call_object(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    mut at: Registers,
    function: RTake,
    derivative: bool,
) -> Result<(), Box<Fault>> {
    let Ref::Machine(object) = at.take(function) else {
        return Err(Fault::internal("a value that is not a function was called"));
    };
    open_window(machine, at);
    let next = operators::call_object(machine, compiler, &object, derivative)?;
    machine.perform(compiler, next)
}

pub(super) fn perform(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    next: Result<Next, Box<Fault>>,
) -> Result<(), Box<Fault>> {
    machine.perform(compiler, next?)
}
