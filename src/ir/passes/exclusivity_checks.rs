//! Exclusivity checks: the accesses that must be checked at run time.
//!
//! In: functions in which every access to shared storage is noted. Out: the same functions with the relevant notes: the
//! notes of modifications during which the modified storage may be accessed by the function or by a callee, and the
//! notes of all accesses to such storage. Nearly all programs have no such notes, and incur no cost.

use crate::ir::{Function, FunctionId, Instruction, MethodId, Op, Program};
use crate::types::model::typed_tree;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// A variable or property: an index into the storages of the session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StorageId(pub u32);

/// A storage location that several functions can access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) enum Storage {
    /// A captured variable of a function.
    Variable(typed_tree::FunctionId, typed_tree::LocalId),
    /// The stored properties with the given name, of all classes.
    Property(Rc<str>),
    /// A global variable.
    Global(typed_tree::GlobalId),
}

/// The part of storage that is accessed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// The variable or property to which the accessed part belongs.
    pub storage: StorageId,
    /// The name of the variable or property.
    pub name: Rc<str>,
    /// The accessed components in each bank.
    pub cells: [Range<u32>; 3],
    /// The getter that reads the components, if they depend on the type of the object.
    pub getter: Option<MethodId>,
}

/// The kind of access. The beginning and the end of a modification share a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AccessKind {
    /// An instantaneous read or replacement.
    Instantaneous,
    /// The beginning of a modification.
    Begin(u32),
    /// The end of a modification.
    End(u32),
}

/// The callee of a call during a modification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ir) enum Callee {
    /// The callee is a statically known function.
    Function(FunctionId),
    /// The callee is a function value.
    Value,
}

/// A modification of a place.
#[derive(Clone, Debug)]
struct Change {
    storage: StorageId,
    calls: Vec<Callee>,
    /// Whether the modifying function itself accesses the modified storage during the modification, as `swap(&a.x,
    /// &b.x)` does.
    is_overlapped: bool,
}

/// The noted accesses of a session.
#[derive(Clone, Default, Debug)]
pub(in crate::ir) struct Accesses {
    storages: HashMap<Storage, StorageId>,
    changes: Vec<Change>,
    /// The storages that may be accessed during a modification of them.
    conflicting: HashSet<StorageId>,
    /// The number of modifications that were classified so far.
    examined: usize,
}

impl Accesses {
    /// Returns the id of a storage location.
    pub fn storage(&mut self, storage: Storage) -> StorageId {
        let next = StorageId(self.storages.len() as u32);
        *self.storages.entry(storage).or_insert(next)
    }

    /// Adds a modification of storage and returns its number.
    pub fn begin(&mut self, storage: StorageId) -> u32 {
        self.changes.push(Change { storage, calls: vec![], is_overlapped: false });
        self.changes.len() as u32 - 1
    }

    /// Notes a call during a modification.
    pub fn call(&mut self, change: u32, callee: Callee) {
        self.changes[change as usize].calls.push(callee);
    }

    /// Notes that the modifying function accesses storage during a modification.
    pub fn note_overlap(&mut self, change: u32, storage: StorageId) {
        let change = &mut self.changes[change as usize];
        change.is_overlapped |= change.storage == storage;
    }

    /// Removes the irrelevant notes from functions that were just lowered. If the session is `open`, further functions
    /// may follow; if finalizers are `finalizers_observed`, every call may run a finalizer.
    pub fn prune(&mut self, program: &mut Program, fresh: &[FunctionId], open: bool, finalizers_observed: bool) {
        let kept = self.new_conflicts(program, open, finalizers_observed);
        let mut matters = self.conflicting.clone();
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

    /// Returns the new modifications during which their storage may be accessed.
    fn new_conflicts(&mut self, program: &Program, open: bool, finalizers_observed: bool) -> HashSet<u32> {
        let first = std::mem::replace(&mut self.examined, self.changes.len());
        let fresh = || self.changes.iter().enumerate().skip(first);
        let new = || fresh().filter(|(_, change)| !change.calls.is_empty() && !change.is_overlapped);
        let overlapped = || fresh().filter(|(_, change)| change.is_overlapped);
        let changed_storages: HashSet<StorageId> = new().map(|(_, change)| change.storage).collect();
        let changed_storages: Vec<StorageId> = changed_storages.into_iter().collect();
        let mut kept: HashSet<u32> = overlapped().map(|(number, _)| number as u32).collect();
        let mut conflicting: Vec<StorageId> = overlapped().map(|(_, change)| change.storage).collect();
        for chunk in changed_storages.chunks(64) {
            let reachable = Reachable::of(program, chunk);
            for (number, change) in new() {
                let Some(bit) = chunk.iter().position(|s| *s == change.storage) else { continue };
                let is_reached = |callee: &Callee| match callee {
                    _ if finalizers_observed && reachable.by_value(bit) => true,
                    Callee::Function(id) => reachable.by(bit, *id) || open && reachable.calls_value[id.0 as usize],
                    Callee::Value => open || reachable.by_value(bit),
                };
                if change.calls.iter().any(is_reached) {
                    kept.insert(number as u32);
                    conflicting.push(change.storage);
                }
            }
        }
        self.conflicting.extend(conflicting);
        kept
    }
}

/// Removes the irrelevant notes of accesses from a function.
fn strip(function: &mut Function, kept: &HashSet<u32>, matters: &HashSet<StorageId>) {
    for block in &mut function.blocks {
        block.instructions.retain_mut(|step| {
            let Op::Access { how, region } = &mut step.op else { return true };
            if let AccessKind::Begin(change) = how
                && !kept.contains(change)
            {
                // The getter that was called for this access performs the check.
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

/// The storages that functions reach, for up to 64 storages, as bit sets.
struct Reachable {
    /// The storages that each function or its callees access.
    from: Vec<u64>,
    /// The storages that any function which may be a function value reaches.
    from_values: u64,
    /// Whether each function or one of its callees calls a function value.
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
        values.extend(program.custom_descriptions.iter().flatten().flatten());
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
                    // The native function may call the custom description of a value.
                    Op::Native { shapes, .. } if !shapes.is_empty() && !program.custom_descriptions.is_empty() => {
                        found.calls_value[f] = true;
                    }
                    _ => {}
                }
            }
        }
        found.close(&callees, &values);
        found
    }

    /// Adds the storages that callees reach until a fixed point is reached.
    fn close(&mut self, callees: &[Vec<FunctionId>], values: &HashSet<FunctionId>) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            crate::cancel::check();
            // Callees are usually lowered after their callers, so that one iteration suffices for a chain of calls.
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
