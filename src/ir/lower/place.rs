//! Places: where a value is kept, and how it is read, replaced and changed there.
//!
//! A change in place goes in three steps: the place is found ([`Builder::place`] evaluates what stands in it, once),
//! opened (what is to be changed is moved to registers, along the whole way to it) and closed (moved back). An array has
//! one owner in between, so it is not copied. Indices are checked before anything is moved out of storage that outlives
//! a failure, so that a failure leaves it as it was.

use super::build::{Builder, Slot, Use, Value};
use super::call::{Operand, may_write};
use crate::ir::graph::{Op, Reg, Stride, Trap};
use crate::ir::layout::cells;
use crate::types::tree::{
    Argument, Callee, Expr, ExprKind, FunctionRef, LocalId, Place, Projection, ProjectionKind, Root,
};
use crate::types::ty::Type;
use crate::value::Bank;
use crate::value::shape::Shape;
use std::ops::Range;

/// Where a value is kept.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// In registers.
    Registers(Value),
    /// In a box: a captured variable, an instance of a class.
    Box { object: Reg, cells: Vec<(Bank, u32)> },
    /// In global variables.
    Global { cells: Vec<(Bank, u32)> },
    /// In an element of an array.
    Element { array: Box<Location>, index: Reg, stride: Stride, cells: Vec<(Bank, u32)> },
    /// In a record.
    Record { record: Box<Location>, cells: Vec<(Bank, u32)> },
    /// Behind a getter and a setter.
    Accessor(Box<Accessor>),
    /// Some components of what is behind a getter and a setter.
    Part { whole: Box<Location>, range: Range<usize> },
    /// In something marked `@noDerivative`: what is put there becomes a constant.
    Cut { inner: Box<Location>, ty: Type },
    /// Nowhere.
    Discard,
}

/// A computed property or subscript.
#[derive(Clone, Debug)]
pub(super) struct Accessor {
    base: Location,
    get: FunctionRef,
    set: FunctionRef,
    args: Vec<Value>,
    mutating: bool,
}

/// A place whose value was moved to registers, and how it gets back.
pub(super) struct Opened {
    pub regs: Value,
    closings: Vec<Closing>,
}

enum Closing {
    /// Stores registers where they came from.
    Store(Location, Value),
    /// Calls a setter on the base, whose value is in registers.
    Set { accessor: Box<Accessor>, base: Value, value: Value },
    /// Makes a constant of what was put there.
    Cut(Value, Type),
}

impl Builder<'_> {
    // Finding

    /// Finds a place: evaluates what stands in it, from left to right.
    pub fn place(&mut self, place: &Place) -> Location {
        let (mut at, mut ty) = match &place.root {
            Root::Local(local) => (self.local_location(*local), self.body.locals[local.0 as usize].ty.clone()),
            Root::Global(global) => {
                let ty = self.d.global(*global).ty.clone();
                (self.global(*global), ty)
            }
            Root::Value(value) => {
                let regs = self.expr(value);
                (Location::Registers(self.keep(regs)), value.ty.clone())
            }
            Root::Discard => return Location::Discard,
        };
        for step in &place.path {
            let outer = std::mem::replace(&mut self.span, step.span);
            at = self.step(at, &ty, step);
            ty = step.ty.clone();
            self.span = outer;
        }
        at
    }

    fn step(&mut self, at: Location, ty: &Type, step: &Projection) -> Location {
        match &step.kind {
            ProjectionKind::Field(index) => {
                let field = self.field_location(at, ty, *index as usize);
                if self.is_constant_field(ty, *index as usize) && self.tangent(&step.ty).is_some() {
                    Location::Cut { inner: Box::new(field), ty: step.ty.clone() }
                } else {
                    field
                }
            }
            ProjectionKind::Element(index) => self.field_location(at, ty, *index as usize),
            ProjectionKind::Force => {
                let tag = self.part(at.clone(), 0..1);
                let tag = self.load(&tag);
                self.demand(tag[0], Trap::UnexpectedNil);
                self.payload_location(at, ty)
            }
            ProjectionKind::Accessor { get, set, args, mutating } => {
                let args: Vec<Value> = args
                    .iter()
                    .map(|a| {
                        let value = self.expr(a);
                        self.keep(value)
                    })
                    .collect();
                self.accessor_location(at, get, set, args, *mutating, &step.ty)
            }
        }
    }

    fn accessor_location(
        &mut self,
        base: Location,
        get: &Callee,
        set: &Callee,
        args: Vec<Value>,
        mutating: bool,
        ty: &Type,
    ) -> Location {
        let (Some(get), Some(set)) = (self.resolve(get), self.resolve(set)) else {
            return Location::Discard;
        };
        let index = args.first().and_then(|a| a.first()).copied();
        if let (true, Some(index)) = (self.is_primitive(&get, "array.get"), index) {
            return self.element_location(base, index, ty);
        }
        Location::Accessor(Box::new(Accessor { base, get, set, args, mutating }))
    }

    /// The place of a variable.
    pub fn local_location(&mut self, local: LocalId) -> Location {
        match self.slot(local) {
            Slot::Registers(regs) => Location::Registers(regs),
            Slot::Box(object) => {
                let ty = self.body.locals[local.0 as usize].ty.clone();
                let banks = self.banks(&ty);
                Location::Box { object, cells: cells(&banks) }
            }
            Slot::Absent => Location::Discard,
        }
    }

    /// The place of a stored property, or an element of a tuple, of what is at a place.
    pub fn field_location(&mut self, at: Location, ty: &Type, index: usize) -> Location {
        let shape = self.shape(ty);
        let inner = self.inner(shape);
        let range = self.lowering.layouts.field(&self.program.shapes, inner, index);
        match self.program.shapes.get(shape) {
            Shape::Class { fields, .. } => {
                let fields: Vec<_> = fields.iter().map(|f| f.1).collect();
                let banks: Vec<Bank> = fields.iter().flat_map(|s| self.banks_of(*s).to_vec()).collect();
                match self.load(&at).first() {
                    Some(object) => Location::Box { object: *object, cells: cells(&banks)[range].to_vec() },
                    None => Location::Discard,
                }
            }
            Shape::Boxed(_) => {
                let banks = self.banks_of(inner);
                Location::Record { record: Box::new(at), cells: cells(&banks)[range].to_vec() }
            }
            _ => self.part(at, range),
        }
    }

    /// The place of the value of an optional.
    pub fn payload_location(&mut self, at: Location, ty: &Type) -> Location {
        let len = self.banks(ty).len();
        self.part(at, 1..len)
    }

    fn element_location(&mut self, array: Location, index: Reg, ty: &Type) -> Location {
        let banks = self.banks(ty);
        Location::Element { array: Box::new(array), index, stride: stride(&banks), cells: cells(&banks) }
    }

    /// Some components of what is at a place.
    pub fn part(&mut self, at: Location, range: Range<usize>) -> Location {
        match at {
            Location::Registers(regs) => Location::Registers(regs[range].to_vec()),
            Location::Box { object, cells } => Location::Box { object, cells: cells[range].to_vec() },
            Location::Global { cells } => Location::Global { cells: cells[range].to_vec() },
            Location::Element { array, index, stride, cells } => {
                Location::Element { array, index, stride, cells: cells[range].to_vec() }
            }
            Location::Record { record, cells } => Location::Record { record, cells: cells[range].to_vec() },
            Location::Accessor(_) => Location::Part { whole: Box::new(at), range },
            Location::Part { whole, range: outer } => {
                Location::Part { whole, range: outer.start + range.start..outer.start + range.end }
            }
            Location::Cut { .. } => Location::Part { whole: Box::new(at), range },
            Location::Discard => Location::Discard,
        }
    }

    fn is_constant_field(&mut self, ty: &Type, index: usize) -> bool {
        match self.concrete(ty) {
            Type::Nominal(id, _) => self.d.nominal(id).stored.get(index).is_some_and(|s| s.no_derivative),
            _ => false,
        }
    }

    // Reading

    /// The place that an expression reads, so that no more of it is loaded than is needed.
    pub fn location(&mut self, e: &Expr) -> Location {
        match &e.kind {
            ExprKind::Local(local) => self.local_location(*local),
            ExprKind::Global(global) => self.global(*global),
            ExprKind::Field { base, index } | ExprKind::Element { base, index } => {
                let at = self.location(base);
                self.field_location(at, &base.ty, *index as usize)
            }
            ExprKind::Upcast(base) => self.location(base),
            ExprKind::Call { callee, args } => {
                let get = self.resolve(callee);
                match (get, args.as_slice()) {
                    (Some(get), [Argument::Value(array), Argument::Value(index)])
                        if self.is_primitive(&get, "array.get") =>
                    {
                        let mut at = self.location(array);
                        if may_write(index) {
                            let whole = self.load(&at);
                            at = Location::Registers(self.keep(whole));
                        }
                        let index = self.expr(index);
                        self.element_location(at, index[0], &e.ty)
                    }
                    _ => Location::Registers(self.expr_value(e)),
                }
            }
            _ => Location::Registers(self.expr_value(e)),
        }
    }

    /// The value at a place. Registers of variables are handed out as they are.
    pub fn load(&mut self, at: &Location) -> Value {
        match at {
            Location::Registers(regs) => regs.clone(),
            Location::Box { object, cells } => {
                self.each(cells, &[*object], |bank, index| Op::LoadBox { bank, index: index as u16 })
            }
            Location::Global { cells } => self.each(cells, &[], |bank, index| Op::LoadGlobal { bank, index }),
            Location::Element { array, index, stride, cells } => {
                let array = self.load(array);
                let stride = *stride;
                if cells.is_empty() {
                    self.emit(Op::CheckIndex, &[], &[array[0], *index]);
                }
                let op = |bank, offset| Op::LoadElement { bank, offset: offset as u16, stride };
                self.each(cells, &[array[0], *index], op)
            }
            Location::Record { record, cells } => {
                let record = self.load(record);
                self.each(cells, &[record[0]], |bank, index| Op::LoadRecord { bank, index: index as u16 })
            }
            Location::Accessor(accessor) if self.getter_mutates(accessor) => {
                self.check(&accessor.base);
                let base = self.open(&accessor.base);
                let value = self.get(accessor, base.regs.clone());
                self.close(base);
                value
            }
            Location::Accessor(accessor) => {
                let base = self.load(&accessor.base);
                self.get(accessor, base)
            }
            Location::Part { whole, range } => self.load(whole)[range.clone()].to_vec(),
            Location::Cut { inner, .. } => self.load(inner),
            Location::Discard => vec![],
        }
    }

    /// The contents of a box.
    pub fn load_box(&mut self, object: Reg, ty: &Type) -> Value {
        let banks = self.banks(ty);
        self.load(&Location::Box { object, cells: cells(&banks) })
    }

    fn each(&mut self, cells: &[(Bank, u32)], ins: &[Reg], op: impl Fn(Bank, u32) -> Op) -> Value {
        cells.iter().map(|(bank, index)| self.value(op(*bank, *index), *bank, ins)).collect()
    }

    // Replacing

    /// Replaces the value at a place.
    pub fn store(&mut self, at: &Location, value: &[Reg]) {
        match at {
            Location::Registers(regs) => self.assign(regs, value),
            Location::Box { object, cells } => {
                for ((bank, index), reg) in cells.iter().zip(value) {
                    self.emit(Op::StoreBox { bank: *bank, index: *index as u16 }, &[], &[*object, *reg]);
                }
            }
            Location::Global { cells } => {
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
            Location::Cut { inner, ty } => {
                let value = self.without_derivative(value.to_vec(), ty);
                self.store(inner, &value);
            }
            Location::Discard => {}
        }
    }

    /// Stores components of an element or record, which is in a register.
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

    /// A lazy property is stored when it is first read.
    fn getter_mutates(&mut self, accessor: &Accessor) -> bool {
        self.d.function(accessor.get.function).params.first().is_some_and(|p| p.is_inout)
    }

    fn get(&mut self, accessor: &Accessor, base: Value) -> Value {
        let base = if self.getter_mutates(accessor) { Operand::InOut(base) } else { Operand::Value(base) };
        let mut operands = vec![base];
        operands.extend(accessor.args.iter().cloned().map(Operand::Value));
        self.call_function(&accessor.get, operands)
    }

    fn set(&mut self, accessor: &Accessor, base: Value, value: Value) {
        let base = if accessor.mutating { Operand::InOut(base) } else { Operand::Value(base) };
        let mut operands = vec![base, Operand::Value(value)];
        operands.extend(accessor.args.iter().cloned().map(Operand::Value));
        self.call_function(&accessor.set, operands);
    }

    // Changing

    /// Fails on a bad index now, while everything is still in its place.
    pub fn check(&mut self, at: &Location) {
        match at {
            Location::Element { array, index, .. } => {
                if outlives_failure(array) {
                    let array = self.load(array);
                    self.emit(Op::CheckIndex, &[], &[array[0], *index]);
                }
            }
            Location::Record { record: inner, .. }
            | Location::Part { whole: inner, .. }
            | Location::Cut { inner, .. } => self.check(inner),
            Location::Accessor(accessor) => self.check(&accessor.base),
            Location::Registers(_) | Location::Box { .. } | Location::Global { .. } | Location::Discard => {}
        }
    }

    /// Moves what is at a place to registers, where it may be changed; [`Builder::close`] moves it back. The registers
    /// of a variable are changed where they are.
    pub fn open(&mut self, at: &Location) -> Opened {
        match at {
            Location::Registers(regs) => Opened { regs: regs.clone(), closings: vec![] },
            Location::Box { object, cells } => {
                let regs = cells.iter().map(|(bank, index)| {
                    let index = *index as u16;
                    match bank {
                        Bank::R => self.value(Op::TakeBox { index }, *bank, &[*object]),
                        Bank::F | Bank::I => self.value(Op::LoadBox { bank: *bank, index }, *bank, &[*object]),
                    }
                });
                let regs: Value = regs.collect();
                self.opened(vec![], at, regs)
            }
            Location::Global { cells } => {
                let careful = self.careful;
                let regs = cells.iter().map(|(bank, index)| match bank {
                    Bank::R if !careful => self.value(Op::TakeGlobal { index: *index }, *bank, &[]),
                    _ => self.value(Op::LoadGlobal { bank: *bank, index: *index }, *bank, &[]),
                });
                let regs: Value = regs.collect();
                self.opened(vec![], at, regs)
            }
            Location::Element { array, index, stride, cells } => {
                let array = self.open(array);
                let object = array.regs[0];
                let mut regs = vec![];
                if cells.is_empty() {
                    self.emit(Op::CheckIndex, &[], &[object, *index]);
                }
                for (bank, offset) in cells {
                    let (offset, stride) = (*offset as u16, *stride);
                    let out = self.reg(*bank);
                    match bank {
                        Bank::R => self.emit(Op::TakeElement { offset, stride }, &[out, object], &[object, *index]),
                        Bank::F | Bank::I => {
                            let op = Op::LoadElement { bank: *bank, offset, stride };
                            self.emit(op, &[out], &[object, *index]);
                        }
                    }
                    regs.push(out);
                }
                let inside = Location::Element {
                    array: Box::new(Location::Registers(array.regs)),
                    index: *index,
                    stride: *stride,
                    cells: cells.clone(),
                };
                self.opened(array.closings, &inside, regs)
            }
            Location::Record { record, cells } => {
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
                let inside =
                    Location::Record { record: Box::new(Location::Registers(record.regs)), cells: cells.clone() };
                self.opened(record.closings, &inside, regs)
            }
            Location::Accessor(accessor) => self.open_accessor(accessor),
            Location::Part { whole, range } => {
                let whole = self.open(whole);
                Opened { regs: whole.regs[range.clone()].to_vec(), closings: whole.closings }
            }
            Location::Cut { inner, ty } => {
                let mut opened = self.open(inner);
                opened.closings.push(Closing::Cut(opened.regs.clone(), ty.clone()));
                opened
            }
            Location::Discard => Opened { regs: vec![], closings: vec![] },
        }
    }

    fn opened(&mut self, mut closings: Vec<Closing>, at: &Location, regs: Value) -> Opened {
        // They are changed before they go back.
        self.dedicate(&regs, "", Use::Variable);
        closings.push(Closing::Store(at.clone(), regs.clone()));
        Opened { regs, closings }
    }

    fn open_accessor(&mut self, accessor: &Accessor) -> Opened {
        let base = if accessor.mutating {
            self.open(&accessor.base)
        } else {
            let regs = self.load(&accessor.base);
            Opened { regs: self.keep(regs), closings: vec![] }
        };
        let value = self.get(accessor, base.regs.clone());
        let value = self.keep(value);
        let regs = if value.iter().all(|r| self.use_of(*r) == Use::Temporary) { value } else { self.copy(&value) };
        self.dedicate(&regs, "", Use::Variable);
        let mut closings = base.closings;
        closings.push(Closing::Set { accessor: Box::new(accessor.clone()), base: base.regs, value: regs.clone() });
        Opened { regs, closings }
    }

    /// Moves an opened place's value back.
    pub fn close(&mut self, opened: Opened) {
        for closing in opened.closings.into_iter().rev() {
            match closing {
                Closing::Store(at, regs) => {
                    match &at {
                        Location::Element { array, .. } | Location::Record { record: array, .. } => {
                            let object = self.load(array);
                            self.store_in(&at, object[0], &regs);
                        }
                        _ => self.store(&at, &regs),
                    }
                    self.release(&regs);
                }
                Closing::Set { accessor, base, value } => {
                    self.set(&accessor, base, value.clone());
                    self.release(&value);
                }
                Closing::Cut(regs, ty) => {
                    let constant = self.without_derivative(regs.clone(), &ty);
                    self.assign(&regs, &constant);
                }
            }
        }
    }

    /// Empties references that were stored, so that what they name has one owner again.
    fn release(&mut self, regs: &[Reg]) {
        for reg in regs {
            if self.bank(*reg) == Bank::R {
                self.set_zero(*reg);
            }
        }
    }
}

/// Whether a place is in storage that is still there after a failure.
fn outlives_failure(at: &Location) -> bool {
    match at {
        Location::Box { .. } | Location::Global { .. } => true,
        Location::Element { array: inner, .. }
        | Location::Record { record: inner, .. }
        | Location::Part { whole: inner, .. }
        | Location::Cut { inner, .. } => outlives_failure(inner),
        Location::Accessor(accessor) => outlives_failure(&accessor.base),
        Location::Registers(_) | Location::Discard => false,
    }
}

/// How many components of each bank there are.
pub(super) fn stride(banks: &[Bank]) -> Stride {
    let count = |bank| banks.iter().filter(|b| **b == bank).count() as u16;
    Stride { f: count(Bank::F), i: count(Bank::I), r: count(Bank::R) }
}
