//! Recording a linear function at zero: what it records is the function itself, and can be transposed.

use super::super::fault::Fault;
use super::super::functions::Compiler;
use super::super::machine::Machine;
use super::super::task::{Next, Task};
use super::linear::all_vectors;
use super::{At, counts, leaves, read_all, settle, take_tuple, value_layout, vector, walk};
use crate::diagnostic::Code as Number;
use crate::tape::{Direction, LinearMap, Num, Template};
use crate::value::Ref;
use crate::value::shape::TangentId;
use std::rc::Rc;

/// What the function gives.
pub(super) enum Codomain {
    /// Tangent vectors of these values, one behind the other.
    Vectors(Vec<Template>),
    /// A vector of which nothing else is known than its type.
    Result(TangentId),
}

/// What is done with the map.
pub(super) type Then = Box<dyn FnOnce(&mut Machine, &mut dyn Compiler, LinearMap) -> Result<Next, Box<Fault>>>;

/// The function is running.
struct AtZero {
    domain: Template,
    codomain: Codomain,
    then: Then,
}

/// Records a linear function from the tangent vectors of `domain`.
pub(super) fn record(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    function: Ref,
    domain: Template,
    codomain: Codomain,
    then: Then,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    machine.levels.open(Direction::Reverse)?;
    let count = walk.count(domain.tangent, &domain.cells, At::default()).map_err(super::mismatch)?;
    let mut numbers = vec![];
    for _ in 0..count {
        numbers.push(machine.levels.leaf(Num::default())?);
    }
    let argument = vector(walk, &domain, &numbers)?;
    machine.set_window(argument.all());
    Ok(Next::call(function, true, AtZero { domain, codomain, then }))
}

impl Task for AtZero {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let AtZero { domain, codomain, then } = *self;
        let walk = walk(compiler);
        let (mut outputs, y) = match codomain {
            Codomain::Vectors(templates) => {
                let result = take_tuple(machine, counts(all_vectors(walk, &templates)), true);
                (read_all(walk, &templates, &result)?, templates)
            }
            Codomain::Result(tangent) => {
                let mut cells = machine.take_window(counts(value_layout(walk, tangent)), true);
                let outputs = leaves(walk, tangent, &cells, At::default())?;
                settle(machine, &mut [&mut cells]);
                (outputs, vec![Template { tangent, cells }])
            }
        };
        settle(machine, &mut []);
        let map = LinearMap::close(&mut machine.levels, &mut outputs);
        check_linear(&map, &outputs)?;
        let map = LinearMap { x: Rc::from([domain]), y: y.into(), ..map };
        then(machine, compiler, map)
    }
}

/// A function that gives the same whatever it is given, and not zero, has no transpose.
fn check_linear(map: &LinearMap, at_zero: &[Num]) -> Result<(), Box<Fault>> {
    let is_constant = at_zero.iter().any(|y| y.value != 0.0) && map.outputs.iter().all(|node| *node == 0);
    if is_constant { Err(constant()) } else { Ok(()) }
}

/// Why a constant function has no transpose.
pub(super) fn constant() -> Box<Fault> {
    let message = "the function is not linear: it gives the same whatever it is given, so it has no transpose";
    Fault::new(Number::PreconditionFailed, message)
}
