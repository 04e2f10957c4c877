//! Finalizers: runs the `deinit` of instances that were destroyed.

use crate::value::Ref;
use crate::value::finalizer;
use crate::value::finalizer::PendingFinalizer;
use crate::vm::compiler_interface::Compiler;
use crate::vm::dispatch::calls::perform;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next, Task};
use std::collections::VecDeque;

/// A task that runs pending finalizers one after the other.
#[derive(Default)]
struct FinalizerTask {
    waiting: VecDeque<PendingFinalizer>,
    /// The instance of the finalizer that ran last. The contents of the instance are dropped here and not in the call,
    /// so that a chain of instances is destroyed without nested calls.
    instance: Ref,
}

impl FinalizerTask {
    fn next(mut self: Box<Self>, machine: &mut Machine) -> Next {
        drop(std::mem::take(&mut self.instance));
        // Instances that only the last destroyed instance referred to are destroyed before the instances that were
        // pending at the same time.
        let mut waiting = finalizer::take();
        waiting.append(&mut self.waiting);
        self.waiting = waiting;
        let Some((what, instance)) = self.waiting.pop_front() else { return Next::Return };
        self.instance = instance.clone();
        machine.set_reference(0, instance);
        let callee = Callee::Object(Ref::Closure(what));
        // Values that the finalizer stores may be active in the live levels.
        Next::Call { callee, derivative: machine.levels.depth() > 0, then: Some(self) }
    }
}

impl Task for FinalizerTask {
    fn resume(self: Box<Self>, machine: &mut Machine, _: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        Ok(self.next(machine))
    }
}

/// Runs pending finalizers, between two instructions. The registers of the innermost frame and its window are
/// preserved: the window may hold the arguments of a call that is being prepared.
#[cold]
#[inline(never)]
pub(super) fn run_finalizers(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    let Some(frame) = machine.frames.last().copied() else { return Ok(()) };
    if machine.is_halt(&frame) {
        finalizer::forget();
        return Ok(());
    }
    // A task first reads the results of its callee from the window, so finalizers wait until then.
    if machine.is_task(&frame) {
        return Ok(());
    }
    // SAFETY: entries live as long as the machine.
    #[allow(unsafe_code)]
    let size = unsafe { &*frame.entry }.frame;
    machine.window = [0, 1, 2].map(|b| (frame.base[b] + size[b]) as usize);
    let next = Box::<FinalizerTask>::default().next(machine);
    perform(machine, compiler, next)
}
