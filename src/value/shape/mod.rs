//! Shapes: the registers of a value of a concrete type, and how the type differentiates.
//!
//! A [`Shape`] is what is left of a type at run time: enough to print, compare, hash and walk a value. A [`Tangent`]
//! relates the components of a value to those of its tangent vector.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

mod stored;

use hashbrown::HashMap;
use std::rc::Rc;
pub use stored::{StoredShapes, StoredTangents};

/// Index of a shape in [`Shapes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ShapeId(pub u32);

/// A type that says itself how its values are written: an index into what the compiler knows of such types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct OwnId(pub u32);

/// Index of a tangent in [`Tangents`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct TangentId(pub u32);

/// How many components a value has in each bank: `f64`, `i64`, references.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// Components in `f64`.
    pub f: u32,
    /// Components in `i64`.
    pub i: u32,
    /// References.
    pub r: u32,
}

/// What a value of a type looks like.
///
/// In registers its components stand in the order of the fields, depth first, banks mixed. In storage
/// ([`Cells`](super::Cells)) they stand bank by bank, in the same order within a bank. The components of an optional are
/// its tag and then the value's; those of an enum are its tag, then all `f`, all `i`, all `r` components that its cases
/// share.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// One `f64`.
    Double,
    /// One `f64` that was rounded to single precision.
    Float,
    /// One `i64`; `bits` and `signed` say which integer type.
    Int { bits: u8, signed: bool },
    /// One `i64`, 0 or 1.
    Bool,
    /// One text.
    String,
    /// One text of one grapheme cluster.
    Character,
    /// The fields one after another.
    Tuple(Vec<(Option<Rc<str>>, ShapeId)>),
    /// The stored properties one after another. `name` is what `print` writes: `Point`, `Pair<Double, Int>`,
    /// `TangentVector`.
    Struct { name: Rc<str>, fields: Vec<(Rc<str>, ShapeId)>, style: Style },
    /// A tag in the first `i64` component (behind it the payload, whose components share registers between cases:
    /// each case starts at component 0 of `f` and `r` and at component 1 of `i`).
    Enum { name: Rc<str>, cases: Vec<Case> },
    /// A tag in the first `i64` component (0 `nil`, 1 a value) and the value's components behind it.
    Optional(ShapeId),
    /// One reference to cells: the elements one after another.
    Array(ShapeId),
    /// One reference to a dictionary.
    Dictionary(ShapeId, ShapeId),
    /// One reference to a dictionary without values.
    Set(ShapeId),
    /// One reference to a function object. Each type of functions has a number of its own.
    Function { number: u32 },
    /// One reference to a record with these components (a big or recursive struct or enum).
    Boxed(ShapeId),
    /// One reference to a box: an instance of a class.
    /// The properties of its superclass come first. Each class has a shape of its own, however alike they are.
    Class { name: Rc<str>, base: Option<ShapeId>, fields: Vec<(Rc<str>, ShapeId)> },
    /// One reference to an [`AnyValue`](super::AnyValue) (`Any`, `any P`).
    Any,
    /// A metatype: no components; prints its name. Each type has a number of its own, however alike the names are.
    Metatype { name: Rc<str>, number: u32 },
}

impl Shape {
    /// The shapes that it is made of.
    fn parts(&self) -> Vec<ShapeId> {
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

/// What a person sees of a struct: all of it, or the value beside which its tangent stands.
pub fn seen(fields: &[(Rc<str>, ShapeId)], style: Style) -> &[(Rc<str>, ShapeId)] {
    match style {
        Style::Beside => fields.get(..1).unwrap_or(fields),
        _ => fields,
    }
}

/// The field of a [`Style::Beside`] that is the vector.
pub const BESIDE: u32 = 1;

/// How a struct prints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Style {
    /// `Name(a: 1, b: 2)`
    Fields,
    /// `a..<b`: the first two fields.
    Range,
    /// `a...b`
    ClosedRange,
    /// `Name(1.0, 2.0)`: the elements without labels (`SIMD4<Float>`).
    Vector,
    /// Only the first field, as if it stood alone.
    Transparent,
    /// A value, and beside it a vector of zeros that moves in its place: see [`TangentKind::Beside`]. Only the value is seen.
    Beside,
}

/// A case of an enum.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Case {
    /// Its name.
    pub name: Rc<str>,
    /// Its payload with labels.
    pub payload: Vec<(Option<Rc<str>>, ShapeId)>,
}

/// How a type differentiates: from the components of a value to those of its tangent vector.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tangent {
    /// The shape of a value.
    pub value: ShapeId,
    /// The shape of its tangent vector.
    pub vector: ShapeId,
    /// How the two correspond.
    pub kind: TangentKind,
}

/// How the parts of a value correspond to the parts of its tangent vector.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum TangentKind {
    /// A number, whose tangent is a number of the same type.
    Number,
    /// Tuple, struct or class: field of the value, field of the vector, and how they correspond. A field of the value
    /// that is not named here is constant; a field of the vector that is not named here is zero.
    Fields(Vec<(u32, u32, TangentId)>),
    /// An array; the vector is a struct whose only field is an array of the elements' vectors. An empty vector is zero.
    Array(TangentId),
    /// A dictionary; the vector is a struct whose only field is a dictionary of the values' vectors. A missing key is zero.
    Dictionary(TangentId),
    /// An optional; the vector is a struct whose only field is an optional vector. `nil` is zero.
    Optional(TangentId),
    /// An enum: for each case the fields of its payload that move; the vector is the enum of the payloads' vectors with
    /// the same tags behind a first case `zero`.
    Enum(Vec<Vec<(u32, TangentId)>>),
    /// Nothing moves: the vector is empty.
    Nothing,
    /// A record around the components.
    Boxed(TangentId),
    /// A type that says itself what its tangent vectors are. Nothing in its values corresponds to them, so a vector of
    /// zeros stands beside each value ([`Style::Beside`]), and its numbers have the slots.
    Beside(TangentId),
    /// What stands beside a value whose tangent vectors have no fixed number of components: one number, whose slot is that
    /// of the whole vector, and whose adjoints and tangents are [vectors](crate::value::opaque_vector) that differentiate like that.
    Opaque(TangentId),
}

/// All shapes of a session; equal shapes have one number, unless a type speaks for itself.
#[derive(Clone, Default, Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    numbers: HashMap<(Shape, Option<OwnId>), ShapeId>,
    layouts: Vec<Layout>,
    /// Where the fields of each shape begin.
    starts: Vec<Rc<[Layout]>>,
    own: Vec<Option<OwnId>>,
    /// Whether a part of a value may speak for itself.
    speaking: Vec<bool>,
}

impl Shapes {
    /// The number of a shape.
    pub fn add(&mut self, shape: Shape) -> ShapeId {
        self.add_own(shape, None)
    }

    /// The number of the shape of a type that may speak for itself.
    pub fn add_own(&mut self, shape: Shape, own: Option<OwnId>) -> ShapeId {
        let key = (shape, own);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let id = ShapeId(self.shapes.len() as u32);
        let shape = key.0.clone();
        self.numbers.insert(key, id);
        let layout = self.compute_layout(&shape);
        self.speaking.push(own.is_some() || self.has_speaking_part(&shape));
        self.shapes.push(shape);
        self.layouts.push(layout);
        self.starts.push(self.compute_starts(id));
        self.own.push(own);
        id
    }

    /// Reserves a number for a recursive type, which is boxed; [`Shapes::define`] says later what it is.
    pub fn reserve(&mut self) -> ShapeId {
        self.shapes.push(Shape::Tuple(vec![]));
        self.layouts.push(Layout { f: 0, i: 0, r: 1 });
        self.starts.push(Rc::from([]));
        self.own.push(None);
        self.speaking.push(true);
        ShapeId(self.shapes.len() as u32 - 1)
    }

    /// Says what a reserved number stands for; must be a shape of one reference.
    pub fn define(&mut self, id: ShapeId, shape: Shape, own: Option<OwnId>) {
        self.numbers.entry((shape.clone(), own)).or_insert(id);
        self.own[id.0 as usize] = own;
        self.layouts[id.0 as usize] = self.compute_layout(&shape);
        self.shapes[id.0 as usize] = shape;
        self.starts[id.0 as usize] = self.compute_starts(id);
    }

    /// The shape with that number.
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// The type that says itself how values of this shape are written.
    pub fn own(&self, id: ShapeId) -> Option<OwnId> {
        self.own[id.0 as usize]
    }

    /// Whether there is such a shape.
    pub fn contains(&self, id: ShapeId) -> bool {
        (id.0 as usize) < self.layouts.len()
    }

    /// Whether a value may have a part whose type says itself how it is written.
    pub fn has_custom_description(&self, id: ShapeId) -> bool {
        self.speaking[id.0 as usize]
    }

    fn has_speaking_part(&self, shape: &Shape) -> bool {
        matches!(shape, Shape::Class { .. } | Shape::Any)
            || shape.parts().iter().any(|part| self.has_custom_description(*part))
    }

    /// How many components a value has.
    pub fn layout(&self, id: ShapeId) -> Layout {
        self.layouts[id.0 as usize]
    }

    /// What lies before a field of a tuple, struct or instance of a class.
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

    /// What an instance of a class holds; `None` for other shapes.
    pub fn instance_layout(&self, id: ShapeId) -> Option<Layout> {
        let Some(Shape::Class { fields, .. }) = self.shapes.get(id.0 as usize) else { return None };
        Some(fields.iter().fold(Layout::default(), |sum, (_, of)| {
            let of = self.layout(*of);
            Layout { f: sum.f + of.f, i: sum.i + of.i, r: sum.r + of.r }
        }))
    }

    /// Whether a shape is another one, or of a class that inherits from it.
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

/// All tangents of a session; equal ones have one number.
#[derive(Clone, Default, Debug)]
pub struct Tangents {
    tangents: Vec<Tangent>,
    numbers: HashMap<Tangent, TangentId>,
}

impl Tangents {
    /// Whether some part of a value of that type is moved by what [stands beside](TangentKind::Beside) it.
    pub fn moves_beside(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Beside(_)))
    }

    /// Whether some part of a value of that type is moved by an [opaque](TangentKind::Opaque) vector.
    pub fn has_opaque_vector(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| matches!(kind, TangentKind::Opaque(_)))
    }

    /// Whether values of that type differ in how many numbers of them can move.
    pub fn varies_in_size(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| {
            use TangentKind::{Array, Dictionary, Enum, Optional};
            matches!(kind, Array(_) | Dictionary(_) | Optional(_) | Enum(_))
        })
    }

    /// Whether values of that type have numbers that can move, or may have some.
    pub fn has_numbers(&self, id: TangentId) -> bool {
        self.any(id, &mut |kind| *kind == TangentKind::Number)
    }

    /// Whether some part of a type differentiates so.
    fn any(&self, id: TangentId, is_wanted: &mut dyn FnMut(&TangentKind) -> bool) -> bool {
        let mut waiting = vec![id];
        let mut met = hashbrown::HashSet::new();
        while let Some(id) = waiting.pop() {
            if !met.insert(id) {
                continue;
            }
            let kind = &self.get(id).kind;
            if is_wanted(kind) {
                return true;
            }
            match kind {
                TangentKind::Number | TangentKind::Nothing => {}
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

    /// The number of a tangent.
    pub fn add(&mut self, tangent: Tangent) -> TangentId {
        if let Some(known) = self.numbers.get(&tangent) {
            return *known;
        }
        let id = TangentId(self.tangents.len() as u32);
        self.numbers.insert(tangent.clone(), id);
        self.tangents.push(tangent);
        id
    }

    /// Reserves a number for a recursive type.
    pub fn reserve(&mut self, value: ShapeId, vector: ShapeId) -> TangentId {
        self.tangents.push(Tangent { value, vector, kind: TangentKind::Nothing });
        TangentId(self.tangents.len() as u32 - 1)
    }

    /// The first one that is wanted.
    pub fn find(&self, is_wanted: impl Fn(&Tangent) -> bool) -> Option<TangentId> {
        self.tangents.iter().position(is_wanted).map(|k| TangentId(k as u32))
    }

    /// Whether there is such a tangent.
    pub fn contains(&self, id: TangentId) -> bool {
        (id.0 as usize) < self.tangents.len()
    }

    /// Says what a reserved number stands for.
    pub fn define(&mut self, id: TangentId, tangent: Tangent) {
        self.numbers.entry(tangent.clone()).or_insert(id);
        self.tangents[id.0 as usize] = tangent;
    }

    /// The tangent with that number.
    pub fn get(&self, id: TangentId) -> &Tangent {
        &self.tangents[id.0 as usize]
    }
}
