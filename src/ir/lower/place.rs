//! Places: the storage locations of values, and the evaluation of their subexpressions, once and from left to right.
//!
//! Not here: reading (`load.rs`), replacing and modifying the value (`modification.rs`).

use super::builder::{Builder, Slot, Value};
use super::call::Operand;
use super::dispatch::Target;
use super::exclusivity::Stored;
use crate::ir::graph::{Op, Reg, Stride, Trap};
use crate::ir::layout::cells;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Callee, ExprKind, FunctionId, FunctionRef, LocalId, Ownership, Place, Projection, ProjectionKind, Root,
};
use crate::value::Bank;
use crate::value::shape::{Shape, ShapeId};
use std::ops::Range;
use std::rc::Rc;

/// The storage location of a value.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// The value is stored in registers.
    Registers(Value),
    /// The value is stored in a box: it is a captured variable, or a property of an instance of a class.
    Box { object: Reg, cells: Vec<(Bank, u32)>, stored: Option<Stored> },
    /// The value is stored in global variables.
    Global { cells: Vec<(Bank, u32)>, stored: Option<Stored> },
    /// The value is stored in an element of an array.
    Element { array: Box<Location>, index: Reg, stride: Stride, cells: Vec<(Bank, u32)> },
    /// The value is stored in a record.
    Record { record: Box<Location>, cells: Vec<(Bank, u32)> },
    /// The value is accessed through a getter and a setter.
    Accessor(Box<Accessor>),
    /// The location consists of some components of a value that is accessed through a getter and a setter.
    Part { whole: Box<Location>, range: Range<usize> },
    /// The location consists of some components of the value of an optional, which must not be `nil` when the place is
    /// accessed.
    Unwrapped { optional: Box<Location>, range: Range<usize> },
    /// The location is marked `@noDerivative`: a value that is stored there becomes constant.
    Cut { inner: Box<Location>, ty: Type },
    /// The location is a weak or unowned variable, which does not retain its instance.
    Weak { inner: Box<Location>, ownership: Ownership },
    /// The location is a stored property of a type that defines its own tangent vectors.
    OpaqueProperty(Box<OpaqueProperty>),
    /// The location is a stored property that the tangent vectors of its type omit.
    OmittedProperty(Box<OmittedProperty>),
    /// The location has no storage: a stored value is discarded.
    Discard,
}

/// A stored property that the tangent vectors of its type do not contain, since the type defines its tangent vectors
/// itself.
#[derive(Clone, Debug)]
pub(super) struct OpaqueProperty {
    /// The location of the property.
    pub value: Location,
    /// The location of the tangent vector beside the value to which the property belongs.
    pub vector: Location,
    /// The identity of the property: the types of the owner and the property, and the name.
    pub property: Property,
}

/// A stored property that the tangent vectors of its type omit, while they contain other properties.
#[derive(Clone, Debug)]
pub(super) struct OmittedProperty {
    /// The location of the property.
    pub value: Location,
    /// The location of the value to which the property belongs.
    pub owner: Location,
    /// The identity of the property: the types of the owner and the property, and the name.
    pub property: Property,
}

/// The identity of a stored property.
#[derive(Clone, Debug)]
pub(super) struct Property {
    /// The type to which the property belongs.
    pub owner: Type,
    /// The type of the property.
    pub ty: Type,
    /// The name of the property.
    pub name: Rc<str>,
}

/// A computed property or subscript.
#[derive(Clone, Debug)]
pub(super) struct Accessor {
    pub base: Location,
    pub get: Target,
    pub set: Target,
    pub move_out: Option<MoveOut>,
    pub args: Vec<Value>,
    pub mutating: bool,
    /// The value that the getter returned, if it was called once for all accesses to the place.
    pub found: Option<Value>,
}

/// The functions that move a value out of its container during a modification, instead of copying it by a getter, so
/// that an array in a dictionary has one owner.
#[derive(Clone, Debug)]
pub(super) struct MoveOut {
    /// The function that returns the value, and removes it from the container.
    pub take: Target,
    /// The function that returns whether an optional has a value.
    pub has: Option<Target>,
    /// The closure that is the last argument of the subscript, and returns the value where `take` returns `nil`; it is
    /// not an argument of `take`.
    pub otherwise: Option<FunctionId>,
}

impl Builder<'_> {
    // Finding

    /// Locates a place: evaluates the subexpressions of the place from left to right.
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
                let len = self.banks(ty).len();
                Location::Unwrapped { optional: Box::new(at), range: 1..len }
            }
            ProjectionKind::Accessor { get, set, args, mutating } => {
                let otherwise = args.last().and_then(|last| match last.kind {
                    ExprKind::Closure { function } => Some(function),
                    _ => None,
                });
                let args: Vec<Value> = args
                    .iter()
                    .map(|a| {
                        let value = self.expr(a);
                        self.keep(value)
                    })
                    .collect();
                self.accessor_location(at, get, set, (args, otherwise), *mutating, &step.ty)
            }
        }
    }

    fn accessor_location(
        &mut self,
        base: Location,
        get: &Callee,
        set: &Callee,
        (args, otherwise): (Vec<Value>, Option<FunctionId>),
        mutating: bool,
        ty: &Type,
    ) -> Location {
        let (Some(get), Some(set)) = (self.resolve(get), self.resolve(set)) else {
            return Location::Discard;
        };
        let index = args.first().and_then(|a| a.first()).copied();
        if let (true, Some(index)) = (self.is_primitive_target(&get, "array.get"), index) {
            return self.element_location(base, index, ty);
        }
        let move_out = if mutating { self.move_out(&get, otherwise) } else { None };
        Location::Accessor(Box::new(Accessor { base, get, set, move_out, args, mutating, found: None }))
    }

    /// Returns the functions that a subscript of the library specifies for moving its value out of a container. `last`
    /// is the last argument of the subscript, if it is a closure.
    fn move_out(&mut self, get: &Target, last: Option<FunctionId>) -> Option<MoveOut> {
        let Target::Static(f) = get else { return None };
        let (take, has) = self.d.moving(f.function)?;
        let takes_all = self.d.function(take).params.len() == self.d.function(f.function).params.len();
        let target = |function| Target::Static(FunctionRef { function, generics: f.generics.clone() });
        Some(MoveOut { take: target(take), has: has.map(target), otherwise: last.filter(|_| !takes_all) })
    }

    /// Loads whether the optional at a place has a value. A value that is moved for a modification is not loaded: a
    /// second reference would make the value shared.
    pub fn tag(&mut self, at: &Location) -> Reg {
        if let Location::Accessor(accessor) = at
            && let Some(MoveOut { has: Some(has), .. }) = &accessor.move_out
        {
            let base = self.load(&accessor.base);
            return self.call_accessor(has, Operand::Value(base), accessor)[0];
        }
        let tag = self.part(at.clone(), 0..1);
        self.load(&tag)[0]
    }

    /// Stops the program if the optional at a place is `nil`.
    pub fn demand_value(&mut self, optional: &Location) {
        let tag = self.tag(optional);
        self.demand(tag, Trap::UnexpectedNil);
    }

    /// Calls the getters on the path to an optional in a place: each getter once, for testing the optional as well as
    /// for modifying its value.
    pub fn fetch(&mut self, at: Location) -> Location {
        match at {
            Location::Unwrapped { optional, range } => {
                Location::Unwrapped { optional: Box::new(self.fetch_all(*optional)), range }
            }
            other => other.map_base(&mut |base| self.fetch(base)),
        }
    }

    /// Calls all getters on the path to a place once. A value that is moved for a modification stays in place.
    pub fn fetch_all(&mut self, at: Location) -> Location {
        let mut at = at.map_base(&mut |base| self.fetch_all(base));
        if !matches!(&at, Location::Accessor(accessor) if accessor.move_out.is_none() && accessor.found.is_none()) {
            return at;
        }
        let value = self.load(&at);
        let value = self.keep(value);
        if let Location::Accessor(accessor) = &mut at {
            accessor.found = Some(value);
        }
        at
    }

    /// Returns the place of a local variable.
    pub fn local_location(&mut self, local: LocalId) -> Location {
        let at = match self.slot(local) {
            Slot::Registers(regs) => Location::Registers(regs),
            Slot::Box(object) => {
                let ty = self.body.locals[local.0 as usize].ty.clone();
                let banks = self.banks(&ty);
                let stored = self.stored_local(local);
                Location::Box { object, cells: cells(&banks), stored }
            }
            Slot::Place(at) => return (*at).clone(),
            Slot::Absent => Location::Discard,
        };
        at.kept(self.body.locals[local.0 as usize].ownership)
    }

    /// Returns the place of a stored property or a tuple element of the value at a place.
    pub fn field_location(&mut self, at: Location, ty: &Type, index: usize) -> Location {
        let shape = self.shape(ty);
        let inner = self.inner(shape);
        let (value, beside) = self.beside(inner);
        let range = self.lowering.layouts.field(&self.program.shapes, value, index);
        let stored = self.stored_property(ty, index);
        if let Some(beside) = beside
            && let Some(property) = self.opaque_property_at(ty, index)
        {
            let value = self.components_at(at.clone(), shape, range, stored);
            let vector = self.components_at(at, shape, beside, None);
            return Location::OpaqueProperty(Box::new(OpaqueProperty { value, vector, property }));
        }
        let ownership = self.ownership_of_field(ty, index);
        if let Some(property) = self.omitted_property(ty, index) {
            let value = self.components_at(at.clone(), shape, range, stored).kept(ownership);
            return Location::OmittedProperty(Box::new(OmittedProperty { value, owner: at, property }));
        }
        self.components_at(at, shape, range, stored).kept(ownership)
    }

    /// Returns the place of some components of a value of the shape `shape`, which may be in a record or an instance.
    fn components_at(&mut self, at: Location, shape: ShapeId, range: Range<usize>, stored: Option<Stored>) -> Location {
        let inner = self.inner(shape);
        match self.program.shapes.get(shape) {
            Shape::Class { .. } => {
                let cells = self.lowering.layouts.cells(&self.program.shapes, inner);
                match self.load(&at).first() {
                    Some(object) => Location::Box { object: *object, cells: cells[range].to_vec(), stored },
                    None => Location::Discard,
                }
            }
            Shape::Boxed(_) => {
                let cells = self.lowering.layouts.cells(&self.program.shapes, inner);
                Location::Record { record: Box::new(at), cells: cells[range].to_vec() }
            }
            _ => self.part(at, range),
        }
    }

    pub fn element_location(&mut self, array: Location, index: Reg, ty: &Type) -> Location {
        let banks = self.banks(ty);
        Location::Element { array: Box::new(array), index, stride: stride(&banks), cells: cells(&banks) }
    }

    /// Returns the place that consists of some components of the value at a place.
    pub fn part(&mut self, at: Location, range: Range<usize>) -> Location {
        match at {
            Location::Registers(regs) => Location::Registers(regs[range].to_vec()),
            Location::Box { object, cells, stored } => Location::Box { object, cells: cells[range].to_vec(), stored },
            Location::Global { cells, stored } => Location::Global { cells: cells[range].to_vec(), stored },
            Location::Element { array, index, stride, cells } => {
                Location::Element { array, index, stride, cells: cells[range].to_vec() }
            }
            Location::Record { record, cells } => Location::Record { record, cells: cells[range].to_vec() },
            Location::Accessor(_) => Location::Part { whole: Box::new(at), range },
            Location::Part { whole, range: outer } => {
                Location::Part { whole, range: outer.start + range.start..outer.start + range.end }
            }
            Location::Unwrapped { optional, range: outer } => {
                Location::Unwrapped { optional, range: outer.start + range.start..outer.start + range.end }
            }
            Location::Cut { .. }
            | Location::Weak { .. }
            | Location::OpaqueProperty(_)
            | Location::OmittedProperty(_) => Location::Part { whole: Box::new(at), range },
            Location::Discard => Location::Discard,
        }
    }

    fn is_constant_field(&mut self, ty: &Type, index: usize) -> bool {
        match self.concrete(ty) {
            Type::Nominal(id, _) => self.d.nominal(id).stored.get(index).is_some_and(|s| s.no_derivative),
            _ => false,
        }
    }

    fn ownership_of_field(&mut self, ty: &Type, index: usize) -> Ownership {
        match self.concrete(ty) {
            Type::Nominal(id, _) => self.d.nominal(id).stored.get(index).map_or(Ownership::Strong, |s| s.ownership),
            _ => Ownership::Strong,
        }
    }

    /// Converts the value that is assigned to a weak or unowned variable, which does not retain its instance.
    pub fn weak_reference(&mut self, value: Value, ownership: Ownership) -> Value {
        match ownership {
            Ownership::Strong => value,
            Ownership::Weak | Ownership::Unowned => self.through("instance.loosen", value),
        }
    }

    /// Converts the value of a weak or unowned variable to its instance.
    pub fn found(&mut self, value: Value, ownership: Ownership) -> Value {
        match ownership {
            Ownership::Strong => value,
            Ownership::Weak | Ownership::Unowned => self.through("instance.find", value),
        }
    }

    /// Applies a native function to the reference in a weak or unowned variable. An optional reference follows a tag.
    fn through(&mut self, name: &'static str, value: Value) -> Value {
        let outs: Value = value.iter().map(|reg| self.reg(self.bank(*reg))).collect();
        self.emit(Op::Native { name, shapes: vec![] }, &outs, &value);
        outs
    }
}

impl Location {
    /// Wraps the place of a variable or property according to the variable's ownership.
    pub fn kept(self, ownership: Ownership) -> Location {
        match ownership {
            Ownership::Strong => self,
            Ownership::Weak | Ownership::Unowned => Location::Weak { inner: Box::new(self), ownership },
        }
    }

    /// Applies `change` to the place that contains this place.
    fn map_base(mut self, change: &mut dyn FnMut(Location) -> Location) -> Location {
        let base = match &mut self {
            Location::Element { array: base, .. }
            | Location::Record { record: base, .. }
            | Location::Part { whole: base, .. }
            | Location::Unwrapped { optional: base, .. }
            | Location::Cut { inner: base, .. }
            | Location::Weak { inner: base, .. } => &mut **base,
            Location::Accessor(accessor) => &mut accessor.base,
            // A place with an opaque property refers to its owner several times.
            Location::OpaqueProperty(_) | Location::OmittedProperty(_) => return self,
            Location::Registers(_) | Location::Box { .. } | Location::Global { .. } | Location::Discard => return self,
        };
        *base = change(std::mem::replace(base, Location::Discard));
        self
    }
}

/// Counts the components of each bank in a list of banks.
pub(super) fn stride(banks: &[Bank]) -> Stride {
    let count = |bank| banks.iter().filter(|b| **b == bank).count() as u16;
    Stride { f: count(Bank::F), i: count(Bank::I), r: count(Bank::R) }
}
