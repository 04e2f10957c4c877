//! Slot rewrite: the modification of the slots of all objects that are reachable from a value, whatever its type.
//!
//! Shared values are copied only where a slot changes, and the copies remain shared. Nothing recurses: a list of a
//! million links is traversed with a work list.

use crate::value::origins::Origins;
use crate::value::{AnyValue, BoxCells, Cells, Closure, Ref, Slot};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// A modification of all slots of an object graph.
pub trait SlotChange {
    /// Returns the slot that replaces the given slot.
    fn slot(&mut self, slot: Slot) -> Slot;
    /// Whether the contents of boxes, which are shared by reference, are modified as well.
    fn enters_boxes(&self) -> bool;
    /// Returns a replacement for a box; the contents of the replacement are modified next.
    fn boxed(&mut self, _inside: &Rc<BoxCells>) -> Option<Rc<BoxCells>> {
        None
    }
    /// Returns another box whose contents are to be modified, although no reference to it was found.
    fn more(&mut self) -> Option<Rc<BoxCells>> {
        None
    }
    /// Returns the new slots of all numbers of an object, if the new slots do not depend on the old ones.
    fn object(&mut self, _object: &Ref) -> Option<Vec<Slot>> {
        None
    }
    /// Returns the replacement of an object that belongs to the machine; `None` to retain the object.
    fn machine(&mut self, _object: &Rc<dyn std::any::Any>) -> Option<Ref> {
        None
    }
}

/// A modification that makes all numbers constant, except those in boxes.
pub struct ClearSlots;

impl SlotChange for ClearSlots {
    fn slot(&mut self, _: Slot) -> Slot {
        Slot::NONE
    }
    fn enters_boxes(&self) -> bool {
        false
    }
}

/// A modification that reads all slots and changes none.
struct ReadOnly<'a> {
    enters_boxes: bool,
    visit: &'a mut dyn FnMut(Slot),
}

impl SlotChange for ReadOnly<'_> {
    fn slot(&mut self, slot: Slot) -> Slot {
        (self.visit)(slot);
        slot
    }

    fn enters_boxes(&self) -> bool {
        self.enters_boxes
    }
}

/// Visits the slots in `cells` and in everything reachable from it; the slots in boxes only if `enters_boxes`.
pub fn visit_slots(cells: &mut Cells, enters_boxes: bool, visit: &mut dyn FnMut(Slot)) {
    change_slots(cells, &mut ReadOnly { enters_boxes, visit });
}

/// The state of a traversal of all objects that are reachable from a value.
struct Traversal<'a> {
    change: &'a mut dyn SlotChange,
    /// The visited objects by address, with their replacements. The original objects are retained, so that no address
    /// is reused.
    done: HashMap<usize, (Ref, Ref)>,
    boxes: HashSet<usize>,
    waiting: Vec<Rc<BoxCells>>,
}

/// An object whose parts are being visited.
struct OpenObject {
    object: Ref,
    next: usize,
    /// The parts of the object that were replaced, by index.
    changed: Vec<(usize, Ref)>,
}

/// Modifies the slots in `cells` and in all objects reachable from it.
pub fn change_slots(cells: &mut Cells, change: &mut dyn SlotChange) {
    let mut walk = Traversal { change, done: HashMap::new(), boxes: HashSet::new(), waiting: vec![] };
    walk.storage(cells);
    walk.rest();
}

/// Modifies the slots in boxes and in all objects reachable from the boxes.
pub fn change_slots_in_boxes(roots: &[Rc<BoxCells>], change: &mut dyn SlotChange) {
    let mut walk = Traversal { change, done: HashMap::new(), boxes: HashSet::new(), waiting: roots.to_vec() };
    walk.boxes.extend(roots.iter().map(|root| Rc::as_ptr(root) as usize));
    walk.rest();
}

impl Traversal<'_> {
    fn rest(&mut self) {
        while let Some(next) = self.next() {
            // The contents of the box are not borrowed by running code, because slots are modified between
            // instructions.
            if let Ok(mut cells) = next.cells.try_borrow_mut() {
                self.storage(&mut cells);
            }
        }
    }

    /// Returns the next box whose contents are to be visited.
    fn next(&mut self) -> Option<Rc<BoxCells>> {
        while self.waiting.is_empty() {
            let more = self.change.more()?;
            if self.boxes.insert(Rc::as_ptr(&more) as usize) {
                self.waiting.push(more);
            }
        }
        self.waiting.pop()
    }

    fn storage(&mut self, cells: &mut Cells) {
        self.slots(&mut cells.slots);
        cells.origins.change_slots(|slot| self.change.slot(slot));
        for k in 0..cells.r.len() {
            if let Some(new) = self.reference(&cells.r[k]) {
                cells.r[k] = new;
            }
        }
    }

    fn slots(&mut self, slots: &mut Vec<Slot>) {
        for slot in slots.iter_mut().filter(|s| **s != Slot::NONE) {
            *slot = self.change.slot(*slot);
        }
        if slots.iter().all(|s| *s == Slot::NONE) {
            slots.clear();
        }
    }

    /// Returns the replacement of a reference; `None` when the reference is unchanged.
    fn reference(&mut self, root: &Ref) -> Option<Ref> {
        let mut open: Vec<OpenObject> = vec![];
        let mut answer = self.enter(root, &mut open);
        while let Some(top) = open.last_mut() {
            if let Some(new) = answer.take() {
                top.changed.push((top.next - 1, new));
            }
            match part(&top.object, top.next) {
                Some(child) => {
                    top.next += 1;
                    let child = child.clone();
                    answer = self.enter(&child, &mut open);
                }
                None => {
                    if let Some(done) = open.pop() {
                        answer = self.leave(done);
                    }
                }
            }
        }
        answer
    }

    /// Starts the traversal of an object, or returns the replacement of the object if it was visited before.
    fn enter(&mut self, reference: &Ref, open: &mut Vec<OpenObject>) -> Option<Ref> {
        match reference {
            Ref::Null | Ref::Text(_) | Ref::Tensor(_) => None,
            Ref::Box(inside) => {
                if let Some(other) = self.change.boxed(inside) {
                    if self.boxes.insert(Rc::as_ptr(&other) as usize) {
                        self.waiting.push(Rc::clone(&other));
                    }
                    return Some(Ref::Box(other));
                }
                if self.change.enters_boxes() && self.boxes.insert(Rc::as_ptr(inside) as usize) {
                    self.waiting.push(Rc::clone(inside));
                }
                None
            }
            Ref::Machine(object) => self.change.machine(object),
            Ref::Cells(_) | Ref::Dictionary(_) | Ref::Closure(_) | Ref::Any(_) => {
                if let Some((_, new)) = self.done.get(&address(reference)) {
                    return (address(new) != address(reference)).then(|| new.clone());
                }
                open.push(OpenObject { object: reference.clone(), next: 0, changed: vec![] });
                None
            }
        }
    }

    fn leave(&mut self, done: OpenObject) -> Option<Ref> {
        let OpenObject { object, changed, .. } = done;
        let new_slots = self.change.object(&object);
        let mut slots_change = new_slots.is_some();
        for slot in slots_of(&object).into_iter().flatten().filter(|s| **s != Slot::NONE) {
            slots_change |= self.change.slot(*slot) != *slot;
        }
        for origins in origins_of(&object).into_iter().flatten() {
            slots_change |= origins.any_slot(|slot| self.change.slot(slot) != slot);
        }
        let new = if slots_change || !changed.is_empty() { Some(self.copy(&object, changed, new_slots)) } else { None };
        let kept = new.clone().unwrap_or_else(|| object.clone());
        self.done.insert(address(&object), (object, kept));
        new
    }

    fn copy(&mut self, object: &Ref, changed: Vec<(usize, Ref)>, new_slots: Option<Vec<Slot>>) -> Ref {
        let mut copy = |cells: &Cells, new_slots| self.copy_cells(cells, 0, &changed, new_slots);
        match object {
            Ref::Cells(cells) => Ref::Cells(Rc::new(copy(cells, new_slots))),
            Ref::Closure(closure) => Ref::Closure(Rc::new(Closure {
                function: closure.function,
                captures: copy(&closure.captures, new_slots),
            })),
            Ref::Any(any) => Ref::Any(Rc::new(AnyValue { shape: any.shape, cells: copy(&any.cells, new_slots) })),
            Ref::Dictionary(dictionary) => {
                let (keys, values) = match new_slots {
                    Some(mut keys) => {
                        let values = keys.split_off(dictionary.keys().f.len().min(keys.len()));
                        (Some(keys), Some(values))
                    }
                    None => (None, None),
                };
                let base = dictionary.keys().r.len();
                let values = self.copy_cells(dictionary.values(), base, &changed, values);
                let keys = self.copy_cells(dictionary.keys(), 0, &changed, keys);
                Ref::Dictionary(Rc::new(dictionary.with(keys, values)))
            }
            Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Box(_) | Ref::Machine(_) => object.clone(),
        }
    }

    /// Copies the cells of an object with other slots and other parts; the part at index 0 of the cells has index
    /// `base` in the object.
    fn copy_cells(
        &mut self,
        cells: &Cells,
        base: usize,
        changed: &[(usize, Ref)],
        new_slots: Option<Vec<Slot>>,
    ) -> Cells {
        let mut new = cells.clone();
        match new_slots {
            Some(slots) => new.slots = slots,
            None => self.slots(&mut new.slots),
        }
        new.origins.change_slots(|slot| self.change.slot(slot));
        for (k, part) in changed {
            if let Some(place) = k.checked_sub(base).and_then(|k| new.r.get_mut(k)) {
                *place = part.clone();
            }
        }
        new
    }
}

/// Returns the part `k` of an object; the parts of a dictionary are its keys, then its values.
pub(crate) fn part(object: &Ref, k: usize) -> Option<&Ref> {
    match object {
        Ref::Cells(cells) => cells.r.get(k),
        Ref::Closure(closure) => closure.captures.r.get(k),
        Ref::Any(any) => any.cells.r.get(k),
        Ref::Dictionary(d) => match k.checked_sub(d.keys().r.len()) {
            None => d.keys().r.get(k),
            Some(k) => d.values().r.get(k),
        },
        Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Box(_) | Ref::Machine(_) => None,
    }
}

fn slots_of(object: &Ref) -> [&[Slot]; 2] {
    match object {
        Ref::Cells(cells) => [&cells.slots, &[]],
        Ref::Closure(closure) => [&closure.captures.slots, &[]],
        Ref::Any(any) => [&any.cells.slots, &[]],
        Ref::Dictionary(d) => [&d.keys().slots, &d.values().slots],
        Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Box(_) | Ref::Machine(_) => [&[], &[]],
    }
}

/// Returns the origins of the integers and strings of an object.
fn origins_of(object: &Ref) -> [Option<&Origins>; 2] {
    match object {
        Ref::Cells(cells) => [Some(&cells.origins), None],
        Ref::Closure(closure) => [Some(&closure.captures.origins), None],
        Ref::Any(any) => [Some(&any.cells.origins), None],
        Ref::Dictionary(d) => d.origins().map(Some),
        Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Box(_) | Ref::Machine(_) => [None, None],
    }
}

/// Whether some origin of an integer or string of an object has a slot that satisfies the predicate.
pub fn any_origin(object: &Ref, is_wanted: impl Fn(Slot) -> bool) -> bool {
    match object {
        Ref::Box(inside) => inside.cells.borrow().origins.any_slot(&is_wanted),
        _ => origins_of(object).into_iter().flatten().any(|origins| origins.any_slot(&is_wanted)),
    }
}

/// Returns the address of an object, which is unique among live objects. Strings and tensors have the
/// address 0.
pub fn address(object: &Ref) -> usize {
    match object {
        Ref::Cells(x) => Rc::as_ptr(x) as usize,
        Ref::Closure(x) => Rc::as_ptr(x) as usize,
        Ref::Any(x) => Rc::as_ptr(x) as usize,
        Ref::Dictionary(x) => Rc::as_ptr(x) as usize,
        Ref::Box(x) => Rc::as_ptr(x) as usize,
        Ref::Machine(x) => Rc::as_ptr(x).cast::<()>() as usize,
        Ref::Text(_) | Ref::Tensor(_) | Ref::Null => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Components;
    use std::cell::RefCell;

    const OLD: Slot = Slot { epoch: 3, payload: 1 };
    const NEW: Slot = Slot { epoch: 1, payload: 9 };

    struct Rename;

    impl SlotChange for Rename {
        fn slot(&mut self, slot: Slot) -> Slot {
            if slot == OLD { NEW } else { slot }
        }
        fn enters_boxes(&self) -> bool {
            true
        }
    }

    fn number(slot: Slot) -> Cells {
        Cells::record(Components { f: &[1.0], slots: &[slot], ..Components::default() })
    }

    fn holding(parts: &[Ref]) -> Cells {
        Cells::record(Components { r: parts, ..Components::default() })
    }

    #[test]
    fn what_does_not_change_is_not_copied() {
        let shared = Rc::new(number(NEW));
        let mut root = holding(&[Ref::Cells(Rc::clone(&shared)), Ref::Cells(Rc::clone(&shared))]);
        change_slots(&mut root, &mut Rename);
        assert!(matches!(&root.r[0], Ref::Cells(c) if Rc::ptr_eq(c, &shared)));
    }

    #[test]
    fn sharing_and_cycles_survive() {
        let array = Ref::Cells(Rc::new(number(OLD)));
        let inside = Rc::new(BoxCells { cells: RefCell::default(), shape: None, finalizer: Default::default() });
        inside.cells.borrow_mut().r = vec![
            array.clone(),
            array.clone(),
            Ref::Box(Rc::clone(&inside)),
            Ref::Closure(Rc::new(Closure { function: 0, captures: holding(std::slice::from_ref(&array)) })),
        ]
        .into();
        change_slots_in_boxes(std::slice::from_ref(&inside), &mut Rename);
        let cells = inside.cells.borrow();
        let (Ref::Cells(a), Ref::Cells(b)) = (&cells.r[0], &cells.r[1]) else { panic!() };
        assert!(Rc::ptr_eq(a, b) && a.slot(0) == NEW);
        assert!(matches!(&array, Ref::Cells(c) if c.slot(0) == OLD), "the original is a value of its own");
        let Ref::Closure(closure) = &cells.r[3] else { panic!() };
        assert!(matches!(&closure.captures.r[0], Ref::Cells(c) if Rc::ptr_eq(c, a)));
        drop(cells);
        inside.cells.borrow_mut().r.clear();
    }

    #[test]
    fn long_chains_need_no_stack() {
        let mut chain = Ref::Cells(Rc::new(number(OLD)));
        for _ in 0..200_000 {
            chain = Ref::Cells(Rc::new(holding(&[chain])));
        }
        let mut root = holding(&[chain]);
        change_slots(&mut root, &mut Rename);
        let mut at = root.r[0].clone();
        while let Ref::Cells(cells) = &at {
            let Some(next) = cells.r.first().cloned() else { break };
            at = next;
        }
        assert!(matches!(&at, Ref::Cells(c) if c.slot(0) == NEW));
    }
}
