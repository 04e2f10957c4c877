//! Opaque vector: handles the adjoint or tangent of a value whose tangent vector has no fixed number of components.

use crate::diagnostic::Code as Number;
use crate::native::primitive_ids;
use crate::tape::{Num, Sweep, Template};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::Walk;
use crate::value::{Cells, opaque_vector};
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::{Failure, mismatch, vector};
use crate::vm::state::machine::Machine;

/// Adds a vector to the adjoint or tangent of a node.
pub(crate) fn add(
    machine: &mut Machine,
    walk: Walk<'_>,
    sweep: &mut Sweep,
    node: u32,
    x: Num,
) -> Result<(), Box<Fault>> {
    let Some(more) = opaque_vector::find(x.value) else { return Ok(sweep.add(&mut machine.levels, node, x)?) };
    let Some(before) = opaque_vector::find(sweep.number(node).value) else {
        sweep.set(node, x);
        return Ok(());
    };
    let (levels, id) = (&mut machine.levels, primitive_ids::ADD);
    let mut failure = Failure::default();
    let mut plus = |(a, of_a), (b, of_b)| {
        let sum = levels.record(id, &[Num { value: a, slot: of_a }, Num { value: b, slot: of_b }]);
        (a + b, failure.slot(sum))
    };
    let sum = walk.sum(more.of, &before.cells, &more.cells, &mut plus).map_err(mismatch)?;
    failure.check()?;
    sweep.set(node, Num::constant(opaque_vector::keep(more.of, sum)));
    Ok(())
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
