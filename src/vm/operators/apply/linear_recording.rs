//! Linear recording: records a linear function at an arbitrary point. The recording represents the function itself and
//! can be transposed.
//!
//! A function may compare its argument (`v == 0 ? 0 : …`), and take another branch for a special value. So the function
//! is recorded at a generic point.

use crate::diagnostic::Code as Number;
use crate::native::tensor::{TensorValue, pack};
use crate::tape::{LinearMap, Num, Template, vector_number};
use crate::tensor::{ScalarKind, Shape, Tensor};
use crate::value::shape::TangentId;
use crate::value::{Cells, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_map::all_vectors;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::{
    Offset, counts, read, read_all, rebase_escaping_slots, take_tuple, value_layout, vector, vector_layout, walk,
};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};
use std::rc::Rc;

/// The results of a recorded linear function.
pub(crate) enum Codomain {
    /// The results are tangent vectors of the given values, one after the other.
    Vectors(Vec<Template>),
    /// The result is a tangent vector of a value, as a differential returns it.
    Vector(Template),
    /// The result is a tangent vector of which only the type is known.
    Result(TangentId),
}

/// The continuation that receives the recorded linear map.
pub(crate) type MapContinuation =
    Box<dyn FnOnce(&mut Machine, &mut dyn Compiler, LinearMap) -> Result<Next, Box<Fault>>>;

/// The state of the recording while the linear function is running.
struct RecordLinearTask {
    domain: Vec<Template>,
    codomain: Codomain,
    continuation: MapContinuation,
}

/// Records a linear function whose arguments are tangent vectors of the values in `domain`.
pub(crate) fn record(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    function: Ref,
    domain: Vec<Template>,
    codomain: Codomain,
    continuation: MapContinuation,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    opaque_vector::check_counted(walk, &domain)?;
    machine.levels.open_linear()?;
    let (mut arguments, mut point) = (Cells::empty(), GenericPoint::default());
    for template in &domain {
        let mut numbers = vec![];
        for tensor in opaque_vector::tensors(walk, template)? {
            numbers.push(match tensor {
                None => machine.levels.leaf(Num::constant(point.coordinate()))?,
                Some(tensor) => {
                    let generic = point.tensor(tensor.kind(), tensor.shape().clone())?;
                    let slot = machine.levels.leaf(Num::constant(0.0))?.slot;
                    vector_number(TensorValue { tensor: Rc::new(generic), slot })
                }
            });
        }
        arguments.push(vector(walk, template, &numbers)?.all());
    }
    machine.set_window(arguments.all());
    Ok(Next::call(function, true, RecordLinearTask { domain, codomain, continuation }))
}

/// A generic point, of which the coordinates are taken one after the other.
#[derive(Default)]
struct GenericPoint {
    taken: usize,
}

impl GenericPoint {
    /// Returns the next coordinate.
    fn coordinate(&mut self) -> f64 {
        self.taken += 1;
        generic_coordinate(self.taken - 1)
    }

    /// Returns a tensor of the next coordinates.
    fn tensor(&mut self, kind: ScalarKind, shape: Shape) -> Result<Tensor, Box<Fault>> {
        let numbers: Vec<f64> = (0..shape.scalar_count()).map(|_| self.coordinate()).collect();
        Ok(pack(kind, shape, &numbers)?)
    }
}

/// Returns a coordinate of a generic point, which is a number that `Float` represents exactly.
fn generic_coordinate(k: usize) -> f64 {
    1.0 + (k * 29 + 14) as u8 as f64 / 512.0 + 1.0 / 1024.0
}

impl Task for RecordLinearTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let RecordLinearTask { domain, codomain, continuation } = *self;
        let walk = walk(compiler);
        let (values, y) = match codomain {
            Codomain::Vectors(templates) => {
                let result = take_tuple(machine, counts(all_vectors(walk, &templates)), true);
                let numbers = read_all(walk, &templates, &result)?;
                (opaque_vector::fitted(machine, walk, &templates, numbers)?, templates)
            }
            Codomain::Vector(template) => {
                let result = machine.take_window(counts(vector_layout(walk, &template)), true);
                let numbers = read(walk, &template, (&result, Offset::default()))?;
                let templates = vec![template];
                (opaque_vector::fitted(machine, walk, &templates, numbers)?, templates)
            }
            Codomain::Result(tangent) => {
                let mut cells = machine.take_window(counts(value_layout(walk, tangent)), true);
                let numbers = opaque_vector::numbers_of(walk, tangent, &cells)?;
                rebase_escaping_slots(machine, &mut [&mut cells]);
                (numbers, vec![Template { tangent, cells }])
            }
        };
        rebase_escaping_slots(machine, &mut []);
        let mut outputs: Vec<Num> = values.iter().map(opaque_vector::carrier).collect();
        let map = LinearMap::close(&mut machine.levels, &mut outputs);
        check_constant(&map, &values)?;
        let map = LinearMap { x: domain.into(), y: y.into(), ..map };
        continuation(machine, compiler, map)
    }
}

/// Checks that the results of a linear function depend on its arguments: a constant function that is not zero has no
/// transpose.
fn check_constant(map: &LinearMap, values: &[Num]) -> Result<(), Box<Fault>> {
    let is_constant = map.outputs.iter().all(|node| *node == 0) && values.iter().any(opaque_vector::is_nonzero);
    if is_constant { Err(constant()) } else { Ok(()) }
}

/// Returns the fault for the transposition of a constant function.
pub(crate) fn constant() -> Box<Fault> {
    let message = "the function is constant and therefore not linear, so it has no transpose";
    Fault::new(Number::PreconditionFailed, message)
}
