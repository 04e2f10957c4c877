//! Opaque vector: handles the adjoint or tangent of a value whose tangent vector has no fixed number of components.

use crate::diagnostic::Code as Number;
use crate::native::primitive_ids;
use crate::native::tensor::{TensorValue, unpack};
use crate::tape::{Levels, Num, Sweep, Template, tensor_vector, vector_number};
use crate::tensor::Tensor;
use crate::value::opaque_vector::{self, OpaqueVector};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::{Addition, Walk};
use crate::value::{Cells, Ref, Slot};
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

/// Whether some of the given values contain parts whose tangent vectors are propagated as a whole.
pub(crate) fn any<'t>(walk: Walk<'_>, mut templates: impl Iterator<Item = &'t Template>) -> bool {
    templates.any(|template| walk.tangents.has_opaque_vector(template.tangent))
}

/// Returns the tangent vector of a value that has the given numbers, and the template by which these numbers are found
/// in the vector. A vector whose numbers cannot be counted, and which is propagated as a whole, is its own template,
/// because it has the structure of any vector of equal size.
pub(crate) fn counted(walk: Walk<'_>, template: &Template, numbers: &[Num]) -> Result<(Cells, Template), Box<Fault>> {
    let tangent = vector(walk, template, numbers)?;
    let found = match whole_of(walk, template.tangent) {
        Some(of) => Template { tangent: of, cells: tangent.clone() },
        None if walk.tangents.has_uncounted_vector(template.tangent) => return Err(uncounted()),
        None => template.clone(),
    };
    Ok((tangent, found))
}

/// Returns the tangent type of the uncounted vectors of a type, which are propagated as a whole.
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
/// of their tangent vectors, and the values do not determine it.
pub(crate) fn check_counted(walk: Walk<'_>, templates: &[Template]) -> Result<(), Box<Fault>> {
    let is_uncounted = |template: &Template| {
        walk.tangents.has_uncounted_vector(template.tangent) && walk.tangents.has_numbers(template.tangent)
    };
    if templates.iter().any(is_uncounted) { Err(uncounted()) } else { Ok(()) }
}

/// Returns the tensors of a value in the order of its leaves; `None` for the leaves that are numbers.
pub(crate) fn tensors(walk: Walk<'_>, template: &Template) -> Result<Vec<Option<Rc<Tensor>>>, Box<Fault>> {
    let mut found = vec![];
    walk.leaves_with_tensors(template.tangent, &template.cells, &mut |_, _, reference| {
        found.push(reference.map(|reference| match reference {
            Ref::Tensor(tensor) => Rc::clone(tensor),
            _ => Rc::new(Tensor::scalar(0.0)),
        }));
    })
    .map_err(mismatch)?;
    Ok(found)
}

/// Returns the numbers of a value that can vary; a tensor is represented by one number.
pub(crate) fn numbers_of(walk: Walk<'_>, of: TangentId, value: &Cells) -> Result<Vec<Num>, Box<Fault>> {
    let mut numbers = vec![];
    walk.leaves_with_tensors(of, value, &mut |value, slot, reference| {
        numbers.push(match reference {
            Some(Ref::Tensor(tensor)) => vector_number(TensorValue { tensor: Rc::clone(tensor), slot }),
            _ => Num { value, slot },
        });
    })
    .map_err(mismatch)?;
    Ok(numbers)
}

/// Returns the numbers of tangent vectors; each tensor among them gets the shape and the kind of the tensor of its value,
/// to which it broadcasts.
pub(crate) fn fitted(
    machine: &mut Machine,
    walk: Walk<'_>,
    templates: &[Template],
    mut numbers: Vec<Num>,
) -> Result<Vec<Num>, Box<Fault>> {
    if !any(walk, templates.iter()) {
        return Ok(numbers);
    }
    let mut values = vec![];
    for template in templates {
        values.append(&mut tensors(walk, template)?);
    }
    for (number, value) in numbers.iter_mut().zip(values) {
        let (Some(vector), Some(value)) = (tensor_vector(*number), value) else { continue };
        *number = vector_number(machine.levels.fitted(vector, value.kind(), value.shape())?);
    }
    Ok(numbers)
}

/// Returns the number that carries the slot by which a number of a tangent vector varies.
pub(crate) fn carrier(number: &Num) -> Num {
    tensor_vector(*number).map_or(*number, |vector| Num { value: 0.0, slot: vector.slot })
}

/// Whether a number of a tangent vector is not zero, or represents a vector that is not zero.
pub(crate) fn is_nonzero(number: &Num) -> bool {
    match tensor_vector(*number) {
        Some(vector) => unpack(&vector.tensor).map_or(true, |scalars| scalars.iter().any(|x| *x != 0.0)),
        None => number.value != 0.0,
    }
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

/// Returns a number, or a number in the tensor that it represents, if it is infinite or NaN. The components of opaque
/// vectors of other types are not examined.
pub(crate) fn non_finite(x: &Num) -> Option<f64> {
    match opaque_vector::find(x.value) {
        Some(OpaqueVector::Tensor(tensor, _)) => crate::tape::non_finite(&tensor),
        Some(OpaqueVector::Cells { .. }) => None,
        None => Some(x.value).filter(|x| !x.is_finite()),
    }
}
