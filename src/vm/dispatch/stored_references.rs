//! Stored references: the functions by which machine code moves references into and out of boxes, records and global variables,
//! and notes modifications in place.
//!
//! A function returns 0 and has no effect where a finalizer may have to run, a store must be logged, or an operation fails: the
//! interpreter then executes the instruction.
#![allow(unsafe_code)]
#![allow(
    improper_ctypes_definitions,
    reason = "machine code passes the addresses of constants on without looking at them"
)]

use crate::bytecode::AccessSite;
use crate::jit::Context;
use crate::source::Span;
use crate::value::Ref;
use crate::vm::compiled::Running;
use crate::vm::exclusivity;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use std::rc::Rc;

/// Returns the machine of the context, which is not borrowed while machine code runs.
///
/// # Safety
/// Machine code passes its own context, whose run is in progress.
unsafe fn machine<'m>(context: *mut Context) -> &'m mut Machine {
    // SAFETY: as the caller guarantees.
    unsafe { &mut *(*(*context).run.cast::<Running>()).machine }
}

/// Whether no finalizer can run when a reference is dropped.
fn drops_silently(reference: &Ref) -> bool {
    match reference {
        Ref::Null | Ref::Text(_) => true,
        Ref::Cells(cells) => Rc::strong_count(cells) > 1 || cells.r.is_empty(),
        Ref::Box(object) => Rc::strong_count(object) > 1,
        Ref::Dictionary(dictionary) => Rc::strong_count(dictionary) > 1,
        Ref::Closure(closure) => Rc::strong_count(closure) > 1,
        Ref::Any(any) => Rc::strong_count(any) > 1,
        Ref::Machine(_) | Ref::Tensor(_) => false,
    }
}

/// Moves a reference to a place; returns whether nothing had to be done for the previous content.
fn put(place: &mut Ref, value: &mut Ref) -> bool {
    let is_silent = drops_silently(place);
    if is_silent {
        *place = std::mem::take(value);
    }
    is_silent
}

/// Moves a reference out of a box.
pub extern "C" fn take_box(out: *mut Ref, from: *mut Ref, index: i64) -> i64 {
    // SAFETY: machine code passes registers of its frame, which may be the same; nothing else borrows them.
    let Ref::Box(object) = (unsafe { &*from }) else { return 0 };
    let object = Rc::clone(object);
    let Ok(mut cells) = object.cells.try_borrow_mut() else { return 0 };
    let Some(place) = cells.r.get_mut(index as usize) else { return 0 };
    // SAFETY: as above. An object whose only reference is replaced is kept by the copy, so that a finalizer would run later.
    let out = unsafe { &mut *out };
    if std::ptr::eq(out, from) || !drops_silently(out) {
        return 0;
    }
    *out = std::mem::take(place);
    1
}

/// Moves a reference to a box.
pub extern "C" fn store_box(context: *mut Context, to: *mut Ref, value: *mut Ref, index: i64) -> i64 {
    // SAFETY: machine code passes its own context, and registers of its frame, which may be the same.
    let is_logged = unsafe { machine(context).levels.depth() != 0 };
    if is_logged || std::ptr::eq(to, value) {
        return 0;
    }
    // SAFETY: the registers differ, and nothing else borrows them.
    let (to, value) = unsafe { (&*to, &mut *value) };
    let Ref::Box(object) = to else { return 0 };
    let Ok(mut cells) = object.cells.try_borrow_mut() else { return 0 };
    cells.r.get_mut(index as usize).is_some_and(|place| put(place, value)).into()
}

/// Moves a reference out of a record.
pub extern "C" fn take_record(out: *mut Ref, from: *mut Ref, index: i64) -> i64 {
    if std::ptr::eq(out, from) {
        return 0;
    }
    // SAFETY: machine code passes registers of its frame, which differ; nothing else borrows them.
    let (out, from) = unsafe { (&mut *out, &mut *from) };
    let Ok(cells) = objects::own(from) else { return 0 };
    cells.r.get_mut(index as usize).is_some_and(|place| put(out, place)).into()
}

/// Moves a reference to a record.
pub extern "C" fn store_record(to: *mut Ref, value: *mut Ref, index: i64) -> i64 {
    if std::ptr::eq(to, value) {
        return 0;
    }
    // SAFETY: machine code passes registers of its frame, which differ; nothing else borrows them.
    let (to, value) = unsafe { (&mut *to, &mut *value) };
    let Ok(cells) = objects::own(to) else { return 0 };
    cells.r.get_mut(index as usize).is_some_and(|place| put(place, value)).into()
}

/// Moves a reference out of a global variable.
pub extern "C" fn take_global(context: *mut Context, out: *mut Ref, index: i64) -> i64 {
    // SAFETY: machine code passes its own context, and a register of its frame, which nothing else borrows.
    let (machine, out) = unsafe { (machine(context), &mut *out) };
    machine.globals.r.get_mut(index as usize).is_some_and(|place| put(out, place)).into()
}

/// Moves a reference to a global variable.
pub extern "C" fn store_global(context: *mut Context, value: *mut Ref, index: i64) -> i64 {
    // SAFETY: machine code passes its own context, and a register of its frame, which nothing else borrows.
    let (machine, value) = unsafe { (machine(context), &mut *value) };
    if machine.levels.depth() != 0 {
        return 0;
    }
    machine.globals.r.get_mut(index as usize).is_some_and(|place| put(place, value)).into()
}

/// Checks that components are not being modified, and starts to modify them. The object is that of a register, or the
/// address is null for global variables.
pub extern "C" fn begin_access(
    context: *mut Context,
    object: *const Ref,
    site: *const AccessSite,
    start: i64,
    end: i64,
) -> i64 {
    // SAFETY: machine code passes its own context, a register of its frame or null, and a site of its code.
    let (machine, object, site) = unsafe { (machine(context), object.as_ref(), &*site) };
    let span = Span::new(start as u32, end as u32);
    let has_begun = exclusivity::begin_known(machine, object, site, span);
    // SAFETY: as above; the machine has no reference to the context.
    unsafe { (*context).modifications = machine.changes.len() };
    has_begun.into()
}

/// Ends the last modification in place.
pub extern "C" fn end_access(context: *mut Context) -> i64 {
    // SAFETY: machine code passes its own context.
    let machine = unsafe { machine(context) };
    machine.changes.pop();
    // SAFETY: as above; the machine has no reference to the context.
    unsafe { (*context).modifications = machine.changes.len() };
    1
}
