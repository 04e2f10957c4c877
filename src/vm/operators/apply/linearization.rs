//! Linearization: records a function that only computes with its linearization code, without slots.
//!
//! Promises: an attempt that fails (the code bails out, or a value or partial derivative is not finite) has no effect: the function is
//! recorded with slots, which reports errors.

use super::adjoint_code::{code, run, single, zeros};
use crate::tape::{Direction, LinearMap};
use crate::value::shape::{SameComponents, TangentId};
use crate::value::{Cells, Numbers, Ref, References};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::{Offset, leaves, mismatch, walk};
use crate::vm::state::machine::Machine;
use crate::vm::transformed_code::TransformKind;

/// Returns the value of a function and its differential; `None` when no linearization code computes them.
pub(crate) fn value_with_differential(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, x): (TangentId, &Cells),
    result: TangentId,
    body: &Ref,
) -> Result<Option<(Cells, LinearMap)>, Box<Fault>> {
    let Ref::Closure(closure) = body else { return Ok(None) };
    let types = walk(compiler);
    let Some(components) = types.tangents.same_components(types.shapes, result) else { return Ok(None) };
    let SameComponents { numbers, references, .. } = *components;
    let Some(found) = code(machine, compiler, closure, TransformKind::Linearization)? else { return Ok(None) };
    let Some((count, nodes)) = nodes_of_leaves(compiler, at, x)? else { return Ok(None) };
    machine.levels.open(Direction::Reverse)?;
    machine.levels.add_leaves(count)?;
    if !run(machine, compiler, &found, x, nodes, [2 * numbers, 0, 2 * references])? {
        machine.levels.close();
        return Ok(None);
    }
    let mut take = |numbers: std::ops::Range<usize>, references: std::ops::Range<usize>| {
        let numbers: Numbers = numbers.map(|k| machine.number(k)).collect();
        let references: References = references.map(|k| machine.take_reference(k)).collect();
        single(numbers, [].into_iter().collect(), references)
    };
    let y = take(0..numbers, 0..references);
    let nodes = take(numbers..2 * numbers, references..2 * references);
    // A value that is not finite may come from a product 0·∞, whose partial derivatives are NaN.
    let map = if is_finite(&y) && have_same_counts(&y, &nodes) {
        let nodes = leaves(walk(compiler), result, &nodes, Offset::default())?;
        let nodes = nodes.iter().map(|node| node.value.to_bits() as u32).collect();
        LinearMap::of_linearization(&mut machine.levels, nodes)
    } else {
        machine.levels.close();
        None
    };
    Ok(map.map(|map| (y, map)))
}

/// Returns the number of leaves of a value, and a value of the same shape that consists of the bits of their nodes' numbers.
fn nodes_of_leaves(
    compiler: &mut dyn Compiler,
    at: TangentId,
    x: &Cells,
) -> Result<Option<(usize, Cells)>, Box<Fault>> {
    let Some(r) = x.r.iter().map(zeros).collect::<Option<References>>() else { return Ok(None) };
    let mut nodes = single(Numbers::from_elem(0.0, x.f.len()), x.i.clone(), r);
    let mut count = 0;
    let number = &mut |node: &mut f64, slot| {
        count += 1;
        *node = f64::from_bits(count as u64);
        slot
    };
    walk(compiler).change(at, &mut nodes, Offset::default(), number).map_err(mismatch)?;
    Ok(Some((count, nodes)))
}

/// Whether all numbers of a value, and those of its arrays, are finite.
pub(super) fn is_finite(value: &Cells) -> bool {
    let in_array = |reference: &Ref| !matches!(reference, Ref::Cells(array) if !is_finite(array));
    value.f.iter().all(|x| x.is_finite()) && value.r.iter().all(in_array)
}

/// Whether two values have equal numbers of numbers and arrays, and so do their arrays.
pub(super) fn have_same_counts(value: &Cells, other: &Cells) -> bool {
    let is_same = |(a, b): (&Ref, &Ref)| match (a, b) {
        (Ref::Cells(a), Ref::Cells(b)) => have_same_counts(a, b),
        (Ref::Null, Ref::Null) => true,
        _ => false,
    };
    value.f.len() == other.f.len() && value.r.len() == other.r.len() && value.r.iter().zip(&other.r).all(is_same)
}
