//! Thrown errors: differentiates a call of a function with a registered derivative, where the function throws after it
//! modified its `inout` arguments.
//!
//! The registered function has thrown an error, too, and does not describe the modification. So the original function
//! runs once more, in derivative code, without output, and on copies. This second run throws the error again, and
//! computes the derivatives of the modifications.

use crate::native::library::Random;
use crate::value::shape::TangentId;
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::checkpoint::snapshot::{Copier, Environment, parts, state};
use crate::vm::operators::{Offset, counts, leaves, set_leaves, value_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next, Task};
use std::rc::Rc;

/// The state of the arguments and global variables before a call that may throw.
pub(crate) struct CallSnapshot {
    function: u32,
    /// The arguments and the global variables before the call.
    state: Ref,
    random: Random,
}

/// The state of a call while the original function runs again after a throw.
struct RerunTask {
    environment: Environment,
    result: TangentId,
    /// The error that the original function threw.
    error: Ref,
    /// The values that the original function had modified when it threw.
    changed: Cells,
}

impl CallSnapshot {
    pub(crate) fn new(machine: &mut Machine, function: u32, arguments: &Cells) -> CallSnapshot {
        let now = state(Ref::Cells(Rc::new(arguments.clone())), &mut machine.globals);
        if let Some((_, globals)) = parts(&now) {
            machine.globals = Cells::clone(&globals);
        }
        let state = Copier::new(|slot| slot).copy(&now);
        CallSnapshot { function, state, random: machine.host.random.clone() }
    }

    /// Calls the original function again after a throw. The window holds the error, followed by the modified values,
    /// whose tangent type is `result`.
    pub(crate) fn rerun(
        self,
        machine: &mut Machine,
        compiler: &dyn Compiler,
        result: TangentId,
    ) -> Result<Next, Box<Fault>> {
        let CallSnapshot { function, state, random } = self;
        let Some((Ref::Cells(arguments), globals)) = parts(&state) else {
            return Err(Fault::internal("a call has no arguments"));
        };
        drop(state);
        let changed = changed(machine, compiler, result);
        let error = machine.take_reference(0);
        let environment = Environment::replace(machine, Rc::unwrap_or_clone(globals), random);
        machine.set_window(arguments.all());
        let rerun = RerunTask { environment, result, error, changed };
        Ok(Next::Call { callee: Callee::BodyDerivative(function), derivative: true, then: Some(Box::new(rerun)) })
    }
}

/// Returns the components of the modified values, which are in the window after the error.
fn changed(machine: &mut Machine, compiler: &dyn Compiler, result: TangentId) -> Cells {
    let counts = counts(value_layout(walk(compiler), result));
    machine.after_error(|machine| machine.take_window(counts, true))
}

impl Task for RerunTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let RerunTask { environment, result, error, changed: mut values } = *self;
        environment.restore(machine);
        let rerun = changed(machine, compiler, result);
        let walk = walk(compiler);
        let numbers = leaves(walk, result, &rerun, Offset::default())?;
        set_leaves(walk, result, (&mut values, Offset::default()), &numbers)?;
        machine.set_integer(0, 1);
        machine.set_reference(0, error);
        machine.after_error(|machine| machine.set_window(values.all()));
        Ok(Next::Return)
    }

    fn abandon(self: Box<Self>, machine: &mut Machine) {
        self.environment.restore(machine);
    }
}
