//! Modification: lowering of replacements and modifications of the value at a place.
//!
//! A modification in place has three steps: the place is located (`place.rs`), opened (the value, and the values that
//! contain it, are moved to registers) and closed (the values are moved back). An array has one owner in the meantime,
//! so it is not copied. Indices are checked before a value is moved out of storage that outlives a failure, so that a
//! failure leaves the storage unchanged.

use super::builder::{Builder, Use, Value};
use super::call::Operand;
use super::dispatch::Target;
use super::place::{Accessor, Location, MoveOut, OpaqueProperty};
use crate::ir::graph::{Op, Reg, Stride};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::FunctionId;
use crate::value::Bank;

/// A place whose value was moved to registers, and the steps that move the value back.
#[derive(Clone)]
pub(super) struct OpenedPlace {
    pub regs: Value,
    closings: Vec<Closing>,
}

#[derive(Clone)]
enum Closing {
    /// Stores registers in the place from which they were loaded, at the end of the modification of shared storage that
    /// has the given number.
    Store(Location, Value, Option<u32>),
    /// Calls a setter on the base of a property, whose value is in registers, at the end of the modification of its
    /// stored property.
    Set { accessor: Box<Accessor>, base: Value, value: Value, change: Option<(Location, u32)> },
    /// Makes the new value of a place constant, because the place is marked `@noDerivative`.
    Cut(Value, Type),
    /// Updates the tangent vector of a stored property's owner after the property was stored.
    StoreOpaqueProperty(Box<OpaqueProperty>),
}

impl Builder<'_> {
    // Replacing

    /// Replaces the value at a place.
    pub fn store(&mut self, at: &Location, value: &[Reg]) {
        match at {
            Location::Registers(regs) => self.assign(regs, value),
            Location::Box { object, cells, .. } => {
                self.note_access(at);
                for ((bank, index), reg) in cells.iter().zip(value) {
                    self.emit(Op::StoreBox { bank: *bank, index: *index as u16 }, &[], &[*object, *reg]);
                }
            }
            Location::Global { cells, .. } => {
                self.note_access(at);
                for ((bank, index), reg) in cells.iter().zip(value) {
                    self.emit(Op::StoreGlobal { bank: *bank, index: *index }, &[], &[*reg]);
                }
            }
            Location::Element { array, .. } => {
                self.check(at);
                let array = self.open(array);
                self.store_in(at, array.regs[0], value);
                self.close(array);
            }
            Location::Record { record, .. } => {
                self.check(at);
                let record = self.open(record);
                self.store_in(at, record.regs[0], value);
                self.close(record);
            }
            Location::Accessor(accessor) => {
                if accessor.mutating {
                    self.check(&accessor.base);
                    let base = self.open(&accessor.base);
                    self.set(accessor, base.regs.clone(), value.to_vec());
                    self.close(base);
                } else {
                    let base = self.load(&accessor.base);
                    self.set(accessor, base, value.to_vec());
                }
            }
            Location::Part { whole, range } => {
                let mut all = self.load(whole);
                all.splice(range.clone(), value.iter().copied());
                self.store(whole, &all);
            }
            Location::Unwrapped { optional, range } => {
                self.demand_value(optional);
                let payload = self.part((**optional).clone(), range.clone());
                self.store(&payload, value);
            }
            Location::Cut { inner, ty } => {
                let value = self.mark_no_derivative(value.to_vec(), ty);
                self.store(inner, &value);
            }
            Location::Weak { inner, ownership } => {
                let value = self.weak_reference(value.to_vec(), *ownership);
                self.store(inner, &value);
            }
            Location::OpaqueProperty(opaque_property) => {
                self.store(&opaque_property.value, value);
                self.store_opaque_property(opaque_property);
            }
            Location::OmittedProperty(omitted) => self.store(&omitted.value, value),
            Location::Discard => {}
        }
    }

    /// Updates the tangent vector beside the owner of a stored property that was set.
    fn store_opaque_property(&mut self, opaque_property: &OpaqueProperty) {
        let (vector, value) = (self.load(&opaque_property.vector), self.load(&opaque_property.value));
        let vector = self.set_opaque_property(&opaque_property.property, vector, value);
        self.store(&opaque_property.vector, &vector);
    }

    /// Stores components of an element or record whose array or record is in a register.
    fn store_in(&mut self, at: &Location, object: Reg, value: &[Reg]) {
        match at {
            Location::Element { index, stride, cells, .. } => {
                for ((bank, offset), reg) in cells.iter().zip(value) {
                    let op = Op::StoreElement { bank: *bank, offset: *offset as u16, stride: *stride };
                    self.emit(op, &[object], &[object, *index, *reg]);
                }
            }
            Location::Record { cells, .. } => {
                for ((bank, index), reg) in cells.iter().zip(value) {
                    let op = Op::StoreRecord { bank: *bank, index: *index as u16 };
                    self.emit(op, &[object], &[object, *reg]);
                }
            }
            _ => self.store(at, value),
        }
    }

    /// Whether a getter modifies its base: a lazy property is stored when it is first read.
    pub fn getter_mutates(&mut self, accessor: &Accessor) -> bool {
        self.d.function(accessor.get.declaration().function).params.first().is_some_and(|p| p.is_inout)
    }

    pub fn get(&mut self, accessor: &Accessor, base: Value) -> Value {
        let base = if self.getter_mutates(accessor) { Operand::InOut(base) } else { Operand::Value(base) };
        self.call_accessor(&accessor.get, base, accessor)
    }

    /// Calls an accessor function with the base of a property or subscript, and the arguments of the subscript.
    pub fn call_accessor(&mut self, function: &Target, base: Operand, accessor: &Accessor) -> Value {
        let mut operands = vec![base];
        operands.extend(accessor.args.iter().cloned().map(Operand::Value));
        self.call_and_propagate(function, operands)
    }

    fn set(&mut self, accessor: &Accessor, base: Value, value: Value) {
        let base = if accessor.mutating { Operand::InOut(base) } else { Operand::Value(base) };
        let mut operands = vec![base, Operand::Value(value)];
        operands.extend(accessor.args.iter().cloned().map(Operand::Value));
        self.call_and_propagate(&accessor.set, operands);
    }

    // Modifying

    /// Checks indices and optionals of a place while all values are still in storage, and fails on a bad index or a
    /// missing value.
    pub fn check(&mut self, at: &Location) {
        match at {
            Location::Element { array, index, .. } => {
                if outlives_failure(array) {
                    let array = self.load(array);
                    self.emit(Op::CheckIndex, &[], &[array[0], *index]);
                } else {
                    self.check(array);
                }
            }
            Location::Unwrapped { optional, range } => {
                self.demand_value(optional);
                let payload = self.part((**optional).clone(), range.clone());
                self.check(&payload);
            }
            Location::Record { record: inner, .. }
            | Location::Part { whole: inner, .. }
            | Location::Cut { inner, .. }
            | Location::Weak { inner, .. } => self.check(inner),
            Location::Accessor(accessor) => self.check(&accessor.base),
            Location::OpaqueProperty(opaque_property) => self.check(&opaque_property.value),
            Location::OmittedProperty(omitted) => self.check(&omitted.value),
            Location::Registers(_) | Location::Box { .. } | Location::Global { .. } | Location::Discard => {}
        }
    }

    /// Moves the value of a place to registers, where it may be modified; [`Builder::close`] moves it back. The
    /// registers of a variable are modified in place.
    pub fn open(&mut self, at: &Location) -> OpenedPlace {
        match at {
            Location::Registers(regs) => OpenedPlace { regs: regs.clone(), closings: vec![] },
            Location::Box { object, cells, .. } => {
                let change = self.begin_access(at);
                let regs = cells.iter().map(|(bank, index)| {
                    let index = *index as u16;
                    match bank {
                        Bank::R => self.value(Op::TakeBox { index }, *bank, &[*object]),
                        Bank::F | Bank::I => self.value(Op::LoadBox { bank: *bank, index }, *bank, &[*object]),
                    }
                });
                let regs: Value = regs.collect();
                self.opened_during(change, at, regs)
            }
            Location::Global { cells, .. } => {
                let change = self.begin_access(at);
                let copies_globals = self.copies_globals;
                let regs = cells.iter().map(|(bank, index)| match bank {
                    Bank::R if !copies_globals => self.value(Op::TakeGlobal { index: *index }, *bank, &[]),
                    _ => self.value(Op::LoadGlobal { bank: *bank, index: *index }, *bank, &[]),
                });
                let regs: Value = regs.collect();
                self.opened_during(change, at, regs)
            }
            Location::Element { array, index, stride, cells } => self.open_element(array, *index, *stride, cells),
            Location::Record { record, cells } => self.open_record(record, cells),
            Location::Accessor(accessor) => self.open_accessor(accessor),
            Location::Part { whole, range } => {
                let whole = self.open(whole);
                OpenedPlace { regs: whole.regs[range.clone()].to_vec(), closings: whole.closings }
            }
            Location::Unwrapped { optional, range } => {
                let payload = self.part((**optional).clone(), range.clone());
                self.open(&payload)
            }
            Location::Cut { inner, ty } => {
                let mut opened = self.open(inner);
                opened.closings.push(Closing::Cut(opened.regs.clone(), ty.clone()));
                opened
            }
            Location::Weak { .. } | Location::OmittedProperty(_) => {
                let regs = self.load(at);
                self.opened(vec![], at, regs)
            }
            Location::OpaqueProperty(opaque_property) => self.open_opaque_property(opaque_property),
            Location::Discard => OpenedPlace { regs: vec![], closings: vec![] },
        }
    }

    fn open_element(&mut self, array: &Location, index: Reg, stride: Stride, cells: &[(Bank, u32)]) -> OpenedPlace {
        let array = self.open(array);
        let object = array.regs[0];
        let mut regs = vec![];
        if cells.is_empty() {
            self.emit(Op::CheckIndex, &[], &[object, index]);
        }
        for (bank, offset) in cells {
            let offset = *offset as u16;
            let out = self.reg(*bank);
            match bank {
                Bank::R => self.emit(Op::TakeElement { offset, stride }, &[out, object], &[object, index]),
                Bank::F | Bank::I => {
                    let op = Op::LoadElement { bank: *bank, offset, stride };
                    self.emit(op, &[out], &[object, index]);
                }
            }
            regs.push(out);
        }
        let array_at = Box::new(Location::Registers(array.regs));
        let inside = Location::Element { array: array_at, index, stride, cells: cells.to_vec() };
        self.opened(array.closings, &inside, regs)
    }

    fn open_record(&mut self, record: &Location, cells: &[(Bank, u32)]) -> OpenedPlace {
        let record = self.open(record);
        let object = record.regs[0];
        let mut regs = vec![];
        for (bank, index) in cells {
            let index = *index as u16;
            let out = self.reg(*bank);
            match bank {
                Bank::R => self.emit(Op::TakeRecord { index }, &[out, object], &[object]),
                Bank::F | Bank::I => self.emit(Op::LoadRecord { bank: *bank, index }, &[out], &[object]),
            }
            regs.push(out);
        }
        let inside = Location::Record { record: Box::new(Location::Registers(record.regs)), cells: cells.to_vec() };
        self.opened(record.closings, &inside, regs)
    }

    fn open_opaque_property(&mut self, at: &OpaqueProperty) -> OpenedPlace {
        let mut opened = self.open(&at.value);
        let property = &at.property;
        if self.counterpart(&property.owner, &property.ty, &property.name).is_some() {
            let vector = self.load(&at.vector);
            let value = self.read_opaque_property(property, vector, opened.regs.clone());
            self.assign(&opened.regs, &value);
        }
        opened.closings.insert(0, Closing::StoreOpaqueProperty(Box::new(at.clone())));
        opened
    }

    fn opened(&mut self, mut closings: Vec<Closing>, at: &Location, regs: Value) -> OpenedPlace {
        // The registers of the opened place are modified before they are stored again.
        self.dedicate(&regs, "", Use::Variable);
        closings.push(Closing::Store(at.clone(), regs.clone(), None));
        OpenedPlace { regs, closings }
    }

    /// Opens a place whose value was moved out of shared storage, for the modification with the given number.
    fn opened_during(&mut self, change: Option<u32>, at: &Location, regs: Value) -> OpenedPlace {
        self.dedicate(&regs, "", Use::Variable);
        let closings = vec![Closing::Store(at.clone(), regs.clone(), change)];
        OpenedPlace { regs, closings }
    }

    fn open_accessor(&mut self, accessor: &Accessor) -> OpenedPlace {
        let base = if accessor.mutating {
            self.open(&accessor.base)
        } else {
            let regs = self.load(&accessor.base);
            OpenedPlace { regs: self.keep(regs), closings: vec![] }
        };
        let value = match (&accessor.move_out, &accessor.found) {
            (Some(MoveOut { take, otherwise: Some(otherwise), .. }), _) => {
                self.take_or_else(take, *otherwise, &base.regs, &accessor.args)
            }
            (Some(move_out), _) => self.call_accessor(&move_out.take, Operand::InOut(base.regs.clone()), accessor),
            (None, Some(found)) => found.clone(),
            (None, None) => self.get(accessor, base.regs.clone()),
        };
        let stored = self.location_of_getter(&accessor.get, &base.regs).filter(|_| accessor.args.is_empty());
        let change = stored.and_then(|at| self.begin_access(&at).map(|change| (at, change)));
        let value = self.keep(value);
        let regs = if value.iter().all(|r| self.use_of(*r) == Use::Temporary) { value } else { self.copy(&value) };
        self.dedicate(&regs, "", Use::Variable);
        let mut closings = base.closings;
        let accessor = Box::new(accessor.clone());
        closings.push(Closing::Set { accessor, base: base.regs, value: regs.clone(), change });
        OpenedPlace { regs, closings }
    }

    /// Moves a value out of a container; the closure, which is the last of the arguments, returns the value if there is
    /// none.
    fn take_or_else(&mut self, take: &Target, otherwise: FunctionId, container: &[Reg], args: &[Value]) -> Value {
        let mut operands = vec![Operand::InOut(container.to_vec())];
        operands.extend(args[..args.len() - 1].iter().cloned().map(Operand::Value));
        let optional = self.call_and_propagate(take, operands);
        let optional = self.keep(optional);
        let banks: Vec<Bank> = optional[1..].iter().map(|reg| self.bank(*reg)).collect();
        let result = self.regs(&banks);
        let (present, absent, after) = (self.block(), self.block(), self.block());
        self.branch(optional[0], present, absent);
        self.switch_to_block(present);
        self.assign(&result, &optional[1..]);
        self.jump(after);
        self.switch_to_block(absent);
        let value = self.call_closure(otherwise, &banks);
        self.assign(&result, &value);
        self.jump(after);
        self.switch_to_block(after);
        result
    }

    /// Moves the value of an opened place back.
    pub fn close(&mut self, opened: OpenedPlace) {
        for closing in opened.closings.into_iter().rev() {
            match closing {
                Closing::Store(at, regs, change) => {
                    self.end_access(&at, change);
                    match &at {
                        Location::Element { array, .. } | Location::Record { record: array, .. } => {
                            let object = self.load(array);
                            self.store_in(&at, object[0], &regs);
                        }
                        _ => self.store(&at, &regs),
                    }
                    self.release(&regs);
                }
                Closing::Set { accessor, base, value, change } => {
                    if let Some((at, change)) = change {
                        self.end_access(&at, Some(change));
                    }
                    self.set(&accessor, base, value.clone());
                    self.release(&value);
                }
                Closing::StoreOpaqueProperty(opaque_property) => self.store_opaque_property(&opaque_property),
                Closing::Cut(regs, ty) => {
                    let constant = self.mark_no_derivative(regs.clone(), &ty);
                    self.assign(&regs, &constant);
                }
            }
        }
    }

    /// Empties registers whose references were stored, so that their objects have one owner again.
    fn release(&mut self, regs: &[Reg]) {
        for reg in regs {
            if self.bank(*reg) == Bank::R {
                self.set_zero(*reg);
            }
        }
    }
}

/// Whether a place is in storage that still exists after the program has failed.
fn outlives_failure(at: &Location) -> bool {
    match at {
        Location::Box { .. } | Location::Global { .. } => true,
        Location::Element { array: inner, .. }
        | Location::Record { record: inner, .. }
        | Location::Part { whole: inner, .. }
        | Location::Unwrapped { optional: inner, .. }
        | Location::Cut { inner, .. }
        | Location::Weak { inner, .. } => outlives_failure(inner),
        Location::Accessor(accessor) => outlives_failure(&accessor.base),
        Location::OpaqueProperty(opaque_property) => outlives_failure(&opaque_property.value),
        Location::OmittedProperty(omitted) => outlives_failure(&omitted.value),
        Location::Registers(_) | Location::Discard => false,
    }
}
