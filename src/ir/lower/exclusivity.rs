//! Exclusivity: notes accesses to storage locations and their durations, because a location must not be accessed in
//! another way while a call modifies it. [`exclusivity_checks`](crate::ir::passes::exclusivity_checks) retains the
//! notes of accesses that must be checked at run time.
//!
//! Only accesses to shared storage are noted: captured variables, stored properties of instances, and global variables.

use super::builder::Builder;
use super::dispatch::Target;
use super::place::Location;
use crate::ir::graph::{MethodId, Op, Reg};
use crate::ir::passes::exclusivity_checks::{AccessKind, Callee, Region, Storage, StorageId};
use crate::types::model::declaration_info::NominalKind;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{FunctionId, FunctionRef, GlobalId, LocalId};
use crate::value::Bank;
use crate::value::shape::Shape;
use std::ops::Range;
use std::rc::Rc;

/// The storage of a variable or property that other code can also access.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub id: StorageId,
    pub name: Rc<str>,
    /// The getter that reads the property, if its components depend on the type of the instance.
    pub getter: Option<MethodId>,
}

impl Builder<'_> {
    /// Returns the storage of a captured variable.
    pub fn stored_local(&mut self, local: LocalId) -> Option<Stored> {
        let name = self.body.locals[local.0 as usize].name.clone();
        let (function, local) = self.declared_as(self.owner, local);
        let id = self.lowering.accesses.storage(Storage::Variable(function, local));
        Some(Stored { id, name, getter: None })
    }

    /// Returns a captured variable in the function that declares it.
    fn declared_as(&mut self, mut function: FunctionId, mut local: LocalId) -> (FunctionId, LocalId) {
        while let Some(parent) = self.lowering.parents.get(&function).copied()
            && let Some(body) = self.d.body(function)
            && let Some(capture) = body.captures.iter().find(|c| c.inner == local)
        {
            (function, local) = (parent, capture.outer);
        }
        (function, local)
    }

    /// Returns the storage of a stored property of an instance. The property has the same index in the storage of a
    /// subclass.
    pub fn stored_property(&mut self, ty: &Type, index: usize) -> Option<Stored> {
        let Type::Nominal(id, _) = self.concrete(ty) else { return None };
        let nominal = self.d.nominal(id);
        let property = nominal.stored.get(index).filter(|p| nominal.kind == NominalKind::Class && !p.is_let)?;
        let name: Rc<str> = property.name.clone();
        let id = self.lowering.accesses.storage(Storage::Property(name.clone()));
        Some(Stored { id, name, getter: None })
    }

    /// Returns the storage of a global variable; `None` for a constant.
    pub fn stored_global(&mut self, global: GlobalId) -> Option<Stored> {
        let declared = self.d.global(global);
        if declared.is_let {
            return None;
        }
        let id = self.lowering.accesses.storage(Storage::Global(global));
        Some(Stored { id, name: declared.name.clone(), getter: None })
    }

    /// Notes that the value at a place is read or replaced.
    pub fn note_access(&mut self, at: &Location) {
        self.access(at, AccessKind::Instantaneous);
    }

    /// Notes the beginning of a modification of a place; returns the number of the modification, which
    /// [`Builder::end_access`] takes.
    pub fn begin_access(&mut self, at: &Location) -> Option<u32> {
        let (stored, ..) = parts(at)?;
        let change = self.lowering.accesses.begin(stored.id);
        // In a call that modifies several arguments, the source location of the modification is the argument, and not
        // the call.
        let outer_span = self.span;
        self.span = self.changed_at.unwrap_or(outer_span);
        self.access(at, AccessKind::Begin(change));
        self.span = outer_span;
        self.held.push(change);
        Some(change)
    }

    /// Returns the stored property of an instance that a getter without arguments may read: the components of the
    /// property are known statically, or depend on the dynamic type of the instance.
    pub fn location_of_getter(&mut self, get: &Target, base: &[Reg]) -> Option<Location> {
        let object = *base.first().filter(|object| self.bank(**object) == Bank::R)?;
        let declared = self.d.function(get.declaration().function);
        let name: Rc<str> = declared.name.rsplit('.').next()?.into();
        let (cells, getter) = match get {
            Target::Static(f) => (self.cells_read(f)?, None),
            Target::Dynamic(method, ..) => (vec![], Some(*method)),
            Target::InstanceCreation(_) => return None,
        };
        let id = self.lowering.accesses.storage(Storage::Property(name.clone()));
        Some(Location::Box { object, cells, stored: Some(Stored { id, name, getter }) })
    }

    /// Returns the components of an instance that a function reads, if it is the getter of a stored property.
    fn cells_read(&mut self, f: &FunctionRef) -> Option<Vec<(Bank, u32)>> {
        let declared = self.d.function(f.function);
        let (index, own) = (declared.reads?, &declared.params.first()?.ty);
        let own = self.of_function(&declared, &f.generics, own);
        let shape = self.shape(&own);
        let Shape::Class { .. } = self.program.shapes.get(shape) else { return None };
        let inner = self.inner(shape);
        let (value, _) = self.beside(inner);
        let range = self.lowering.layouts.field(&self.program.shapes, value, index as usize);
        Some(self.lowering.layouts.cells(&self.program.shapes, inner)[range].to_vec())
    }

    /// Returns the components of an instance that a getter of a stored property reads, by bank.
    pub fn reads(&mut self, f: &FunctionRef) -> [Range<u32>; 3] {
        self.cells_read(f).map_or_else(Default::default, |cells| extent(&cells))
    }

    /// Notes the end of the modification of a place that has the number `change`.
    pub fn end_access(&mut self, at: &Location, change: Option<u32>) {
        let Some(change) = change else { return };
        self.held.retain(|held| *held != change);
        self.access(at, AccessKind::End(change));
    }

    /// Notes a call that occurs during the modifications in progress.
    pub fn note_call(&mut self, op: &Op) {
        let callee = match op {
            Op::Call(id) => Callee::Function(*id),
            _ => Callee::Value,
        };
        for change in &self.held {
            self.lowering.accesses.call(*change, callee);
        }
    }

    fn access(&mut self, at: &Location, how: AccessKind) {
        let Some((stored, object, cells)) = parts(at) else { return };
        let region =
            Region { storage: stored.id, name: stored.name.clone(), cells: extent(cells), getter: stored.getter };
        let ins: Vec<Reg> = object.into_iter().collect();
        if !matches!(how, AccessKind::End(_)) {
            self.held.iter().for_each(|change| self.lowering.accesses.note_overlap(*change, stored.id));
        }
        self.emit(Op::Access { how, region: Rc::new(region) }, &[], &ins);
    }
}

/// An access to shared storage: the accessed storage, the object that contains it, and the accessed components.
type Parts<'l> = (&'l Stored, Option<Reg>, &'l [(Bank, u32)]);

fn parts(at: &Location) -> Option<Parts<'_>> {
    match at {
        Location::Box { object, cells, stored: Some(stored) } if !cells.is_empty() || stored.getter.is_some() => {
            Some((stored, Some(*object), cells))
        }
        Location::Global { cells, stored: Some(stored) } if !cells.is_empty() => Some((stored, None, cells)),
        _ => None,
    }
}

/// Returns the range of the accessed components of each bank; the components of one value are consecutive.
fn extent(cells: &[(Bank, u32)]) -> [Range<u32>; 3] {
    [Bank::F, Bank::I, Bank::R].map(|bank| {
        let mut all = cells.iter().filter(|(b, _)| *b == bank).map(|(_, index)| *index);
        let first = all.next();
        first.map_or(0..0, |first| first..all.next_back().unwrap_or(first) + 1)
    })
}
