//! Sized transpose: calls the transpose of a linear function whose arguments contain arrays. The number of elements of
//! the arrays is taken from the vector with which the transpose is called.
//!
//! An argument of the vector's type has the vector's structure; any other array has as many elements as the first array
//! in the vector. A function that reads more elements of an array is recorded again with that many elements. If its
//! result then does not have the structure of the vector, the program stops.

use crate::diagnostic::Code as Number;
use crate::tape::{Template, UnsizedTranspose};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::Walk;
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_recording;
use crate::vm::operators::apply::linear_recording::Codomain;
use crate::vm::operators::{Offset, counts, mismatch, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next};
use std::rc::Rc;

/// A call of the transpose of a linear function whose arguments contain arrays.
struct TransposeCall {
    transpose: UnsizedTranspose,
    /// The argument of the transpose: a tangent vector of the linear function's result.
    vector: Cells,
    derivative: bool,
    /// The number of elements that earlier calls have read from vectors.
    read_before: usize,
    /// The number of runs of the linear function in this call of its transpose.
    runs: usize,
}

/// The maximum number of runs of the linear function. Several runs may be needed, because the number of elements that a
/// function reads may depend on the number of existing elements.
const MAX_RUNS: usize = 4;
/// The maximum number of elements of an array that is constructed as an argument of the linear function.
const MAX_ELEMENTS: usize = 1 << 24;

/// Calls the transpose of a linear function. The argument of the transpose, a tangent vector of the function's result,
/// is in the window.
pub(crate) fn call(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    transpose: &UnsizedTranspose,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    let vector_shape = walk.tangents.get(transpose.result).vector;
    let vector = machine.take_window(counts(walk.shapes.layout(vector_shape)), derivative);
    let cells = match walk.tangents.get(transpose.at).value == vector_shape {
        true => vector.clone(),
        false => argument_for(walk, transpose.at, first_count(&vector)),
    };
    let read_before = std::mem::take(&mut machine.host.read_count);
    TransposeCall { transpose: transpose.clone(), vector, derivative, read_before, runs: 1 }
        .at(machine, compiler, cells)
}

impl TransposeCall {
    /// Records the linear function at the given argument.
    fn at(self, machine: &mut Machine, compiler: &mut dyn Compiler, cells: Cells) -> Result<Next, Box<Fault>> {
        let UnsizedTranspose { function, at, result } = self.transpose.clone();
        let count = first_count(&cells);
        linear_recording::record(
            machine,
            compiler,
            function,
            vec![Template { tangent: at, cells }],
            Codomain::Result(result),
            Box::new(move |machine, compiler, map| {
                let read_count = std::mem::replace(&mut machine.host.read_count, self.read_before);
                if read_count > count {
                    return self.again(machine, compiler, read_count);
                }
                let count = crate::vm::operators::walk(compiler)
                    .count(result, &self.vector, Offset::default())
                    .map_err(mismatch)?;
                let varies = map.outputs.iter().any(|node| *node != 0);
                if map.outputs.len() < count || count > 0 && !varies {
                    return Err(unknown_size());
                }
                machine.set_window(self.vector.all());
                let map = Ref::Machine(Rc::new(map.transpose()));
                Ok(Next::tail_call(Callee::Object(map), self.derivative))
            }),
        )
    }

    /// Runs the linear function again with a longer argument if it has read elements beyond the end of its argument.
    /// The missing elements at the end of a vector are zero.
    fn again(self, machine: &mut Machine, compiler: &mut dyn Compiler, count: usize) -> Result<Next, Box<Fault>> {
        let cells = argument_for(walk(compiler), self.transpose.at, count);
        if first_count(&cells) != count || self.runs == MAX_RUNS || count > MAX_ELEMENTS {
            return Err(unknown_size());
        }
        machine.host.read_count = 0;
        TransposeCall { runs: self.runs + 1, ..self }.at(machine, compiler, cells)
    }
}

/// Returns the number of elements of the first array in a value; 0 without an array.
fn first_count(value: &Cells) -> usize {
    let count = |reference: &Ref| match reference {
        Ref::Cells(array) => Some(array.len),
        _ => None,
    };
    value.r.iter().find_map(count).unwrap_or(0)
}

/// Returns an argument of the linear function whose arrays have `count` elements.
fn argument_for(walk: Walk<'_>, mut id: TangentId, count: usize) -> Cells {
    let whole = walk.zero(walk.tangents.get(id).value);
    loop {
        id = match &walk.tangents.get(id).kind {
            // A struct around an array has the same layout as the array.
            TangentKind::Fields(fields) if fields.len() == 1 && whole.r.len() == 1 && whole.f.is_empty() => fields[0].2,
            TangentKind::Array(of) => {
                let element = walk.zero(walk.tangents.get(*of).value);
                let mut array = Cells::default();
                (0..count).for_each(|_| array.push(element.all()));
                return Cells::references(vec![Ref::Cells(Rc::new(array))]);
            }
            _ => return whole,
        }
    }
}

fn unknown_size() -> Box<Fault> {
    let message = "the function cannot be transposed here: the vector does not determine how many elements its \
                   argument has";
    Fault::new(Number::PreconditionFailed, message)
}
