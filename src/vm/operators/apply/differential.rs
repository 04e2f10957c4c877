//! Differential: records a function at a point (`valueWithDifferential(at:in:)`).

use crate::tape::{Direction, LinearMap, Num, Template};
use crate::value::shape::TangentId;
use crate::value::walk::Walk;
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::BodyResult;
use crate::vm::operators::apply::linearization;
use crate::vm::operators::{
    Failure, Offset, after_no_error, counts, leaves, mismatch, rebase_escaping_slots, thrown, value_layout, walk,
};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};
use std::rc::Rc;

/// The state of `valueWithDifferential` while the differentiated function is running.
struct DifferentialTask {
    /// The value with respect to which the function is differentiated.
    x: Template,
    result: BodyResult,
}

/// Opens a level, turns the numbers of `x` into leaves of the level, and calls the body.
pub(crate) fn begin(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    mut x: Cells,
    result: BodyResult,
    body: Ref,
) -> Result<Next, Box<Fault>> {
    let template = Template { tangent: at, cells: x.clone() };
    if !result.throws
        && let Some((y, map)) = linearization::value_with_differential(machine, compiler, (at, &x), result.of, &body)?
    {
        finish(machine, y, (map, template, result.of));
        return Ok(Next::Return);
    }
    machine.levels.open(Direction::Reverse)?;
    make_leaves(machine, walk(compiler), at, &mut x)?;
    machine.set_window(x.all());
    Ok(Next::call(body, true, DifferentialTask { x: template, result }))
}

/// Turns the numbers of a value into leaves of the level that was opened.
fn make_leaves(machine: &mut Machine, walk: Walk<'_>, id: TangentId, x: &mut Cells) -> Result<(), Box<Fault>> {
    let levels = &mut machine.levels;
    // Most gradients are not nested: then a leaf is just the next node number.
    if let Some(first) = levels.single_leaves() {
        let mut next = first;
        walk.change(id, x, Offset::default(), &mut |_, _| {
            let slot = next;
            next.payload += 1;
            slot
        })
        .map_err(mismatch)?;
        return Ok(levels.add_leaves((next.payload - first.payload) as usize)?);
    }
    let mut failure = Failure::default();
    walk.change(id, x, Offset::default(), &mut |value, slot| failure.slot(levels.leaf(Num { value: *value, slot })))
        .map_err(mismatch)?;
    failure.check()
}

impl Task for DifferentialTask {
    fn resume(mut self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let walk = walk(compiler);
        if thrown(machine, walk, self.result, &mut self.x.cells, [0, 0, 1]) {
            return Ok(Next::Return);
        }
        let BodyResult { of: result, throws } = self.result;
        let counts = counts(value_layout(walk, result));
        let mut y = after_no_error(machine, throws, |machine| machine.take_window(counts, true));
        let mut outputs = leaves(walk, result, &y, Offset::default())?;
        // Instances of classes are differentiated in place, so the instances in `x` are rebased, too.
        rebase_escaping_slots(machine, &mut [&mut y, &mut self.x.cells]);
        let map = LinearMap::close(&mut machine.levels, &mut outputs);
        if let Some(tapes) = &mut machine.diagnosis.tape_listings {
            tapes.push(map.to_string());
        }
        after_no_error(machine, throws, |machine| finish(machine, y, (map, self.x, result)));
        Ok(Next::Return)
    }
}

/// Returns a value and its differential, given the domain of the differential and the tangent type of the value.
fn finish(machine: &mut Machine, y: Cells, (map, x, result): (LinearMap, Template, TangentId)) {
    machine.set_window(y.all());
    let differential = y.r.len();
    let y = Template { tangent: result, cells: y };
    let map = LinearMap { x: Rc::from([x]), y: Rc::from([y]), ..map };
    machine.set_reference(differential, Ref::Machine(Rc::new(map)));
}
