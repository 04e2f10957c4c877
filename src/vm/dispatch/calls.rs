//! Calls: entering and leaving functions, tasks and their callees. The dispatch loop enters operators in this file
//! only.

use super::{finalizers, load, save};
use crate::bytecode::operand::*;
use crate::bytecode::{Instruction, NativeSite, OperatorSite};
use crate::value::{Ref, Slot, finalizer};
use crate::vm::compiled;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::{Entry, Version};
use crate::vm::operator_cache::OperatorCache;
use crate::vm::operators;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use crate::vm::state::stacks::Frame;
use crate::vm::state::task::{Callee, Next};

/// Enters a function whose arguments are in the window.
#[inline(always)]
pub(super) fn enter(machine: &mut Machine, at: Registers, entry: *const Entry) -> Result<Registers, Box<Fault>> {
    // SAFETY: `entry` comes from `Functions`, which never drops an entry.
    #[allow(unsafe_code)]
    let callee = unsafe { &*entry };
    let own = at.entry().own;
    let Some(frame) = machine.frames.last_mut() else { unreachable!("the caller has a frame") };
    frame.pc = at.pc;
    let base = [frame.base[0] + own[0], frame.base[1] + own[1], frame.base[2] + own[2]];
    // A `map` over the array would not be inlined here.
    let size = callee.frame;
    let end = [(base[0] + size[0]) as usize, (base[1] + size[1]) as usize, (base[2] + size[2]) as usize];
    machine.fuel -= 1;
    if machine.fuel < 0
        || machine.frames.len() >= machine.limits.depth
        || !machine.stacks.has(end, callee.is_derivative)
    {
        admit(machine, end, callee)?;
    }
    if callee.is_derivative {
        let first = base[0] as usize;
        let inactive = first + callee.inactive.0 as usize..first + callee.inactive.1 as usize;
        machine.stacks.slots[inactive].fill(Slot::NONE);
    }
    let frame = Frame { entry, pc: callee.start.get(), base };
    machine.frames.push(frame);
    Ok(Registers::of(&frame, &mut machine.stacks))
}

/// Performs the work that a call rarely needs: checks the limits, and extends the stacks.
#[cold]
#[inline(never)]
fn admit(machine: &mut Machine, end: [usize; 3], callee: &Entry) -> Result<(), Box<Fault>> {
    if machine.fuel < 0 && !machine.postpone_renewal() && !machine.renew_steps() {
        machine.poll()?;
        compiled::observe_call(machine, callee);
    }
    let slots = callee.is_derivative;
    if machine.frames.len() >= machine.limits.depth {
        return Err(machine.too_deep());
    }
    if machine.stacks.has(end, slots) { Ok(()) } else { machine.make_room(end, slots) }
}

/// Leaves a function; the results are in the first registers of the function. Also returns whether any reference was
/// dropped.
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

/// Extends the stacks to the end of the innermost frame's window, so that Rust code can use the window.
pub(super) fn open_window(machine: &mut Machine, at: Registers) {
    save(machine, at.pc);
    if let Some(frame) = machine.frames.last() {
        let own = at.entry().own;
        let base = frame.base;
        machine.window = [(base[0] + own[0]) as usize, (base[1] + own[1]) as usize, (base[2] + own[2]) as usize];
    }
}

/// Performs the actions that the steps of a task request, until the program continues.
pub(in crate::vm) fn perform(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    mut next: Next,
) -> Result<(), Box<Fault>> {
    loop {
        let Next::Call { callee, derivative, then } = next else { return Ok(()) };
        if machine.frames.len() >= machine.limits.depth {
            return Err(machine.too_deep());
        }
        if let Some(task) = then {
            machine.push_task(task);
        }
        let code = match callee {
            Callee::Function(function) => machine.code(compiler, function, Version::of(derivative))?,
            Callee::BodyDerivative(function) => machine.code(compiler, function, Version::BodyDerivative)?,
            Callee::Object(Ref::Closure(closure)) => {
                let code = machine.code(compiler, closure.function, Version::of(derivative))?;
                // SAFETY: frames were pushed with entries that live as long as the machine, as in `push_frame`.
                #[allow(unsafe_code)]
                let last = usize::from(unsafe { &*code }.code.params[2]);
                machine.set_reference(last, Ref::Closure(closure));
                code
            }
            Callee::Object(Ref::Machine(object)) => {
                next = operators::call_object(machine, compiler, &object, derivative)?;
                if matches!(next, Next::Return) {
                    return Ok(());
                }
                continue;
            }
            Callee::Object(_) => return Err(Fault::internal("a value that is not a function was called")),
        };
        return machine.push_frame(code);
    }
}

/// Resumes the task to which the innermost frame belongs.
pub(super) fn resume(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    let (Some(frame), Some(task)) = (machine.frames.pop(), machine.tasks.pop()) else {
        return Err(Fault::internal("there is no task to resume"));
    };
    machine.window = frame.base.map(|n| n as usize);
    let next = task.resume(machine, compiler)?;
    perform(machine, compiler, next)
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
    let next = crate::vm::native_call::call(machine, compiler, site, slots)?;
    perform(machine, compiler, next)
}

/// Calls a function object that belongs to the machine: a differential or pullback.
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
    perform(machine, compiler, next)
}

/// Calls a function with registered derivatives.
pub(super) fn call_rule(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: Registers,
    site: RuleAt,
) -> Result<(), Box<Fault>> {
    open_window(machine, at);
    let next = operators::call_rule(machine, compiler, &at.code().rules[usize::from(site)])?;
    perform(machine, compiler, next)
}

/// Applies the operator that is the next instruction of the innermost frame, if code does it that looks at no frames.
pub(super) fn apply_operator(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<bool, Box<Fault>> {
    let mut at = load(machine);
    let here = at.pc;
    let Instruction::Operate { site } = *at.next() else { return Ok(false) };
    open_window(machine, at);
    let is_done = operators::apply_in_window(machine, compiler, operator(at.entry(), site), true)?;
    if !is_done {
        save(machine, here);
    } else if finalizer::any() {
        finalizers::run_finalizers(machine, compiler)?;
    }
    Ok(is_done)
}

/// Applies an operator of a function in machine code to the window of the machine, if that is possible without moving the stacks;
/// returns whether it was.
pub(super) fn apply_in_place(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    entry: &Entry,
    site: OperatorAt,
) -> Result<bool, Box<Fault>> {
    operators::apply_in_window(machine, compiler, operator(entry, site), false)
}

/// Applies a differential operator.
pub(super) fn operate(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: Registers,
    site: OperatorAt,
    derivative: bool,
) -> Result<(), Box<Fault>> {
    open_window(machine, at);
    let next = operators::operate(machine, compiler, operator(at.entry(), site), derivative)?;
    perform(machine, compiler, next)
}

/// Returns an operator of a function, and its cache.
fn operator(entry: &Entry, site: OperatorAt) -> (&OperatorSite, &OperatorCache) {
    let site = usize::from(site);
    (&entry.code.operators[site], &entry.operators[site])
}
