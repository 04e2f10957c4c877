//! Object operations: the functions by which machine code makes, modifies and drops arrays and function objects.
#![allow(unsafe_code)]
#![allow(
    improper_ctypes_definitions,
    reason = "machine code passes the addresses of constants on without looking at them"
)]

use crate::bytecode::ClosureSite;
use crate::jit::Context;
use crate::value::spare_arrays::SpareArrays;
use crate::value::{Closure, Constants, Ref, finalizer};
use crate::vm::compiled::Running;
use crate::vm::objects;
use std::rc::Rc;

/// Returns the register of references with an address that machine code passes: a register of its frame.
///
/// # Safety
/// The register must not be borrowed.
unsafe fn register<'r>(address: *mut u8) -> &'r mut Ref {
    // SAFETY: as the caller guarantees.
    unsafe { &mut *address.cast::<Ref>() }
}

/// Replaces the reference in a register, whose array is kept for later use if it had no other owner.
fn replace(spare: &mut SpareArrays, to: &mut Ref, by: Ref) {
    let old = std::mem::replace(to, by);
    spare.recycle(old);
}

/// Copies a reference to a register.
pub extern "C" fn share(context: *mut Context, to: *mut u8, from: *const u8) -> i64 {
    // SAFETY: machine code passes its own context, a register of its frame, and the address of a reference that it has
    // found, which may be the register.
    unsafe {
        let shared = (*from.cast::<Ref>()).clone();
        replace(&mut (*context).spare_arrays, register(to), shared);
    }
    0
}

/// Moves a reference to another register.
pub extern "C" fn take(context: *mut Context, to: *mut u8, from: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context and registers of its frame.
    unsafe {
        let taken = std::mem::take(register(from));
        replace(&mut (*context).spare_arrays, register(to), taken);
    }
    0
}

/// Drops the reference in a register; returns whether finalizers are pending.
pub extern "C" fn drop_reference(context: *mut Context, address: *mut u8, _: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context and a register of its frame; nothing else borrows them.
    unsafe { replace(&mut (*context).spare_arrays, register(address), Ref::Null) };
    i64::from(finalizer::any())
}

/// Creates an empty array in an empty register; returns whether the register was empty.
pub extern "C" fn new_array_if_empty(context: *mut Context, out: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context and a register of its frame; nothing else borrows them.
    let (spare, out) = unsafe { (&mut (*context).spare_arrays, register(out)) };
    // A finalizer may have to run for an object that is replaced.
    if !matches!(out, Ref::Null) {
        return 0;
    }
    *out = spare.make();
    1
}

/// Creates a function object with the numbers and integers that were passed, and with references, which are moved out of the
/// window.
pub extern "C" fn new_closure(context: *mut Context, out: *mut u8, captured: *mut u8, site: *const ClosureSite) -> i64 {
    // SAFETY: machine code passes a register of its frame, which nothing borrows.
    let is_empty = unsafe { matches!(register(out), Ref::Null) };
    // A finalizer may have to run for an object that is replaced.
    if !is_empty {
        return 0;
    }
    // SAFETY: machine code passes its own context, whose run is in progress, and a site of its code.
    let (passed, running, site) = unsafe { (&raw const (*context).passed, (*context).run.cast::<Running>(), &*site) };
    let [numbers, integers, references] = site.captures.map(usize::from);
    let made = if site.captures == [0; 3] {
        // SAFETY: the machine is not borrowed while machine code runs.
        unsafe { (*(*running).machine).functions.plain(site.function) }
    } else {
        // SAFETY: machine code has passed the numbers and integers, and passes the first registers of its window, which the
        // verifier has found large enough. All bits are valid numbers and integers.
        let (f, i, r) = unsafe {
            (
                std::slice::from_raw_parts(passed.cast::<f64>(), numbers),
                std::slice::from_raw_parts(passed.cast::<i64>().add(numbers), integers),
                std::slice::from_raw_parts_mut(captured.cast::<Ref>(), references),
            )
        };
        let captures = objects::gather((f, &[]), i, r);
        Ref::Closure(Rc::new(Closure { function: site.function, captures }))
    };
    // SAFETY: as above; the register may be one of the window, which is not borrowed any more.
    unsafe { *register(out) = made };
    1
}

pub extern "C" fn new_array(context: *mut Context, out: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context; nothing else borrows it or the register.
    let (spare, out) = unsafe { (&mut (*context).spare_arrays, register(out)) };
    let old = std::mem::take(out);
    spare.recycle(old);
    *out = spare.make();
    1
}

/// Returns an array of adjoints in a register, which is empty before the first adjoint.
///
/// # Safety
/// Neither the context nor the register may be borrowed.
unsafe fn array_of_adjoints<'r>(context: *mut Context, address: *mut u8) -> &'r mut Ref {
    // SAFETY: as the caller guarantees.
    let (spare, array) = unsafe { (&mut (*context).spare_arrays, register(address)) };
    if matches!(array, Ref::Null) {
        *array = spare.make();
    }
    array
}

pub extern "C" fn load_array(out: *mut u8, constants: *const Constants) -> i64 {
    // SAFETY: the constants belong to the code that runs; nothing else borrows the register.
    unsafe { *register(out) = Ref::Cells(Rc::new((*constants).cells())) };
    1
}

pub extern "C" fn append_element(context: *mut Context, array: *mut u8, references: *mut u8, counts: i64) -> i64 {
    let [f, i, r] = [0, 16, 32].map(|shift| (counts >> shift) as usize & 0xffff);
    // SAFETY: machine code passes its own context, and a register that is not among those of the element, which lie in
    // the window of its frame.
    let (context, array, references) = unsafe {
        let references = std::slice::from_raw_parts_mut(references.cast::<Ref>(), r);
        (&*context, register(array), references)
    };
    let Ok(cells) = objects::own(array) else { return 0 };
    context.passed[..f].iter().for_each(|bits| cells.push_f(f64::from_bits(*bits)));
    cells.i.extend(context.passed[f..f + i].iter().map(|bits| bits.cast_signed()));
    cells.r.extend(references.iter_mut().map(std::mem::take));
    cells.len += 1;
    1
}

/// Returns the number or integer that machine code has passed.
///
/// # Safety
/// The context must not be borrowed.
unsafe fn passed(context: *mut Context) -> u64 {
    // SAFETY: as the caller guarantees.
    unsafe { (*context).passed[0] }
}

pub extern "C" fn append_passed(context: *mut Context, array: *mut u8, _: i64) -> i64 {
    // SAFETY: machine code passes its own context; nothing else borrows it or the register.
    let (value, array) = unsafe { (f64::from_bits(passed(context)), register(array)) };
    let Ok(cells) = objects::own(array) else { return 0 };
    cells.push_f(value);
    cells.len += 1;
    1
}

pub extern "C" fn set_number(context: *mut Context, array: *mut u8, position: i64) -> i64 {
    // SAFETY: machine code passes its own context; nothing else borrows it or the register.
    let (value, array) = unsafe { (f64::from_bits(passed(context)), register(array)) };
    let Ok(cells) = objects::own(array) else { return 0 };
    let at = usize::try_from(position).ok().and_then(|at| cells.f.get_mut(at));
    i64::from(at.map(|at| *at = value).is_some())
}

pub extern "C" fn set_integer(context: *mut Context, array: *mut u8, position: i64) -> i64 {
    // SAFETY: machine code passes its own context; nothing else borrows it or the register.
    let (value, array) = unsafe { (passed(context).cast_signed(), register(array)) };
    let Ok(cells) = objects::own(array) else { return 0 };
    let at = usize::try_from(position).ok().and_then(|at| cells.i.get_mut(at));
    i64::from(at.map(|at| *at = value).is_some())
}

pub extern "C" fn accumulate(context: *mut Context, array: *mut u8, position: i64) -> i64 {
    // SAFETY: machine code passes its own context; nothing else borrows it or the register.
    let (more, array) = unsafe { (f64::from_bits(passed(context)), array_of_adjoints(context, array)) };
    let Ok(position) = usize::try_from(position) else { return 0 };
    i64::from(objects::accumulate(array, position, more).is_some())
}

/// Returns the offset and the stride of a component, which machine code passes as one integer.
fn unpacked(place: i64) -> (u16, u16) {
    (place as u16, (place >> 16) as u16)
}

pub extern "C" fn append_reference(array: *mut u8, from: *mut u8) -> i64 {
    // SAFETY: machine code passes registers of its frame; the reference is moved before the array is borrowed.
    let (value, to) = unsafe { (std::mem::take(register(from)), register(array)) };
    let Ok(cells) = objects::own(to) else {
        // SAFETY: as above; the array is not borrowed any more.
        unsafe { *register(from) = value };
        return 0;
    };
    cells.r.push(value);
    cells.len += 1;
    1
}

pub extern "C" fn take_reference(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64 {
    // SAFETY: machine code passes a register of its frame, which nothing else borrows.
    let Ok(cells) = objects::own(unsafe { register(array) }) else { return 0 };
    let at = objects::position(cells, index, unpacked(place)).and_then(|at| cells.r.get_mut(at));
    let Some(taken) = at.map(std::mem::take) else { return 0 };
    // SAFETY: as above; the array is not borrowed any more.
    unsafe { *register(out) = taken };
    1
}

pub extern "C" fn set_reference(array: *mut u8, from: *mut u8, index: i64, place: i64) -> i64 {
    // SAFETY: machine code passes registers of its frame; the reference is moved before the array is borrowed.
    let (value, array) = unsafe { (std::mem::take(register(from)), register(array)) };
    let Ok(cells) = objects::own(array) else { return 0 };
    let at = objects::position(cells, index, unpacked(place)).and_then(|at| cells.r.get_mut(at));
    i64::from(at.map(|at| *at = value).is_some())
}

/// Returns the reference in a component of an element of an array that has one owner.
fn own_element(array: &mut Ref, index: i64, place: i64) -> Option<&mut Ref> {
    let Ref::Cells(cells) = array else { return None };
    let cells = Rc::get_mut(cells)?;
    let at = objects::position(cells, index, unpacked(place))?;
    cells.r.get_mut(at)
}

pub extern "C" fn take_element(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64 {
    // SAFETY: machine code passes a register of its frame, which nothing else borrows.
    if !matches!(unsafe { register(out) }, Ref::Null) {
        return 0;
    }
    // SAFETY: as above; the borrow of the other register has ended.
    let Some(element) = own_element(unsafe { register(array) }, index, place) else { return 0 };
    let taken = std::mem::take(element);
    // SAFETY: as above; the array is not borrowed any more.
    unsafe { *register(out) = taken };
    1
}

pub extern "C" fn set_element(array: *mut u8, from: *mut u8, index: i64, place: i64) -> i64 {
    if array == from {
        return 0;
    }
    // SAFETY: machine code passes a register of its frame, which nothing else borrows.
    let Some(element) = own_element(unsafe { register(array) }, index, place) else { return 0 };
    if !matches!(element, Ref::Null) {
        return 0;
    }
    // SAFETY: as above; the reference is in another register.
    *element = std::mem::take(unsafe { register(from) });
    1
}

pub extern "C" fn take_adjoint_array(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64 {
    let Some(at) = objects::adjoint_position(index, unpacked(place)) else { return 0 };
    // SAFETY: machine code passes registers of its frame, which nothing else borrows.
    let Some(taken) = objects::take_adjoint_array(unsafe { register(array) }, at) else { return 0 };
    // SAFETY: as above; the array is not borrowed any more.
    unsafe { *register(out) = taken };
    1
}

pub extern "C" fn adjoint_element(context: *mut Context, array: *mut u8, index: i64, place: i64) -> i64 {
    let Some(at) = objects::adjoint_position(index, unpacked(place)) else { return 0 };
    // SAFETY: machine code passes its own context, and a register of its frame, which nothing else borrows.
    let array = unsafe { array_of_adjoints(context, array) };
    objects::adjoint_element(array, at).map_or(0, |element| (&raw mut *element).addr() as i64)
}

pub extern "C" fn accumulate_array(
    context: *mut Context,
    array: *mut u8,
    from: *const u8,
    index: i64,
    place: i64,
) -> i64 {
    let Some(at) = objects::adjoint_position(index, unpacked(place)) else { return 0 };
    // SAFETY: machine code passes its own context, and registers of its frame. They may be the same, so one reference is
    // a copy.
    let (from, array) = unsafe { ((*from.cast::<Ref>()).clone(), array_of_adjoints(context, array)) };
    // SAFETY: nothing else borrows the context.
    let context = unsafe { &mut *context };
    let entries = entries(context);
    i64::from(objects::accumulate_array(array, at, &from, &mut context.copied, entries).is_some())
}

/// Returns the number of entries for which the value stack has memory.
fn entries(context: &Context) -> usize {
    (0..2).map(|k| (context.ends[k] - context.bottoms[k]) / size_of::<u64>()).sum()
}

pub extern "C" fn add_array(context: *mut Context, array: *mut u8, from: *const u8) -> i64 {
    // SAFETY: machine code passes its own context, and registers of its frame. They may be the same, so one reference is
    // a copy.
    let (from, array) = unsafe { ((*from.cast::<Ref>()).clone(), array_of_adjoints(context, array)) };
    // SAFETY: nothing else borrows the context.
    let context = unsafe { &mut *context };
    let entries = entries(context);
    i64::from(objects::add_array(array, &from, &mut context.copied, entries).is_some())
}
