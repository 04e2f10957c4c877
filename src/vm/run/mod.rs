//! Runs: calls a function of the program from outside of the machine.

pub(crate) mod protected_call;

use crate::cancel;
use crate::diagnostic::Code as Number;
use crate::value::{Cells, Components, Ref, finalizer, opaque_vector};
use crate::vm::compiler_interface::Compiler;
use crate::vm::dispatch;
use crate::vm::dispatch::calls;
use crate::vm::fault::{Fault, FaultKind};
use crate::vm::function_table::Version;
use crate::vm::operators;
use crate::vm::state::limits::Meter;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next};
use std::sync::Arc;

impl Machine {
    /// Calls a function and runs until it returns. The result has the components of the function's results.
    ///
    /// # Errors
    /// Fails when the program fails, or a limit is reached. The machine can be used again afterwards.
    pub fn run(
        &mut self,
        compiler: &mut dyn Compiler,
        function: u32,
        args: Components<'_>,
    ) -> Result<Cells, Box<Fault>> {
        self.begin();
        let code = self.with_limits(|machine| machine.code(compiler, function, Version::Original))?;
        // SAFETY: entries live as long as the machine.
        #[allow(unsafe_code)]
        let results = unsafe { &*code }.code.results.map(usize::from);
        self.start(compiler, Callee::Function(function), args, results)
    }

    /// Calls a function object and runs until it returns; `results` is the number of components that it returns.
    ///
    /// # Errors
    /// Fails when the program fails, or a limit is reached.
    pub fn call_function_value(
        &mut self,
        compiler: &mut dyn Compiler,
        function: Ref,
        args: Components<'_>,
        results: [usize; 3],
    ) -> Result<Cells, Box<Fault>> {
        self.begin();
        self.start(compiler, Callee::Object(function), args, results)
    }

    fn begin(&mut self) {
        self.meter = Meter::start(&self.limits, std::mem::take(&mut self.passed));
        self.fuel = 0;
        self.tier.withheld = 0;
    }

    /// Performs long work in Rust, which an interruption or the deadline of the run ends early.
    fn with_limits<T>(&mut self, work: impl FnOnce(&mut Machine) -> T) -> T {
        let interrupt = Arc::clone(&self.limits.interrupt);
        cancel::under(&interrupt, self.meter.deadline(), || work(self))
    }

    fn start(
        &mut self,
        compiler: &mut dyn Compiler,
        callee: Callee,
        args: Components<'_>,
        results: [usize; 3],
    ) -> Result<Cells, Box<Fault>> {
        // A run that failed may have left pending finalizers.
        finalizer::forget();
        self.window = [0; 3];
        self.push_halt();
        self.set_window(args);
        let outcome = self.with_limits(|machine| {
            calls::perform(machine, compiler, Next::tail_call(callee, false))
                .and_then(|()| dispatch::run(machine, compiler))
        });
        match outcome {
            Ok(()) => {
                self.window = [0; 3];
                let value = self.take_window(results, false);
                self.end();
                Ok(value)
            }
            Err(mut fault) => {
                if fault.remarks.is_empty() {
                    fault = match fault.kind {
                        FaultKind::Error(Number::NotFinite) => operators::with_first(self, fault),
                        FaultKind::Error(Number::Kink) => operators::with_kink(self, fault),
                        FaultKind::Error(Number::TapeLimit) => self.explain_full_tape(fault),
                        _ => fault,
                    };
                }
                self.locate(&mut fault);
                self.unwind();
                Err(fault)
            }
        }
    }

    /// Abandons all frames and tasks, after a failure.
    fn unwind(&mut self) {
        self.abandon_running_coroutines(0);
        while let Some(task) = self.tasks.pop() {
            task.abandon(self);
        }
        operators::unwind(self);
        self.end();
    }

    fn end(&mut self) {
        self.keep_kinks();
        self.changes.clear();
        opaque_vector::forget();
        self.diagnosis.end_run();
        self.frames.clear();
        self.tasks.clear();
        self.stacks.reset();
        if self.frames.capacity() > 1 << 14 {
            self.frames.shrink_to(1 << 10);
        }
    }
}
