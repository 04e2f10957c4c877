//! Adjoints and tangents that are whole vectors: those of types whose tangent vectors have no fixed number of
//! components.

use super::super::fault::{Fault, Remark};
use super::super::machine::Machine;
use super::{Failure, mismatch, vector};
use crate::diagnostic::Code as Number;
use crate::native::ids;
use crate::tape::{Num, Sweep, Template};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::Walk;
use crate::value::{Cells, whole};

/// Adds to the adjoint or tangent of a node.
pub(super) fn add(
    machine: &mut Machine,
    walk: Walk<'_>,
    sweep: &mut Sweep,
    node: u32,
    x: Num,
) -> Result<(), Box<Fault>> {
    let Some(more) = whole::find(x.value) else { return Ok(sweep.add(&mut machine.levels, node, x)?) };
    let Some(before) = whole::find(sweep.number(node).value) else {
        sweep.set(node, x);
        return Ok(());
    };
    let (levels, id) = (&mut machine.levels, ids::ADD);
    let mut failure = Failure::default();
    let mut plus = |(a, of_a), (b, of_b)| {
        let sum = levels.record(id, &[Num { value: a, slot: of_a }, Num { value: b, slot: of_b }]);
        (a + b, failure.slot(sum))
    };
    let sum = walk.sum(more.of, &before.cells, &more.cells, &mut plus).map_err(mismatch)?;
    failure.check()?;
    sweep.set(node, Num::constant(whole::keep(more.of, sum)));
    Ok(())
}

/// Whether some of these values are moved by vectors whose components nobody can count beforehand.
pub(super) fn any<'t>(walk: Walk<'_>, mut templates: impl Iterator<Item = &'t Template>) -> bool {
    templates.any(|template| walk.tangents.moves_as_a_whole(template.tangent))
}

/// A tangent of a value, made of these numbers, and what its own numbers are found by. A vector that is handed on as a
/// whole is its own template: another one of the same size has the same numbers.
pub(super) fn counted(walk: Walk<'_>, template: &Template, numbers: &[Num]) -> Result<(Cells, Template), Box<Fault>> {
    let tangent = vector(walk, template, numbers)?;
    let found = match whole_of(walk, template.tangent) {
        Some(of) => Template { tangent: of, cells: tangent.clone() },
        None if walk.tangents.moves_as_a_whole(template.tangent) => return Err(uncounted()),
        None => template.clone(),
    };
    Ok((tangent, found))
}

/// How the vectors of a type differentiate that are handed on as a whole.
fn whole_of(walk: Walk<'_>, mut id: TangentId) -> Option<TangentId> {
    loop {
        id = match walk.tangents.get(id).kind {
            TangentKind::Boxed(of) | TangentKind::Beside(of) => of,
            TangentKind::Whole(of) => return Some(of),
            _ => return None,
        };
    }
}

/// Refuses to transpose a function from these values that would have to know how many components their vectors have.
pub(super) fn check_counted(walk: Walk<'_>, templates: &[Template]) -> Result<(), Box<Fault>> {
    let is_uncounted = |template: &Template| {
        walk.tangents.moves_as_a_whole(template.tangent) && walk.tangents.has_numbers(template.tangent)
    };
    if templates.iter().any(is_uncounted) { Err(uncounted()) } else { Ok(()) }
}

/// Why a registered derivative cannot be transposed.
pub(super) fn uncounted() -> Box<Fault> {
    let message = "a registered derivative cannot be transposed, because the number of components of a tangent vector \
                   that it takes is not known";
    Fault::new(Number::PreconditionFailed, message)
        .remark(Remark::Help("register the derivative for the other direction, too".into()))
}

/// Forgets vectors that were handed on, where nobody can have one.
pub(super) fn tidy(machine: &Machine) {
    if machine.levels.depth() == 0 && machine.tasks.is_empty() {
        whole::forget();
    }
}

/// Whether a number is finite; those of a vector that it stands for are not looked at.
pub(super) fn is_finite(x: &Num) -> bool {
    x.value.is_finite() || whole::is(x.value)
}
