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
    let Some(columns @ 1..) = columns(machine, order) else { return Ok(false) };
    let saved = Saved::of(machine, arguments);
    for row in 0..rows {
        machine.set_reference(references + row, Ref::Cells(zero_numbers(columns)));
    }
    let given = [numbers, 0, references + rows];
    let is_done = run_in_window(machine, compiler, &found, given, [rows * (1 + numbers), 0, rows])?
        && (0..rows).all(|row| machine.number(row).is_finite());
    let is_done = is_done && (0..rows).all(|row| finish_row(machine, row, rows + row * numbers, order, saved.arrays()));
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
/// returns whether all numbers of the row are finite. `order` are the banks of the components of the arguments, and `arrays` the
/// arguments that are arrays.
fn finish_row(machine: &mut Machine, row: usize, first: usize, order: &[Bank], arrays: &[Ref]) -> bool {
    let [numbers, _, references] = machine.window;
    let stacks = &mut machine.stacks;
    let Some(Ref::Cells(cells)) = stacks.r.get_mut(references + row) else { return false };
    let Some(cells) = Rc::get_mut(cells) else { return false };
    let (row, mut position) = (cells.f.as_mut_slice(), 0);
    let (mut numbers, mut arrays) = (stacks.f[numbers + first..].iter(), arrays.iter());
    for bank in order {
        if *bank == Bank::F {
            let (Some(place), Some(number)) = (row.get_mut(position), numbers.next()) else { return false };
            *place = *number;
            position += 1;
        } else {
            position += arrays.next().and_then(count_of_numbers).unwrap_or(0);
        }
    }
    position == row.len() && normalize(row)
}

/// Returns the number of columns, given the banks of the components of the arguments in order; `None` if an argument is not an array
/// of numbers.
fn columns(machine: &Machine, order: &[Bank]) -> Option<usize> {
    let (mut columns, mut references) = (0, 0);
    for bank in order {
        columns += match bank {
            Bank::F => 1,
            _ => {
                references += 1;
                count_of_numbers(machine.reference(references - 1))?
            }
        };
    }
    Some(columns)
}

/// Returns the number of elements of an array of numbers; `None` for other objects.
fn count_of_numbers(array: &Ref) -> Option<usize> {
    let Ref::Cells(array) = array else { return None };
    (array.f.len() == array.len && array.r.is_empty()).then_some(array.len)
}
