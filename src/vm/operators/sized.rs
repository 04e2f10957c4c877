//! Calling the transpose of a linear function whose arguments have arrays: how many elements these have is taken from the
//! vector that it is called with.
//!
//! An argument of the same type as the vector is of the same form; any other array has as many elements as the first
//! array in the vector. Where what the function gives for that does not have the form of the vector, the program stops.

use super::super::fault::Fault;
use super::super::functions::Compiler;
use super::super::machine::Machine;
use super::super::task::{Next, Target};
use super::recorded::{self, Codomain};
use super::{At, counts, mismatch, walk};
use crate::diagnostic::Code as Number;
use crate::tape::{Template, UnsizedTranspose};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::walk::Walk;
use crate::value::{Cells, Ref};
use std::rc::Rc;

/// Calls the transpose. Its argument, a tangent vector of the function's result, stands in the window.
pub(super) fn call(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    transpose: &UnsizedTranspose,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    let UnsizedTranspose { function, at, result } = transpose.clone();
    let walk = walk(compiler);
    let vector_shape = walk.tangents.get(result).vector;
    let argument = machine.take_window(counts(walk.shapes.layout(vector_shape)), derivative);
    let cells = match walk.tangents.get(at).value == vector_shape {
        true => argument.clone(),
        false => argument_for(walk, at, first_count(&argument)),
    };
    recorded::record(
        machine,
        compiler,
        function,
        vec![Template { tangent: at, cells }],
        Codomain::Result(result),
        Box::new(move |machine, compiler, map| {
            let walk = super::walk(compiler);
            let given = walk.count(result, &argument, At::default()).map_err(mismatch)?;
            let moves = map.outputs.iter().any(|node| *node != 0);
            if map.outputs.len() < given || given > 0 && !moves {
                return Err(unknown_size());
            }
            machine.set_window(argument.all());
            let map = Ref::Machine(Rc::new(map.transpose()));
            Ok(Next::tail_call(Target::Object(map), derivative))
        }),
    )
}

/// How many elements the first array in a value has; none without an array.
fn first_count(value: &Cells) -> usize {
    let count = |reference: &Ref| match reference {
        Ref::Cells(array) => Some(array.len),
        _ => None,
    };
    value.r.iter().find_map(count).unwrap_or(0)
}

/// An argument whose arrays have that many elements.
fn argument_for(walk: Walk<'_>, mut id: TangentId, count: usize) -> Cells {
    let whole = walk.zero(walk.tangents.get(id).value);
    loop {
        id = match &walk.tangents.get(id).kind {
            // A struct around an array looks like the array.
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
    let message = "the function cannot be transposed here: how many elements its argument has does not follow from the \
                   vector";
    Fault::new(Number::PreconditionFailed, message)
}
