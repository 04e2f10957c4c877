//! Checkpoint: a part of the program that a reverse level does not record, and that the reverse sweep runs again.
//!
//! The part is a function without parameters, which reads and writes the storage that it can reach: its captures, and
//! global variables. Before the function runs, this storage is copied; values are shared with the copy until they are
//! written to, so the copy takes little memory. While the function runs, the level is paused: computed numbers become
//! constants of the level, and numbers that are only copied retain their nodes; where integers and strings computed
//! from numbers may become numbers again, the results are marked as varied. Afterwards every new reachable number
//! without a node gets a node, as a result of one wide node for the whole part. An error that the part throws is
//! reachable, too.
//!
//! A sweep that reaches the wide node copies the copy once more, runs the function on this second copy in a separate
//! level, finds the results at the same paths, and sweeps the tape of this level. The second run prints nothing, and
//! draws the random numbers of the first run.

pub(crate) mod snapshot;

use crate::diagnostic::Code as Number;
use crate::tape::{Block, Direction, Levels, LinearMap, Num, Sweep, UnsizedTranspose};
use crate::value::heap_path::{HeapPath, number};
use crate::value::slot_rewrite::{SlotChange, address, any_origin, change_slots, change_slots_in_boxes};
use crate::value::{BoxCells, Cells, Ref, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::apply::sweep;
use crate::vm::operators::apply::sweep::{Application, Destination};
use crate::vm::operators::checkpoint::snapshot::{Copier, Environment, boxed, parts, state};
use crate::vm::operators::walk;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next, Task};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// Returns the objects in which a checkpoint may store results: the global variables, the error that was thrown, if
/// any, and the boxes that the function could reach.
fn roots(globals: &mut Cells, error: Ref, boxes: Vec<Rc<BoxCells>>) -> Vec<Ref> {
    let globals = Ref::Cells(Rc::new(std::mem::take(globals)));
    [globals, error].into_iter().chain(boxes.into_iter().map(Ref::Box)).collect()
}

/// Returns the error that the function of a checkpoint has thrown; null when no error was thrown.
fn thrown(machine: &mut Machine, throws: bool) -> Ref {
    if throws && machine.integer(0) != 0 { machine.take_reference(0) } else { Ref::Null }
}

/// Restores the global variables, which are the first of the roots of a checkpoint.
fn take_globals(globals: &mut Cells, mut roots: Vec<Ref>) {
    if let Ref::Cells(cells) = std::mem::take(&mut roots[0]) {
        drop(roots);
        *globals = Rc::unwrap_or_clone(cells);
    }
}

/// The state of a checkpoint while its function is running for the first time.
struct CheckpointTask {
    level: usize,
    throws: bool,
    block: Block,
    /// The values that were reachable before the checkpoint; stored so that the values that remain after the checkpoint
    /// are recognized.
    values: Vec<Ref>,
    boxes: Vec<Rc<BoxCells>>,
}

/// Runs a checkpoint: calls a function without parameters and results, which may throw. `traced` states that integers
/// and strings that the function computes from numbers may become numbers again after the checkpoint, and `derivative`
/// that the caller is derivative code.
pub(crate) fn begin(
    machine: &mut Machine,
    body: Ref,
    throws: bool,
    traced: bool,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    let level = machine
        .levels
        .pausable()
        .filter(|level| derivative && !machine.running_derivatives.iter().any(|r| r.is_stripped_of(*level)));
    let Some((level, epoch)) = level.and_then(|k| Some((k, machine.levels.epoch_at(k)?))) else {
        return Ok(Next::tail_call(Callee::Object(body), derivative));
    };
    let mut operands = HashSet::new();
    let mut copier = Copier::new(|slot: Slot| {
        if slot.epoch == epoch {
            operands.insert(slot.payload as u32);
        }
        slot
    });
    let before = state(body.clone(), &mut machine.globals);
    let copy = copier.copy(&before);
    let (values, boxes) = (std::mem::take(&mut copier.values), copier.originals());
    if let Some((_, globals)) = parts(&before) {
        machine.globals = Cells::clone(&globals);
    }
    let mut operands: Vec<u32> = operands.into_iter().collect();
    operands.sort_unstable();
    let random = machine.host.random.clone();
    let (heap_path, results) = (HeapPath::default(), vec![]);
    let block = Block { state: copy, random, epoch, operands, throws, heap_path, results, held: 0 };
    machine.levels.pause(level, traced);
    Ok(Next::call(body, true, CheckpointTask { level, throws, block, values, boxes }))
}

/// Returns the number of bytes that the copy of a state takes in addition to the program's own objects: copies of
/// variables and instances, and values that the program has replaced in the meantime.
fn held(state: &Ref, boxes: &[Rc<BoxCells>], values: &[Ref]) -> u64 {
    /// The number of references to a value from the copy of the state and from the list of values.
    const TEMPORARY_REFERENCES: usize = 2;
    let bytes = |cells: &Cells| (size_of::<Cells>() + cells.bytes()) as u64;
    let copied = boxes.iter().map(|inside| inside.cells.try_borrow().map_or(0, |cells| bytes(&cells)));
    let globals = parts(state).map_or(0, |(_, globals)| bytes(&globals));
    let replaced = values.iter().map(|value| match value {
        Ref::Cells(cells) if Rc::strong_count(cells) <= TEMPORARY_REFERENCES => bytes(cells),
        Ref::Dictionary(all) if Rc::strong_count(all) <= TEMPORARY_REFERENCES => bytes(all.values()),
        _ => 0,
    });
    globals + copied.chain(replaced).sum::<u64>()
}

impl Task for CheckpointTask {
    fn resume(self: Box<Self>, machine: &mut Machine, _: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let CheckpointTask { level, throws, mut block, values, boxes } = *self;
        machine.levels.unpause(level);
        let known = values.iter().map(address).collect();
        let error = thrown(machine, throws);
        let first = roots(&mut machine.globals, error.clone(), boxes.clone());
        let (heap_path, mut objects) = HeapPath::of(&first, &known);
        block.held = held(&block.state, &boxes, &values);
        drop((values, boxes));
        let mut numbers = vec![];
        for (at, object) in objects.iter().enumerate() {
            for (k, (value, slot)) in (0..).map_while(|k| number(object, k)).enumerate() {
                if Levels::is_unrecorded(block.epoch, slot) {
                    block.results.push((at as u32, k as u32));
                    numbers.push(Num::constant(value));
                } else if slot.epoch != block.epoch {
                    block.results.push((at as u32, k as u32));
                    numbers.push(Num { value, slot });
                }
            }
        }
        let epoch = block.epoch;
        let is_unrecorded = |slot| Levels::is_unrecorded(epoch, slot);
        if objects.iter().any(|object| any_origin(object, is_unrecorded)) {
            // One additional result is stored in no object: the origin of the integers and strings that the second run
            // computes again.
            numbers.push(Num::default());
        }
        // The program gets its variables back before anything can fail.
        objects[0] = Ref::Null;
        take_globals(&mut machine.globals, first);
        if throws {
            machine.set_reference(0, error);
        }
        if objects.iter().any(is_recorded) {
            let message = "a pullback or differential that was created in a checkpoint cannot leave it";
            return Err(Fault::new(Number::PreconditionFailed, message));
        }
        let results = block.results.clone();
        block.heap_path = heap_path;
        if block.operands.is_empty() {
            return Ok(Next::Return);
        }
        if machine.levels.observes_steps() {
            machine.note_place();
        }
        let numbers = machine.levels.push_block(level, block, &numbers)?;
        let origin = numbers.get(results.len()).map_or(Slot::NONE, |number| number.slot);
        let boxes: Vec<Rc<BoxCells>> = objects.iter().filter_map(boxed).collect();
        let mut assign = NodeAssignment::new(&objects, results.into_iter().zip(numbers), (epoch, origin));
        drop(objects);
        assign.finish(machine, &boxes);
        if throws {
            let mut error = Cells::references(vec![machine.take_reference(0)]);
            change_slots(&mut error, &mut assign);
            machine.set_reference(0, error.r.pop().unwrap_or_default());
        }
        Ok(Next::Return)
    }
}

/// Whether an object is a function that the machine has recorded.
fn is_recorded(object: &Ref) -> bool {
    matches!(object, Ref::Machine(object) if object.is::<LinearMap>() || object.is::<UnsizedTranspose>())
}

/// The assignment of nodes to the numbers that a checkpoint has computed.
struct NodeAssignment {
    /// The epoch of the level, and the origin of integers and strings that were computed from unrecorded numbers.
    origin: (u64, Slot),
    globals: Vec<(u32, Slot)>,
    by_address: HashMap<usize, Vec<(u32, Slot)>>,
}

impl NodeAssignment {
    fn new(objects: &[Ref], results: impl Iterator<Item = ((u32, u32), Num)>, origin: (u64, Slot)) -> NodeAssignment {
        let mut assign = NodeAssignment { origin, globals: vec![], by_address: HashMap::new() };
        for ((object, k), number) in results {
            let all = match objects.get(object as usize).filter(|_| object > 0) {
                Some(object) => assign.by_address.entry(address(object)).or_default(),
                None => &mut assign.globals,
            };
            all.push((k, number.slot));
        }
        assign
    }

    fn finish(&mut self, machine: &mut Machine, boxes: &[Rc<BoxCells>]) {
        let globals = std::mem::take(&mut self.globals);
        set_slots(&mut machine.globals, &globals);
        change_slots(&mut machine.globals, self);
        machine.levels.log_global();
        for inside in boxes {
            if let Some(slots) = self.by_address.get(&(Rc::as_ptr(inside) as usize)) {
                set_slots(&mut inside.cells.borrow_mut(), slots);
            }
            machine.levels.log_store(inside);
        }
        change_slots_in_boxes(boxes, self);
    }
}

fn set_slots(cells: &mut Cells, slots: &[(u32, Slot)]) {
    for (k, slot) in slots {
        cells.set_slot(*k as usize, *slot);
    }
}

impl SlotChange for NodeAssignment {
    fn slot(&mut self, slot: Slot) -> Slot {
        let (epoch, origin) = self.origin;
        if Levels::is_unrecorded(epoch, slot) { origin } else { slot }
    }

    fn enters_boxes(&self) -> bool {
        false
    }

    fn object(&mut self, object: &Ref) -> Option<Vec<Slot>> {
        let new = self.by_address.get(&address(object))?;
        let mut slots: Vec<Slot> = (0..).map_while(|k| number(object, k)).map(|(_, slot)| slot).collect();
        for (k, slot) in new {
            if let Some(place) = slots.get_mut(*k as usize) {
                *place = *slot;
            }
        }
        Some(slots)
    }
}

/// The state of a checkpoint while its function is running again for a sweep, in a separate level.
struct RecomputeTask {
    application: Application,
    index: usize,
    boxes: Vec<Rc<BoxCells>>,
    environment: Environment,
}

/// Runs the function of a checkpoint again; then the sweep that requested the run continues.
pub(crate) fn recompute(machine: &mut Machine, application: Application, index: usize) -> Result<Next, Box<Fault>> {
    let Some((block, _)) = application.sweep.block(index) else { return Err(no_block()) };
    machine.levels.open(Direction::Reverse)?;
    let mut leaves = HashMap::new();
    for node in &block.operands {
        let outer = application.map.tape.outer_value(*node);
        let leaf = machine.levels.leaf(Num { value: 0.0, slot: outer })?;
        leaves.insert(u64::from(*node), leaf.slot);
    }
    let epoch = block.epoch;
    let mut copier = Copier::new(|slot: Slot| match leaves.get(&slot.payload) {
        Some(leaf) if slot.epoch == epoch => *leaf,
        _ => slot,
    });
    let copy = copier.copy(&block.state);
    let boxes = copier.copies();
    let Some((body, globals)) = parts(&copy) else { return Err(no_block()) };
    drop(copy);
    let random = block.random.clone();
    let environment = Environment::replace(machine, Rc::unwrap_or_clone(globals), random);
    Ok(Next::call(body, true, RecomputeTask { application, index, boxes, environment }))
}

impl Task for RecomputeTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let RecomputeTask { mut application, index, boxes, environment } = *self;
        let Some((block, first)) = application.sweep.block(index) else { return Err(no_block()) };
        let error = thrown(machine, block.throws);
        let objects = block.heap_path.follow(&roots(&mut machine.globals, error, boxes));
        environment.restore(machine);
        let results_in = |objects: Vec<Ref>| -> Option<Vec<Num>> {
            let one = |(at, k): &(u32, u32)| number(objects.get(*at as usize)?, *k as usize);
            block.results.iter().map(|place| one(place).map(|(value, slot)| Num { value, slot })).collect()
        };
        let Some(mut outputs) = objects.and_then(results_in) else {
            let message = "a checkpoint took a different path when it was run again: it may only depend on variables \
                           and random numbers";
            return Err(Fault::new(Number::PreconditionFailed, message));
        };
        let map = LinearMap::close(&mut machine.levels, &mut outputs);
        let map = Rc::new(LinearMap { transposed: application.map.transposed, ..map });
        let results: Vec<u32> = (first..).take(block.results.len()).collect();
        let all = application.map.tape.wide().get(index).map_or(0, |wide| wide.results);
        let origins = first + results.len() as u32..first + all;
        let operands = block.operands.clone();
        if map.direction() == Direction::Forward {
            // The numbers from which integers and strings were computed are active, but their derivatives are not
            // needed.
            for node in origins {
                opaque_vector::add(machine, walk(compiler), &mut application.sweep, node, Num::constant(1.0))?;
            }
        }
        let (seeded, read) = match map.direction() {
            Direction::Reverse => (results, operands),
            Direction::Forward => (operands, results),
        };
        let mut sweep = Sweep::new(&mut machine.levels, &map.tape, map.direction());
        for (node, from) in map.seeded().into_iter().zip(seeded) {
            opaque_vector::add(machine, walk(compiler), &mut sweep, node, application.sweep.number(from))?;
        }
        let then = Destination::Block { outer: Box::new(application), block: first, nodes: read };
        sweep::run_sweep(machine, compiler, Application::new(sweep, map, then))
    }

    fn abandon(self: Box<Self>, machine: &mut Machine) {
        self.environment.restore(machine);
    }
}

fn no_block() -> Box<Fault> {
    Fault::internal("a sweep has nothing to recompute")
}
