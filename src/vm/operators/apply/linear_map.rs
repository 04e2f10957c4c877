//! Linear map: calls and transposes differentials and pullbacks.

use crate::tape::{LinearMap, Sweep, Template, UnsizedTranspose, tangent_seed};
use crate::value::Ref;
use crate::value::shape::{Layout, TangentId};
use crate::value::walk::{Offset, Walk};
use crate::vm::compiler_interface::Compiler;
use crate::vm::diagnosis::lost_tangent::LostTangent;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_recording;
use crate::vm::operators::apply::linear_recording::Codomain;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::apply::sized_transpose;
use crate::vm::operators::apply::sweep;
use crate::vm::operators::apply::sweep::{Application, Destination};
use crate::vm::operators::{Cells, counts, read_all, vector_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use std::any::Any;
use std::rc::Rc;

/// Calls a linear map. The arguments of the map are in the window: one tangent vector for each value in its domain.
pub(crate) fn call(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    object: &Rc<dyn Any>,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    if let Some(lost_tangent) = object.downcast_ref::<LostTangent>() {
        return Err(lost_tangent.fault());
    }
    if let Some(unsized_transpose) = object.downcast_ref::<UnsizedTranspose>() {
        return sized_transpose::call(machine, compiler, unsized_transpose, derivative);
    }
    let Ok(map) = Rc::clone(object).downcast::<LinearMap>() else {
        return Err(Fault::internal("a value that is not a function was called"));
    };
    let walk = walk(compiler);
    let from = if map.transposed { &map.y } else { &map.x };
    let arguments = machine.take_window(counts(all_vectors(walk, from)), derivative);
    let seeds = read_all(walk, from, &arguments)?;
    let mut sweep = Sweep::new(&mut machine.levels, &map.tape, map.direction());
    for (node, seed) in map.seeded().into_iter().zip(seeds) {
        let seed = if map.transposed { seed } else { tangent_seed(seed)? };
        opaque_vector::add(machine, walk, &mut sweep, node, seed)?;
    }
    sweep::run_sweep(machine, compiler, Application::new(sweep, map, Destination::Window))
}

/// Returns the components of the tangent vectors of several values, one after the other.
pub(crate) fn all_vectors(walk: Walk<'_>, templates: &[Template]) -> Layout {
    let end = templates.iter().fold(Offset::default(), |at, t| at.after(vector_layout(walk, t)));
    Layout { f: end.f as u32, i: end.i as u32, r: end.r as u32 }
}

/// Returns the transpose of a linear function.
pub(crate) fn transpose(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    function: Ref,
    at: TangentId,
    result: TangentId,
) -> Result<Next, Box<Fault>> {
    if let Ref::Machine(object) = &function
        && let Some(map) = object.downcast_ref::<LinearMap>()
    {
        machine.set_reference(0, Ref::Machine(Rc::new(map.transpose())));
        return Ok(Next::Return);
    }
    if let Ref::Machine(object) = &function
        && let Some(transpose) = object.downcast_ref::<UnsizedTranspose>()
    {
        machine.set_reference(0, transpose.function.clone());
        return Ok(Next::Return);
    }
    // A function whose code is linear is its own differential, at any point.
    let walk = walk(compiler);
    if walk.tangents.varies_in_size(at) {
        machine.set_reference(0, Ref::Machine(Rc::new(UnsizedTranspose { function, at, result })));
        return Ok(Next::Return);
    }
    let cells: Cells = walk.zero(walk.tangents.get(at).value);
    let domain = Template { tangent: at, cells };
    linear_recording::record(
        machine,
        compiler,
        function,
        vec![domain],
        Codomain::Result(result),
        Box::new(|machine, _, map| {
            machine.set_reference(0, Ref::Machine(Rc::new(map.transpose())));
            Ok(Next::Return)
        }),
    )
}
