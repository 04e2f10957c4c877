//! Containers: the dependence of values that are stored in containers, and of values that are loaded from them.
//!
//! Promises: an element of an array, a dictionary or a value of any type is reported to have lost its tangent only if
//! all values that were stored there have lost theirs.

use super::super::dependence::{Dependence, LossReason, SharedDependence, TangentLoss};
use crate::ir::analysis::data_flow::Fact;
use crate::ir::{Function, Instruction, Op, Program, Reg};
use crate::value::Bank;
use crate::value::shape::ShapeId;
use std::rc::Rc;

/// Returns the dependence of a container after one element is appended.
pub(super) fn appended(container: &SharedDependence, element: &[Reg], facts: &[SharedDependence]) -> SharedDependence {
    let parts = SharedDependence::union(element.iter().map(|r| &facts[r.0 as usize]));
    let mut all = container.clone();
    all.join(&parts);
    let is_certain = element.len() == 1 && parts.is_from_arguments();
    if is_certain { all } else { contained(element, all).with(|d| d.mixed = true) }
}

/// Returns the dependence of an array after one of its elements is replaced.
pub(super) fn replaced(step: &Instruction, facts: &[SharedDependence]) -> SharedDependence {
    let fact = |r: &Reg| &facts[r.0 as usize];
    let is_lost = |known: &SharedDependence| known.0.as_ref().is_some_and(|d| !d.losses.is_empty() && !d.mixed);
    match &step.ins[..] {
        [array, _, value] if is_lost(fact(array)) && is_lost(fact(value)) => {
            appended(fact(array), std::slice::from_ref(value), facts)
        }
        all => SharedDependence::union(all.iter().map(fact)).element().with(|d| d.mixed = true),
    }
}

/// Returns the dependence of components that are stored together: if there are several, the components of
/// `@noDerivative` properties need not be examined again.
pub(super) fn contained(parts: &[Reg], known: SharedDependence) -> SharedDependence {
    let is_property = |found: &Rc<TangentLoss>| found.reason == LossReason::Property;
    let is_touched = known.0.as_ref().is_some_and(|d| d.losses.values().any(is_property));
    if parts.len() < 2 || !is_touched {
        return known;
    }
    known.with(|d| d.losses.retain(|_, found| !is_property(found)))
}

/// Returns the dependence of a loaded value: integers do not vary, and their origin is not certain.
pub(super) fn loaded(bank: Bank, known: SharedDependence) -> SharedDependence {
    match bank {
        Bank::F | Bank::R => known,
        Bank::I => SharedDependence::default(),
    }
}

/// Returns the dependence of a result that may be a non-empty array or dictionary: if it has no known loss, no element
/// that is added later is certain to be the one that is read.
pub(super) fn filled(f: &Function, step: &Instruction, out: Reg, known: SharedDependence) -> SharedDependence {
    let may_hold_elements = match &step.op {
        Op::Native { name, .. } => !matches!(*name, "dictionary.new" | "array.new" | "array.reserve"),
        Op::Constants(_)
        | Op::Call(_)
        | Op::CallRule(_)
        | Op::CallValue
        | Op::LoadBox { .. }
        | Op::LoadGlobal { .. }
        | Op::LoadRecord { .. }
        | Op::LoadElement { .. } => true,
        _ => false,
    };
    let is_whole = known.0.as_ref().is_none_or(|d| d.losses.is_empty());
    if may_hold_elements && is_whole && f.registers[out.0 as usize].bank == Bank::R {
        return known.with(|d| d.mixed = true);
    }
    known
}

/// Returns the result of a native function that stores one integer in a dictionary or a value of any type, or loads it.
pub(super) fn integer(
    program: &Program,
    name: &str,
    shapes: &[ShapeId],
    step: &Instruction,
    facts: &[SharedDependence],
) -> Option<Vec<SharedDependence>> {
    let layout = program.shapes.layout(*shapes.last()?);
    if (layout.f, layout.i, layout.r) != (0, 1, 0) {
        return None;
    }
    let fact = |r: &Reg| &facts[r.0 as usize];
    match (name, &step.ins[..]) {
        ("any.box", [value]) => Some(vec![fact(value).clone()]),
        ("dictionary.set", [dictionary, key @ .., _, value]) if key.iter().all(|r| fact(r).0.is_none()) => {
            Some(vec![appended(fact(dictionary), std::slice::from_ref(value), facts)])
        }
        ("any.as" | "dictionary.get", [container, ..]) => {
            let is_certain = |d: &Dependence| !d.mixed && d.on.is_empty() && !d.losses.is_empty();
            let value = fact(container).clone().0.filter(|d| is_certain(d));
            Some(vec![SharedDependence::default(), SharedDependence(value)])
        }
        _ => None,
    }
}
