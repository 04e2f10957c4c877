//! Matrix: computes the matrix of a differential, by as few sweeps as its pattern allows.

use super::linearization;
use crate::tape::LinearMap;
use crate::tape::linear_map::lanes;
use crate::tape::linear_map::sparsity::{self, SparseMatrix};
use crate::value::shape::TangentId;
use crate::value::{Cells, JacobianForm, Ref, References};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::sparse_matrices::SparseMatrices;
use crate::vm::state::task::Next;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Computes the matrix of a differential; returns whether it was computed, and its rows, or its entries that may differ
/// from zero. The matrix is not computed where a level is live, which would have to record the sweeps, where the map calls
/// functions of the user's own, or where an entry is not finite.
pub(crate) fn compute(machine: &mut Machine, sparse: bool, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let map = match arguments.r.first() {
        Some(Ref::Machine(map)) if is_possible(machine) => map.downcast_ref::<LinearMap>(),
        _ => None,
    };
    let map = map.filter(|map| !map.transposed && lanes::is_plain(map));
    give(machine, map, sparse)
}

/// Computes the matrix of the differential of a function, given its argument and the tangent type of its result, by
/// linearization code; returns whether it was computed, and its rows.
pub(crate) fn of_function(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    x: (TangentId, &Cells),
    (result, form): (TangentId, JacobianForm),
    body: &Ref,
) -> Result<Next, Box<Fault>> {
    let found = match is_possible(machine) {
        true => linearization::value_with_differential(machine, compiler, x, result, body)?,
        false => None,
    };
    give_jacobian(machine, found.as_ref().map(|(_, map)| map).filter(|map| lanes::is_plain(map)), form)
}

/// Returns whether there is a Jacobian, and its rows, or its size and its entries that may differ from zero.
pub(super) fn give_jacobian(
    machine: &mut Machine,
    map: Option<&LinearMap>,
    form: JacobianForm,
) -> Result<Next, Box<Fault>> {
    let sparse = form == JacobianForm::Sparse;
    let size = map.map_or([0; 2], sparsity::size);
    let next = give(machine, map, sparse)?;
    if sparse {
        size.into_iter().enumerate().for_each(|(k, count)| machine.set_integer(1 + k, count as i64));
    }
    Ok(next)
}

/// Whether sweeps are plain arithmetic, which nothing records or checks.
pub(super) fn is_possible(machine: &Machine) -> bool {
    machine.levels.depth() == 0 && !machine.levels.checks_not_finite()
}

/// Returns whether there is a matrix, and its parts.
pub(super) fn give(machine: &mut Machine, map: Option<&LinearMap>, sparse: bool) -> Result<Next, Box<Fault>> {
    let interrupt = Arc::clone(&machine.limits.interrupt);
    let matrix = map.and_then(|map| {
        let stop = || interrupt.load(Ordering::Relaxed);
        let matrix = sparsity::matrix(map, sparse, &mut machine.sparse_matrices.pattern, &stop)?;
        Some((matrix, sparsity::size(map)))
    });
    machine.check_interrupt()?;
    machine.set_integer(0, i64::from(matrix.is_some()));
    let parts = match matrix {
        Some((matrix, size)) if sparse => entries(&mut machine.sparse_matrices, matrix.into_sparse(size)),
        Some((matrix, _)) => {
            let rows = matrix.into_rows().into_iter().map(|row| Ref::Cells(Rc::new(Cells::numbers(row))));
            [Ref::Cells(Rc::new(Cells::references(rows.collect::<References>()))), Ref::Null, Ref::Null]
        }
        None => [Ref::Null, Ref::Null, Ref::Null],
    };
    for (k, part) in parts.into_iter().take(if sparse { 3 } else { 1 }).enumerate() {
        machine.set_reference(k, part);
    }
    Ok(Next::Return)
}

/// Returns the row indices, the column indices and the values of the entries as arrays.
fn entries(kept: &mut SparseMatrices, matrix: SparseMatrix) -> [Ref; 3] {
    let array = |cells| Ref::Cells(Rc::new(cells));
    let values = array(Cells::numbers(matrix.values));
    if let Some((of, [rows, columns])) = &kept.indices
        && Rc::ptr_eq(of, &matrix.columns)
    {
        return [rows.clone(), columns.clone(), values];
    }
    let mut rows = Vec::with_capacity(matrix.columns.members.len());
    for (row, columns) in matrix.columns.iter().enumerate() {
        rows.resize(rows.len() + columns.len(), row as i64);
    }
    let columns = matrix.columns.members.iter().map(|column| i64::from(*column));
    let indices = [array(Cells::integers(rows)), array(Cells::integers(columns.collect()))];
    let [rows, columns] = indices.clone();
    kept.indices = Some((matrix.columns, indices));
    [rows, columns, values]
}
