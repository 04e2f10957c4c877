//! Machine: holds the state of the interpreter, and enters and leaves functions.

use crate::bytecode::{Code, Instruction};
use crate::diagnostic::Code as Number;
use crate::native::library::Host;
use crate::source::Span;
use crate::tape::{Levels, ValueStack};
use crate::tensor;
use crate::value::number_format::in_bytes;
use crate::value::{Cells, Components, Ref, Slot, finalizer};
use crate::vm::compiler_interface::Compiler;
use crate::vm::diagnosis::Diagnosis;
use crate::vm::diagnosis::derivative_checks::RuleChecks;
use crate::vm::fault::Fault;
use crate::vm::function_table::{Entry, Functions, Version, Writes};
use crate::vm::state::coroutines::Coroutines;
use crate::vm::state::limits::{Limits, Meter};
use crate::vm::state::modification::Change;
use crate::vm::state::running_derivative::RunningDerivative;
use crate::vm::state::sparse_matrices::SparseMatrices;
use crate::vm::state::stacks::{Frame, Stacks};
use crate::vm::state::task::Task;
use crate::vm::state::tier::{CompileMode, Tier};
use crate::vm::threaded::{self, Memory, Outcome, Threaded, View};
use hashbrown::HashMap;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

/// The number of calls after which steps that were withheld are added again without a backward jump.
const MAX_POSTPONED: u32 = 100;

/// The virtual machine, which retains code and global variables between runs.
pub struct Machine {
    /// The global variables of the program.
    pub globals: Cells,
    /// The live levels of differentiation.
    pub levels: Levels,
    /// The environment of the program, such as its input and output.
    pub host: Host,
    /// The resources that a run may use.
    pub limits: Limits,
    /// The records to explain, check or reject derivatives.
    pub diagnosis: Diagnosis,
    pub(crate) stacks: Stacks,
    pub(crate) frames: Vec<Frame>,
    pub(crate) tasks: Vec<Box<dyn Task>>,
    pub(crate) functions: Functions,
    /// The registered derivatives that are running, each with its level: slots of this level in instances represent
    /// constants in the registered function.
    pub(crate) running_derivatives: Vec<RunningDerivative>,
    /// Whether functions store numbers that are reachable from elsewhere, as far as this was determined.
    pub(crate) writers: HashMap<u32, Writes>,
    /// The beginning of the window of the current step.
    pub(crate) window: [usize; 3],
    /// The number of steps until the next check of the limits.
    pub(crate) fuel: i64,
    /// Accesses that modify shared storage in place, the innermost last.
    pub(crate) changes: Vec<Change>,
    pub(crate) meter: Meter,
    /// The part of the next run's time limit that has already elapsed.
    pub passed: Duration,
    /// The values that adjoint code stores for its reverse pass.
    pub(crate) value_stack: ValueStack,
    /// The arrays and records in the registers of threaded code.
    pub(crate) views: Vec<View>,
    /// The compiled functions, and when functions are compiled.
    pub(crate) tier: Tier,
    pub(crate) sparse_matrices: SparseMatrices,
    /// The executions that wait or are suspended.
    pub(crate) coroutines: Coroutines,
    own_code: BuiltinCode,
}

/// The code of frames that belong to the machine itself.
struct BuiltinCode {
    halt: Box<Entry>,
    resume: Box<Entry>,
}

impl Machine {
    /// Creates a machine without functions and global variables.
    pub fn new(host: Host, limits: Limits, tape: u64) -> Machine {
        let builtin_code = |name: &str, instruction: Instruction| {
            let (instructions, spans) = (vec![instruction], vec![Span::default()]);
            let code = Code { name: name.into(), instructions, spans, is_prelude: true, ..Code::default() };
            Box::new(Entry::of(Rc::new(code)))
        };
        Machine {
            globals: Cells::record(Components::default()),
            levels: Levels::new(tape),
            host,
            changes: vec![],
            limits,
            diagnosis: Diagnosis::default(),
            stacks: Stacks::default(),
            frames: vec![],
            tasks: vec![],
            running_derivatives: vec![],
            writers: HashMap::new(),
            functions: Functions::default(),
            sparse_matrices: SparseMatrices::default(),
            window: [0; 3],
            fuel: 0,
            meter: Meter::default(),
            passed: Duration::ZERO,
            value_stack: ValueStack::default(),
            views: vec![],
            tier: Tier::default(),
            coroutines: Coroutines::default(),
            own_code: BuiltinCode {
                halt: builtin_code("‹halt›", Instruction::Halt {}),
                resume: builtin_code("‹task›", Instruction::Resume {}),
            },
        }
    }

    /// Starts or stops comparing registered derivatives with finite differences when they are used.
    pub fn check_rules(&mut self, is_on: bool) {
        self.diagnosis.rule_checks = is_on.then(RuleChecks::default);
    }

    /// Sets derivative code aside: the code is used again only if it is correct for the current
    /// program.
    pub fn set_derivatives_aside(&mut self) {
        self.functions.set_derivatives_aside();
        if let Some(code) = &mut self.tier.code {
            code.clear_derivatives();
        }
    }

    /// Sets which functions are compiled to machine code.
    pub fn set_compile_mode(&mut self, mode: CompileMode) {
        self.tier.mode = mode;
    }

    /// Allocates global variables.
    pub fn reserve_globals(&mut self, counts: [u32; 3]) {
        let [f, i, r] = counts.map(|n| n as usize);
        let globals = &mut self.globals;
        globals.f.resize(f.max(globals.f.len()), 0.0);
        globals.i.resize(i.max(globals.i.len()), 0);
        globals.r.resize(r.max(globals.r.len()), Ref::Null);
        if !globals.slots.is_empty() {
            globals.make_slots();
        }
    }

    /// Returns a version of the code of a function, which is compiled at the first request.
    pub(crate) fn code(
        &mut self,
        compiler: &mut dyn Compiler,
        function: u32,
        version: Version,
    ) -> Result<*const Entry, Box<Fault>> {
        if let Some(entry) = self.functions.get(function, version) {
            return Ok(entry);
        }
        let entry = self.functions.load(compiler, function, version)?;
        if self.tier.mode == CompileMode::Always && entry.number.is_some() {
            entry.enter_machine_code();
        }
        Ok(entry)
    }

    /// Returns the original code of a function, so that it can be inspected.
    pub(crate) fn original(&mut self, compiler: &mut dyn Compiler, function: u32) -> Result<Rc<Code>, Box<Fault>> {
        let entry = self.code(compiler, function, Version::Original)?;
        // SAFETY: the entry lives as long as the machine, which is borrowed.
        #[allow(unsafe_code)]
        let entry = unsafe { &*entry };
        Ok(Rc::clone(&entry.code))
    }

    /// Begins a run: pushes a frame that ends the run when its callee, to which this window belongs, returns.
    pub(crate) fn push_halt(&mut self) {
        let entry: *const Entry = &*self.own_code.halt;
        self.frames.push(Frame { entry, pc: self.own_code.halt.start.get(), base: self.window.map(|n| n as u32) });
    }

    pub(crate) fn push_task(&mut self, task: Box<dyn Task>) {
        let entry: *const Entry = &*self.own_code.resume;
        let pc = self.own_code.resume.start.get();
        self.frames.push(Frame { entry, pc, base: self.window.map(|n| n as u32) });
        self.tasks.push(task);
    }

    /// Pushes the frame of a function whose arguments are in the window.
    pub(crate) fn push_frame(&mut self, entry: *const Entry) -> Result<(), Box<Fault>> {
        // SAFETY: entries live as long as the machine, because `Functions` never drops one.
        #[allow(unsafe_code)]
        let callee = unsafe { &*entry };
        if self.frames.len() >= self.limits.depth {
            return Err(self.too_deep());
        }
        let end = [0, 1, 2].map(|b| self.window[b] + callee.frame[b] as usize);
        if !self.stacks.has(end, callee.is_derivative) {
            self.make_room(end, callee.is_derivative)?;
        }
        if callee.is_derivative {
            let (from, to) = callee.inactive;
            self.stacks.slots[self.window[0] + from as usize..self.window[0] + to as usize].fill(Slot::NONE);
        }
        let base = self.window.map(|n| n as u32);
        self.frames.push(Frame { entry, pc: callee.start.get(), base });
        Ok(())
    }

    /// Whether a frame of the given size that begins at the window fits the stacks, without slots.
    pub(crate) fn has_room(&self, frame: [usize; 3]) -> bool {
        self.stacks.has([0, 1, 2].map(|bank| self.window[bank] + frame[bank]), false)
    }

    /// Extends the stacks for a frame, if the limit permits.
    #[cold]
    pub(crate) fn make_room(&mut self, end: [usize; 3], slots: bool) -> Result<(), Box<Fault>> {
        /// The maximum number of bytes of all frames together: a thousand times the need of a deep recursion.
        const MAX_FRAME_BYTES: u64 = 4 << 30;
        let limit = self.limits.memory.map_or(MAX_FRAME_BYTES, |limit| limit.min(MAX_FRAME_BYTES));
        if Stacks::bytes_for(end, slots) > limit {
            let message = format!("the call stack needs more memory than allowed ({})", in_bytes(limit));
            return Err(Fault::new(Number::MemoryLimit, message));
        }
        self.stacks.grow(end, slots);
        Ok(())
    }

    /// Limits the size of tensors to that of other objects, and sets the number of threads of operations on large ones.
    pub fn limit_tensors(&self, threads: Option<NonZeroUsize>) {
        tensor::set_largest_tensor(self.host.largest);
        tensor::set_threads(threads);
    }

    #[cold]
    pub(crate) fn too_deep(&self) -> Box<Fault> {
        let depth = self.limits.depth;
        Fault::new(Number::DepthLimit, format!("calls are nested more than {depth} deep")).with("limit", depth)
    }

    /// Whether a frame is the frame that ends the run.
    pub(crate) fn is_halt(&self, frame: &Frame) -> bool {
        std::ptr::eq(frame.entry, &raw const *self.own_code.halt)
    }

    /// Whether a frame belongs to a task.
    pub(crate) fn is_task(&self, frame: &Frame) -> bool {
        std::ptr::eq(frame.entry, &raw const *self.own_code.resume)
    }

    /// Runs threaded code whose arguments are in the window, in which there is room for all its registers, among them
    /// `references` registers of references. The results are in the window afterwards. Returns `false` when the code
    /// bails out.
    ///
    /// # Errors
    /// Fails when the program must stop: a limit is reached, or it is canceled.
    pub(crate) fn run_threaded(&mut self, code: &Threaded, references: usize) -> Result<bool, Box<Fault>> {
        let [f, i, r] = self.window;
        let held = &mut self.stacks.r[r..r + references];
        self.views.clear();
        self.views.extend(held.iter_mut().map(View::of));
        let limit = self.levels.pool().borrow().limit();
        let mut at = 0;
        loop {
            let memory = Memory {
                numbers: &mut self.stacks.f[f..],
                integers: &mut self.stacks.i[i..],
                references: &mut self.stacks.r[r..],
                views: &mut self.views,
                value_stack: &mut self.value_stack,
                levels: &mut self.levels,
                globals: &self.globals,
                limit,
                fuel: &mut self.fuel,
            };
            match threaded::run(memory, code, at) {
                Outcome::Done => return Ok(true),
                Outcome::BailedOut => return Ok(false),
                Outcome::OutOfFuel(cell) => at = cell,
            }
            self.poll()?;
        }
    }

    /// Checks the limits of the run.
    #[cold]
    pub(crate) fn poll(&mut self) -> Result<(), Box<Fault>> {
        if self.renew_steps() {
            return Ok(());
        }
        // Work that counted as several steps may have exceeded the number of granted steps.
        let owed = (-1 - self.fuel).max(0) as u64;
        self.fuel = self.meter.check(&self.limits, owed)?;
        if self.diagnosis.progress.is_some() {
            self.report_progress();
        }
        Ok(())
    }

    /// Adds the steps that were withheld; returns whether steps are left.
    pub(crate) fn renew_steps(&mut self) -> bool {
        let withheld = std::mem::take(&mut self.tier.withheld);
        self.fuel += withheld;
        withheld > 0 && self.fuel >= 0
    }

    /// Takes the step of a call from the steps that were withheld, so that it is still a backward jump that adds them again;
    /// returns `false` if there are none, or if no backward jump follows for long.
    pub(crate) fn postpone_renewal(&mut self) -> bool {
        let is_postponed = self.tier.withheld > 0 && self.tier.postponed < MAX_POSTPONED;
        if is_postponed {
            self.tier.postponed += 1;
            self.tier.withheld += self.fuel;
            self.fuel = 0;
        }
        is_postponed
    }

    /// Withholds the steps that are left, so that at the next step the machine looks for machine code in which it can
    /// continue.
    pub(crate) fn withhold_steps(&mut self) {
        self.tier.postponed = 0;
        self.withhold_again();
    }

    /// Withholds steps that were added during the execution of machine code that is not the one that is looked for.
    pub(crate) fn withhold_again(&mut self) {
        self.tier.withheld += self.fuel.max(0);
        self.fuel = self.fuel.min(0);
    }

    /// Checks for cancellation during long operations in Rust.
    ///
    /// # Errors
    /// Fails when the run must stop.
    pub fn check_interrupt(&mut self) -> Result<(), Box<Fault>> {
        self.poll()
    }
}

impl Drop for Machine {
    /// Drops the machine. Instances that are destroyed with it run no finalizers.
    fn drop(&mut self) {
        self.globals.r.clear();
        self.stacks.r.clear();
        finalizer::forget();
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("depth", &self.frames.len()).finish_non_exhaustive()
    }
}
