//! Exits: restores the frames of the interpreter after machine code was left.
#![allow(unsafe_code)]

use crate::bytecode::Instruction;
use crate::jit::{Continuation, Site};
use crate::value::{Bank, Slot};
use crate::vm::fault::Fault;
use crate::vm::function_table::Entry;
use crate::vm::state::machine::Machine;
use crate::vm::state::stacks::Frame;

/// The record of one function that was left: its site, and the registers that the site names.
pub(super) struct Record {
    site: *const Site,
    values: Vec<u64>,
}

/// Returns the records of an exit, the outermost function first.
///
/// # Safety
/// Machine code must have written records from `begin` to `end`.
pub(super) unsafe fn records(begin: *const u64, end: *const u64) -> Vec<Record> {
    let mut found = vec![];
    let mut at = begin;
    while at < end {
        // SAFETY: a record consists of the address of a site, which lives as long as the machine code, and of one word
        // for each register that the site names.
        unsafe {
            let site: &Site = &*(*at as *const Site);
            let count = site.saved.len();
            found.push(Record { site, values: std::slice::from_raw_parts(at.add(1), count).to_vec() });
            at = at.add(1 + count);
        }
    }
    found.reverse();
    found
}

/// Returns the entry of the function of a site.
pub(crate) fn entry_of_site(site: &Site) -> &Entry {
    // SAFETY: the owner of a site is the entry for which the code was compiled, which lives as long as the machine.
    unsafe { &*(site.owner as *const Entry) }
}

/// Returns the frame of a callee: its registers begin at the window of the caller.
fn frame_above(caller: &Frame, entry: &Entry) -> Frame {
    // SAFETY: entries live as long as the machine.
    let own = unsafe { &*caller.entry }.own;
    let base = [0, 1, 2].map(|bank| caller.base[bank] + own[bank]);
    Frame { entry, pc: entry.code.instructions.as_ptr(), base }
}

/// Returns the end of the registers of a frame.
pub(crate) fn end_of(frame: &Frame, entry: &Entry) -> [usize; 3] {
    [0, 1, 2].map(|bank| (frame.base[bank] + entry.frame[bank]) as usize)
}

/// Returns an instruction of a function.
pub(crate) fn instruction(entry: &Entry, at: usize) -> *const Instruction {
    entry.code.instructions.as_ptr().wrapping_add(at)
}

/// Restores the frames and registers of all functions that were left. `is_ready` states that the frames exist, and
/// `frames` is the number of frames when machine code was entered.
///
/// # Errors
/// Fails when a function that was being entered exceeds a limit.
pub(super) fn restore(
    machine: &mut Machine,
    records: &[Record],
    is_ready: bool,
    frames: usize,
) -> Result<(), Box<Fault>> {
    for (k, record) in records.iter().enumerate() {
        // SAFETY: sites live as long as the machine code, which the machine holds.
        let site = unsafe { &*record.site };
        let entry = entry_of_site(site);
        let at = frames - 1 + k;
        if !is_ready {
            if k > 0 {
                push(machine, site, entry)?;
            }
            let Some(frame) = machine.frames.get_mut(at) else { continue };
            match site.continuation {
                Continuation::Before => frame.pc = instruction(entry, site.pc as usize),
                Continuation::After => frame.pc = instruction(entry, site.pc as usize + 1),
                // The function continues in machine code, if it is not the one that was entered.
                Continuation::Entry => frame.pc = if k > 0 { entry.start.get() } else { instruction(entry, 0) },
            }
        }
        let Some(frame) = machine.frames.get(at).copied() else { continue };
        if entry.is_derivative {
            let (from, to) = entry.inactive;
            let base = frame.base[0];
            machine.stacks.slots[(base + from) as usize..(base + to) as usize].fill(Slot::NONE);
        }
        for ((bank, register), value) in site.saved.iter().zip(&record.values) {
            if is_ready && site.written.contains(&(*bank, *register)) {
                continue;
            }
            let at = frame.base[*bank as usize] as usize + usize::from(*register);
            match bank {
                Bank::F => machine.stacks.f[at] = f64::from_bits(*value),
                Bank::I => machine.stacks.i[at] = value.cast_signed(),
                Bank::R => {}
            }
        }
    }
    Ok(())
}

/// Pushes the frame of a function that machine code has called.
fn push(machine: &mut Machine, site: &Site, entry: &Entry) -> Result<(), Box<Fault>> {
    if site.continuation == Continuation::Entry && machine.fuel < 0 {
        machine.poll()?;
    }
    if machine.frames.len() >= machine.limits.depth {
        return Err(machine.too_deep());
    }
    let Some(caller) = machine.frames.last() else { return Ok(()) };
    let frame = frame_above(caller, entry);
    let end = end_of(&frame, entry);
    if !machine.stacks.has(end, entry.is_derivative) {
        machine.make_room(end, entry.is_derivative)?;
    }
    machine.frames.push(frame);
    Ok(())
}
