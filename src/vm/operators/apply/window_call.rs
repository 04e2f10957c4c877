//! Window call: runs tangent and adjoint code on arguments that are in the window already, and leaves the results there.
//!
//! This is possible for values whose tangent vectors have the same components: numbers, arrays of numbers, and tuples and
//! structs that consist of these. An attempt that fails restores the arguments.

use super::adjoint_code::{TransformedClosure, code, normalize, run_in_window, zeros};
use super::linearization::{have_same_counts, is_finite};
use crate::value::shape::TangentId;
use crate::value::walk::Walk;
use crate::value::{Bank, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::TransformKind;
use crate::vm::operators::walk;
use crate::vm::state::machine::Machine;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// The arguments of an operator in plain code: their numbers and references.
pub(super) struct Saved {
    numbers: SmallVec<[f64; 8]>,
    references: SmallVec<[Ref; 4]>,
}

impl Saved {
    /// Copies the arguments of an operator.
    pub(super) fn of(machine: &Machine, [numbers, _, references]: [usize; 3]) -> Saved {
        Saved {
            numbers: (0..numbers).map(|k| machine.number(k)).collect(),
            references: (0..references).map(|k| machine.reference(k).clone()).collect(),
        }
    }

    /// Writes the arguments to the window again.
    pub(super) fn restore(self, machine: &mut Machine) {
        self.numbers.into_iter().enumerate().for_each(|(k, number)| machine.set_number(k, number));
        self.references.into_iter().enumerate().for_each(|(k, reference)| machine.set_reference(k, reference));
    }
}

/// Returns the code of the function that is the last reference among the arguments.
pub(super) fn code_of_argument(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    references: usize,
    kind: TransformKind,
) -> Result<Option<TransformedClosure>, Box<Fault>> {
    let Ref::Closure(closure) = machine.reference(references - 1) else { return Ok(None) };
    let closure = Rc::clone(closure);
    code(machine, compiler, &closure, kind)
}

/// Returns the banks of the components of the arguments `x…` of an operator with the arguments `x…, body`, in order; `None` if a
/// component cannot vary.
pub(super) fn components_of_arguments(walk: Walk<'_>, at: TangentId, params: [usize; 3]) -> Option<Rc<[Bank]>> {
    let order = walk.tangents.components_in_order(walk.shapes, at)?;
    let references = order.iter().filter(|bank| **bank == Bank::R).count();
    (params == [order.len() - references, 0, references + 1]).then_some(order)
}

/// Normalizes numbers of the window and the numbers of arrays in the window; returns whether all are finite.
fn normalize_window(machine: &mut Machine, numbers: Range<usize>, arrays: Range<usize>) -> bool {
    let [first, _, first_array] = machine.window;
    let numbers = machine.stacks.f.get_mut(first + numbers.start..first + numbers.end).unwrap_or_default();
    let mut is_finite = normalize(numbers);
    let arrays = first_array + arrays.start..first_array + arrays.end;
    for array in machine.stacks.r.get_mut(arrays).unwrap_or_default() {
        is_finite &= normalize_array(array);
    }
    is_finite
}

/// Normalizes the numbers of an array and of the arrays in it; returns whether all are finite.
fn normalize_array(array: &mut Ref) -> bool {
    match array {
        Ref::Cells(cells) => {
            let cells = Rc::make_mut(cells);
            let is_finite = normalize(&mut cells.f);
            cells.r.iter_mut().fold(is_finite, |is_finite, inner| normalize_array(inner) & is_finite)
        }
        Ref::Null => true,
        _ => false,
    }
}

/// Computes a gradient by adjoint code: replaces the arguments `x…, body` by `1, value, gradient…`, without the value
/// unless `value` is set. Returns `false`, with the arguments unchanged, where that is not possible.
pub(crate) fn gradient(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    value: bool,
    params: [usize; 3],
) -> Result<bool, Box<Fault>> {
    let kind = if value { TransformKind::ValueWithGradient } else { TransformKind::Gradient };
    let walk = walk(compiler);
    let Some([numbers, _, references]) = walk.tangents.same_components(walk.shapes, at) else { return Ok(false) };
    if params != [numbers, 0, references + 1] {
        return Ok(false);
    }
    let Some(found) = code_of_argument(machine, compiler, references + 1, kind)? else { return Ok(false) };
    let zeros: Option<SmallVec<[Ref; 4]>> = (0..references).map(|k| zeros(machine.reference(k))).collect();
    let Some(zeros) = zeros else { return Ok(false) };
    let saved = Saved::of(machine, params);
    zeros.into_iter().enumerate().for_each(|(k, object)| machine.set_reference(references + k, object));
    // The code may compute the value even if the value is not requested, to check that it is finite.
    let first = usize::from(usize::from(found.code.code.results[0]) > numbers);
    let results = [first + numbers, 0, references];
    let given = [numbers, 0, 2 * references];
    let is_done = run_in_window(machine, compiler, &found, given, results)?
        && (first == 0 || machine.number(0).is_finite())
        && normalize_window(machine, first..results[0], 0..references);
    if !is_done {
        saved.restore(machine);
        return Ok(false);
    }
    if first == 1 && !value {
        (0..numbers).for_each(|k| machine.set_number(k, machine.number(k + 1)));
    }
    machine.set_integer(0, 1);
    Ok(true)
}

/// Computes a value and its derivative along a tangent by tangent code: replaces the arguments `x…, dx…, body` by
/// `value…, derivative…`. Returns `false`, with the arguments unchanged, where that is not possible.
pub(crate) fn tangent(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    result: TangentId,
    params: [usize; 3],
) -> Result<bool, Box<Fault>> {
    let walk = walk(compiler);
    let (Some([numbers, _, references]), Some([values, _, arrays])) =
        (walk.tangents.same_components(walk.shapes, at), walk.tangents.same_components(walk.shapes, result))
    else {
        return Ok(false);
    };
    if params != [2 * numbers, 0, 2 * references + 1] {
        return Ok(false);
    }
    // An empty vector is zero.
    let has_same_length = |k: usize| match (machine.reference(k), machine.reference(references + k)) {
        (Ref::Cells(x), Ref::Cells(dx)) => have_same_counts(x, dx),
        _ => false,
    };
    if !(0..references).all(has_same_length) {
        return Ok(false);
    }
    let kind = TransformKind::Tangent;
    let Some(found) = code_of_argument(machine, compiler, 2 * references + 1, kind)? else { return Ok(false) };
    let saved = Saved::of(machine, params);
    let given = [2 * numbers, 0, 2 * references];
    let has_shape = |machine: &Machine, k| match (machine.reference(k), machine.reference(arrays + k)) {
        (Ref::Cells(y), Ref::Cells(dy)) => have_same_counts(y, dy) && is_finite(y),
        _ => false,
    };
    let is_done = run_in_window(machine, compiler, &found, given, [2 * values, 0, 2 * arrays])?
        && (0..values).all(|k| machine.number(k).is_finite())
        && (0..arrays).all(|k| has_shape(machine, k))
        && normalize_window(machine, values..2 * values, arrays..2 * arrays);
    if !is_done {
        saved.restore(machine);
        return Ok(false);
    }
    Ok(true)
}
