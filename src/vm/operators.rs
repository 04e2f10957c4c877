//! Differential operators, calls of linear maps, registered derivatives.

use super::fault::Fault;
use super::functions::Compiler;
use super::machine::Machine;
use super::task::Next;
use crate::bytecode::{OperatorSite, RuleSite};
use std::any::Any;
use std::rc::Rc;

/// Applies an operator. Its arguments stand in the window. `derivative`: the caller is derivative code.
pub fn operate(
    _machine: &mut Machine,
    _compiler: &mut dyn Compiler,
    site: &OperatorSite,
    _derivative: bool,
) -> Result<Next, Box<Fault>> {
    Err(Fault::internal(format!("no operator {:?}", site.operator)))
}

/// Calls a function object of the machine's own: a differential or pullback. Its arguments stand in the window.
pub fn call_object(
    _machine: &mut Machine,
    _compiler: &mut dyn Compiler,
    _object: &Rc<dyn Any>,
    _derivative: bool,
) -> Result<Next, Box<Fault>> {
    Err(Fault::internal("no such function object"))
}

/// Calls a function with registered derivatives from derivative code. Its arguments stand in the window.
pub fn call_rule(
    _machine: &mut Machine,
    _compiler: &mut dyn Compiler,
    site: &RuleSite,
) -> Result<Next, Box<Fault>> {
    Err(Fault::internal(format!("no rule for function {}", site.function)))
}

/// The program stops: all levels end, and their slots mean constants from then on.
pub fn unwind(machine: &mut Machine) {
    machine.levels.abandon();
}
