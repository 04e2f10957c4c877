//! Exclusivity checks: the accesses that have to be checked at run time.
//!
//! In: functions in which every access to what others can reach is noted. Out: the same with the notes that matter: those of
//! changes during which the same storage may be accessed, by what is called or beside it, and of all accesses to such storage.
//! Nearly all programs have none, and pay nothing.

use crate::ir::graph::{Function, FunctionId, Instruction, MethodId, Op, Program};
use crate::types::model::tree;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// A variable or property: an index into the storages that were met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StorageId(pub u32);

/// What can be accessed from several functions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) enum Storage {
    /// A captured variable of a function.
    Variable(tree::FunctionId, tree::LocalId),
    /// The stored properties of classes that have this name.
    Property(Rc<str>),
    /// A global variable.
    Global(tree::GlobalId),
}

/// What is accessed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// The variable or property that it is a part of.
    pub storage: StorageId,
    /// What that is called.
    pub name: Rc<str>,
    /// The components of each bank.
    pub cells: [Range<u32>; 3],
    /// Where the components depend on the type of the object: its getter, which reads them.
    pub getter: Option<MethodId>,
}

/// What happens to it. A change has a number, which its beginning and its end share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AccessKind {
    /// It is read or replaced.
    Instantaneous,
    /// From here on it is changed.
    Begin(u32),
    /// It is not changed any more.
    End(u32),
}

/// What is called while something is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ir) enum Callee {
    /// A function that is known.
    Function(FunctionId),
    /// A function value.
    Value,
}

/// One change of a place.
#[derive(Clone, Debug)]
struct Change {
    storage: StorageId,
    calls: Vec<Callee>,
    /// Whether the function that makes the change accesses the same storage meanwhile, as `swap(&a.x, &b.x)` does.
    is_overlapped: bool,
}

/// What is known of the accesses of a session.
#[derive(Clone, Default, Debug)]
pub(in crate::ir) struct Accesses {
    storages: HashMap<Storage, StorageId>,
    changes: Vec<Change>,
    /// Storage that may be accessed while it is changed.
    contested: HashSet<StorageId>,
    /// How many changes were judged.
    judged: usize,
}

impl Accesses {
    /// The number of a variable or property.
    pub fn storage(&mut self, storage: Storage) -> StorageId {
        let next = StorageId(self.storages.len() as u32);
        *self.storages.entry(storage).or_insert(next)
    }

    /// The number of a change that begins.
    pub fn begin(&mut self, storage: StorageId) -> u32 {
        self.changes.push(Change { storage, calls: vec![], is_overlapped: false });
        self.changes.len() as u32 - 1
    }

    /// Something is called during a change.
    pub fn call(&mut self, change: u32, callee: Callee) {
        self.changes[change as usize].calls.push(callee);
    }

    /// The function that makes a change accesses some storage meanwhile.
    pub fn meet(&mut self, change: u32, storage: StorageId) {
        let change = &mut self.changes[change as usize];
        change.is_overlapped |= change.storage == storage;
    }

    /// Removes the notes that do not matter from functions that were just lowered. Further functions may follow when the
    /// session is `open`; when ends of instances are `seen`, every call may come to what runs there.
    pub fn prune(&mut self, program: &mut Program, fresh: &[FunctionId], open: bool, seen: bool) {
        let kept = self.judge(program, open, seen);
        let mut matters = self.contested.clone();
        if open {
            let outlives = |s: &Storage| matches!(s, Storage::Property(_) | Storage::Global(_));
            matters.extend(self.storages.iter().filter(|(s, _)| outlives(s)).map(|(_, id)| *id));
        }
        for id in fresh {
            let Some(function) = &mut program.functions[id.0 as usize] else { continue };
            if steps(function).any(|step| matches!(step.op, Op::Access { .. })) {
                strip(Rc::make_mut(function), &kept, &matters);
            }
        }
    }

    /// The new changes during which their storage may be accessed.
    fn judge(&mut self, program: &Program, open: bool, seen: bool) -> HashSet<u32> {
        let first = std::mem::replace(&mut self.judged, self.changes.len());
        let fresh = || self.changes.iter().enumerate().skip(first);
        let new = || fresh().filter(|(_, change)| !change.calls.is_empty() && !change.is_overlapped);
        let overlapped = || fresh().filter(|(_, change)| change.is_overlapped);
        let changed_storages: HashSet<StorageId> = new().map(|(_, change)| change.storage).collect();
        let changed_storages: Vec<StorageId> = changed_storages.into_iter().collect();
        let mut kept: HashSet<u32> = overlapped().map(|(number, _)| number as u32).collect();
        let mut contested: Vec<StorageId> = overlapped().map(|(_, change)| change.storage).collect();
        for chunk in changed_storages.chunks(64) {
            let reachable = Reachable::of(program, chunk);
            for (number, change) in new() {
                let Some(bit) = chunk.iter().position(|s| *s == change.storage) else { continue };
                let is_reached = |callee: &Callee| match callee {
                    _ if seen && reachable.by_value(bit) => true,
                    Callee::Function(id) => reachable.by(bit, *id) || open && reachable.calls_value[id.0 as usize],
                    Callee::Value => open || reachable.by_value(bit),
                };
                if change.calls.iter().any(is_reached) {
                    kept.insert(number as u32);
                    contested.push(change.storage);
                }
            }
        }
        self.contested.extend(contested);
        kept
    }
}

/// Removes the notes that do not matter from a function.
fn strip(function: &mut Function, kept: &HashSet<u32>, matters: &HashSet<StorageId>) {
    for block in &mut function.blocks {
        block.instructions.retain_mut(|step| {
            let Op::Access { how, region } = &mut step.op else { return true };
            if let AccessKind::Begin(change) = how
                && !kept.contains(change)
            {
                // The getter that was called for it has looked.
                if region.getter.is_some() {
                    return false;
                }
                *how = AccessKind::Instantaneous;
            }
            match how {
                AccessKind::Instantaneous => matters.contains(&region.storage),
                AccessKind::Begin(_) => true,
                AccessKind::End(change) => kept.contains(change),
            }
        });
    }
}

/// From which functions storages are reached; up to 64, one a bit.
struct Reachable {
    /// By function, what it accesses, or what it calls does.
    from: Vec<u64>,
    /// What is reached by all functions that a function value may be.
    from_values: u64,
    /// By function, whether it comes to a call of a function value.
    calls_value: Vec<bool>,
}

impl Reachable {
    fn by(&self, bit: usize, function: FunctionId) -> bool {
        self.from[function.0 as usize] >> bit & 1 == 1
    }

    fn by_value(&self, bit: usize) -> bool {
        self.from_values >> bit & 1 == 1
    }

    fn of(program: &Program, storages: &[StorageId]) -> Reachable {
        let count = program.functions.len();
        let mut found = Reachable { from: vec![0; count], from_values: 0, calls_value: vec![false; count] };
        let mut callees: Vec<Vec<FunctionId>> = vec![vec![]; count];
        let mut values: HashSet<FunctionId> = program.dispatch.values().copied().collect();
        values.extend(program.own_texts.iter().flatten());
        for (f, function) in program.functions.iter().enumerate() {
            let Some(function) = function else { continue };
            values.extend(function.rules.iter().flat_map(|rule| [rule.function, rule.registered]));
            for step in steps(function) {
                match &step.op {
                    Op::Access { region, .. } => {
                        let bit = storages.iter().position(|s| *s == region.storage);
                        found.from[f] |= bit.map_or(0, |bit| 1 << bit);
                    }
                    Op::Call(id) => callees[f].push(*id),
                    Op::Closure(id) => {
                        values.insert(*id);
                    }
                    Op::CallValue | Op::Operator(_) => found.calls_value[f] = true,
                    // It may ask a value for its text.
                    Op::Native { shapes, .. } if !shapes.is_empty() && !program.own_texts.is_empty() => {
                        found.calls_value[f] = true;
                    }
                    _ => {}
                }
            }
        }
        found.close(&callees, &values);
        found
    }

    /// Adds what callees reach until nothing is new.
    fn close(&mut self, callees: &[Vec<FunctionId>], values: &HashSet<FunctionId>) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            crate::cancel::check();
            // Callees are usually lowered after their callers, so that a chain of calls takes one pass.
            for (f, callees) in callees.iter().enumerate().rev() {
                let (mut bits, mut calls) = (self.from[f], self.calls_value[f]);
                for callee in callees {
                    bits |= self.from[callee.0 as usize];
                    calls |= self.calls_value[callee.0 as usize];
                }
                if calls {
                    bits |= self.from_values;
                }
                let mut from_values = self.from_values;
                if values.contains(&FunctionId(f as u32)) {
                    from_values |= bits;
                }
                changed |= (bits, calls, from_values) != (self.from[f], self.calls_value[f], self.from_values);
                (self.from[f], self.calls_value[f], self.from_values) = (bits, calls, from_values);
            }
        }
    }
}

fn steps(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.blocks.iter().flat_map(|block| &block.instructions)
}
