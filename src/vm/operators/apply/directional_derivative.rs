//! Directional derivative: computes the derivative along one tangent, in constant memory.

use crate::tape::{Direction, Num, Template, tangent_seed};
use crate::value::shape::TangentId;
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::BodyResult;
use crate::vm::operators::apply::adjoint_code;
use crate::vm::operators::check::{lost_tangent, non_finite_value};
use crate::vm::operators::{
    Failure, Offset, after_no_error, counts, leaves, mismatch, read, rebase_escaping_slots, thrown, value_layout,
    vector, walk,
};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};

/// The state of the directional derivative while the differentiated function is running.
struct DirectionalTask {
    /// The value with respect to which the function is differentiated.
    x: Cells,
    result: BodyResult,
}

/// Opens a level, assigns tangents to the numbers of the point, and calls the body. `arguments` are the point and the
/// tangent vector.
pub(crate) fn begin(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    arguments: Cells,
    result: BodyResult,
    body: Ref,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    let mut parts = arguments.all();
    let mut x = Cells::record(parts.take(value_layout(walk, at)));
    let direction = Cells::record(parts);
    drop(arguments);
    let BodyResult { of: result_of, throws } = result;
    if !throws
        && let Some((value, tangent)) =
            adjoint_code::value_with_tangent(machine, compiler, at, &x, &direction, result_of, &body)?
    {
        machine.set_window(value.all());
        machine.set_window_from([value.f.len(), 0, 0], tangent.all());
        return Ok(Next::Return);
    }
    let walk = crate::vm::operators::walk(compiler);
    let template = Template { tangent: at, cells: x.clone() };
    let mut seeds = read(walk, &template, (&direction, Offset::default()))?;
    for seed in &mut seeds {
        *seed = tangent_seed(*seed)?;
    }
    machine.levels.open(Direction::Forward)?;
    let mut failure = Failure::default();
    let mut seeds = seeds.into_iter();
    let levels = &mut machine.levels;
    walk.change(at, &mut x, Offset::default(), &mut |value, slot| {
        failure.slot(levels.dual(Num { value: *value, slot }, seeds.next().unwrap_or_default()))
    })
    .map_err(mismatch)?;
    failure.check()?;
    machine.set_window(x.all());
    Ok(Next::call(body, true, DirectionalTask { x: template.cells, result }))
}

impl Task for DirectionalTask {
    fn resume(mut self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let walk = walk(compiler);
        let BodyResult { of: result, throws } = self.result;
        let vector_counts = counts(walk.shapes.layout(walk.tangents.get(result).vector));
        if thrown(machine, walk, self.result, &mut self.x, vector_counts) {
            return Ok(Next::Return);
        }
        let counts = counts(value_layout(walk, result));
        let mut y = after_no_error(machine, throws, |machine| machine.take_window(counts, true));
        let level = machine.levels.depth().saturating_sub(1);
        let mut tangents = vec![];
        for y in leaves(walk, result, &y, Offset::default())? {
            let tangent = machine.levels.tangent_of_result(level, y)?;
            tangents.push(machine.levels.plain_tangent(tangent)?);
        }
        lost_tangent::check(machine, &tangents)?;
        non_finite_value::check_tangents(machine, &tangents)?;
        rebase_escaping_slots(machine, &mut [&mut y, &mut self.x]);
        machine.levels.close();
        let template = Template { tangent: result, cells: y };
        let tangent = vector(walk, &template, &tangents)?;
        after_no_error(machine, throws, |machine| {
            machine.set_window(template.cells.all());
            machine.set_window_from(counts, tangent.all());
        });
        Ok(Next::Return)
    }
}
