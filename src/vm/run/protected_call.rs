//! Protected call: calls a function of the program within a run; the call may fail without stopping the program.

use crate::diagnostic::Code as Number;
use crate::value::{Cells, Ref, finalizer};
use crate::vm::compiler_interface::Compiler;
use crate::vm::dispatch;
use crate::vm::dispatch::calls::perform;
use crate::vm::fault::{Fault, FaultKind};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next};

/// Calls the original of a function beyond the window, and returns its results; `None` when the call fails.
///
/// The Rust stack grows by one nested run: the caller must ensure that protected calls do not nest.
///
/// # Errors
/// Fails when the program itself must stop: a limit is reached, or the run is interrupted.
pub(in crate::vm) fn call_protected(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    callee: Callee,
    arguments: &Cells,
    results: [usize; 3],
) -> Result<Option<Cells>, Box<Fault>> {
    let (window, waiting) = (machine.window, finalizer::take());
    let (frames, tasks, running_derivatives, depth) =
        (machine.frames.len(), machine.tasks.len(), machine.running_derivatives.len(), machine.levels.depth());
    let (changes, executions) = (machine.changes.len(), machine.coroutines.waiting());
    machine.push_halt();
    machine.set_window(arguments.all());
    let outcome =
        perform(machine, compiler, Next::tail_call(callee, false)).and_then(|()| dispatch::run(machine, compiler));
    machine.window = window;
    let outcome = match outcome {
        Ok(()) => Ok(Some(machine.take_window(results, false))),
        Err(fault) => {
            machine.abandon_running_coroutines(executions);
            machine.window = window;
            while machine.tasks.len() > tasks
                && let Some(task) = machine.tasks.pop()
            {
                task.abandon(machine);
            }
            machine.running_derivatives.truncate(running_derivatives);
            machine.changes.truncate(changes);
            machine.levels.abandon_inner(depth);
            let above = machine.stacks.r.len().min(window[2])..;
            machine.stacks.r[above].iter_mut().for_each(|r| *r = Ref::Null);
            if stops(&fault) { Err(fault) } else { Ok(None) }
        }
    };
    machine.frames.truncate(frames);
    finalizer::forget();
    finalizer::requeue(waiting);
    outcome
}

/// Whether a failure stops the whole program, and is not only a failure of the function that was called.
fn stops(fault: &Fault) -> bool {
    matches!(
        fault.kind,
        FaultKind::Error(
            Number::StepLimit | Number::TimeLimit | Number::MemoryLimit | Number::Interrupted | Number::Internal
        )
    )
}
