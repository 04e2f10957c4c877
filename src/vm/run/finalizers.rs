//! What classes do with instances that went away.

use crate::value::Ref;
use crate::value::finalizer;
use crate::value::finalizer::Ended;
use crate::vm::functions::Compiler;
use crate::vm::run::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Target, Task};
use std::collections::VecDeque;

/// Those that went away together, one after the other.
#[derive(Default)]
struct Ending {
    waiting: VecDeque<Ended>,
    /// The one whose class was asked last. What it holds is dropped here and not in the call, so that a chain of instances
    /// ends without calls in each other.
    last: Ref,
}

impl Ending {
    fn next(mut self: Box<Self>, machine: &mut Machine) -> Next {
        drop(std::mem::take(&mut self.last));
        // What the last one held goes before those that waited with it.
        let mut waiting = finalizer::take();
        waiting.append(&mut self.waiting);
        self.waiting = waiting;
        let Some((what, instance)) = self.waiting.pop_front() else { return Next::Return };
        self.last = instance.clone();
        machine.set_reference(0, instance);
        let target = Target::Object(Ref::Closure(what));
        // What it writes may move in the levels that are live.
        Next::Call { target, derivative: machine.levels.depth() > 0, then: Some(self) }
    }
}

impl Task for Ending {
    fn resume(self: Box<Self>, machine: &mut Machine, _: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        Ok(self.next(machine))
    }
}

impl Machine {
    /// Does what the instances that went away want done, between two instructions. The registers of the innermost frame
    /// and its window stay as they are: arguments of a call that is being prepared may stand there.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_instances(&mut self, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        if self.is_halt(&frame) {
            finalizer::forget();
            return Ok(());
        }
        // A task finds the results of what it called where they are now: it goes first.
        if self.is_task(&frame) {
            return Ok(());
        }
        // SAFETY: entries live as long as the machine.
        #[allow(unsafe_code)]
        let size = unsafe { &*frame.entry }.frame;
        self.window = [0, 1, 2].map(|b| (frame.base[b] + size[b]) as usize);
        let next = Box::<Ending>::default().next(self);
        self.perform(compiler, next)
    }
}
