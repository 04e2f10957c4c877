//! Single steps: executes one instruction for machine code, with its complete meaning.
#![allow(unsafe_code)]

use super::calls::apply_operator;
use super::{fast_path, finalizers, load, object_operations, save, slow_path, window_calls};
use crate::bytecode::Instruction;
use crate::jit::{Context, FINALIZERS_PENDING, Helpers, LEFT, Link, NOT_EXECUTED, RETURNED, Register, Site};
use crate::native::library;
use crate::value::{Bank, Cells, Ref, Slot, finalizer};
use crate::vm::compiled::{self, Running};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::stacks::Frame;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The functions that machine code calls.
pub(super) static HELPERS: Helpers = Helpers {
    step,
    finish,
    call_native: window_calls::call_native,
    operate: window_calls::operate,
    load_text: window_calls::load_text,
    append_text: window_calls::append_text,
    append_number,
    append_integer,
    append_varied,
    new_closure: object_operations::new_closure,
    new_array: object_operations::new_array,
    new_array_if_empty: object_operations::new_array_if_empty,
    load_array: object_operations::load_array,
    append_element: object_operations::append_element,
    append_reference: object_operations::append_reference,
    take_reference: object_operations::take_reference,
    set_reference: object_operations::set_reference,
    take_element: object_operations::take_element,
    set_element: object_operations::set_element,
    take_adjoint_array: object_operations::take_adjoint_array,
    adjoint_element: object_operations::adjoint_element,
    accumulate_array: object_operations::accumulate_array,
    set_number: object_operations::set_number,
    set_integer: object_operations::set_integer,
    accumulate: object_operations::accumulate,
    append_passed: object_operations::append_passed,
    add_array: object_operations::add_array,
    add_nodes: compiled::add_nodes,
    make_slots,
    extend_tape: compiled::extend_tape,
    share: object_operations::share,
    take: object_operations::take,
    drop: object_operations::drop_reference,
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
    let (context, site, link, running) =
        unsafe { (&mut *context, &*site, &*link, &mut *(*context).run.cast::<Running>()) };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the machine and the compiler are not borrowed while machine code runs.
        let (machine, compiler) = unsafe { (&mut *running.machine, &mut *running.compiler) };
        machine.fuel = context.fuel;
        compiled::take_nodes(machine, context);
        let (stacks, mode) = (machine.stacks.addresses(), machine.levels.mode());
        let (root, frames) = (&raw const context.root, running.frames);
        let stack = machine.stacks.r.as_ptr().addr();
        let mut callers = Callers { link, root, frames, stack, exist: false };
        let frame = push_innermost(machine, site, &callers).filter(|_| machine.stacks.addresses() == stacks);
        let Some(frame) = frame else {
            machine.frames.truncate(running.frames);
            context.fuel = machine.fuel;
            return NOT_EXECUTED;
        };
        let base = frame.base.map(|n| n as usize);
        for ((bank, register), value) in site.read.iter().zip(&context.passed) {
            let at = base[*bank as usize] + usize::from(*register);
            match bank {
                Bank::F => machine.stacks.f[at] = f64::from_bits(*value),
                Bank::I => machine.stacks.i[at] = value.cast_signed(),
                Bank::R => {}
            }
        }
        let applied = apply_operator(machine, compiler);
        if matches!(applied, Ok(false)) && looks_at_callers(site) && !callers.create_few(machine) {
            machine.frames.truncate(running.frames);
            context.fuel = machine.fuel;
            return NOT_EXECUTED;
        }
        let count = machine.frames.len();
        let outcome = applied.and_then(|is_done| if is_done { Ok(()) } else { execute(machine, compiler) });
        context.fuel = machine.fuel;
        compiled::describe(machine, context);
        let has_moved = machine.stacks.addresses() != stacks;
        if outcome.is_err() || machine.frames.len() != count || has_moved || mode != machine.levels.mode() {
            callers.create(machine);
            running.fault = outcome.err();
            running.is_ready = true;
            return LEFT;
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

/// The callers of the innermost function in machine code, for which frames are created only when something may look at
/// them, or when machine code is left.
struct Callers<'l> {
    /// The record of the innermost function.
    link: &'l Link,
    /// The record of the machine.
    root: *const Link,
    /// The number of frames up to that of the function that was entered.
    frames: usize,
    /// The address of the stack of references when the records were written; the stack may move.
    stack: usize,
    /// Whether the frames exist.
    exist: bool,
}

impl Callers<'_> {
    /// Creates the frames of a limited number of callers; returns whether there are not more.
    fn create_few(&mut self, machine: &mut Machine) -> bool {
        let is_few = self.links().nth(MAX_FRAMES).is_none();
        if is_few {
            self.create(machine);
        }
        is_few
    }

    /// Creates the frames, unless they exist.
    fn create(&mut self, machine: &mut Machine) {
        if std::mem::replace(&mut self.exist, true) {
            return;
        }
        let count = self.links().count();
        let (end, missing) = (machine.frames.len(), count.saturating_sub(1));
        if missing > 0 {
            let Some(innermost) = machine.frames.last().copied() else { return };
            machine.frames.resize(end + missing, innermost);
            machine.frames.copy_within(self.frames..end, self.frames + missing);
        }
        // The frame of the outermost function is that of the function that was entered, before the missing ones.
        for (link, at) in self.links().zip((0..self.frames + missing).rev()) {
            let frame = self.frame_of(link);
            match link.caller == self.root {
                true => machine.frames[at].pc = frame.pc,
                false => machine.frames[at] = frame,
            }
        }
    }

    /// Returns the frame of a caller, which continues after its call.
    fn frame_of(&self, link: &Link) -> Frame {
        // SAFETY: the site of a running function lives as long as its code.
        let site = unsafe { &*link.site };
        let frame = self.frame_at(link, site);
        Frame { pc: frame.pc.wrapping_add(1), ..frame }
    }

    /// Returns the frame of a function in machine code, which continues with the instruction of a site.
    fn frame_at(&self, link: &Link, site: &Site) -> Frame {
        let entry = compiled::entry_of_site(site);
        let references = (link.references.addr() - self.stack) / size_of::<Ref>();
        let base = [link.window as u32 - entry.own[0], (link.window >> 32) as u32 - entry.own[1], references as u32];
        Frame { entry, pc: compiled::instruction(entry, site.pc as usize), base }
    }

    /// Returns the records of the callers, the innermost first.
    fn links(&self) -> impl Iterator<Item = &Link> {
        let root = self.root;
        let existing = move |link: *const Link| {
            // SAFETY: the record of a function lives as long as the function runs.
            (link != root).then(|| unsafe { &*link })
        };
        std::iter::successors(existing(self.link.caller), move |link| existing(link.caller))
    }
}

/// Creates the frame of the innermost function, unless it is the one that was entered. `None` if there is no memory.
fn push_innermost(machine: &mut Machine, site: &Site, callers: &Callers<'_>) -> Option<Frame> {
    let frame = callers.frame_at(callers.link, site);
    if callers.link.caller == callers.root {
        machine.frames.get_mut(callers.frames - 1)?.pc = frame.pc;
        return Some(frame);
    }
    let entry = compiled::entry_of_site(site);
    let end = compiled::end_of(&frame, entry);
    if !machine.stacks.has(end, entry.is_derivative) {
        machine.make_room(end, entry.is_derivative).ok()?;
    }
    machine.frames.push(frame);
    Some(frame)
}

/// Whether the instruction of a site may look at the frames of callers: it calls a native function without a fast path, an
/// operator or a registered derivative, or it notes an access by the library with the location of the call in the program.
fn looks_at_callers(site: &Site) -> bool {
    use Instruction as I;
    let code = &compiled::entry_of_site(site).code;
    match code.instructions[site.pc as usize] {
        I::Native { site } => library::direct(code.natives[usize::from(site)].native).is_none(),
        I::Operate { .. } | I::CallValue { .. } => true,
        I::DNative { .. } | I::DOperate { .. } | I::DCallRule { .. } | I::DCallValue { .. } => true,
        I::CheckAccess { .. } | I::CheckGlobalAccess { .. } | I::BeginAccess { .. } | I::BeginGlobalAccess { .. } => {
            code.is_prelude
        }
        _ => false,
    }
}

/// Executes the next instruction of the innermost frame, and pending finalizers.
fn execute(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    let mut at = load(machine);
    let here = at.pc;
    let instruction = at.next();
    match *instruction {
        Instruction::Native { site } => match fast_path::native(at, &at.code().natives[usize::from(site)]) {
            Some(steps) => {
                machine.fuel -= steps;
                save(machine, at.pc);
            }
            None => slow_path::call_native(machine, compiler, here)?,
        },
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

/// Appends a number with its node to an array; returns whether the register holds an array.
extern "C" fn append_varied(context: *mut Context, array: *mut u8, value: f64, node: i64) -> i64 {
    // SAFETY: machine code passes its own context.
    let epoch = unsafe { (*context).epoch };
    let slot = if node == 0 { Slot::NONE } else { Slot { epoch, payload: node.cast_unsigned() } };
    append(array, |cells| cells.push_num(value, slot))
}

/// Allocates slots for the numbers of an array, which is not shared; returns whether the register holds an array.
extern "C" fn make_slots(array: *mut u8) -> i64 {
    // SAFETY: machine code passes the address of a register of references in its frame.
    let array = unsafe { &mut *array.cast::<Ref>() };
    match objects::own(array) {
        Ok(cells) => {
            cells.make_slots();
            1
        }
        Err(_) => 0,
    }
}
