//! Taylor polynomials: computes the Taylor polynomials of functions of one number.

use crate::diagnostic::Code as Number;
use crate::tape::Num;
use crate::value::{Cells, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::BodyResult;
use crate::vm::operators::check::non_finite_value::check_tangents;
use crate::vm::operators::{after_no_error, array_of, last_reference, rebase_escaping_slots, thrown, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};

/// The highest degree of a polynomial: partial derivatives of partial derivatives use much of the machine's own stack.
const MAX_DEGREE: usize = 1000;

/// The state of a Taylor series while the differentiated function is running.
struct SeriesTask {
    x: Num,
    order: usize,
    result: BodyResult,
}

/// Opens a level, turns the point `x` into a leaf of the level, and calls the body. `arguments` are the point, the
/// order and the body.
pub(crate) fn begin(machine: &mut Machine, mut arguments: Cells, result: BodyResult) -> Result<Next, Box<Fault>> {
    let body = last_reference(&mut arguments)?;
    let value = arguments.f.first().copied().unwrap_or_default();
    let x = Num { value, slot: arguments.slots.first().copied().unwrap_or(Slot::NONE) };
    let order = arguments.i.first().copied().unwrap_or_default();
    let order = usize::try_from(order).ok().filter(|order| *order <= MAX_DEGREE).ok_or_else(|| {
        Fault::new(
            Number::PreconditionFailed,
            format!("the degree of a polynomial must be in the range 0...{MAX_DEGREE}, not {order}"),
        )
    })?;
    machine.levels.open_series()?;
    let leaf = machine.levels.leaf(x)?;
    machine.set_num(0, leaf);
    Ok(Next::call(body, true, SeriesTask { x, order, result }))
}

impl Task for SeriesTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let SeriesTask { x, order, result } = *self;
        if thrown(machine, walk(compiler), result, &mut Cells::empty(), [0, 1, 1]) {
            return Ok(Next::Return);
        }
        let y = machine.num(0);
        rebase_escaping_slots(machine, &mut []);
        let coefficients = machine.levels.close_series(x, y, order)?;
        check_tangents(machine, coefficients.as_deref().unwrap_or_default())?;
        let array = array_of(coefficients.as_deref().unwrap_or_default());
        after_no_error(machine, result.throws, |machine| {
            machine.set_integer(0, i64::from(coefficients.is_some()));
            machine.set_reference(0, array);
        });
        Ok(Next::Return)
    }
}
