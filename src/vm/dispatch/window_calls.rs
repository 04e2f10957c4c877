//! Window calls: the functions by which machine code calls native functions and applies operators on its window, and loads and
//! appends strings.
#![allow(unsafe_code)]
#![allow(
    improper_ctypes_definitions,
    reason = "machine code passes the addresses of sites and strings on without looking at them"
)]

use super::calls::apply_in_place;
use super::fast_path;
use crate::bytecode::{Instruction, NativeSite};
use crate::jit::{Context, FINALIZERS_PENDING, LEFT, Link, NOT_EXECUTED, RETURNED, Site};
use crate::native::library::{self, Window};
use crate::value::{Ref, Text, finalizer};
use crate::vm::compiled::{self, Running};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Calls a native function that needs no context. The numbers of the window were passed, and its integers after them; the
/// references are in their registers. The results are in their place.
pub extern "C" fn call_native(context: *mut Context, site: *const NativeSite, references: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context and a site of its code; nothing else borrows the context.
    let (context, site) = unsafe { (&mut *context, &*site) };
    let [numbers, integers, references_count] = site.window.map(usize::from);
    let passed = context.passed.as_mut_ptr();
    // SAFETY: machine code passes the first registers of its window, which the verifier has found large enough, and calls
    // no function whose numbers and integers are more than can be passed. All bits are valid numbers and integers.
    let (f, i, r) = unsafe {
        (
            std::slice::from_raw_parts_mut(passed.cast::<f64>(), numbers),
            std::slice::from_raw_parts_mut(passed.add(numbers).cast::<i64>(), integers),
            std::slice::from_raw_parts_mut(references.cast::<Ref>(), references_count),
        )
    };
    let mut window = Window { f, i, r, signature: &site.signature };
    let called = catch_unwind(AssertUnwindSafe(|| library::direct(site.native)?.apply(&mut window)));
    match called {
        Ok(Some(steps)) => {
            context.fuel -= steps;
            if finalizer::any() { FINALIZERS_PENDING } else { RETURNED }
        }
        Ok(None) => NOT_EXECUTED,
        Err(panic) => {
            // SAFETY: the run of the context is in progress.
            unsafe { (*context.run.cast::<Running>()).panic = Some(panic) };
            LEFT
        }
    }
}

/// Applies the operator of a site, in plain code, by tangent or adjoint code whose registers fit the stacks. The numbers of the
/// window were passed, and the references are in their registers. The results are in their place.
pub extern "C" fn operate(context: *mut Context, site: *const Site, link: *const Link, references: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress, a site of its code, and the record of the running
    // function.
    let (running, fuel, site, link) =
        unsafe { (&mut *(*context).run.cast::<Running>(), (*context).fuel, &*site, &*link) };
    // SAFETY: the machine and the compiler are not borrowed while machine code runs.
    let (machine, compiler) = unsafe { (&mut *running.machine, &mut *running.compiler) };
    machine.fuel = fuel;
    let first = references.cast::<Ref>();
    machine.window = [
        link.window as u32 as usize,
        (link.window >> 32) as usize,
        // The registers of machine code lie in the stack of references.
        (first.addr() - machine.stacks.r.as_ptr().addr()) / size_of::<Ref>(),
    ];
    let applied = catch_unwind(AssertUnwindSafe(|| apply_to_window(machine, compiler, site, context)));
    // SAFETY: nothing else borrows the context.
    unsafe { (*context).fuel = machine.fuel };
    match applied {
        Ok(Ok(true)) if finalizer::any() => FINALIZERS_PENDING,
        Ok(Ok(true)) => RETURNED,
        Ok(Ok(false)) => NOT_EXECUTED,
        Ok(Err(fault)) => {
            running.fault = Some(fault);
            LEFT
        }
        Err(panic) => {
            running.panic = Some(panic);
            LEFT
        }
    }
}

/// Applies the operator of a site to the window of the machine, whose numbers were passed in the context of machine code that is
/// running; returns whether that was possible.
fn apply_to_window(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    site: &Site,
    context: *mut Context,
) -> Result<bool, Box<Fault>> {
    let entry = compiled::entry_of_site(site);
    let Instruction::Operate { site } = entry.code.instructions[site.pc as usize] else { return Ok(false) };
    let operator = &entry.code.operators[usize::from(site)];
    let [params, results, window] =
        [operator.params, operator.results, operator.window()].map(|counts| counts.map(usize::from));
    if !machine.has_room(window) {
        return Ok(false);
    }
    let [numbers, integers, _] = machine.window;
    // SAFETY: nothing else borrows the context until the operator is applied.
    let passed = unsafe { &(*context).passed };
    for (number, bits) in machine.stacks.f[numbers..].iter_mut().zip(&passed[..params[0]]) {
        *number = f64::from_bits(*bits);
    }
    if !apply_in_place(machine, compiler, entry, site)? {
        return Ok(false);
    }
    // SAFETY: as above; the machine code that has run in between has ended.
    let passed = unsafe { &mut (*context).passed };
    for (bits, number) in passed[..results[0]].iter_mut().zip(&machine.stacks.f[numbers..]) {
        *bits = number.to_bits();
    }
    for (bits, integer) in passed[window[0]..window[0] + results[1]].iter_mut().zip(&machine.stacks.i[integers..]) {
        *bits = integer.cast_unsigned();
    }
    Ok(true)
}

/// Writes a constant string to an empty register; returns whether the register was empty.
pub extern "C" fn load_text(out: *mut u8, text: *const Rc<str>) -> i64 {
    // SAFETY: machine code passes a register of its frame, which nothing else borrows, and a string of its code.
    let (out, text) = unsafe { (&mut *out.cast::<Ref>(), &*text) };
    if !matches!(out, Ref::Null) {
        return 0;
    }
    *out = Ref::Text(Text::Fixed(Rc::clone(text)));
    1
}

/// Appends the string in a register, which is emptied, to the string in another register, if that has enough capacity or
/// the result is short; returns whether it did.
pub extern "C" fn append_text(text: *mut u8, from: *mut u8) -> i64 {
    if text == from {
        return 0;
    }
    // SAFETY: machine code passes two registers of its frame, which nothing else borrows.
    let (text, from) = unsafe { (&mut *text.cast::<Ref>(), &mut *from.cast::<Ref>()) };
    i64::from(fast_path::append_moved(text, from).is_some())
}
