//! Batch: applies a linear map to many vectors, several in one sweep.

use crate::tape::linear_map::lanes;
use crate::tape::linear_map::lanes::LANES;
use crate::tape::{LinearMap, Num};
use crate::value::{Cells, Ref, opaque_vector};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_map::all_vectors;
use crate::vm::operators::{read_all, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Applies a linear map to an array of vectors; returns whether the map was applied, and the results. The map is not
/// applied where a live level would have to record the application, where the map calls functions of the user's own, or
/// while the program searches for numbers that are not finite.
pub(crate) fn apply(machine: &mut Machine, compiler: &mut dyn Compiler, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let results = match (arguments.r.first(), arguments.r.get(1)) {
        (Some(Ref::Machine(map)), Some(Ref::Cells(vectors)))
            if machine.levels.depth() == 0 && !machine.levels.checks_not_finite() =>
        {
            match map.downcast_ref::<LinearMap>().filter(|map| lanes::is_plain(map)) {
                Some(map) => applied(machine, compiler, map, vectors)?,
                None => None,
            }
        }
        _ => None,
    };
    machine.set_integer(0, i64::from(results.is_some()));
    machine.set_reference(0, results.map_or(Ref::Null, |cells| Ref::Cells(Rc::new(cells))));
    Ok(Next::Return)
}

fn applied(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    map: &LinearMap,
    vectors: &Cells,
) -> Result<Option<Cells>, Box<Fault>> {
    let walk = walk(compiler);
    let (from, to) = if map.transposed { (&map.y, &map.x) } else { (&map.x, &map.y) };
    let layout = all_vectors(walk, from);
    if !vectors.fits(layout) {
        return Ok(None);
    }
    let interrupt = Arc::clone(&machine.limits.interrupt);
    let mut results = Cells::empty();
    for first in (0..vectors.len).step_by(LANES) {
        let mut seeds = vec![];
        for k in first..vectors.len.min(first + LANES) {
            let mut vector = Cells::empty();
            vector.push(vectors.element(k, layout));
            let numbers: Vec<f64> = read_all(walk, from, &vector)?.iter().map(|seed| seed.value).collect();
            if numbers.iter().any(|x| opaque_vector::is(*x)) {
                return Ok(None);
            }
            seeds.push(numbers);
        }
        let stop = || interrupt.load(Ordering::Relaxed);
        let adjoints = lanes::apply(map, &seeds, &stop);
        machine.check_interrupt()?;
        for (seed, numbers) in seeds.iter().zip(adjoints) {
            // Factors of infinite adjoints are added up only in a sweep of one seed, so the sweep is repeated for each
            // seed.
            let again = map.transposed && numbers.iter().any(|x| !x.is_finite());
            let mut numbers: Vec<Num> = numbers.into_iter().map(Num::constant).collect();
            if again {
                let seed: Vec<Num> = seed.iter().copied().map(Num::constant).collect();
                numbers = map.apply(&mut machine.levels, &seed, &stop)?.unwrap_or_default();
                machine.check_interrupt()?;
            }
            results.push(crate::vm::operators::apply::sweep::vectors(walk, to, &numbers)?.all());
        }
    }
    Ok(Some(results))
}
