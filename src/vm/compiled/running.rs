//! Running: calls machine code.
#![allow(unsafe_code)]

use super::exits;
use crate::jit::{Compiled, Context, LEFT, Link};
use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::Entry;
use crate::vm::state::machine::Machine;
use std::any::Any;

/// The number of bytes of the processor's stack that the frames of machine code may take. When they take more, the
/// interpreter takes over all frames, and can enter machine code again.
const STACK_BYTES: usize = 256 << 10;
/// The smallest frame of a compiled function that calls others: return address, frame pointer, and link.
const SMALLEST_FRAME: usize = 32;
/// The largest number of records that an exit stores, one for each function that it leaves.
pub(super) const MAX_RECORDS: usize = STACK_BYTES / SMALLEST_FRAME + MIN_DEPTH;
/// The number of calls below which the limit of the depth is left to the interpreter.
const MIN_DEPTH: usize = 16;
/// The number of references beyond a frame for which there is room when machine code is entered.
const REFERENCES: usize = 2048;

/// A run of machine code that is in progress.
pub(crate) struct Running {
    /// The machine. Machine code runs without borrowing it; helpers borrow it while they run.
    pub(crate) machine: *mut Machine,
    /// The services of the session.
    pub(crate) compiler: *mut dyn Compiler,
    /// The number of frames, the last of which is that of the machine code.
    pub(crate) frames: usize,
    /// Whether a single step has created the frames of all functions that are running.
    pub(crate) is_ready: bool,
    /// The failure of a single step.
    pub(crate) fault: Option<Box<Fault>>,
    /// The panic of a single step, which must not unwind machine code.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

impl Running {
    /// Describes a run that begins.
    pub(super) fn new(machine: *mut Machine, compiler: &mut dyn Compiler, frames: usize) -> Running {
        // SAFETY: the description of a run is not used after the run, during which the compiler is borrowed.
        let compiler = unsafe { std::mem::transmute::<&mut dyn Compiler, &'static mut dyn Compiler>(compiler) };
        Running { machine, compiler, frames, is_ready: false, fault: None, panic: None }
    }
}

/// The parts of the context that belong to one run of machine code.
struct Entered {
    stack_limit: usize,
    references_end: usize,
    slots_end: usize,
    run: *mut (),
    root: Link,
}

impl Entered {
    /// Returns the parts of the run that is in progress.
    fn of(context: &Context) -> Entered {
        let Context { stack_limit, references_end, slots_end, run, root, .. } = *context;
        Entered { stack_limit, references_end, slots_end, run, root }
    }

    /// Restores the parts after a run inside of this one.
    fn restore(self, context: &mut Context) {
        let Entered { stack_limit, references_end, slots_end, run, root } = self;
        (context.stack_limit, context.references_end, context.slots_end) = (stack_limit, references_end, slots_end);
        (context.run, context.root) = (run, root);
    }
}

/// Tells machine code about the global variables, the modifications in progress, and the tape.
pub(crate) fn describe(machine: &mut Machine, context: &mut Context) {
    let globals = &mut machine.globals;
    context.globals = [globals.f.as_mut_ptr().addr(), globals.i.as_mut_ptr().addr(), globals.r.as_mut_ptr().addr()];
    context.global_slots = globals.slots.len();
    context.global_slots_address = globals.slots.as_mut_ptr().addr();
    context.modifications = machine.changes.len();
    describe_tape(machine, context);
}

/// Tells machine code about the tape, if one level is live, in reverse mode.
pub(super) fn describe_tape(machine: &mut Machine, context: &mut Context) {
    context.epoch = machine.levels.single_epoch();
    (context.next_node, context.nodes_end, context.node_number) =
        machine.levels.node_memory().map_or((0, 0, 0), |memory| (memory.next, memory.end, u64::from(memory.number)));
}

/// Takes over the nodes that machine code has appended to the tape.
pub(crate) fn take_nodes(machine: &mut Machine, context: &Context) {
    if context.next_node != 0 {
        // SAFETY: the tape was described to machine code, which has written the nodes below this address.
        unsafe { machine.levels.set_next_node(context.next_node) }
    }
}

/// Allocates memory for the next nodes; returns whether the limit permits it.
pub(crate) extern "C" fn extend_tape(context: *mut Context, _: i64, _: i64) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress; nothing else uses the machine meanwhile.
    let (context, running) = unsafe { (&mut *context, &mut *(*context).run.cast::<Running>()) };
    // SAFETY: as above.
    let machine = unsafe { &mut *running.machine };
    take_nodes(machine, context);
    let has_room = machine.levels.make_room().is_ok();
    describe_tape(machine, context);
    i64::from(has_room && context.next_node != 0)
}

/// Runs the machine code of the innermost frame; `None` if the limits do not permit it.
pub(super) fn run(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    entry: &Entry,
    compiled: &Compiled,
) -> Result<Option<i64>, Box<Fault>> {
    let Some(frame) = machine.frames.last().copied() else { return Ok(None) };
    let depth = machine.limits.depth.saturating_sub(machine.frames.len());
    let end = [0, 1, 2].map(|bank| (frame.base[bank] + entry.frame[bank]) as usize);
    let room = [end[0], end[1], end[2] + REFERENCES];
    let has_slots = entry.is_derivative;
    if depth < MIN_DEPTH || (!machine.stacks.has(room, has_slots) && machine.make_room(room, has_slots).is_err()) {
        return Ok(None);
    }
    let [f, i, r] = frame.base.map(|n| n as usize);
    let references = machine.stacks.r.as_mut_ptr();
    let references_end = references.wrapping_add(machine.stacks.r.len()).addr();
    let (references, numbers, integers) = (
        references.wrapping_add(r).cast::<u8>(),
        machine.stacks.f.as_mut_ptr().wrapping_add(f),
        machine.stacks.i.as_mut_ptr().wrapping_add(i),
    );
    let all_slots = machine.stacks.slots.as_mut_ptr();
    let slots_end = all_slots.wrapping_add(machine.stacks.slots.len()).addr();
    let (fuel, frames) = (machine.fuel, machine.frames.len());
    let Some(tier) = &mut machine.tier.code else { return Ok(None) };
    let here = 0u8;
    let stack = STACK_BYTES.min((depth - MIN_DEPTH / 2) * SMALLEST_FRAME);
    let context = &raw mut tier.context;
    let machine_address: *mut Machine = machine;
    let mut running = Running::new(machine_address, compiler, frames);
    // SAFETY: the context lives in a box of the machine. Machine code was compiled for this frame, for which the stacks
    // have room; single steps borrow the machine by way of `running`, while no other reference to it is used.
    let status = unsafe {
        // A run may be inside of a single step of another one.
        let outer = Entered::of(&*context);
        describe(&mut *machine_address, &mut *context);
        (*context).fuel = fuel;
        (*context).stack_limit = (&raw const here).addr() - stack;
        (*context).references_end = references_end;
        (*context).slots_end = slots_end;
        (*context).run = (&raw mut running).cast();
        (*context).root = Link::root(frame.base[0], frame.base[1]);
        let status =
            compiled.thunk()(context, compiled.start(), references, numbers, integers, all_slots.wrapping_add(f));
        (*machine_address).fuel = (*context).fuel;
        take_nodes(&mut *machine_address, &*context);
        outer.restore(&mut *context);
        status
    };
    if let Some(panic) = running.panic.take() {
        std::panic::resume_unwind(panic);
    }
    if status == LEFT {
        // SAFETY: machine code has written the records from the beginning of the space up to this address.
        let records = unsafe {
            let begin = (*machine_address).tier.code.as_ref().map_or(std::ptr::null(), |tier| tier.records.as_ptr());
            let records = exits::records(begin, (*context).records);
            // An outer run has written no records yet, because it is executing a single step.
            (*context).records = begin.cast_mut();
            records
        };
        // SAFETY: machine code has ended, so the machine is borrowed by the caller alone.
        let machine = unsafe { &mut *machine_address };
        exits::restore(machine, &records, running.is_ready, frames)?;
        if let Some(fault) = running.fault {
            return Err(fault);
        }
        machine.withhold_steps();
    }
    Ok(Some(status))
}

const _: () = assert!(size_of::<Ref>() < 64 && size_of::<Context>() < 4096);
