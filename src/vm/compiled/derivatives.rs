//! Derivatives: runs tangent and adjoint code, as machine code if it has run often, and as threaded code otherwise.
#![allow(unsafe_code)]

use super::code_of;
use super::running::{Running, describe, describe_tape, take_nodes};
use crate::jit::{Context, LEFT, Part, Program, Refusal};
use crate::tape::{Mode, ValueStack};
use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::machine_code::PartState;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::tier::CompileMode;
use crate::vm::transformed_code::TransformedCode;
use std::rc::Rc;

/// The number of runs after which tangent and adjoint code is compiled. Compiling takes as long as some ten runs of a
/// function with a loop.
const RUNS: u32 = 25;

/// The number of instructions of tangent or adjoint code that count as one step. Code without jumps counts no steps itself, but
/// a loop that applies an operator to a long function runs for long.
const INSTRUCTIONS_PER_STEP: usize = 16;

/// Runs tangent or adjoint code whose arguments are in the window, in which there is room for all its registers. The
/// results are in the window afterwards. Returns `false` when the code bails out.
///
/// # Errors
/// Fails when the program must stop: a limit is reached, or it is canceled.
pub(crate) fn run_derivative(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    found: &TransformedCode,
) -> Result<bool, Box<Fault>> {
    if found.appends_nodes && machine.levels.mode() != Mode::SingleReverse {
        return Ok(false);
    }
    // The loop that applies the operator looks for its machine code afterwards.
    let is_withheld = machine.renew_steps();
    let is_done = run(machine, compiler, found);
    machine.fuel -= (found.code.instructions.len() / INSTRUCTIONS_PER_STEP) as i64;
    if is_withheld {
        machine.withhold_again();
    }
    is_done
}

/// Runs tangent or adjoint code in machine code or in threaded code.
fn run(machine: &mut Machine, compiler: &mut dyn Compiler, found: &TransformedCode) -> Result<bool, Box<Fault>> {
    let mode = machine.tier.mode;
    let is_hot = mode == CompileMode::Always || mode == CompileMode::WhenHot && found.machine_code.seen.get() >= RUNS;
    if is_hot && machine.limits.steps.is_none() && prepare(machine, found) {
        return run_machine_code(machine, compiler, found);
    }
    let before = machine.fuel;
    let is_done = machine.run_threaded(&found.threaded, found.code.frame()[2])?;
    // The steps have been granted again if the run was long.
    found.machine_code.observe_run(if machine.fuel > before { RUNS } else { 1 });
    Ok(is_done)
}

/// Compiles tangent or adjoint code, if it is not compiled; returns whether there is machine code.
fn prepare(machine: &mut Machine, found: &TransformedCode) -> bool {
    let mut state = found.machine_code.state.borrow_mut();
    if let PartState::Interpreted = *state {
        *state = compile(machine, found).unwrap_or(PartState::Refused);
    }
    matches!(*state, PartState::Compiled(_))
}

fn compile(machine: &mut Machine, found: &TransformedCode) -> Option<PartState> {
    let globals = [machine.globals.f.len(), machine.globals.i.len(), machine.globals.r.len()].map(|count| count as u32);
    let tier = code_of(&mut machine.tier)?;
    let program = Program { functions: &|_| None, globals };
    match tier.compiler.as_mut()?.compile(&found.code, Part::Derivative, 0, &program) {
        Ok(compiled) => Some(PartState::Compiled(Rc::new(compiled))),
        Err(Refusal::Function) => None,
        Err(Refusal::Memory) => {
            tier.compiler = None;
            None
        }
    }
}

/// Tells machine code where the value stack is.
fn describe_stack(stack: &mut ValueStack, context: &mut Context) {
    let memory = stack.memory();
    context.bottoms = memory.map(|memory| memory.bottom);
    context.tops = memory.map(|memory| memory.top);
    context.ends = memory.map(|memory| memory.end);
}

fn run_machine_code(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    found: &TransformedCode,
) -> Result<bool, Box<Fault>> {
    let compiled = match &*found.machine_code.state.borrow() {
        PartState::Compiled(compiled) => Rc::clone(compiled),
        _ => return Ok(false),
    };
    let [f, i, r] = machine.window;
    let (references, numbers, integers) = (
        machine.stacks.r.as_mut_ptr().wrapping_add(r).cast::<u8>(),
        machine.stacks.f.as_mut_ptr().wrapping_add(f),
        machine.stacks.i.as_mut_ptr().wrapping_add(i),
    );
    let Some(tier) = &mut machine.tier.code else { return Ok(false) };
    let context = &raw mut tier.context;
    let machine: *mut Machine = machine;
    let mut running = Running::new(machine, compiler, 0);
    // SAFETY: the context lives in a box of the machine, whose stacks have room for the frame. The helpers borrow the
    // machine by way of `running`, while no other reference to it is used.
    let status = unsafe {
        let outer = (*context).run;
        describe(&mut *machine, &mut *context);
        describe_stack(&mut (*machine).value_stack, &mut *context);
        (*context).fuel = (*machine).fuel;
        (*context).copied = 0;
        (*context).run = (&raw mut running).cast();
        let status = compiled.thunk()(context, compiled.start(), references, numbers, integers, std::ptr::null_mut());
        (*machine).fuel = (*context).fuel;
        (*context).run = outer;
        if found.appends_nodes {
            take_nodes(&mut *machine, &*context);
            // Other machine code that is running appends no nodes: no level was live when it began.
            (*context).next_node = 0;
        }
        status
    };
    match running.fault {
        Some(fault) => Err(fault),
        None => Ok(status != LEFT),
    }
}

/// Checks the limits for tangent or adjoint code in progress; returns whether the code continues.
pub(crate) extern "C" fn poll(context: *mut Context, _: i64, _: i64) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress; nothing else uses the machine meanwhile.
    let (context, running) = unsafe { (&mut *context, &mut *(*context).run.cast::<Running>()) };
    // SAFETY: as above.
    let machine = unsafe { &mut *running.machine };
    machine.fuel = context.fuel;
    match machine.poll() {
        Ok(()) => {
            context.fuel = machine.fuel;
            1
        }
        Err(fault) => {
            running.fault = Some(fault);
            0
        }
    }
}

/// Allocates memory for the value stack; returns whether the limit permits it.
pub(crate) extern "C" fn grow(context: *mut Context, _: i64, _: i64) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress; nothing else uses the machine meanwhile.
    let (context, running) = unsafe { (&mut *context, &mut *(*context).run.cast::<Running>()) };
    // SAFETY: as above.
    let machine = unsafe { &mut *running.machine };
    let limit = machine.levels.pool().borrow().limit();
    // SAFETY: machine code has written all entries below the tops.
    unsafe { machine.value_stack.set_tops(context.tops) };
    let has_room = machine.value_stack.make_room(limit).is_ok();
    describe_stack(&mut machine.value_stack, context);
    i64::from(has_room)
}

/// Appends the sums of the nodes in two arrays to the tape of the only level; returns whether it succeeded.
pub(crate) extern "C" fn add_nodes(context: *mut Context, array: *mut u8, from: *const u8) -> i64 {
    // SAFETY: machine code passes its own context, whose run is in progress; nothing else uses the machine meanwhile.
    let (context, running) = unsafe { (&mut *context, &mut *(*context).run.cast::<Running>()) };
    // SAFETY: as above.
    let machine = unsafe { &mut *running.machine };
    // SAFETY: machine code passes registers of its frame. They may be the same, so one reference is a copy.
    let (from, array) = unsafe { ((*from.cast::<Ref>()).clone(), &mut *array.cast::<Ref>()) };
    take_nodes(machine, context);
    let levels = &mut machine.levels;
    let succeeded = objects::add_nodes(array, &from, |nodes| levels.append_linear(nodes, [1.0; 2]));
    describe_tape(machine, context);
    i64::from(succeeded.is_some())
}
