//! Small Jacobian: computes the few rows of a Jacobian from arguments that are in the window already, by Jacobian code.

use super::adjoint_code::{normalize, run_in_window, zero_numbers};
use super::matrix::is_possible;
use super::window_call::{Saved, WindowArguments};
use crate::value::shape::{SameComponents, TangentId};
use crate::value::{Bank, Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::walk;
use crate::vm::state::machine::Machine;
use crate::vm::transformed_code::TransformKind;
use smallvec::SmallVec;
use std::rc::Rc;

/// Computes a Jacobian: replaces the arguments `x…, body` by `1, rows`. Returns `false`, with the arguments unchanged, where that
/// is not possible.
pub(crate) fn jacobian(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, result): (TangentId, TangentId),
    arguments: WindowArguments<'_>,
) -> Result<bool, Box<Fault>> {
    let walk = walk(compiler);
    let Some(of_argument) = walk.tangents.same_components(walk.shapes, at) else { return Ok(false) };
    // The code returns a number for each component of the result, so that each of them must vary.
    if !walk.tangents.has_same_components(walk.shapes, result) {
        return Ok(false);
    }
    let SameComponents { numbers, references, ref order } = *of_argument;
    if !arguments.consist_of(numbers, references) || !is_possible(machine) {
        return Ok(false);
    }
    let Some(found) = arguments.code(machine, compiler, TransformKind::Jacobian)? else { return Ok(false) };
    let rows = usize::from(found.code.code.results[2]);
    let Some(positions) = Positions::of(machine, order) else { return Ok(false) };
    if positions.count == 0 {
        return Ok(false);
    }
    let saved = Saved::of(machine, arguments);
    for row in 0..rows {
        machine.set_reference(references + row, Ref::Cells(zero_numbers(positions.count)));
    }
    let given = [numbers, 0, references + rows];
    let is_done = run_in_window(machine, compiler, &found, given, [rows * (1 + numbers), 0, rows])?
        && (0..rows).all(|row| machine.number(row).is_finite());
    let is_done = is_done && (0..rows).all(|row| finish_row(machine, row, rows + row * numbers, &positions));
    if !is_done {
        saved.restore(machine, found);
        return Ok(false);
    }
    let matrix = Cells::shared(|matrix| {
        matrix.len = rows;
        for row in 0..rows {
            matrix.r.push(machine.take_reference(row));
        }
    });
    give_matrix(machine, matrix);
    Ok(true)
}

/// Returns a Jacobian as the result of the operator.
pub(super) fn give_matrix(machine: &mut Machine, rows: Rc<Cells>) {
    machine.set_integer(0, 1);
    machine.set_reference(0, Ref::Cells(rows));
}

/// Completes a row with the adjoints of the arguments that are numbers, of which the first one is in the given number register;
/// returns whether all numbers of the row are finite.
fn finish_row(machine: &mut Machine, row: usize, first: usize, positions: &Positions) -> bool {
    let [numbers, _, references] = machine.window;
    let stacks = &mut machine.stacks;
    let Some(Ref::Cells(cells)) = stacks.r.get_mut(references + row) else { return false };
    let Some(cells) = Rc::get_mut(cells).filter(|cells| cells.f.len() == positions.count) else { return false };
    let row = cells.f.as_mut_slice();
    for (number, position) in stacks.f[numbers + first..].iter().zip(&positions.numbers) {
        row[*position] = *number;
    }
    normalize(row)
}

/// The places of the numbers of the arguments in a row.
struct Positions {
    /// The number of columns.
    count: usize,
    /// The positions of the arguments that are numbers.
    numbers: SmallVec<[usize; 8]>,
}

impl Positions {
    /// Returns the positions, given the banks of the components of the arguments in order; `None` if an argument is not an array
    /// of numbers.
    #[inline]
    fn of(machine: &Machine, order: &[Bank]) -> Option<Positions> {
        let mut positions = Positions { count: 0, numbers: SmallVec::new() };
        let mut references = 0;
        for bank in order {
            if *bank == Bank::F {
                positions.numbers.push(positions.count);
                positions.count += 1;
                continue;
            }
            let Ref::Cells(array) = machine.reference(references) else { return None };
            if array.f.len() != array.len || !array.r.is_empty() {
                return None;
            }
            references += 1;
            positions.count += array.f.len();
        }
        Some(positions)
    }
}
