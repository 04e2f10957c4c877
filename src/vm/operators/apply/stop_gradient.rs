//! Stop gradient: implements values that retain their number and change their adjoint (`withoutDerivative(at:)`,
//! `withDerivative`).

use crate::tape::Template;
use crate::value::shape::TangentId;
use crate::value::slot_rewrite::{ClearSlots, change_slots};
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::{Offset, leaves, set_leaves, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;

/// Turns all numbers of a value into constants of every level.
pub(crate) fn without_derivative(machine: &mut Machine, mut x: Cells) {
    change_slots(&mut x, &mut ClearSlots);
    machine.set_window(x.all());
}

/// Passes the adjoint of a value through the function `edit`, in every reverse level in which the value varies.
pub(crate) fn with_derivative(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    of: TangentId,
    mut x: Cells,
    edit: &Ref,
) -> Result<Next, Box<Fault>> {
    if machine.levels.depth() > 0 {
        let walk = walk(compiler);
        let numbers = leaves(walk, of, &x, Offset::default())?;
        let template = Template { tangent: of, cells: x.clone() };
        if machine.levels.observes_steps() {
            machine.note_place();
        }
        let edited = machine.levels.edited(&numbers, edit, &template)?;
        set_leaves(walk, of, (&mut x, Offset::default()), &edited)?;
    }
    machine.set_window(x.all());
    Ok(Next::Return)
}
