//! Coroutines: executions of functions that are suspended, and continue later.
//!
//! Each execution has its own stacks and frames. Starting or continuing a coroutine puts the execution of the caller
//! aside, which continues when the coroutine is suspended or ends. The order in which coroutines continue is decided by
//! the library (`prelude/task_queue.dscript`).

use crate::diagnostic::Code as Number;
use crate::native::library::CoroutineOperation;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::modification::Change;
use crate::vm::state::stacks::{Frame, Stacks};
use crate::vm::state::task::{Next, Task};

/// The parts of the machine that belong to one execution.
#[derive(Default)]
struct Execution {
    stacks: Stacks,
    frames: Vec<Frame>,
    tasks: Vec<Box<dyn Task>>,
    changes: Vec<Change>,
    window: [usize; 3],
}

/// All executions except the one that is running.
#[derive(Default)]
pub(crate) struct Coroutines {
    /// The suspended coroutines, by number.
    suspended: Vec<Option<Execution>>,
    /// The executions that wait until the coroutine that they have started or continued is suspended or ends.
    callers: Vec<Execution>,
    /// The stacks of a coroutine that has ended, which the next one uses.
    unused: Stacks,
}

/// The number that stands for the end of a coroutine where that of a suspended coroutine is expected.
const ENDED: i64 = -1;

impl Coroutines {
    /// Returns the number of executions that wait for a coroutine.
    pub(in crate::vm) fn waiting(&self) -> usize {
        self.callers.len()
    }
}

impl Machine {
    /// Performs an operation on coroutines, whose arguments are in the window.
    pub(in crate::vm) fn switch(
        &mut self,
        operation: CoroutineOperation,
        derivative: bool,
    ) -> Result<Next, Box<Fault>> {
        match operation {
            CoroutineOperation::Start => {
                let body = self.take_reference(0);
                let stacks = std::mem::take(&mut self.coroutines.unused);
                self.enter_coroutine(Execution { stacks, ..Execution::default() });
                Ok(Next::call(body, derivative, CoroutineEnd))
            }
            CoroutineOperation::Continue => {
                self.check_no_level()?;
                let number = usize::try_from(self.integer(0)).ok();
                let found = number.and_then(|number| self.coroutines.suspended.get_mut(number)?.take());
                let coroutine = found.ok_or_else(|| Fault::internal("there is no such coroutine"))?;
                self.enter_coroutine(coroutine);
                self.set_integer(0, 1);
                Ok(Next::Return)
            }
            CoroutineOperation::Suspend => {
                let is_inside = !self.coroutines.callers.is_empty();
                if is_inside && self.frames.iter().any(|frame| self.is_halt(frame)) {
                    return Err(Fault::internal("a function that the machine has called cannot be suspended"));
                }
                if is_inside {
                    self.check_no_level()?;
                }
                let Some(caller) = self.coroutines.callers.pop() else {
                    self.set_integer(0, 0);
                    return Ok(Next::Return);
                };
                let coroutine = self.exchange(caller);
                let suspended = &mut self.coroutines.suspended;
                let number = suspended.iter().position(Option::is_none).unwrap_or(suspended.len());
                match suspended.get_mut(number) {
                    Some(free) => *free = Some(coroutine),
                    None => suspended.push(Some(coroutine)),
                }
                self.set_integer(0, number as i64);
                Ok(Next::Return)
            }
        }
    }

    /// Numbers of a level must not be computed by an execution that knows nothing of the level.
    fn check_no_level(&self) -> Result<(), Box<Fault>> {
        if self.levels.depth() == 0 {
            return Ok(());
        }
        let message = "a function that is being differentiated cannot wait for a task that has not finished";
        Err(Fault::new(Number::PreconditionFailed, message))
    }

    fn enter_coroutine(&mut self, coroutine: Execution) {
        let caller = self.exchange(coroutine);
        self.coroutines.callers.push(caller);
    }

    /// Makes an execution the running one; returns the former.
    fn exchange(&mut self, next: Execution) -> Execution {
        Execution {
            stacks: std::mem::replace(&mut self.stacks, next.stacks),
            frames: std::mem::replace(&mut self.frames, next.frames),
            tasks: std::mem::replace(&mut self.tasks, next.tasks),
            changes: std::mem::replace(&mut self.changes, next.changes),
            window: std::mem::replace(&mut self.window, next.window),
        }
    }

    /// Ends the coroutines that are running, after a failure. Suspended coroutines may continue in the next run.
    /// `count` is the number of executions that continue to wait.
    pub(in crate::vm) fn abandon_running_coroutines(&mut self, count: usize) {
        while self.coroutines.callers.len() > count
            && let Some(caller) = self.coroutines.callers.pop()
        {
            while let Some(task) = self.tasks.pop() {
                task.abandon(self);
            }
            self.exchange(caller);
        }
    }
}

/// The end of a coroutine: its caller continues.
struct CoroutineEnd;

impl Task for CoroutineEnd {
    fn resume(self: Box<Self>, machine: &mut Machine, _: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let caller = machine.coroutines.callers.pop();
        let caller = caller.ok_or_else(|| Fault::internal("a coroutine has no caller"))?;
        let mut ended = machine.exchange(caller);
        ended.stacks.reset();
        machine.coroutines.unused = ended.stacks;
        machine.set_integer(0, ENDED);
        Ok(Next::Return)
    }
}
