//! Window call: runs tangent and adjoint code on arguments that are in the window already, and leaves the results there.
//!
//! This is possible for values whose tangent vectors have the same components: numbers, arrays of numbers, and tuples and
//! structs that consist of these. An attempt that fails restores the arguments.

use super::adjoint_code::{TransformedClosure, code, may_be_used, normalize, run_in_window, zeros};
use super::linearization::{have_same_counts, is_finite};
use crate::value::Ref;
use crate::value::shape::{SameComponents, TangentId};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operator_cache::OperatorCache;
use crate::vm::operators::walk;
use crate::vm::state::machine::Machine;
use crate::vm::transformed_code::TransformKind;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// The arguments of an operator, which are in the window; the function is the last one.
#[derive(Clone, Copy)]
pub(crate) struct WindowArguments<'c> {
    /// The number of components in each bank.
    pub(crate) counts: [usize; 3],
    /// What the operator has looked up before.
    pub(crate) cache: &'c OperatorCache,
    /// Whether the stacks may move. If machine code is running, they may not, because it has the addresses of its registers.
    pub(crate) stacks_may_move: bool,
}

impl WindowArguments<'_> {
    /// Whether the arguments have the given numbers of numbers and references besides the function, and no integers.
    pub(super) fn consist_of(self, numbers: usize, references: usize) -> bool {
        self.counts == [numbers, 0, references + 1]
    }

    /// Returns tangent or adjoint code of the function, if there is room for its registers.
    pub(super) fn code(
        self,
        machine: &mut Machine,
        compiler: &mut dyn Compiler,
        kind: TransformKind,
    ) -> Result<Option<TransformedClosure>, Box<Fault>> {
        if !may_be_used(machine) {
            return Ok(None);
        }
        let Ref::Closure(closure) = machine.reference(self.counts[2] - 1) else { return Ok(None) };
        let closure = Rc::clone(closure);
        let found = match self.cache.get(&closure) {
            Some(code) => TransformedClosure { code, closure, kind },
            None => {
                let Some(found) = code(machine, compiler, &closure, kind)? else { return Ok(None) };
                self.cache.set(&closure, &found.code);
                found
            }
        };
        let fits = self.stacks_may_move || machine.has_room(found.code.code.frame());
        Ok(fits.then_some(found))
    }
}

/// The arguments of an operator besides the function: their numbers and references.
pub(super) struct Saved {
    numbers: SmallVec<[f64; 8]>,
    references: SmallVec<[Ref; 4]>,
}

impl Saved {
    /// Copies the arguments of an operator.
    pub(super) fn of(machine: &Machine, arguments: WindowArguments<'_>) -> Saved {
        let ([f, _, r], stacks) = (machine.window, &machine.stacks);
        let [numbers, _, references] = arguments.counts;
        let mut saved = Saved {
            numbers: SmallVec::from_slice(stacks.f.get(f..f + numbers).unwrap_or_default()),
            references: SmallVec::new(),
        };
        for reference in stacks.r.get(r..r + references - 1).unwrap_or_default() {
            saved.references.push(reference.clone());
        }
        saved
    }

    /// Returns the arguments that are references, in their order.
    pub(super) fn arrays(&self) -> &[Ref] {
        &self.references
    }

    /// Writes the arguments to the window again, with the function as the last one.
    pub(super) fn restore(self, machine: &mut Machine, function: TransformedClosure) {
        let references = self.references.len();
        self.numbers.into_iter().enumerate().for_each(|(k, number)| machine.set_number(k, number));
        self.references.into_iter().enumerate().for_each(|(k, reference)| machine.set_reference(k, reference));
        machine.set_reference(references, Ref::Closure(function.closure));
    }
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
    (at, value): (TangentId, bool),
    arguments: WindowArguments<'_>,
) -> Result<bool, Box<Fault>> {
    let kind = if value { TransformKind::ValueWithGradient } else { TransformKind::Gradient };
    let walk = walk(compiler);
    let Some(components) = walk.tangents.same_components(walk.shapes, at) else { return Ok(false) };
    let SameComponents { numbers, references, .. } = *components;
    if !arguments.consist_of(numbers, references) {
        return Ok(false);
    }
    let Some(found) = arguments.code(machine, compiler, kind)? else { return Ok(false) };
    let saved = Saved::of(machine, arguments);
    // The code may compute the value even if the value is not requested, to check that it is finite.
    let first = usize::from(usize::from(found.code.code.results[0]) > numbers);
    let results = [first + numbers, 0, references];
    let given = [numbers, 0, 2 * references];
    let is_done = append_zeros(machine, references)
        && run_in_window(machine, compiler, &found, given, results)?
        && (first == 0 || machine.number(0).is_finite())
        && normalize_window(machine, first..results[0], 0..references);
    if !is_done {
        saved.restore(machine, found);
        return Ok(false);
    }
    if first == 1 && !value {
        (0..numbers).for_each(|k| machine.set_number(k, machine.number(k + 1)));
    }
    machine.set_integer(0, 1);
    Ok(true)
}

/// Writes zeros of the same shapes after the first references of the window; returns `false` if one of these consists of something
/// other than numbers.
fn append_zeros(machine: &mut Machine, references: usize) -> bool {
    for k in 0..references {
        let Some(zeros) = zeros(machine.reference(k)) else { return false };
        machine.set_reference(references + k, zeros);
    }
    true
}

/// Computes a value and its derivative along a tangent by tangent code: replaces the arguments `x…, dx…, body` by
/// `value…, derivative…`. Returns `false`, with the arguments unchanged, where that is not possible.
pub(crate) fn tangent(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, result): (TangentId, TangentId),
    arguments: WindowArguments<'_>,
) -> Result<bool, Box<Fault>> {
    let walk = walk(compiler);
    let components = |id| walk.tangents.same_components(walk.shapes, id);
    let (Some(of_argument), Some(of_result)) = (components(at), components(result)) else { return Ok(false) };
    let SameComponents { numbers, references, .. } = *of_argument;
    let SameComponents { numbers: values, references: arrays, .. } = *of_result;
    if !arguments.consist_of(2 * numbers, 2 * references) {
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
    let Some(found) = arguments.code(machine, compiler, TransformKind::Tangent)? else { return Ok(false) };
    let saved = Saved::of(machine, arguments);
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
        saved.restore(machine, found);
        return Ok(false);
    }
    Ok(true)
}
