//! Compiled code: decides what is compiled, and enters machine code.
//!
//! The limits are checked every some thousand steps, calls and backward jumps; the function that is running then is
//! likely to be one that takes long, so no instruction counts anything. Machine code that leaves withholds the steps
//! that are left, so that the next backward jump finds the way back.
//!
//! Promises: a program behaves the same whether it is compiled or not, apart from the time. In runs with a limit of
//! steps nothing is compiled, so that the limit is exact.

mod derivatives;
mod exits;
mod running;

pub(crate) use derivatives::{add_nodes, grow, poll, run_derivative};
pub(crate) use exits::{end_of, entry_of_site, instruction};
pub(crate) use running::{Running, describe, extend_tape, take_nodes};

use crate::bytecode::{Instruction, NativeSite};
use crate::jit::{Callee, Compiler as Generator, Context, Helpers, Part, Program, RETURNED};
use crate::native::library::{self, Native};
use crate::tape::Mode;
use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::{Entry, Version};
use crate::vm::machine_code::{PartCode, PartState};
use crate::vm::state::machine::Machine;
use crate::vm::state::stacks::Frame;
use crate::vm::state::tier::{CompileMode, CompiledCode, Tier};
use std::rc::Rc;

/// The number of times that a function must be found running before it is compiled.
const SEEN: u32 = 2;
/// The number of times that a loop in a function that was called must be found running before it is compiled for a
/// call in progress.
const SEEN_IN_CALL: u32 = 3;
/// A run of machine code is short if it takes fewer steps.
const SHORT_RUN: i64 = 20;
/// The number of short runs in succession after which machine code is not entered any more.
const MAX_SHORT_RUNS: u32 = 500;

/// Notes that a function was called when the limits were checked.
pub(crate) fn observe_call(machine: &mut Machine, callee: &Entry) {
    if machine.tier.mode != CompileMode::WhenHot || callee.number.is_none() {
        return;
    }
    if callee.machine_code.function.observe() >= SEEN {
        if !callee.machine_code.function.is_interpreted() {
            // Nothing is left to do for the function, but a loop may call it. If each iteration counts the same number of
            // steps, the checks may always find the call, and never the backward jump.
            machine.withhold_steps();
        }
        callee.enter_machine_code();
    }
}

/// Returns the entry of a frame.
fn entry_of<'e>(frame: &Frame) -> &'e Entry {
    // SAFETY: entries live as long as the machine.
    #[allow(unsafe_code)]
    unsafe {
        &*frame.entry
    }
}

/// Checks the limits at a backward jump to `target`, and continues in machine code if there is any.
///
/// # Errors
/// Fails when a limit is reached, or the program fails in machine code.
#[cold]
#[inline(never)]
pub(crate) fn jump_back(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    target: *const Instruction,
) -> Result<(), Box<Fault>> {
    let is_renewed = machine.renew_steps();
    if !is_renewed {
        machine.poll()?;
    }
    let depth = machine.frames.len();
    let Some(frame) = machine.frames.last_mut() else { return Ok(()) };
    frame.pc = target;
    let entry = entry_of(frame);
    let mode = machine.tier.mode;
    let is_excluded = entry.number.is_none() || machine.limits.steps.is_some() || !is_valid(machine, entry);
    if mode == CompileMode::Never || is_excluded {
        return Ok(());
    }
    let head = (target as usize - entry.code.instructions.as_ptr() as usize) / size_of::<Instruction>();
    let part = entry.machine_code.loop_at(head);
    let seen = part.observe();
    // The first frame ends the run, and the second is that of the function that was started.
    let is_started_function = depth <= 2;
    if mode == CompileMode::WhenHot && !is_started_function {
        if !is_renewed && entry.machine_code.function.observe() >= SEEN {
            entry.enter_machine_code();
        }
        if seen < SEEN_IN_CALL && part.is_interpreted() {
            return Ok(());
        }
    }
    let is_hot = mode == CompileMode::Always || seen >= SEEN;
    if is_hot && prepare(machine, compiler, entry, Part::Loop(head), &part) {
        run(machine, compiler, entry, &part)?;
    } else if mode == CompileMode::Always {
        machine.withhold_steps();
    }
    Ok(())
}

/// Executes the function of the innermost frame in machine code, or continues with its first instruction.
///
/// # Errors
/// Fails when the program fails.
#[inline(never)]
pub(crate) fn enter(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    // The loop that calls the function looks for its own machine code afterwards.
    let is_withheld = machine.renew_steps();
    enter_function(machine, compiler)?;
    if is_withheld {
        machine.withhold_again();
    }
    Ok(())
}

fn enter_function(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    let Some(frame) = machine.frames.last_mut() else { return Ok(()) };
    let entry = entry_of(frame);
    frame.pc = entry.code.instructions.as_ptr();
    if machine.limits.steps.is_some() || !is_valid(machine, entry) {
        return Ok(());
    }
    let part = &entry.machine_code.function;
    if !prepare(machine, compiler, entry, Part::Function, part) {
        entry.interpret();
        return Ok(());
    }
    let before = machine.fuel;
    if let PartState::Compiled(compiled) = &*part.state.borrow() {
        if compiled.counts_step {
            // The call has counted the step that the function counts.
            machine.fuel += 1;
        }
        if let Some(tier) = &mut machine.tier.code {
            tier.set_target(entry, compiled.start());
        }
    }
    run(machine, compiler, entry, part)?;
    // A function that has counted no step on its way takes the step of the call. Otherwise the checks of the limits in a loop would
    // always find the calls of such a function, and never the loop.
    machine.fuel = machine.fuel.min(before);
    Ok(())
}

/// Compiles a part of a function, if it is not compiled; returns whether there is machine code.
fn prepare(machine: &mut Machine, compiler: &mut dyn Compiler, entry: &Entry, part: Part, code: &PartCode) -> bool {
    match &*code.state.borrow() {
        PartState::Compiled(_) => return true,
        PartState::Refused => return false,
        PartState::Interpreted => {}
    }
    let state = match compile(machine, compiler, entry, part) {
        Some(compiled) => PartState::Compiled(Rc::new(compiled)),
        None => PartState::Refused,
    };
    let is_compiled = matches!(state, PartState::Compiled(_));
    code.state.replace(state);
    is_compiled
}

fn compile(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    entry: &Entry,
    part: Part,
) -> Option<crate::jit::Compiled> {
    if machine.tier.mode == CompileMode::WhenHot && !crate::jit::is_worthwhile(&entry.code, part) {
        return None;
    }
    // Machine code must not be running when the machine continues with another execution.
    let switches = |site: &NativeSite| matches!(library::get(site.native), Some(Native::Coroutine(_)));
    if entry.code.natives.iter().any(switches) {
        return None;
    }
    // The functions that the code calls must be loaded, because their signatures are needed.
    let mut highest = entry.number?;
    for instruction in &entry.code.instructions {
        if let Some(callee) = Callee::of(instruction) {
            machine.code(compiler, callee.function, Version::of(callee.is_derivative)).ok()?;
            highest = highest.max(callee.function);
        }
    }
    let tier = code_of(&mut machine.tier)?;
    let generator = tier.compiler.as_mut()?;
    let functions = &machine.functions;
    let code_of_callee = |callee: Callee| {
        let entry = functions.get(callee.function, Version::of(callee.is_derivative))?;
        Some((&*entry.code, std::ptr::from_ref(entry).addr()))
    };
    let globals = [machine.globals.f.len(), machine.globals.i.len(), machine.globals.r.len()].map(|count| count as u32);
    let program = Program { functions: &code_of_callee, globals };
    match generator.compile(&entry.code, part, std::ptr::from_ref(entry).addr(), &program) {
        Ok(compiled) => {
            tier.reserve(highest);
            tier.reserve_records(compiled.largest_record);
            if part == Part::Function {
                tier.set_target(entry, compiled.start());
            }
            Some(compiled)
        }
        Err(crate::jit::Refusal::Function) => None,
        Err(crate::jit::Refusal::Memory) => {
            tier.compiler = None;
            None
        }
    }
}

/// Returns the compiler and its results, which are created if necessary.
fn code_of(tier: &mut Tier) -> Option<&mut CompiledCode> {
    let helpers = tier.helpers?;
    Some(tier.code.get_or_insert_with(|| Box::new(CompiledCode::new(*helpers))))
}

/// Runs the machine code of a part of the function of the innermost frame.
fn run(machine: &mut Machine, compiler: &mut dyn Compiler, entry: &Entry, part: &PartCode) -> Result<(), Box<Fault>> {
    let compiled = match &*part.state.borrow() {
        PartState::Compiled(compiled) => Rc::clone(compiled),
        _ => return Ok(()),
    };
    let before = machine.fuel;
    let Some(status) = running::run(machine, compiler, entry, &compiled)? else { return Ok(()) };
    if status == RETURNED || status == crate::jit::FINALIZERS_PENDING {
        part.short_runs.set(0);
        machine.frames.pop();
        return Ok(());
    }
    enter_callee(machine);
    if before - machine.fuel >= SHORT_RUN {
        part.short_runs.set(0);
    } else {
        part.short_runs.set(part.short_runs.get() + 1);
        if part.short_runs.get() >= MAX_SHORT_RUNS && machine.tier.mode == CompileMode::WhenHot {
            retire(machine, entry, part);
        }
    }
    Ok(())
}

/// Makes the next call begin in machine code, if machine code was left because the callee was not compiled: code that
/// runs often is likely to call it often.
fn enter_callee(machine: &Machine) {
    let Some(frame) = machine.frames.last() else { return };
    // SAFETY: the frames of the interpreter point to instructions of their functions, which live as long as the machine.
    #[allow(unsafe_code)]
    let instruction = unsafe { *frame.pc };
    let function = match instruction {
        Instruction::Call { function } | Instruction::DCall { function } => function.0,
        Instruction::CallValue { function, .. } | Instruction::DCallValue { function, .. } => {
            let register = frame.base[2] as usize + usize::from(function.0);
            let Some(Ref::Closure(closure)) = machine.stacks.r.get(register) else { return };
            closure.function
        }
        _ => return,
    };
    let is_derivative = matches!(instruction, Instruction::DCall { .. } | Instruction::DCallValue { .. });
    let Some(callee) = machine.functions.get(function, Version::of(is_derivative)) else { return };
    if machine.tier.mode == CompileMode::WhenHot && callee.machine_code.function.is_interpreted() {
        callee.enter_machine_code();
    }
}

/// Stops entering the machine code of a part, which is left again soon each time.
fn retire(machine: &mut Machine, entry: &Entry, part: &PartCode) {
    let state = part.state.replace(PartState::Refused);
    let (PartState::Compiled(compiled), Some(tier)) = (state, &mut machine.tier.code) else { return };
    if std::ptr::eq(part, &raw const entry.machine_code.function) {
        entry.interpret();
        tier.set_target(entry, std::ptr::null());
    }
    tier.retired.push(compiled);
}

impl CompiledCode {
    fn new(helpers: Helpers) -> CompiledCode {
        CompiledCode {
            compiler: Generator::new(helpers),
            context: Context::new(),
            targets: [vec![], vec![]],
            records: vec![],
            largest_record: 0,
            retired: vec![],
        }
    }

    /// Makes room for the addresses of the functions up to the number `highest`.
    fn reserve(&mut self, highest: u32) {
        let count = highest as usize + 1;
        for targets in &mut self.targets {
            if targets.len() < count {
                targets.resize(count.max(2 * targets.len()), std::ptr::null());
            }
        }
        self.context.targets = self.targets[0].as_ptr();
        self.context.target_count = self.targets[0].len();
        self.context.derivative_targets = self.targets[1].as_ptr();
    }

    /// Makes room for the records of all functions that an exit can leave. Other machine code that is running, which may
    /// call the compiled function afterwards, has stored no records, because it is executing a single step.
    fn reserve_records(&mut self, largest_record: usize) {
        self.largest_record = self.largest_record.max(largest_record);
        let words = running::MAX_RECORDS * self.largest_record;
        if self.records.capacity() < words {
            self.records = Vec::with_capacity(words);
        }
        self.context.records = self.records.as_mut_ptr();
    }

    /// Sets the address at which machine code calls a function; null if it leaves instead.
    fn set_target(&mut self, entry: &Entry, address: *const u8) {
        let targets = &mut self.targets[usize::from(entry.is_derivative)];
        if let Some(target) = entry.number.and_then(|number| targets.get_mut(number as usize)) {
            *target = address;
        }
    }

    /// Stops calling derivative code, which may be replaced.
    pub(crate) fn clear_derivatives(&mut self) {
        self.targets[1].fill(std::ptr::null());
    }
}

/// Whether the machine code of a function is valid now: that of derivative code records in a single reverse level.
fn is_valid(machine: &Machine, entry: &Entry) -> bool {
    !entry.is_derivative || machine.levels.mode() == Mode::SingleReverse
}
