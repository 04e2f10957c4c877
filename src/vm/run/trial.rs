//! Trial: a call of a function of the program within a run, which may fail without stopping the program.

use crate::diagnostic::Code as Number;
use crate::value::{Cells, Ref, finalizer};
use crate::vm::compiler::Compiler;
use crate::vm::dispatch;
use crate::vm::run::fault::{Fault, Kind};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next};

impl Machine {
    /// Calls the original of a function beyond the window, and gives what it returns; `None` when it fails.
    ///
    /// The Rust stack grows by one run: whoever tries something sees to it that nothing is tried meanwhile.
    ///
    /// # Errors
    /// When the program itself must stop: a limit is reached, or the run is interrupted.
    pub(crate) fn attempt(
        &mut self,
        compiler: &mut dyn Compiler,
        callee: Callee,
        arguments: &Cells,
        results: [usize; 3],
    ) -> Result<Option<Cells>, Box<Fault>> {
        let (window, waiting) = (self.window, finalizer::take());
        let (frames, tasks, active_rules, depth) =
            (self.frames.len(), self.tasks.len(), self.active_rules.len(), self.levels.depth());
        let changes = self.changes.len();
        self.push_halt();
        self.set_window(arguments.all());
        let outcome =
            self.perform(compiler, Next::tail_call(callee, false)).and_then(|()| dispatch::run(self, compiler));
        self.window = window;
        let outcome = match outcome {
            Ok(()) => Ok(Some(self.take_window(results, false))),
            Err(fault) => {
                while self.tasks.len() > tasks
                    && let Some(task) = self.tasks.pop()
                {
                    task.abandon(self);
                }
                self.active_rules.truncate(active_rules);
                self.changes.truncate(changes);
                self.levels.abandon_inner(depth);
                let above = self.stacks.r.len().min(window[2])..;
                self.stacks.r[above].iter_mut().for_each(|r| *r = Ref::Null);
                if stops(&fault) { Err(fault) } else { Ok(None) }
            }
        };
        self.frames.truncate(frames);
        finalizer::forget();
        finalizer::give_back(waiting);
        outcome
    }
}

/// Whether a failure is none of the function that was tried.
fn stops(fault: &Fault) -> bool {
    matches!(
        fault.kind,
        Kind::Error(
            Number::StepLimit | Number::TimeLimit | Number::MemoryLimit | Number::Interrupted | Number::Internal
        )
    )
}
