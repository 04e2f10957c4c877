//! Shapes: the run-time descriptions of types, with the registers of their values and their derivatives.
//!
//! A [`Shape`] is the run-time form of a type: sufficient to print, compare, hash and traverse a value. A [`Tangent`]
//! relates the components of a value to those of its tangent vector.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

mod scalar;
mod stored_shape;
mod vector_components;

use hashbrown::HashMap;
pub use scalar::ScalarKind;
use std::rc::Rc;
pub use stored_shape::{StoredShapes, StoredTangents};
use vector_components::KnownComponents;
pub use vector_components::SameComponents;

/// The index of a shape in [`Shapes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ShapeId(pub u32);

/// The index of a type with a custom description, in a table of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct DescriptionId(pub u32);

/// The index of a tangent in [`Tangents`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct TangentId(pub u32);

/// The number of components of a value in each bank: `f64`, `i64`, references.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// The number of `f64` components.
    pub f: u32,
    /// The number of `i64` components.
    pub i: u32,
    /// The number of references.
    pub r: u32,
}

/// The run-time description of a type.
///
/// In registers the components have the order of the fields, depth first, with mixed banks. In storage
/// ([`Cells`](super::Cells)) they are grouped by bank, in the same order within a bank. The components of an optional
/// are its tag and then those of the value; the components of an enum are its tag, then all `f`, all `i`, all `r`
/// components, which its cases share.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// The shape of `Double`: one `f64` component.
    Double,
    /// The shape of `Float`: one `f64` component, rounded to single precision.
    Float,
    /// The shape of an integer type: one `i64` component; `bits` and `signed` specify the type.
    Int { bits: u8, signed: bool },
    /// The shape of `Bool`: one `i64` component, 0 or 1.
    Bool,
    /// The shape of `String`: one reference to a string.
    String,
    /// The shape of `Character`: one reference to a string of one grapheme cluster.
    Character,
    /// The shape of a tuple: the components of the fields in order.
    Tuple(Vec<(Option<Rc<str>>, ShapeId)>),
    /// The shape of a struct: the components of the stored properties in order. `name` is the printed name: `Point`,
    /// `Pair<Double, Int>`, `TangentVector`.
    Struct { name: Rc<str>, fields: Vec<(Rc<str>, ShapeId)>, style: Style },
    /// The shape of an enum: a tag in the first `i64` component, followed by the payload, whose components share
    /// registers between cases: the payload of each case starts at component 0 of `f` and `r` and at component 1 of
    /// `i`.
    Enum { name: Rc<str>, cases: Vec<Case> },
    /// The shape of an optional: a tag in the first `i64` component (0 for `nil`, 1 for a value), followed by the
    /// components of the value.
    Optional(ShapeId),
    /// The shape of an array: one reference to cells that contain the elements in order.
    Array(ShapeId),
    /// The shape of a dictionary: one reference to a dictionary with these shapes of keys and values.
    Dictionary(ShapeId, ShapeId),
    /// The shape of a set: one reference to a dictionary without values.
    Set(ShapeId),
    /// The shape of a function type: one reference to a function object. Each function type has a unique `number`.
    Function { number: u32 },
    /// The shape of a big or recursive struct or enum: one reference to a record that has the components of this shape.
    Boxed(ShapeId),
    /// The shape of a class: one reference to a box that contains the properties of an instance. The properties of the
    /// superclass come first. Each class has a separate shape, even if the properties of two classes are the same.
    Class { name: Rc<str>, base: Option<ShapeId>, fields: Vec<(Rc<str>, ShapeId)> },
    /// The shape of an existential, `Any` or `any P`: one reference to an [`AnyValue`](super::AnyValue).
    Any,
    /// The shape of a metatype: no components. The printed form is the name. Each type has a unique `number`, even if
    /// the names are the same.
    Metatype { name: Rc<str>, number: u32 },
    /// The shape of the storage of a tensor: one number, which is always zero and has the slot of the tensor as a
    /// whole, and one reference to the tensor. The null reference is a zero tensor of any shape.
    Tensor,
}

impl Shape {
    /// Returns the shapes of which a shape consists.
    pub fn parts(&self) -> Vec<ShapeId> {
        match self {
            Shape::Tuple(fields) => fields.iter().map(|(_, s)| *s).collect(),
            Shape::Struct { fields, .. } => fields.iter().map(|(_, s)| *s).collect(),
            Shape::Enum { cases, .. } => cases.iter().flat_map(|c| c.payload.iter().map(|(_, s)| *s)).collect(),
            Shape::Optional(of) | Shape::Array(of) | Shape::Set(of) | Shape::Boxed(of) => vec![*of],
            Shape::Dictionary(key, of) => vec![*key, *of],
            Shape::Class { base, fields, .. } => base.iter().copied().chain(fields.iter().map(|(_, s)| *s)).collect(),
            _ => vec![],
        }
    }
}

/// Returns the visible fields of a struct: all of them, or only the value of a [`Style::Beside`].
pub fn visible_fields(fields: &[(Rc<str>, ShapeId)], style: Style) -> &[(Rc<str>, ShapeId)] {
    match style {
        Style::Beside => fields.get(..1).unwrap_or(fields),
        _ => fields,
    }
}

/// The index of the vector in a [`Style::Beside`].
pub const BESIDE: u32 = 1;

/// The printed form of a struct.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Style {
    /// The form `Name(a: 1, b: 2)`: all fields, with their labels.
    Fields,
    /// The form `a..<b` of the first two fields.
    Range,
    /// The form `a...b` of the first two fields.
    ClosedRange,
    /// The form `Name(1.0, 2.0)`: the elements without labels (`SIMD4<Float>`).
    Vector,
    /// The form of the first field, without the name of the struct.
    Transparent,
    /// A value and a vector of zeros that carries its tangent: see [`TangentKind::Beside`]. Only the value is visible.
    Beside,
}

/// A case of an enum.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Case {
    /// The name of the case.
    pub name: Rc<str>,
    /// The associated values of the case, with their labels.
    pub payload: Vec<(Option<Rc<str>>, ShapeId)>,
}

/// The derivative structure of a type: the relation of the components of a value to those of its tangent vector.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tangent {
    /// The shape of a value of the type.
    pub value: ShapeId,
    /// The shape of a tangent vector of the type.
    pub vector: ShapeId,
    /// The correspondence of the parts of a value and the parts of its tangent vector.
    pub kind: TangentKind,
}

/// The correspondence of the parts of a value to the parts of its tangent vector.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum TangentKind {
    /// A number: its tangent is a number of the same type.
    Number,
    /// A tuple, struct or class: each entry consists of a field of the value, the corresponding field of the tangent
    /// vector, and the tangent type of the field. An unlisted field of the value is constant; an unlisted field of the
    /// vector is zero.
    Fields(Vec<(u32, u32, TangentId)>),
    /// An array; the vector is a struct whose only field is an array of the elements' vectors. An empty vector is zero.
    Array(TangentId),
    /// A dictionary; the vector is a struct whose only field is a dictionary of the values' vectors. A missing key is
    /// zero.
    Dictionary(TangentId),
    /// An optional; the vector is a struct whose only field is an optional vector. `nil` is zero.
    Optional(TangentId),
    /// An enum: for each case the differentiable fields of its payload; the vector is the enum of the payloads' vectors
    /// with the same tags after a first case `zero`.
    Enum(Vec<Vec<(u32, TangentId)>>),
    /// A type without differentiable parts: the tangent vector has no components.
    Nothing,
    /// A type that is stored as a reference to a boxed record of its components.
    Boxed(TangentId),
    /// A type that defines its tangent vectors. No parts of its values correspond to them, so each value is stored with
    /// a vector of zeros ([`Style::Beside`]), whose numbers have the slots.
    Beside(TangentId),
    /// The vector stored with a value whose tangent vectors have no fixed number of components: one number, whose slot
    /// is that of the whole vector, and whose adjoints and tangents are [vectors](crate::value::opaque_vector) with
    /// this tangent.
    Opaque(TangentId),
    /// The storage of a tensor, which is its own vector: one number, whose slot is that of the tensor, and whose
    /// adjoints and tangents are [vectors](crate::value::opaque_vector) of this same type.
    Tensor,
}

/// All shapes of a session. Equal shapes have the same index, unless their types are nominal types that differ, or have
/// different custom descriptions.
#[derive(Clone, Default, Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    numbers: HashMap<(Shape, Option<DescriptionId>), ShapeId>,
    layouts: Vec<Layout>,
    /// The offsets of the fields of each shape, indexed by shape.
    starts: Vec<Rc<[Layout]>>,
    own: Vec<Option<DescriptionId>>,
    /// Whether values of each shape may contain a part with a custom description.
    described: Vec<bool>,
}

impl Shapes {
    /// Interns a shape and returns its index.
    pub fn add(&mut self, shape: Shape) -> ShapeId {
        self.add_with_description(shape, None)
    }

    /// Interns the shape of a type, which may have a custom description, and returns its index.
    pub fn add_with_description(&mut self, shape: Shape, own: Option<DescriptionId>) -> ShapeId {
        if let Some(known) = self.numbers.get(&(shape.clone(), own)) {
            return *known;
        }
        self.add_distinct(shape, own)
    }

    /// Adds a shape under a new index, even if the shape of another type is equal.
    pub fn add_distinct(&mut self, shape: Shape, own: Option<DescriptionId>) -> ShapeId {
        let id = ShapeId(self.shapes.len() as u32);
        self.numbers.entry((shape.clone(), own)).or_insert(id);
        let layout = self.compute_layout(&shape);
        self.described.push(own.is_some() || self.has_part_with_description(&shape));
        self.shapes.push(shape);
        self.layouts.push(layout);
        self.starts.push(self.compute_starts(id));
        self.own.push(own);
        id
    }

    /// Reserves an index for a recursive type, which is boxed; [`Shapes::define`] defines it later.
    pub fn reserve(&mut self) -> ShapeId {
        self.shapes.push(Shape::Tuple(vec![]));
        self.layouts.push(Layout { f: 0, i: 0, r: 1 });
        self.starts.push(Rc::from([]));
        self.own.push(None);
        self.described.push(true);
        ShapeId(self.shapes.len() as u32 - 1)
    }

    /// Defines a reserved index; the shape must consist of one reference.
    pub fn define(&mut self, id: ShapeId, shape: Shape, own: Option<DescriptionId>) {
        self.numbers.entry((shape.clone(), own)).or_insert(id);
        self.own[id.0 as usize] = own;
        self.layouts[id.0 as usize] = self.compute_layout(&shape);
        self.shapes[id.0 as usize] = shape;
        self.starts[id.0 as usize] = self.compute_starts(id);
    }

    /// Returns the shape that has the index `id`.
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// Returns the index of a shape, if the program has the shape.
    pub fn find(&self, wanted: &Shape) -> Option<ShapeId> {
        self.numbers.get(&(wanted.clone(), None)).copied()
    }

    /// Returns the custom description of the type that has this shape, if there is one.
    pub fn own(&self, id: ShapeId) -> Option<DescriptionId> {
        self.own[id.0 as usize]
    }

    /// Sets the custom description of a type that has this shape. No other type has the shape.
    pub fn set_description(&mut self, id: ShapeId, own: DescriptionId) {
        self.own[id.0 as usize] = Some(own);
        self.described[id.0 as usize] = true;
        // A type that is declared later may have an equal shape without a description.
        let plain = (self.shapes[id.0 as usize].clone(), None);
        if self.numbers.get(&plain) == Some(&id) {
            self.numbers.remove(&plain);
        }
        // The parts of a shape have smaller indices, except in recursive types, which count as described.
        for whole in id.0 as usize + 1..self.shapes.len() {
            self.described[whole] = self.described[whole] || self.has_part_with_description(&self.shapes[whole]);
        }
    }

    /// Whether a shape with this index exists.
    pub fn contains(&self, id: ShapeId) -> bool {
        (id.0 as usize) < self.layouts.len()
    }

    /// Whether a value of a shape may contain a part whose type has a custom description.
    pub fn has_custom_description(&self, id: ShapeId) -> bool {
        self.described[id.0 as usize]
    }

    fn has_part_with_description(&self, shape: &Shape) -> bool {
        matches!(shape, Shape::Class { .. } | Shape::Any)
            || shape.parts().iter().any(|part| self.has_custom_description(*part))
    }

    /// Returns the layout of a shape: the number of components of a value in each bank.
    pub fn layout(&self, id: ShapeId) -> Layout {
        self.layouts[id.0 as usize]
    }

    /// Returns the layout of the fields before a field of a tuple, struct or instance of a class.
    pub fn before_field(&self, id: ShapeId, index: usize) -> Layout {
        self.starts[id.0 as usize].get(index).copied().unwrap_or_default()
    }

    fn compute_starts(&self, id: ShapeId) -> Rc<[Layout]> {
        let mut at = Layout::default();
        let mut start = |of: ShapeId| {
            let (here, of) = (at, self.layout(of));
            at = Layout { f: here.f + of.f, i: here.i + of.i, r: here.r + of.r };
            here
        };
        match self.get(id) {
            Shape::Tuple(fields) => fields.iter().map(|f| start(f.1)).collect(),
            Shape::Struct { fields, .. } | Shape::Class { fields, .. } => fields.iter().map(|f| start(f.1)).collect(),
            _ => Rc::from([]),
        }
    }

    /// Returns the layout of the contents of an instance of a class; `None` for other shapes.
    pub fn instance_layout(&self, id: ShapeId) -> Option<Layout> {
        let Some(Shape::Class { fields, .. }) = self.shapes.get(id.0 as usize) else { return None };
        Some(fields.iter().fold(Layout::default(), |sum, (_, of)| {
            let of = self.layout(*of);
            Layout { f: sum.f + of.f, i: sum.i + of.i, r: sum.r + of.r }
        }))
    }

    /// Whether a shape equals `wanted`, or is a class that inherits from it.
    pub fn is_subclass(&self, of: ShapeId, wanted: ShapeId) -> bool {
        let mut at = Some(of);
        while let Some(shape) = at {
            if shape == wanted {
                return true;
            }
            at = match self.get(shape) {
                Shape::Class { base, .. } => *base,
                _ => None,
            };
        }
        false
    }

    fn compute_layout(&self, shape: &Shape) -> Layout {
        let sum = |shapes: &mut dyn Iterator<Item = ShapeId>| {
            shapes.fold(Layout::default(), |a, s| {
                let b = self.layout(s);
                Layout { f: a.f + b.f, i: a.i + b.i, r: a.r + b.r }
            })
        };
        match shape {
            Shape::Double | Shape::Float => Layout { f: 1, i: 0, r: 0 },
            Shape::Tensor => Layout { f: 1, i: 0, r: 1 },
            Shape::Int { .. } | Shape::Bool => Layout { f: 0, i: 1, r: 0 },
            Shape::Tuple(fields) => sum(&mut fields.iter().map(|(_, s)| *s)),
            Shape::Struct { fields, .. } => sum(&mut fields.iter().map(|(_, s)| *s)),
            Shape::Enum { cases, .. } => {
                let most = cases.iter().fold(Layout::default(), |a, case| {
                    let b = sum(&mut case.payload.iter().map(|(_, s)| *s));
                    Layout { f: a.f.max(b.f), i: a.i.max(b.i), r: a.r.max(b.r) }
                });
                Layout { i: most.i + 1, ..most }
            }
            Shape::Optional(of) => {
                let of = self.layout(*of);
                Layout { i: of.i + 1, ..of }
            }
            Shape::Metatype { .. } => Layout::default(),
            Shape::String
            | Shape::Character
            | Shape::Array(_)
            | Shape::Dictionary(..)
            | Shape::Set(_)
            | Shape::Function { .. }
            | Shape::Boxed(_)
            | Shape::Class { .. }
            | Shape::Any => Layout { f: 0, i: 0, r: 1 },
        }
    }
}

/// All tangent types of a session. Equal tangent types have the same index.
#[derive(Clone, Default, Debug)]
pub struct Tangents {
    tangents: Vec<Tangent>,
    numbers: HashMap<Tangent, TangentId>,
    same_components: KnownComponents,
}

impl Tangents {
    /// Whether the derivative of some part of a type is carried by a [vector stored with the
    /// part](TangentKind::Beside).
    pub fn varies_beside(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Beside(_)))
    }

    /// Whether some part of a value of a type is moved by an [opaque](TangentKind::Opaque) vector, such as a tensor.
    pub fn has_opaque_vector(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Opaque(_) | TangentKind::Tensor))
    }

    /// Whether the numbers in the tangent vectors of a value cannot be counted, even if the value is known.
    pub fn has_uncounted_vector(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Opaque(_)))
    }

    /// Whether the number of differentiable numbers in a value depends on the value.
    pub fn varies_in_size(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| {
            use TangentKind::{Array, Dictionary, Enum, Optional, Tensor};
            matches!(kind, Array(_) | Dictionary(_) | Optional(_) | Enum(_) | Tensor)
        })
    }

    /// Whether values of a type contain, or may contain, differentiable numbers.
    pub fn has_numbers(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Number | TangentKind::Tensor))
    }

    /// Whether the tangent type of some part of a type satisfies a predicate.
    fn any(&self, id: TangentId, is_wanted: &mut dyn FnMut(&TangentKind) -> bool) -> bool {
        let mut waiting = vec![id];
        let mut visited = hashbrown::HashSet::new();
        while let Some(id) = waiting.pop() {
            if !visited.insert(id) {
                continue;
            }
            let kind = &self.get(id).kind;
            if is_wanted(kind) {
                return true;
            }
            match kind {
                TangentKind::Number | TangentKind::Tensor | TangentKind::Nothing => {}
                TangentKind::Fields(fields) => waiting.extend(fields.iter().map(|(_, _, of)| *of)),
                TangentKind::Enum(cases) => waiting.extend(cases.iter().flatten().map(|(_, of)| *of)),
                TangentKind::Array(of)
                | TangentKind::Dictionary(of)
                | TangentKind::Optional(of)
                | TangentKind::Beside(of)
                | TangentKind::Opaque(of)
                | TangentKind::Boxed(of) => waiting.push(*of),
            }
        }
        false
    }

    /// Interns a tangent type and returns its index.
    pub fn add(&mut self, tangent: Tangent) -> TangentId {
        if let Some(known) = self.numbers.get(&tangent) {
            return *known;
        }
        let id = TangentId(self.tangents.len() as u32);
        self.numbers.insert(tangent.clone(), id);
        self.tangents.push(tangent);
        id
    }

    /// Reserves an index for the tangent type of a recursive type.
    pub fn reserve(&mut self, value: ShapeId, vector: ShapeId) -> TangentId {
        self.tangents.push(Tangent { value, vector, kind: TangentKind::Nothing });
        TangentId(self.tangents.len() as u32 - 1)
    }

    /// Returns the first tangent type that satisfies a predicate.
    pub fn find(&self, is_wanted: impl Fn(&Tangent) -> bool) -> Option<TangentId> {
        self.tangents.iter().position(is_wanted).map(|k| TangentId(k as u32))
    }

    /// Whether a tangent type with this index exists.
    pub fn contains(&self, id: TangentId) -> bool {
        (id.0 as usize) < self.tangents.len()
    }

    /// Defines the tangent type with an index that was reserved.
    pub fn define(&mut self, id: TangentId, tangent: Tangent) {
        self.numbers.entry(tangent.clone()).or_insert(id);
        self.tangents[id.0 as usize] = tangent;
        self.same_components = KnownComponents::default();
    }

    /// Returns the tangent type that has the index `id`.
    pub fn get(&self, id: TangentId) -> &Tangent {
        &self.tangents[id.0 as usize]
    }
}
