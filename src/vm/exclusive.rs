//! Exclusive access: while something that others can reach is changed in place, it is nowhere else.

use super::fault::{Fault, Remark};
use super::machine::Machine;
use super::objects;
use super::registers::Registers;
use crate::bytecode::AccessSite;
use crate::bytecode::operand::{AccessAt, RIn};
use crate::diagnostic::Code as Number;
use crate::source::Span;
use std::ops::Range;
use std::rc::Rc;

/// A change that goes on.
pub(super) struct Change {
    /// The address of its object, which the code that changes it holds; 0 for global variables.
    object: usize,
    cells: [Range<u32>; 3],
    /// Where it began.
    span: Span,
}

/// Fails when somebody changes these components of an object, or of the global variables.
pub fn check(machine: &mut Machine, at: &Registers, object: Option<RIn>, site: AccessAt) -> Result<(), Box<Fault>> {
    let object = address(at, object)?;
    conflict(machine, object, &at.code().accesses[usize::from(site)])
}

/// The same; from here on they are changed.
pub fn begin(machine: &mut Machine, at: &Registers, object: Option<RIn>, site: AccessAt) -> Result<(), Box<Fault>> {
    let object = address(at, object)?;
    let site = &at.code().accesses[usize::from(site)];
    conflict(machine, object, site)?;
    let span = machine.user_span();
    machine.changes.push(Change { object, cells: site.cells.clone(), span });
    Ok(())
}

fn address(at: &Registers, object: Option<RIn>) -> Result<usize, Box<Fault>> {
    object.map_or(Ok(0), |object| Ok(Rc::as_ptr(objects::boxed(at.r(object))?).addr()))
}

fn conflict(machine: &Machine, object: usize, site: &AccessSite) -> Result<(), Box<Fault>> {
    let meets = |(a, b): (&Range<u32>, &Range<u32>)| a.start < b.end && b.start < a.end;
    let overlaps = |change: &&Change| change.object == object && change.cells.iter().zip(&site.cells).any(meets);
    let Some(change) = machine.changes.iter().find(overlaps) else { return Ok(()) };
    let message = format!("overlapping accesses to '{}', but modification requires exclusive access", site.name);
    let fault = Fault::new(Number::Simultaneous, message);
    Err(match change.span == Span::default() {
        true => fault,
        false => fault.remark(Remark::There(change.span, "it is modified here until the call returns".into())),
    })
}
