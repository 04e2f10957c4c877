//! Exclusivity: checks that storage that is modified in place is not accessed elsewhere at the same time.

use crate::bytecode::operand::{AccessAt, RIn};
use crate::diagnostic::Code as Number;
use crate::source::Span;
use crate::value::Ref;
use crate::vm::fault::{Fault, Remark};
use crate::vm::function_table::Version;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::modification::Change;
use crate::vm::state::registers::Registers;
use std::ops::Range;
use std::rc::Rc;

/// Fails when some of the given components of an object, or of the global variables, are being modified.
pub fn check(machine: &mut Machine, at: &Registers, object: Option<RIn>, site: AccessAt) -> Result<(), Box<Fault>> {
    let object = address(at, object)?;
    let site = &at.code().accesses[usize::from(site)];
    conflict(machine, object, &site.cells, &site.name)
}

/// Checks that components are not being modified, and starts to modify them.
pub fn begin(machine: &mut Machine, at: &Registers, object: Option<RIn>, site: AccessAt) -> Result<(), Box<Fault>> {
    let site = &at.code().accesses[usize::from(site)];
    let span = machine.user_span();
    let (object, cells) = match (site.getter, object) {
        (Some(getter), Some(object)) => region_of_getter(machine, at.r(object), getter),
        _ => (address(at, object)?, site.cells.clone()),
    };
    conflict(machine, object, &cells, &site.name)?;
    machine.changes.push(Change { object, cells, span });
    Ok(())
}

/// Returns the address of an instance, which may be in a box of any type, and the components of the instance that a
/// getter reads: none if the getter computes its result.
fn region_of_getter(machine: &Machine, receiver: &Ref, getter: u16) -> (usize, [Range<u32>; 3]) {
    let instance = match receiver {
        Ref::Any(value) => value.cells.r.first(),
        instance => Some(instance),
    };
    let Some(object) = instance.and_then(|r| objects::boxed(r).ok()) else { return Default::default() };
    let found = objects::shape(receiver).and_then(|shape| machine.functions.method(getter, shape));
    let Some(Ref::Closure(function)) = found else { return Default::default() };
    let versions = [Version::Original, Version::Derivative, Version::BodyDerivative];
    let entry = versions.into_iter().find_map(|version| machine.functions.get(function.function, version));
    entry.map_or_else(Default::default, |entry| (Rc::as_ptr(object).addr(), entry.code.reads.clone()))
}

fn address(at: &Registers, object: Option<RIn>) -> Result<usize, Box<Fault>> {
    object.map_or(Ok(0), |object| Ok(Rc::as_ptr(objects::boxed(at.r(object))?).addr()))
}

fn conflict(machine: &Machine, object: usize, cells: &[Range<u32>; 3], name: &str) -> Result<(), Box<Fault>> {
    let meets = |(a, b): (&Range<u32>, &Range<u32>)| a.start < b.end && b.start < a.end;
    let overlaps = |change: &&Change| change.object == object && change.cells.iter().zip(cells).any(meets);
    let Some(change) = machine.changes.iter().find(overlaps) else { return Ok(()) };
    let message = format!("overlapping accesses to '{name}', but modification requires exclusive access");
    let fault = Fault::new(Number::Simultaneous, message);
    Err(match change.span == Span::default() {
        true => fault,
        false => fault.remark(Remark::There(change.span, "it is modified here until the call returns".into())),
    })
}
