//! Opaque vector: handles the adjoint or tangent of a value whose tangent vector has no fixed number of components.

use crate::diagnostic::Code as Number;
use crate::native::primitive_ids;
use crate::native::tensor::TensorValue;
use crate::tape::{Levels, Num, Sweep, Template};
use crate::tensor::Tensor;
use crate::value::opaque_vector::{self, OpaqueVector};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::{Addition, Walk};
use crate::value::{Cells, Slot};
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::{Failure, mismatch, vector};
use crate::vm::state::machine::Machine;
use std::rc::Rc;

/// Adds a vector to the adjoint or tangent of a node.
pub(crate) fn add(
    machine: &mut Machine,
    walk: Walk<'_>,
    sweep: &mut Sweep,
    node: u32,
    x: Num,
) -> Result<(), Box<Fault>> {
    let (of, more) = match opaque_vector::find(x.value) {
        None => return Ok(sweep.add(&mut machine.levels, node, x)?),
        Some(OpaqueVector::Tensor(tensor, slot)) => {
            return Ok(sweep.add_tensor(&mut machine.levels, node, TensorValue { tensor, slot })?);
        }
        Some(OpaqueVector::Cells { of, cells }) => (of, cells),
    };
    let Some(OpaqueVector::Cells { cells: before, .. }) = opaque_vector::find(sweep.number(node).value) else {
        sweep.set(node, x);
        return Ok(());
    };
    let mut plus = RecordedAddition { levels: &mut machine.levels, failure: Failure::default() };
    let sum = walk.sum(of, &before, &more, &mut plus).map_err(mismatch)?;
    plus.failure.check()?;
    sweep.set(node, Num::constant(opaque_vector::keep(of, sum)));
    Ok(())
}

/// An addition that is recorded in the live levels.
struct RecordedAddition<'a> {
    levels: &'a mut Levels,
    failure: Failure,
}

impl Addition for RecordedAddition<'_> {
    fn numbers(&mut self, (a, of_a): (f64, Slot), (b, of_b): (f64, Slot)) -> (f64, Slot) {
        let operands = [Num { value: a, slot: of_a }, Num { value: b, slot: of_b }];
        let sum = self.levels.record(primitive_ids::ADD, &operands);
        (a + b, self.failure.slot(sum))
    }

    fn tensors(&mut self, a: (Rc<Tensor>, Slot), b: (Rc<Tensor>, Slot)) -> (Rc<Tensor>, Slot) {
        let left = a.clone();
        self.levels.add_tensors(a, b).unwrap_or_else(|error| {
            self.failure.slot(Err(error));
            left
        })
    }
}

/// Whether the tangent vectors of some of the given values have no fixed number of components.
pub(crate) fn any<'t>(walk: Walk<'_>, mut templates: impl Iterator<Item = &'t Template>) -> bool {
    templates.any(|template| walk.tangents.has_opaque_vector(template.tangent))
}

/// Returns the tangent vector of a value that has the given numbers, and the template by which these numbers are found
/// in the vector. An opaque vector, which is propagated as a whole, is its own template, because it has the structure
/// of any vector of equal size.
pub(crate) fn counted(walk: Walk<'_>, template: &Template, numbers: &[Num]) -> Result<(Cells, Template), Box<Fault>> {
    let tangent = vector(walk, template, numbers)?;
    let found = match whole_of(walk, template.tangent) {
        Some(of) => Template { tangent: of, cells: tangent.clone() },
        None if walk.tangents.has_opaque_vector(template.tangent) => return Err(uncounted()),
        None => template.clone(),
    };
    Ok((tangent, found))
}

/// Returns the tangent type of the opaque vectors of a type: vectors that are propagated as a whole.
fn whole_of(walk: Walk<'_>, mut id: TangentId) -> Option<TangentId> {
    loop {
        id = match walk.tangents.get(id).kind {
            TangentKind::Boxed(of) | TangentKind::Beside(of) => of,
            TangentKind::Opaque(of) => return Some(of),
            TangentKind::Tensor => return Some(id),
            _ => return None,
        };
    }
}

/// Rejects the transposition of a function from the given values if the transpose would need the number of components
/// of their tangent vectors.
pub(crate) fn check_counted(walk: Walk<'_>, templates: &[Template]) -> Result<(), Box<Fault>> {
    let is_uncounted = |template: &Template| {
        walk.tangents.has_opaque_vector(template.tangent) && walk.tangents.has_numbers(template.tangent)
    };
    if templates.iter().any(is_uncounted) { Err(uncounted()) } else { Ok(()) }
}

/// Returns the fault for a registered derivative that cannot be transposed.
pub(crate) fn uncounted() -> Box<Fault> {
    let message = "a registered derivative cannot be transposed, because it takes a tangent vector with an unknown \
                   number of components";
    Fault::new(Number::PreconditionFailed, message)
        .remark(Remark::Help("register the derivative for the other direction as well".into()))
}

/// Discards stored opaque vectors when no tape or slot can refer to them.
pub(crate) fn prune(machine: &Machine) {
    if machine.levels.depth() == 0 && machine.tasks.is_empty() {
        opaque_vector::forget();
    }
}

/// Whether a number is finite. A number that represents an opaque vector counts as finite; its components are not
/// examined.
pub(crate) fn is_finite(x: &Num) -> bool {
    x.value.is_finite() || opaque_vector::is(x.value)
}
