//! Layout: the shapes of types, and the storage of the components of a value.
//!
//! In: concrete types and their declarations. Out: [`ShapeId`]s, the banks of a value's components, and for each part
//! of a value the run of components that it occupies.
//!
//! Promises: a type has one shape; a type that contains itself, or that would take more than [`MAX_INLINE_COMPONENTS`]
//! registers, is boxed; the computation of a shape terminates for all declarations.
//! Not here: the tangents of types (`differentiability.rs`).

use crate::types::model::declaration_info::{Builtin, Declarations, Nominal, NominalKind};
use crate::types::model::ty::{FunctionParam, FunctionType, NominalId, Strength, Type};
use crate::value::Bank;
use crate::value::shape::{BESIDE, Case, DescriptionId, Shape, ShapeId, Shapes, Style, TangentId};
use hashbrown::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The number of components above which a struct, enum or tuple is represented by one reference to a record.
pub const MAX_INLINE_COMPONENTS: u32 = 24;

/// The maximum nesting depth of a type: a generic type that contains itself with ever larger arguments has no shape.
const MAX_DEPTH: usize = 100;
/// The maximum number of parts of a type that has a shape.
const MAX_SIZE: usize = 400;
/// The maximum nesting depth of generic types.
const MAX_GENERIC_DEPTH: usize = 128;

/// The layouts of concrete types.
#[derive(Clone, Default)]
pub struct Layouts {
    shapes: HashMap<Type, ShapeId>,
    /// For each shape, a type that has this shape.
    types: HashMap<ShapeId, Type>,
    /// The nominal types whose shapes are being computed, with the shape id that was reserved if the type occurred
    /// inside itself.
    open: Vec<(Type, Option<ShapeId>)>,
    metatypes: HashMap<Type, ShapeId>,
    /// The numbers that identify function types.
    functions: HashMap<Type, u32>,
    components: HashMap<ShapeId, Rc<[Bank]>>,
    /// The index of the first component of each field of a shape, followed by the number of components.
    starts: HashMap<ShapeId, Rc<[usize]>>,
    /// The types with a custom description of their values; see [`DescriptionId`].
    pub(super) own: Vec<Type>,
    description_ids: HashMap<Type, DescriptionId>,
    /// The bank and the index of each component of a record or an instance in storage.
    cells: HashMap<ShapeId, Rc<[(Bank, u32)]>>,
    pub(super) tangents: HashMap<Type, Option<TangentId>>,
    pub(super) open_tangents: Vec<(Type, Option<TangentId>)>,
}

impl Layouts {
    /// Returns the shape of a concrete type.
    pub fn shape(&mut self, d: &mut dyn Declarations, shapes: &mut Shapes, ty: &Type) -> ShapeId {
        if let Some(id) = self.shapes.get(ty) {
            return *id;
        }
        if let Some(entry) = self.open.iter_mut().find(|(t, _)| t == ty) {
            return *entry.1.get_or_insert_with(|| shapes.reserve());
        }
        let shape = match ty {
            Type::Nominal(id, args) => self.nominal(d, shapes, ty, *id, args),
            Type::Tuple(fields) => {
                let fields = fields.iter().map(|(n, t)| (n.clone(), self.shape(d, shapes, t))).collect();
                let id = shapes.add(Shape::Tuple(fields));
                if is_big(shapes, id) { shapes.add(Shape::Boxed(id)) } else { id }
            }
            Type::Function(_) => shapes.add(Shape::Function { number: self.function_type(ty) }),
            Type::Metatype(of) if is_dynamic(d, of) => return shapes.add(Shape::Any),
            Type::Metatype(of) => return self.metatype(d, shapes, of),
            Type::Existential(_) => shapes.add(Shape::Any),
            Type::Opaque(..) => {
                let underlying = d.normalize(ty);
                if underlying == *ty { shapes.add(Shape::Tuple(vec![])) } else { self.shape(d, shapes, &underlying) }
            }
            // The type `Never` has no values; the other types here result from errors, and code with errors is not run.
            Type::Never | Type::Error | Type::Var(_) | Type::Param(_) | Type::Associated(..) => {
                shapes.add(Shape::Tuple(vec![]))
            }
        };
        self.shapes.insert(ty.clone(), shape);
        self.types.entry(shape).or_insert_with(|| with_boxed_metatypes(d, ty));
        shape
    }

    /// Returns a shape for a nominal type. Two nominal types have different shapes even if their names and fields are
    /// equal, because casts and dynamic dispatch identify a type by its shape.
    fn distinct(
        &mut self,
        d: &mut dyn Declarations,
        shapes: &mut Shapes,
        ty: &Type,
        (shape, own): (Shape, Option<DescriptionId>),
    ) -> ShapeId {
        let id = shapes.add_with_description(shape.clone(), own);
        match self.types.get(&id) {
            Some(known) if plain(known) != plain(&with_boxed_metatypes(d, ty)) => shapes.add_distinct(shape, own),
            _ => id,
        }
    }

    /// Returns the number that identifies a function type. Differentiability is not a part of the type here.
    fn function_type(&mut self, ty: &Type) -> u32 {
        let next = self.functions.len() as u32;
        *self.functions.entry(plain(ty)).or_insert(next)
    }

    /// Returns the shape of the value of `T.self`, without the box that contains the value if the type is only known at
    /// run time.
    pub fn metatype(&mut self, d: &mut dyn Declarations, shapes: &mut Shapes, of: &Type) -> ShapeId {
        if let Some(id) = self.metatypes.get(of) {
            return *id;
        }
        let number = self.metatypes.len() as u32;
        let id = shapes.add(Shape::Metatype { name: d.type_name(of).into(), number });
        self.metatypes.insert(of.clone(), id);
        self.types.insert(id, Type::Metatype(Rc::new(of.clone())));
        id
    }

    /// Returns a type that has the given shape.
    pub fn type_of(&self, shape: ShapeId) -> Option<&Type> {
        self.types.get(&shape)
    }

    fn nominal(
        &mut self,
        d: &mut dyn Declarations,
        shapes: &mut Shapes,
        ty: &Type,
        id: NominalId,
        args: &[Type],
    ) -> ShapeId {
        let nominal = d.nominal(id);
        if let Some(builtin) = nominal.builtin {
            let mut argument = |i: usize| match args.get(i) {
                Some(t) => self.shape(d, shapes, t),
                None => shapes.add(Shape::Tuple(vec![])),
            };
            let shape = match builtin {
                Builtin::Double => Shape::Double,
                Builtin::Float => Shape::Float,
                Builtin::Int { bits, signed } => Shape::Int { bits, signed },
                Builtin::Bool => Shape::Bool,
                Builtin::String => Shape::String,
                Builtin::Character => Shape::Character,
                Builtin::TensorStorage => Shape::Tensor,
                Builtin::Array => Shape::Array(argument(0)),
                Builtin::Dictionary => Shape::Dictionary(argument(0), argument(1)),
                Builtin::Set => Shape::Set(argument(0)),
                Builtin::Optional => Shape::Optional(argument(0)),
            };
            return shapes.add(shape);
        }
        if self.open.len() >= MAX_DEPTH || !is_small(ty) {
            return shapes.add(Shape::Tuple(vec![]));
        }
        self.open.push((ty.clone(), None));
        let shape = match nominal.kind {
            NominalKind::Struct => Shape::Struct {
                name: d.type_name(ty).into(),
                fields: self.stored(d, shapes, &nominal, args),
                style: style(&nominal),
            },
            NominalKind::Class => {
                let base = nominal.superclass.as_ref().map(|base| instantiate(d, &nominal, args, base));
                Shape::Class {
                    name: d.type_name(ty).into(),
                    base: base.map(|base| self.shape(d, shapes, &base)),
                    fields: self.stored(d, shapes, &nominal, args),
                }
            }
            NominalKind::Enum => self.cases(d, shapes, ty, &nominal, args),
        };
        let shape = match d.own_vector(ty) {
            Some(vector) => self.beside(d, shapes, shape, &vector),
            None => shape,
        };
        let reserved = self.open.pop().and_then(|(_, reserved)| reserved);
        let own = d.custom_descriptions(ty).map(|_| self.description_id(ty));
        if let Shape::Class { .. } = shape {
            // Two classes always have different shapes, even if their fields are equal, so a separate shape is reserved
            // for a class.
            shapes.add(Shape::Tuple(vec![]));
            let id = reserved.unwrap_or_else(|| shapes.reserve());
            shapes.define(id, shape, own);
            return id;
        }
        let is_indirect = nominal.is_indirect && nominal.kind == NominalKind::Enum;
        let plain = shapes.add(shape.clone());
        if reserved.is_some() || is_indirect || is_big(shapes, plain) {
            let boxed = (Shape::Boxed(plain), own);
            return match reserved {
                Some(id) => {
                    shapes.define(id, boxed.0, own);
                    id
                }
                None => self.distinct(d, shapes, ty, boxed),
            };
        }
        self.distinct(d, shapes, ty, (shape, own))
    }

    /// Discards the tangents of types, because types have become differentiable.
    pub(super) fn forget_tangents(&mut self) {
        self.tangents.clear();
    }

    /// Adds the custom descriptions of types that have a shape without one.
    pub(super) fn add_descriptions(&mut self, d: &mut dyn Declarations, shapes: &mut Shapes) {
        let mut known: Vec<(Type, ShapeId)> = self.shapes.iter().map(|(ty, id)| (ty.clone(), *id)).collect();
        known.sort_unstable_by_key(|(_, id)| *id);
        for (ty, id) in known {
            if matches!(ty, Type::Nominal(..)) && shapes.own(id).is_none() && d.custom_descriptions(&ty).is_some() {
                shapes.set_description(id, self.description_id(&ty));
            }
        }
    }

    /// Returns the types that define their tangent vectors, but whose shapes have no vector beside the value.
    pub(super) fn without_own_vectors(&self, d: &mut dyn Declarations, shapes: &Shapes) -> Vec<Type> {
        let is_beside =
            |id: ShapeId| matches!(shapes.get(unboxed(shapes, id)), Shape::Struct { style: Style::Beside, .. });
        let mut found: Vec<(ShapeId, Type)> = vec![];
        for (ty, id) in &self.shapes {
            if matches!(ty, Type::Nominal(..)) && !is_beside(*id) && d.own_vector(ty).is_some() {
                found.push((*id, ty.clone()));
            }
        }
        found.sort_unstable_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, ty)| ty).collect()
    }

    /// Returns the shape of a value that is stored with its tangent vector beside it.
    fn beside(&mut self, d: &mut dyn Declarations, shapes: &mut Shapes, value: Shape, vector: &Type) -> Shape {
        let (Shape::Struct { name, .. } | Shape::Enum { name, .. }) = &value else { return value };
        let name = name.clone();
        let vector = self.shape(d, shapes, vector);
        let beside =
            if is_counted(shapes, vector, &mut vec![]) == Some(true) { vector } else { shapes.add(Shape::Double) };
        let fields = vec![("value".into(), shapes.add(value)), ("vector".into(), beside)];
        Shape::Struct { name, fields, style: Style::Beside }
    }

    fn description_id(&mut self, ty: &Type) -> DescriptionId {
        if let Some(known) = self.description_ids.get(ty) {
            return *known;
        }
        let id = DescriptionId(self.own.len() as u32);
        self.own.push(ty.clone());
        self.description_ids.insert(ty.clone(), id);
        id
    }

    fn stored(
        &mut self,
        d: &mut dyn Declarations,
        shapes: &mut Shapes,
        nominal: &Nominal,
        args: &[Type],
    ) -> Vec<(Rc<str>, ShapeId)> {
        nominal
            .stored
            .iter()
            .map(|s| {
                let ty = instantiate(d, nominal, args, &s.ty);
                (s.name.clone(), self.shape(d, shapes, &ty))
            })
            .collect()
    }

    fn cases(
        &mut self,
        d: &mut dyn Declarations,
        shapes: &mut Shapes,
        ty: &Type,
        nominal: &Nominal,
        args: &[Type],
    ) -> Shape {
        let cases = nominal
            .cases
            .iter()
            .map(|case| Case {
                name: case.name.clone(),
                payload: case
                    .payload
                    .iter()
                    .map(|(label, t)| {
                        let t = instantiate(d, nominal, args, t);
                        (label.clone(), self.shape(d, shapes, &t))
                    })
                    .collect(),
            })
            .collect();
        Shape::Enum { name: d.type_name(ty).into(), cases }
    }

    /// Returns the banks of a value's components, in the order of their registers.
    pub fn components(&mut self, shapes: &Shapes, shape: ShapeId) -> Rc<[Bank]> {
        if let Some(found) = self.components.get(&shape) {
            return found.clone();
        }
        let banks: Rc<[Bank]> = match shapes.get(shape) {
            Shape::Double | Shape::Float => Rc::from([Bank::F]),
            Shape::Tensor => Rc::from([Bank::F, Bank::R]),
            Shape::Int { .. } | Shape::Bool => Rc::from([Bank::I]),
            Shape::Tuple(fields) => fields.iter().flat_map(|(_, s)| self.components(shapes, *s).to_vec()).collect(),
            Shape::Struct { fields, .. } => {
                fields.iter().flat_map(|(_, s)| self.components(shapes, *s).to_vec()).collect()
            }
            Shape::Enum { .. } => {
                let all = shapes.layout(shape);
                let run = |bank, n| std::iter::repeat_n(bank, n as usize);
                run(Bank::I, 1)
                    .chain(run(Bank::F, all.f))
                    .chain(run(Bank::I, all.i - 1))
                    .chain(run(Bank::R, all.r))
                    .collect()
            }
            Shape::Optional(of) => {
                std::iter::once(Bank::I).chain(self.components(shapes, *of).iter().copied()).collect()
            }
            Shape::Metatype { .. } => Rc::from([]),
            Shape::String
            | Shape::Character
            | Shape::Array(_)
            | Shape::Dictionary(..)
            | Shape::Set(_)
            | Shape::Function { .. }
            | Shape::Boxed(_)
            | Shape::Class { .. }
            | Shape::Any => Rc::from([Bank::R]),
        };
        self.components.insert(shape, banks.clone());
        banks
    }

    /// Returns the components of a field of a tuple or struct, of a class instance, or of the value in an optional,
    /// which is field 0. `shape` is not boxed.
    pub fn field(&mut self, shapes: &Shapes, shape: ShapeId, index: usize) -> Range<usize> {
        if let Shape::Optional(of) = shapes.get(shape) {
            return 1..1 + self.components(shapes, *of).len();
        }
        let starts = self.starts(shapes, shape);
        let at = |i: usize| starts.get(i).or(starts.last()).copied().unwrap_or(0);
        at(index)..at(index + 1)
    }

    /// Returns the banks and indices in storage of the components of a record, or of an instance of a class.
    pub fn cells(&mut self, shapes: &Shapes, shape: ShapeId) -> Rc<[(Bank, u32)]> {
        if let Some(known) = self.cells.get(&shape) {
            return known.clone();
        }
        let banks: Rc<[Bank]> = match shapes.get(shape) {
            Shape::Class { fields, .. } => {
                fields.iter().flat_map(|(_, of)| self.components(shapes, *of).to_vec()).collect()
            }
            _ => self.components(shapes, shape),
        };
        let cells: Rc<[(Bank, u32)]> = cells(&banks).into();
        self.cells.insert(shape, cells.clone());
        cells
    }

    fn starts(&mut self, shapes: &Shapes, shape: ShapeId) -> Rc<[usize]> {
        if let Some(known) = self.starts.get(&shape) {
            return known.clone();
        }
        let fields: Vec<ShapeId> = match shapes.get(shape) {
            Shape::Tuple(fields) => fields.iter().map(|f| f.1).collect(),
            Shape::Struct { fields, .. } | Shape::Class { fields, .. } => fields.iter().map(|f| f.1).collect(),
            _ => return Rc::from([]),
        };
        let mut starts = vec![0];
        for field in &fields {
            starts.push(starts[starts.len() - 1] + self.components(shapes, *field).len());
        }
        let starts: Rc<[usize]> = starts.into();
        // A reserved shape that is not defined yet appears to have no fields.
        if !fields.is_empty() {
            self.starts.insert(shape, starts.clone());
        }
        starts
    }

    /// Returns the components of each value in the payload of an enum's case. `shape` is not boxed.
    pub fn payload(&mut self, shapes: &Shapes, shape: ShapeId, case: usize) -> Vec<Vec<usize>> {
        let Shape::Enum { cases, .. } = shapes.get(shape) else {
            return vec![self.field(shapes, shape, 0).collect()];
        };
        let all = shapes.layout(shape);
        let mut next = [1, 1 + all.f as usize, (all.f + all.i) as usize];
        let payload = cases.get(case).map_or(&[][..], |c| &c.payload);
        payload
            .iter()
            .map(|(_, of)| {
                self.components(shapes, *of)
                    .iter()
                    .map(|bank| {
                        let place = &mut next[*bank as usize];
                        *place += 1;
                        *place - 1
                    })
                    .collect()
            })
            .collect()
    }
}

/// Removes differentiability and parameter attributes from the function types in a type.
fn plain(ty: &Type) -> Type {
    ty.map(&mut |t| match t {
        Type::Function(f) => {
            let param = |p: &FunctionParam| FunctionParam {
                ty: plain(&p.ty),
                is_inout: p.is_inout,
                no_derivative: false,
                autoclosure: false,
            };
            Some(Type::Function(Rc::new(FunctionType {
                params: f.params.iter().map(param).collect(),
                result: plain(&f.result),
                throws: f.throws,
                strength: Strength::Plain,
            })))
        }
        _ => None,
    })
}

/// Replaces the metatypes in a type whose values are boxed by `Any`, which has the same shape.
fn with_boxed_metatypes(d: &mut dyn Declarations, ty: &Type) -> Type {
    ty.map(&mut |t| {
        let is_box = matches!(t, Type::Metatype(of) if is_dynamic(d, of));
        is_box.then(Type::any_value)
    })
}

/// Whether a value of `T.Type` may represent another type than `T`: a subclass, or a conforming type.
pub fn is_dynamic(d: &mut dyn Declarations, of: &Type) -> bool {
    match of {
        Type::Existential(_) => true,
        Type::Nominal(id, _) => d.nominal(*id).kind == NominalKind::Class,
        _ => false,
    }
}

/// Replaces the generic parameters of a nominal type by concrete arguments in a type.
pub fn instantiate(d: &mut dyn Declarations, nominal: &Nominal, args: &[Type], ty: &Type) -> Type {
    if args.is_empty() {
        return d.normalize(ty);
    }
    let concrete = ty.substitute(&|p| nominal.params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()));
    d.normalize(&concrete)
}

/// Whether a type is small enough to have a shape and generated code.
pub fn is_small(ty: &Type) -> bool {
    let mut parts = 0;
    // The traversal of the type stops at the limit.
    let is_large = ty.any(&mut |_| {
        parts += 1;
        parts > MAX_SIZE
    });
    // Each level of nesting may instantiate functions throughout the library.
    !is_large && (parts <= MAX_GENERIC_DEPTH || generic_depth(ty) <= MAX_GENERIC_DEPTH)
}

/// Returns the nesting depth of the generic types in a type.
fn generic_depth(ty: &Type) -> usize {
    match ty {
        Type::Nominal(_, args) => args.iter().map(generic_depth).max().map_or(0, |depth| depth + 1),
        Type::Tuple(fields) => fields.iter().map(|(_, t)| generic_depth(t)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the shape of the value, and the components of the tangent vector beside it, for a type that defines its own
/// tangent vectors.
pub fn beside(layouts: &mut Layouts, shapes: &Shapes, shape: ShapeId) -> Option<(ShapeId, Range<usize>)> {
    match shapes.get(shape) {
        Shape::Struct { fields, style: Style::Beside, .. } => {
            let value = fields.first()?.1;
            Some((value, layouts.field(shapes, shape, BESIDE as usize)))
        }
        _ => None,
    }
}

/// Whether the values of a shape contain numbers, if the count of numbers is the same for all values; `None` if the
/// count depends on the value.
fn is_counted(shapes: &Shapes, shape: ShapeId, around: &mut Vec<ShapeId>) -> Option<bool> {
    if around.contains(&shape) {
        return None;
    }
    around.push(shape);
    let mut has_any = false;
    match shapes.get(shape) {
        Shape::Double | Shape::Float => has_any = true,
        Shape::Tuple(fields) => {
            for (_, field) in fields {
                has_any |= is_counted(shapes, *field, around)?;
            }
        }
        Shape::Struct { fields, .. } => {
            for (_, field) in fields {
                has_any |= is_counted(shapes, *field, around)?;
            }
        }
        Shape::Boxed(inner) => has_any = is_counted(shapes, *inner, around)?,
        Shape::Int { .. } | Shape::Bool | Shape::String | Shape::Character | Shape::Metatype { .. } => {}
        _ => return None,
    }
    around.pop();
    Some(has_any)
}

/// Returns the shape of the value in a box; a shape that is not boxed is returned unchanged.
pub fn unboxed(shapes: &Shapes, shape: ShapeId) -> ShapeId {
    match shapes.get(shape) {
        Shape::Boxed(inner) => *inner,
        _ => shape,
    }
}

/// Returns for each component its bank, and its index among the components of this bank.
pub fn cells(banks: &[Bank]) -> Vec<(Bank, u32)> {
    let mut next = [0; 3];
    banks
        .iter()
        .map(|bank| {
            let n = &mut next[*bank as usize];
            *n += 1;
            (*bank, *n - 1)
        })
        .collect()
}

fn is_big(shapes: &Shapes, shape: ShapeId) -> bool {
    let all = shapes.layout(shape);
    all.f + all.i + all.r > MAX_INLINE_COMPONENTS
}

fn style(nominal: &Nominal) -> Style {
    // The storage of a type of the library has names that programs do not use.
    let has_internal_names = nominal.is_prelude && nominal.stored.iter().any(|field| field.name.starts_with('_'));
    match nominal.style.as_deref() {
        Some("range") => Style::Range,
        Some("closedRange") => Style::ClosedRange,
        Some("vector") => Style::Vector,
        Some("transparent") => Style::Transparent,
        _ if has_internal_names => Style::Vector,
        _ => Style::Fields,
    }
}
