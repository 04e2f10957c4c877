//! Snapshot: copies everything that a function can reach, and replaces the environment, so that the function can run
//! once more without any effect on the program.

use crate::native::library::{Random, Streams};
use crate::tape::escape;
use crate::value::finalizer::{Finalizer, WeakReference};
use crate::value::slot_rewrite::{SlotChange, change_slots};
use crate::value::{BoxCells, Cells, Ref, Slot};
use crate::vm::state::machine::Machine;
use hashbrown::HashMap;
use std::any::Any;
use std::rc::Rc;

/// A traversal that copies all reachable objects, including instances and variables, and changes their slots.
pub(crate) struct Copier<F> {
    slot: F,
    /// Each box that was copied, with its copy, in the order of the traversal.
    boxes: Vec<(Rc<BoxCells>, Rc<BoxCells>)>,
    places: HashMap<usize, usize>,
    /// The values that the traversal has visited.
    pub(crate) values: Vec<Ref>,
    /// The copies of boxes to which weak references refer: no other copy may own them.
    kept: Vec<Ref>,
    /// The number of copied boxes that the traversal has visited.
    replayed: usize,
}

impl<F: FnMut(Slot) -> Slot> Copier<F> {
    pub(crate) fn new(slot: F) -> Copier<F> {
        Copier { slot, boxes: vec![], places: HashMap::new(), values: vec![], kept: vec![], replayed: 0 }
    }

    /// Copies a state, which consists of a function and the global variables, and everything reachable from the state.
    pub(crate) fn copy(&mut self, state: &Ref) -> Ref {
        let Ref::Cells(state) = state else { return Ref::Null };
        let mut copy = Cells::clone(state);
        change_slots(&mut copy, self);
        copy.r.push(Ref::Cells(Rc::new(Cells::references(std::mem::take(&mut self.kept)))));
        Ref::Cells(Rc::new(copy))
    }

    pub(crate) fn originals(&self) -> Vec<Rc<BoxCells>> {
        self.boxes.iter().map(|(original, _)| Rc::clone(original)).collect()
    }

    pub(crate) fn copies(&self) -> Vec<Rc<BoxCells>> {
        self.boxes.iter().map(|(_, copy)| Rc::clone(copy)).collect()
    }
}

impl<F: FnMut(Slot) -> Slot> SlotChange for Copier<F> {
    fn slot(&mut self, slot: Slot) -> Slot {
        (self.slot)(slot)
    }

    fn enters_boxes(&self) -> bool {
        true
    }

    fn boxed(&mut self, inside: &Rc<BoxCells>) -> Option<Rc<BoxCells>> {
        if let Some((_, copy)) = self.places.get(&(Rc::as_ptr(inside) as usize)).and_then(|k| self.boxes.get(*k)) {
            return Some(Rc::clone(copy));
        }
        let cells = inside.cells.try_borrow().map(|cells| cells.clone()).unwrap_or_default();
        let copy = Rc::new(BoxCells { cells: cells.into(), shape: inside.shape, finalizer: Finalizer::default() });
        self.places.insert(Rc::as_ptr(inside) as usize, self.boxes.len());
        self.boxes.push((Rc::clone(inside), Rc::clone(&copy)));
        Some(copy)
    }

    fn more(&mut self) -> Option<Rc<BoxCells>> {
        let next = self.kept.get(self.replayed).and_then(boxed)?;
        self.replayed += 1;
        Some(next)
    }

    fn object(&mut self, object: &Ref) -> Option<Vec<Slot>> {
        self.values.push(object.clone());
        None
    }

    fn machine(&mut self, object: &Rc<dyn Any>) -> Option<Ref> {
        self.values.push(Ref::Machine(Rc::clone(object)));
        if let Some(weak) = object.downcast_ref::<WeakReference>() {
            let instance = weak.instance()?;
            let copy = self.boxed(&instance)?;
            self.kept.push(Ref::Box(Rc::clone(&copy)));
            return Some(weak.to(&copy));
        }
        escape::changed(object, self)
    }
}

/// Returns the state of a checkpoint: its function and the global variables, as one value.
pub(crate) fn state(body: Ref, globals: &mut Cells) -> Ref {
    let globals = Ref::Cells(Rc::new(std::mem::take(globals)));
    Ref::Cells(Rc::new(Cells::references(vec![body, globals])))
}

/// Returns the function and the global variables in a state.
pub(crate) fn parts(state: &Ref) -> Option<(Ref, Rc<Cells>)> {
    let Ref::Cells(record) = state else { return None };
    match (record.r.first(), record.r.get(1)) {
        (Some(body), Some(Ref::Cells(globals))) => Some((body.clone(), Rc::clone(globals))),
        _ => None,
    }
}

/// The part of the machine's state that a second run must leave unchanged.
pub(crate) struct Environment {
    globals: Cells,
    random: Random,
    streams: Streams,
    is_rehearsal: bool,
}

impl Environment {
    /// Replaces the environment of the program, so that a second run cannot change it.
    pub(crate) fn replace(machine: &mut Machine, globals: Cells, random: Random) -> Environment {
        let host = &mut machine.host;
        Environment {
            globals: std::mem::replace(&mut machine.globals, globals),
            random: std::mem::replace(&mut host.random, random),
            streams: std::mem::replace(&mut host.streams, Streams::silent()),
            is_rehearsal: std::mem::replace(&mut host.is_rehearsal, true),
        }
    }

    pub(crate) fn restore(self, machine: &mut Machine) {
        machine.globals = self.globals;
        machine.host.random = self.random;
        machine.host.streams = self.streams;
        machine.host.is_rehearsal = self.is_rehearsal;
    }
}

/// Returns the instance or variable that a reference refers to.
pub(crate) fn boxed(object: &Ref) -> Option<Rc<BoxCells>> {
    match object {
        Ref::Box(inside) => Some(Rc::clone(inside)),
        _ => None,
    }
}
