//! Escape: rebases the slots of values that outlive their level.
//!
//! A number that is stored in a variable, an instance or a global while an inner level is live may still be stored
//! there when the level has ended. The number is then a constant of the level and must retain its link to the outer
//! levels, but its slot refers to the ended level. So stores are logged while several levels are live, and when a level
//! ends, all storage reachable from the logged stores is traversed: slots of that level are replaced by the slots that
//! they represent in the outer levels. With one level there is no outer level, and no store is logged.

use super::levels::Levels;
use super::linear_map::{LinearMap, UnsizedTranspose};
use super::observer::Observer;
use super::wide_node::WideKind;
use crate::value::slot_rewrite::{SlotChange, change_slots, change_slots_in_boxes};
use crate::value::{BoxCells, Cells, Ref, Slot};
use hashbrown::HashMap;
use std::any::Any;
use std::rc::{Rc, Weak};

/// The storage that was written while each nested level was the innermost one, by the index of the level.
#[derive(Debug, Default)]
struct StoreLog(Vec<Stores>);

/// The storage that was written while a level was the innermost one.
#[derive(Debug, Default)]
struct Stores {
    boxes: HashMap<usize, Weak<BoxCells>>,
    /// The number of boxes at which dropped boxes are removed.
    prune_at: usize,
    globals: bool,
}

impl StoreLog {
    fn at(&mut self, level: usize) -> &mut Stores {
        if self.0.len() <= level {
            self.0.resize_with(level + 1, Stores::default);
        }
        &mut self.0[level]
    }
}

impl Observer for StoreLog {
    /// Rebases the storage that was logged for the level with the index `level`, and appends the log to that of the
    /// next outer level: storage that is older than both levels must be rebased again.
    fn closed(&mut self, level: usize, outside: &dyn Fn(Slot) -> Slot) {
        let Some(mut log) = self.0.get_mut(level).map(std::mem::take) else { return };
        self.0.truncate(level);
        log.boxes.retain(|_, b| b.strong_count() > 0);
        let mut boxes: Vec<Rc<BoxCells>> = vec![];
        // The order of the boxes does not matter: the replacement of a slot depends on that slot only.
        #[allow(clippy::iter_over_hash_type)]
        for b in log.boxes.values() {
            boxes.extend(b.upgrade());
        }
        change_slots_in_boxes(&boxes, &mut Rebase { outside });
        // Outside of the outermost level there is no level to which a slot could refer.
        if level == 1 {
            return;
        }
        let outer = self.at(level - 1);
        outer.globals |= log.globals;
        boxes.iter().for_each(|b| outer.add(Rc::downgrade(b)));
    }

    fn abandoned(&mut self, from: usize) {
        self.0.truncate(from);
    }
}

impl Stores {
    fn add(&mut self, to: Weak<BoxCells>) {
        self.boxes.insert(to.as_ptr() as usize, to);
        if self.boxes.len() > self.prune_at.max(256) {
            // A loop that creates a variable in each iteration must not leave all of these variables in the log.
            self.boxes.retain(|_, b| b.strong_count() > 0);
            self.prune_at = self.boxes.len() * 2;
        }
    }
}

/// The replacement of the slots of an ending level by the slots that they represent outside of the level.
struct Rebase<'a> {
    outside: &'a dyn Fn(Slot) -> Slot,
}

impl SlotChange for Rebase<'_> {
    fn slot(&mut self, slot: Slot) -> Slot {
        (self.outside)(slot)
    }

    fn enters_boxes(&self) -> bool {
        true
    }

    fn machine(&mut self, object: &Rc<dyn Any>) -> Option<Ref> {
        changed(object, self)
    }
}

/// Returns a copy of a linear map with changed slots in the values that the map was recorded from; `None` for other
/// objects, and where nothing changes.
pub fn changed(object: &Rc<dyn Any>, change: &mut dyn SlotChange) -> Option<Ref> {
    if let Some(transpose) = object.downcast_ref::<UnsizedTranspose>() {
        let mut transpose = transpose.clone();
        change_inside(&mut transpose.function, change);
        return Some(Ref::Machine(Rc::new(transpose)));
    }
    object.downcast_ref::<LinearMap>()?.changed(change)
}

impl LinearMap {
    /// Returns a copy of the linear map with changed slots in its partial derivatives, and in the values that its
    /// functions captured; `None` when nothing changes.
    pub fn changed(&self, change: &mut dyn SlotChange) -> Option<Ref> {
        let in_columns = self.tape.columns().any(&mut |slot| change.slot(slot) != slot);
        let in_wide = self.tape.wide().iter().any(|w| match &w.kind {
            WideKind::Sum(operands) => operands.iter().any(|(_, _, slot)| change.slot(*slot) != *slot),
            // The captures of a function are not searched in advance: they are copied where a slot changes.
            WideKind::Call(_) | WideKind::Block(_) | WideKind::Tensor(_) => true,
        });
        if !in_columns && !in_wide {
            return None;
        }
        let mut columns = self.tape.columns().clone();
        columns.map(&mut |slot| change.slot(slot));
        let mut wide = self.tape.wide().to_vec();
        for w in &mut wide {
            match &mut w.kind {
                WideKind::Sum(operands) => operands.iter_mut().for_each(|o| o.2 = change.slot(o.2)),
                WideKind::Call(call) => change_inside(&mut call.function, change),
                WideKind::Block(block) => change_inside(&mut block.state, change),
                WideKind::Tensor(node) => node.change_slots(&mut |slot| change.slot(slot)),
            }
        }
        Some(Ref::Machine(Rc::new(self.with(columns, wide))))
    }
}

fn change_inside(reference: &mut Ref, change: &mut dyn SlotChange) {
    let mut holder = Cells::references(vec![std::mem::take(reference)]);
    change_slots(&mut holder, change);
    *reference = holder.r.pop().unwrap_or_default();
}

impl Levels {
    /// Logs a store into a box. The function must be called for every store while several levels are live.
    pub fn log_store(&mut self, to: &Rc<BoxCells>) {
        if let Some(stores) = self.stores() {
            stores.add(Rc::downgrade(to));
        }
    }

    /// Logs a store into a global variable. The function must be called for every store while several levels are live.
    pub fn log_global(&mut self) {
        if let Some(stores) = self.stores() {
            stores.globals = true;
        }
    }

    /// Returns the log of stores of the innermost level; `None` where at most one level is live.
    #[inline(always)]
    fn stores(&mut self) -> Option<&mut Stores> {
        if self.depth() > 1 { self.inner_stores() } else { None }
    }

    #[inline(never)]
    fn inner_stores(&mut self) -> Option<&mut Stores> {
        let level = self.depth() - 1;
        let log = self.store_log.get_or_insert_with(|| Box::<StoreLog>::default());
        log.of_mut::<StoreLog>().map(|log| log.at(level))
    }

    /// Whether global variables were stored to in the innermost level, so that they must be
    /// [rebased](Levels::rebase_escaping_slots) before it is closed.
    pub fn globals_may_escape(&self) -> bool {
        let log = self.store_log.as_ref().and_then(|log| log.of::<StoreLog>());
        let level = self.depth().wrapping_sub(1);
        log.and_then(|log| log.0.get(level)).is_some_and(|stores| stores.globals)
    }

    /// Turns values into constants of the innermost level, before it is closed.
    pub fn rebase_escaping_slots(&self, cells: &mut Cells) {
        if let Some(level) = self.depth().checked_sub(1) {
            change_slots(cells, &mut Rebase { outside: &|slot| self.strip_slot(level, slot) });
        }
    }
}
