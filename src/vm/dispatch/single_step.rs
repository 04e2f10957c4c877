//! Single steps: executes one instruction for machine code, with its complete meaning.
#![allow(unsafe_code)]

use super::{fast_path, finalizers, load, save, slow_path};
use crate::bytecode::Instruction;
use crate::jit::{Context, FINALIZERS_PENDING, Helpers, LEFT, Link, NOT_EXECUTED, RETURNED, Register, Site};
use crate::native::library::{self, Direct, PureOperation};
use crate::value::{Bank, Cells, Ref, finalizer};
use crate::vm::compiled::{self, Running};
use crate::vm::fault::Fault;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The functions that machine code calls.
pub(super) static HELPERS: Helpers = Helpers {
    step,
    finish,
    append_number,
    append_integer,
    share,
    take,
    poll: compiled::poll,
    grow: compiled::grow,
    reference: size_of::<Ref>() as i32,
};

/// The number of functions in machine code, one calling the other, for which a single step creates frames; if there are
/// more, the interpreter takes over.
const MAX_FRAMES: usize = 32;

/// Executes the instruction of a site for the function with the given link.
extern "C" fn step(context: *mut Context, site: *const Site, link: *const Link) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress, and the record of the running function,
    // which has a site of the code; nothing else uses the machine meanwhile.
    let (context, site, running) = unsafe { (&mut *context, &*site, &mut *(*context).run.cast::<Running>()) };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the machine and the compiler are not borrowed while machine code runs.
        let (machine, compiler) = unsafe { (&mut *running.machine, &mut *running.compiler) };
        machine.fuel = context.fuel;
        let references = machine.stacks.r.as_ptr();
        let Some(base) = create_frames(machine, site, link, running.frames) else {
            machine.frames.truncate(running.frames);
            context.fuel = machine.fuel;
            return NOT_EXECUTED;
        };
        if references != machine.stacks.r.as_ptr() {
            machine.frames.truncate(running.frames);
            context.fuel = machine.fuel;
            return NOT_EXECUTED;
        }
        for ((bank, register), value) in site.read.iter().zip(&context.passed) {
            let at = base[*bank as usize] + usize::from(*register);
            match bank {
                Bank::F => machine.stacks.f[at] = f64::from_bits(*value),
                Bank::I => machine.stacks.i[at] = value.cast_signed(),
                Bank::R => {}
            }
        }
        let count = machine.frames.len();
        let outcome = execute(machine, compiler);
        context.fuel = machine.fuel;
        compiled::describe(machine, context);
        match outcome {
            Err(fault) => {
                running.fault = Some(fault);
                running.is_ready = true;
                return LEFT;
            }
            Ok(()) if machine.frames.len() != count || references != machine.stacks.r.as_ptr() => {
                running.is_ready = true;
                return LEFT;
            }
            Ok(()) => {}
        }
        for (register, value) in site.written.iter().zip(&mut context.passed) {
            *value = read(machine, base, *register);
        }
        machine.frames.truncate(running.frames);
        RETURNED
    }));
    outcome.unwrap_or_else(|panic| {
        running.panic = Some(panic);
        LEFT
    })
}

fn read(machine: &Machine, base: [usize; 3], (bank, register): Register) -> u64 {
    let at = base[bank as usize] + usize::from(register);
    match bank {
        Bank::F => machine.stacks.f[at].to_bits(),
        Bank::I => machine.stacks.i[at].cast_unsigned(),
        Bank::R => 0,
    }
}

/// Creates the frames of the functions in machine code; returns the base of the innermost. `None` if there are too many
/// frames, or no memory for them.
fn create_frames(machine: &mut Machine, site: &Site, link: *const Link, frames: usize) -> Option<[usize; 3]> {
    let mut sites: SmallVec<[&Site; 8]> = SmallVec::new();
    let mut link = link;
    while !link.is_null() {
        // SAFETY: the record of a function lives as long as the function runs, and its site as long as its code.
        let (caller, site) = unsafe { ((*link).caller, &*(*link).site) };
        sites.push(site);
        link = caller;
        if sites.len() > MAX_FRAMES {
            return None;
        }
    }
    for (k, site) in sites.iter().rev().enumerate() {
        let entry = compiled::entry_of_site(site);
        if k > 0 {
            let frame = compiled::frame_above(machine.frames.last()?, entry);
            let end = compiled::end_of(&frame, entry);
            if !machine.stacks.has(end, false) {
                machine.make_room(end, false).ok()?;
            }
            machine.frames.push(frame);
        }
        let frame = machine.frames.get_mut(frames - 1 + k)?;
        frame.pc = compiled::instruction(entry, site.pc as usize + 1);
    }
    let frame = machine.frames.last_mut()?;
    frame.pc = compiled::instruction(compiled::entry_of_site(site), site.pc as usize);
    Some(frame.base.map(|n| n as usize))
}

/// Executes the next instruction of the innermost frame, and pending finalizers.
fn execute(
    machine: &mut Machine,
    compiler: &mut dyn crate::vm::compiler_interface::Compiler,
) -> Result<(), Box<Fault>> {
    let mut at = load(machine);
    let here = at.pc;
    let instruction = at.next();
    match *instruction {
        Instruction::Native { site } => {
            let site = &at.code().natives[usize::from(site)];
            let steps = match library::direct(site.native) {
                Some(Direct::Pure(PureOperation::Query(query))) => fast_path::query(at, site, query),
                Some(Direct::Pure(PureOperation::Advance(advance))) => fast_path::advance(at, site, advance),
                Some(Direct::FastPath(fast)) => fast_path::window(at, site, fast),
                None => None,
            };
            match steps {
                Some(steps) => {
                    machine.fuel -= steps;
                    save(machine, at.pc);
                }
                None => slow_path::call_native(machine, compiler, here)?,
            }
        }
        _ => slow_path::step(machine, compiler, here)?,
    }
    if finalizer::any() {
        finalizers::run_finalizers(machine, compiler)?;
    }
    Ok(())
}

/// Ends a function with references.
extern "C" fn finish(references: *mut u8, kept: i64, end: i64, from: i64) -> i64 {
    // SAFETY: machine code passes the references of its frame, and the verifier has checked that results lie inside.
    let references = unsafe { std::slice::from_raw_parts_mut(references.cast::<Ref>(), end as usize) };
    if let Ok(from) = usize::try_from(from) {
        let result = std::mem::take(&mut references[from]);
        references[0] = result;
    }
    for reference in &mut references[kept as usize..] {
        if !matches!(reference, Ref::Null) {
            *reference = Ref::Null;
        }
    }
    if finalizer::any() { FINALIZERS_PENDING } else { RETURNED }
}

/// Appends a number to an array; returns whether the register holds an array.
extern "C" fn append_number(array: *mut u8, value: f64) -> i64 {
    append(array, |cells| cells.push_f(value))
}

/// Appends an integer to an array; returns whether the register holds an array.
extern "C" fn append_integer(array: *mut u8, value: i64) -> i64 {
    append(array, |cells| cells.i.push(value))
}

fn append(array: *mut u8, push: impl FnOnce(&mut Cells)) -> i64 {
    // SAFETY: machine code passes the address of a register of references in its frame.
    let array = unsafe { &mut *array.cast::<Ref>() };
    match objects::own(array) {
        Ok(cells) => {
            push(cells);
            cells.len += 1;
            1
        }
        Err(_) => 0,
    }
}

/// Copies a reference to a register.
extern "C" fn share(to: *mut u8, from: *const u8) -> i64 {
    // SAFETY: machine code passes the address of a register in its frame, and of a reference that it has found.
    unsafe {
        let value = (*from.cast::<Ref>()).clone();
        *to.cast::<Ref>() = value;
    }
    0
}

/// Moves a reference to another register.
extern "C" fn take(to: *mut u8, from: *mut u8) -> i64 {
    // SAFETY: machine code passes the addresses of registers in its frame.
    unsafe {
        let value = std::mem::take(&mut *from.cast::<Ref>());
        *to.cast::<Ref>() = value;
    }
    0
}
