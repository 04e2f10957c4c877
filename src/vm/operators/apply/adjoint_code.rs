//! Adjoint code: differentiates a function that only computes with its tangent or adjoint code, without slots or a
//! tape.
//!
//! Such code is used where no level is live and no observer is active.
//!
//! Promises: an attempt that fails (the code bails out, or a number is not finite) has no effect: the operator is
//! retried under a level, which reports errors.

use crate::tape::{Num, Template};
use crate::value::shape::TangentId;
use crate::value::walk::Walk;
use crate::value::{Cells, Closure, Components, Integers, Numbers, Ref, References};
use crate::vm::compiled;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::{Offset, after_no_error, counts, leaves, mismatch, read, value_layout, vector, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use crate::vm::transformed_code::{TransformKind, TransformedCode};
use multiversion::multiversion;
use std::rc::Rc;

/// Applies the operator with the arguments `x…, body`, which returns `whether it succeeded, value, gradient…`. `value`
/// states whether the caller requests the value.
pub(crate) fn gradient(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    x: &Cells,
    value: bool,
    throws: bool,
    body: &Ref,
) -> Result<Next, Box<Fault>> {
    let kind = if value { TransformKind::ValueWithGradient } else { TransformKind::Gradient };
    let found = if throws { None } else { run_adjoint_code(machine, compiler, at, x, kind, body)? };
    let done = found.is_some();
    let walk = walk(compiler);
    let (y, gradient) = found.unwrap_or_else(|| (0.0, walk.zero(walk.tangents.get(at).vector)));
    after_no_error(machine, throws, |machine| {
        machine.set_integer(0, i64::from(done));
        if value {
            machine.set_number(0, y);
        }
        machine.set_window_from([usize::from(value), 1, 0], gradient.all());
    });
    Ok(Next::Return)
}

/// Returns the value, if the value is requested, and the gradient; `None` when no adjoint code computes them.
fn run_adjoint_code(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    x: &Cells,
    kind: TransformKind,
    body: &Ref,
) -> Result<Option<(f64, Cells)>, Box<Fault>> {
    let Ref::Closure(closure) = body else { return Ok(None) };
    let Some(found) = code(machine, compiler, closure, kind)? else { return Ok(None) };
    let Some(objects) = x.r.iter().map(zeros).collect::<Option<References>>() else { return Ok(None) };
    // The code may compute the value even if the value is not requested, to check that it is finite.
    let first = usize::from(usize::from(found.code.code.results[0]) > x.f.len());
    let results = [first + x.f.len(), 0, x.r.len()];
    let more = single(Numbers::new(), Integers::new(), objects);
    if !run(machine, compiler, &found, x, more, results)? {
        return Ok(None);
    }
    let value = if first == 1 { machine.number(0) } else { 0.0 };
    let numbers = (first..results[0]).map(|k| machine.number(k)).collect();
    let references = (0..results[2]).map(|k| machine.take_reference(k)).collect();
    let given = single(numbers, x.i.clone(), references);
    let gradient = vector_of(walk(compiler), at, x, given)?;
    Ok(gradient.filter(|_| value.is_finite()).map(|gradient| (value, gradient)))
}

/// Returns a value and its tangent in a direction, as the components of both; `None` when no tangent code computes
/// them.
pub(crate) fn value_with_tangent(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    x: &Cells,
    direction: &Cells,
    result: TangentId,
    body: &Ref,
) -> Result<Option<(Cells, Cells)>, Box<Fault>> {
    let Ref::Closure(closure) = body else { return Ok(None) };
    let Some(found) = code(machine, compiler, closure, TransformKind::Tangent)? else { return Ok(None) };
    let layout = counts(value_layout(walk(compiler), result));
    if layout[1] + layout[2] > 0 {
        return Ok(None);
    }
    let Some(vectors) = spread(walk(compiler), at, x, direction)? else { return Ok(None) };
    if !run(machine, compiler, &found, x, vectors, [2 * layout[0], 0, 0])? {
        return Ok(None);
    }
    let part = |numbers: std::ops::Range<usize>| {
        let numbers: Numbers = numbers.map(|k| machine.number(k)).collect();
        single(numbers, Integers::new(), References::new())
    };
    let (value, mut tangent) = (part(0..layout[0]), part(layout[0]..2 * layout[0]));
    if value.f.iter().chain(&tangent.f).any(|x| !x.is_finite()) {
        return Ok(None);
    }
    // Adding 0 turns a negative zero into an ordinary zero, as a sweep does.
    tangent.f.iter_mut().for_each(|x| *x += 0.0);
    let walk = walk(compiler);
    if !walk.tangents.is_number(walk.shapes, result) {
        let numbers = leaves(walk, result, &tangent, Offset::default())?;
        tangent = vector(walk, &Template { tangent: result, cells: value.clone() }, &numbers)?;
    }
    Ok(Some((value, tangent)))
}

/// Tangent or adjoint code of a function.
pub(super) struct TransformedClosure {
    pub(super) code: Rc<TransformedCode>,
    /// The function object whose captures the transformed code reads.
    pub(super) closure: Rc<Closure>,
    pub(super) kind: TransformKind,
}

/// Whether tangent and adjoint code may be used in the current state.
#[inline]
pub(super) fn may_be_used(machine: &Machine) -> bool {
    let is_observed =
        machine.levels.depth() > 0 || machine.levels.is_observed() || machine.diagnosis.tape_listings.is_some();
    // Tangent and adjoint code does not check for exclusive access to the storage that it reads.
    !is_observed && machine.host.pending_explanations.is_empty() && machine.changes.is_empty()
}

/// Returns tangent or adjoint code of a function, if such code exists and may be used in the current state.
pub(super) fn code(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    closure: &Rc<Closure>,
    kind: TransformKind,
) -> Result<Option<TransformedClosure>, Box<Fault>> {
    if !may_be_used(machine) {
        return Ok(None);
    }
    let transformed = machine.functions.transformed(compiler, closure, kind)?;
    Ok(transformed.map(|code| TransformedClosure { code, closure: Rc::clone(closure), kind }))
}

/// Runs adjoint, tangent or linearization code with `x` and further arguments; returns `false` when the code bails out. The results
/// are in the window.
pub(super) fn run(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    found: &TransformedClosure,
    x: &Cells,
    mut more: Cells,
    results: [usize; 3],
) -> Result<bool, Box<Fault>> {
    let first = [x.f.len(), x.i.len(), x.r.len()];
    let given = [first[0] + more.f.len(), first[1], first[2] + more.r.len()];
    machine.set_window(x.all());
    // The references are moved, so that objects that are modified have one owner.
    let objects = std::mem::take(&mut more.r);
    machine.set_window_from(first, Components { i: &[], ..more.all() });
    objects.into_iter().enumerate().for_each(|(k, object)| machine.set_reference(first[2] + k, object));
    run_in_window(machine, compiler, found, given, results)
}

/// Runs adjoint or tangent code whose arguments are in the window, given the numbers of their components; returns `false`
/// when the code bails out. The results are in the window.
pub(super) fn run_in_window(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    found: &TransformedClosure,
    given: [usize; 3],
    results: [usize; 3],
) -> Result<bool, Box<Fault>> {
    let TransformedClosure { code: transformed, closure, kind } = found;
    let code = &transformed.code;
    if code.params.map(usize::from) != given || code.results.map(usize::from) != results {
        return Ok(false);
    }
    let frame = code.frame();
    let end = [0, 1, 2].map(|bank| machine.window[bank] + frame[bank]);
    if !machine.has_room(frame) {
        machine.make_room(end, false)?;
    }
    if frame[2] > given[2] {
        machine.set_reference(given[2], Ref::Closure(Rc::clone(closure)));
    }
    machine.value_stack.begin();
    let is_done = compiled::run_derivative(machine, compiler, transformed)?;
    let leftover = machine.window[2] + if is_done { results[2] } else { 0 };
    machine.stacks.r[leftover..end[2]].iter_mut().for_each(|reference| *reference = Ref::Null);
    if !is_done {
        machine.functions.discard_transformed(closure, *kind);
    }
    Ok(is_done)
}

/// Returns an object of the same shape whose numbers are all zero; `None` for objects other than arrays and records.
pub(super) fn zeros(object: &Ref) -> Option<Ref> {
    Some(match object {
        Ref::Null => Ref::Null,
        Ref::Text(text) => Ref::Text(text.clone()),
        Ref::Cells(cells) if cells.f.len() == cells.len && cells.i.is_empty() && cells.r.is_empty() => {
            Ref::Cells(zero_numbers(cells.len))
        }
        Ref::Cells(cells) => {
            let r = cells.r.iter().map(zeros).collect::<Option<_>>()?;
            let f = Numbers::from_elem(0.0, cells.f.len());
            let mut zeros = single(f, cells.i.clone(), r);
            zeros.len = cells.len;
            Ref::Cells(Rc::new(zeros))
        }
        _ => return None,
    })
}

/// Returns an array of zeros.
pub(super) fn zero_numbers(count: usize) -> Rc<Cells> {
    Cells::shared(|zeros| {
        zeros.len = count;
        zeros.f = Numbers::from_elem(0.0, count);
    })
}

/// Returns a value that consists of the given components.
pub(super) fn single(f: Numbers, i: Integers, r: References) -> Cells {
    let mut cells = Cells::empty();
    (cells.len, cells.f, cells.i, cells.r) = (1, f, i, r);
    cells
}

/// Returns a value of the same shape as `x` whose numbers are the tangents of the numbers of `x`.
fn spread(walk: Walk<'_>, at: TangentId, x: &Cells, direction: &Cells) -> Result<Option<Cells>, Box<Fault>> {
    let count = |of: &Cells| match of.r.first() {
        Some(Ref::Cells(array)) => Some(array.f.len()),
        _ => None,
    };
    if walk.tangents.is_array_of_numbers(walk.shapes, at) && count(x) == count(direction) {
        return Ok(Some(direction.clone()));
    }
    let Some(r) = x.r.iter().map(zeros).collect::<Option<_>>() else { return Ok(None) };
    let f = Numbers::from_elem(0.0, x.f.len());
    let mut vectors = single(f, x.i.clone(), r);
    let template = Template { tangent: at, cells: x.clone() };
    let mut seeds = read(walk, &template, (direction, Offset::default()))?.into_iter();
    walk.change(at, &mut vectors, Offset::default(), &mut |number, slot| {
        *number = seeds.next().map_or(0.0, |seed| seed.value);
        slot
    })
    .map_err(mismatch)?;
    Ok(Some(vectors))
}

/// Returns the tangent vector of `x` whose numbers are the corresponding numbers of the tangent vector `given`; `None`
/// if one of these numbers is not finite.
fn vector_of(walk: Walk<'_>, at: TangentId, x: &Cells, mut given: Cells) -> Result<Option<Cells>, Box<Fault>> {
    if walk.tangents.is_array_of_numbers(walk.shapes, at)
        && let Some(Ref::Cells(array)) = given.r.first_mut()
        && let Some(array) = Rc::get_mut(array)
    {
        return Ok(normalize(&mut array.f).then_some(given));
    }
    let numbers: Vec<Num> = leaves(walk, at, &given, Offset::default())?;
    if numbers.iter().any(|x| !x.value.is_finite()) {
        return Ok(None);
    }
    let numbers: Vec<Num> = numbers.into_iter().map(|x| Num::constant(x.value + 0.0)).collect();
    let template = Template { tangent: at, cells: x.clone() };
    vector(walk, &template, &numbers).map(Some)
}

/// Adds 0 to each number, which turns a negative zero into an ordinary zero as a sweep does; returns whether all are
/// finite.
pub(super) fn normalize(numbers: &mut [f64]) -> bool {
    if numbers.len() < FEW {
        // The product is not a number if the number is not finite.
        let mut sum = 0.0;
        for number in numbers {
            *number += 0.0;
            sum += *number * 0.0;
        }
        return sum == 0.0;
    }
    // There is nothing to write in most cases.
    if are_normal(numbers) {
        return true;
    }
    numbers.iter_mut().for_each(|x| *x += 0.0);
    numbers.iter().all(|x| x.is_finite())
}

/// The number of numbers from which on they are checked by vector instructions.
const FEW: usize = 8;

/// Whether all numbers are finite, and none is a negative zero.
#[multiversion(targets("x86_64+avx2"))]
fn are_normal(numbers: &[f64]) -> bool {
    const EXPONENT: u64 = f64::INFINITY.to_bits();
    const NEGATIVE_ZERO: u64 = (-0.0f64).to_bits();
    let is_other = |bits: u64| (bits & EXPONENT == EXPONENT) | (bits == NEGATIVE_ZERO);
    // Without an early exit, so that it is vectorized.
    !numbers.iter().fold(false, |any, x| any | is_other(x.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zeros_become_zeros_and_other_numbers_stay() {
        for size in (1..20).chain([FEW - 1, FEW, FEW + 5]) {
            for at in 0..size {
                for (special, expected) in
                    [(-0.0, Some(0.0)), (f64::NAN, None), (f64::NEG_INFINITY, None), (-1e-320, Some(-1e-320))]
                {
                    let mut numbers = vec![1.5; size];
                    numbers[at] = special;
                    assert_eq!(normalize(&mut numbers), expected.is_some());
                    if let Some(expected) = expected {
                        assert_eq!(numbers[at].to_bits(), f64::to_bits(expected));
                    }
                }
            }
        }
        assert!(normalize(&mut []));
    }
}
