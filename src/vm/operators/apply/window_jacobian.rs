//! Jacobian in the window: computes a Jacobian from arguments that are in the window already. If it has few rows, one sweep over
//! the nodes that linearization code has appended computes them before their level ends.

use super::adjoint_code::run_in_window;
use super::linearization::{have_same_counts, is_finite};
use super::matrix::{give_jacobian, is_possible};
use super::small_jacobian::give_matrix;
use super::window_call::{Saved, WindowArguments};
use crate::tape::linear_map::lanes;
use crate::tape::{Direction, LinearMap};
use crate::value::shape::{SameComponents, TangentId};
use crate::value::{Bank, Cells, JacobianForm, Ref, References};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::walk;
use crate::vm::state::machine::Machine;
use crate::vm::transformed_code::TransformKind;
use smallvec::SmallVec;
use std::rc::Rc;

/// Computes a Jacobian: replaces the arguments `x…, body` by `1, rows`, or by `1, number of rows, number of columns, row indices,
/// column indices, values`. Returns `false`, with the arguments unchanged, where that is not possible.
pub(crate) fn jacobian(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, result, form): (TangentId, TangentId, JacobianForm),
    arguments: WindowArguments<'_>,
) -> Result<bool, Box<Fault>> {
    let walk = walk(compiler);
    let Some(of_argument) = walk.tangents.same_components(walk.shapes, at) else { return Ok(false) };
    let SameComponents { numbers, references, ref order } = *of_argument;
    let is_supported = walk.tangents.is_array_of_numbers(walk.shapes, result) && is_possible(machine);
    if !is_supported || !arguments.consist_of(numbers, references) {
        return Ok(false);
    }
    let Some(found) = arguments.code(machine, compiler, TransformKind::Linearization)? else { return Ok(false) };
    let Some(nodes) = Nodes::of(machine, order) else { return Ok(false) };
    let count = nodes.count;
    let saved = Saved::of(machine, arguments);
    nodes.write(machine, [numbers, references]);
    machine.levels.open(Direction::Reverse)?;
    machine.levels.add_leaves(count)?;
    let is_done = run_in_window(machine, compiler, &found, [2 * numbers, 0, 2 * references], [0, 0, 2])?;
    let outputs = if is_done { outputs(machine) } else { None };
    let Some(outputs) = outputs else {
        machine.levels.close();
        saved.restore(machine, found);
        return Ok(false);
    };
    if form == JacobianForm::Sparse || outputs.is_empty() || outputs.len() > lanes::LANES.min(count) {
        let map = LinearMap::of_linearization(&mut machine.levels, outputs.into_vec());
        give_jacobian(machine, map.as_ref().filter(|map| lanes::is_plain(map)), form)?;
        return Ok(true);
    }
    let rows = machine.levels.single_chunk().and_then(|(leaves, nodes)| lanes::rows(leaves, nodes, &outputs));
    machine.levels.close();
    let Some(rows) = rows else {
        saved.restore(machine, found);
        return Ok(false);
    };
    let rows: References = rows.into_iter().map(|row| Ref::Cells(Rc::new(Cells::numbers(row)))).collect();
    give_matrix(machine, Rc::new(Cells::references(rows)));
    Ok(true)
}

/// The nodes of the arguments: the leaves of the tape.
struct Nodes {
    count: usize,
    numbers: SmallVec<[f64; 8]>,
    references: SmallVec<[Ref; 4]>,
}

impl Nodes {
    /// Returns the nodes of the arguments in the window, given the banks of their components; `None` if an argument is not
    /// an array of numbers.
    fn of(machine: &Machine, order: &[Bank]) -> Option<Nodes> {
        let mut nodes = Nodes { count: 0, numbers: SmallVec::new(), references: SmallVec::new() };
        for bank in order {
            if *bank == Bank::F {
                nodes.count += 1;
                nodes.numbers.push(f64::from_bits(nodes.count as u64));
            } else {
                let array = machine.reference(nodes.references.len());
                nodes.references.push(nodes_of(array, &mut nodes.count)?);
            }
        }
        Some(nodes)
    }

    /// Writes the nodes to the window after the arguments, given the numbers of their numbers and references.
    fn write(self, machine: &mut Machine, [numbers, references]: [usize; 2]) {
        self.numbers.into_iter().enumerate().for_each(|(k, node)| machine.set_number(numbers + k, node));
        let arrays = self.references.into_iter().enumerate();
        arrays.for_each(|(k, nodes)| machine.set_reference(references + k, nodes));
    }
}

/// Returns an array of the nodes of the numbers in an array; `count` counts the leaves.
fn nodes_of(array: &Ref, count: &mut usize) -> Option<Ref> {
    let Ref::Cells(array) = array else { return None };
    let mut nodes = Cells::empty();
    nodes.len = array.len;
    let first = *count as u64 + 1;
    nodes.f = (first..first + array.f.len() as u64).map(f64::from_bits).collect();
    *count += array.f.len();
    nodes.r = array.r.iter().map(|inner| nodes_of(inner, count)).collect::<Option<_>>()?;
    Some(Ref::Cells(Rc::new(nodes)))
}

/// Returns the nodes of the results, given the value and its nodes in the window; `None` if a number is not finite.
fn outputs(machine: &Machine) -> Option<SmallVec<[u32; lanes::LANES]>> {
    let (Ref::Cells(y), Ref::Cells(nodes)) = (machine.reference(0), machine.reference(1)) else { return None };
    let is_sound = is_finite(y) && have_same_counts(y, nodes);
    is_sound.then(|| nodes.f.iter().map(|node| node.to_bits() as u32).collect())
}
