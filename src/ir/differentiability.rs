//! Differentiability: the relation between concrete types and their tangent vectors.
//!
//! In: a concrete type, and its tangent vector (`Declarations::tangent_vector`). Out: a [`TangentId`] that relates the
//! components of a value to those of its tangent vector.
//!
//! Promises: stored properties and the fields of the vector correspond by name, or not at all: in the latter case the
//! vector is stored beside the value ([`TangentKind::Beside`]). Properties marked `@noDerivative` are constant. The
//! tangent of a boxed value is a [`TangentKind::Boxed`]; both shapes inside it are unboxed.

use crate::ir::layout::{Layouts, instantiate, unboxed};
use crate::types::model::declaration_info::{Builtin, Declarations, Nominal, NominalKind};
use crate::types::model::ty::Type;
use crate::value::shape::{BESIDE, Shape, ShapeId, Shapes, Style, Tangent, TangentId, TangentKind, Tangents};
use hashbrown::HashMap;

/// The declarations, and the tables to which shapes and tangent types are added.
pub struct Tables<'a> {
    /// The declarations of the program.
    pub d: &'a mut dyn Declarations,
    /// The shapes of the session.
    pub shapes: &'a mut Shapes,
    /// The tangent types of the session.
    pub tangents: &'a mut Tangents,
}

impl Layouts {
    /// Returns the tangent type of a concrete type; `None` if the type is not differentiable.
    pub fn tangent(&mut self, to: &mut Tables<'_>, ty: &Type) -> Option<TangentId> {
        if let Some(known) = self.tangents.get(ty) {
            return *known;
        }
        let found = self.find_tangent(to, ty);
        self.tangents.insert(ty.clone(), found);
        found
    }

    fn find_tangent(&mut self, to: &mut Tables<'_>, ty: &Type) -> Option<TangentId> {
        let vector = tangent_vector(to.d, ty)?;
        let value_shape = self.shape(to.d, to.shapes, ty);
        let vector_shape = self.shape(to.d, to.shapes, &vector);
        if let Some((_, reserved)) = self.open_tangents.iter_mut().find(|(t, _)| t == ty) {
            return Some(*reserved.get_or_insert_with(|| to.tangents.reserve(value_shape, vector_shape)));
        }
        self.open_tangents.push((ty.clone(), None));
        let kind = self.kind(to, ty, &vector);
        let reserved = self.open_tangents.pop().and_then(|(_, reserved)| reserved);
        let tangent = self.around(to, value_shape, vector_shape, kind);
        Some(match reserved {
            Some(id) => {
                to.tangents.define(id, tangent);
                id
            }
            None => to.tangents.add(tangent),
        })
    }

    /// Wraps a tangent type in [`TangentKind::Boxed`] if values of the type are boxed.
    fn around(&mut self, to: &mut Tables<'_>, value: ShapeId, vector: ShapeId, kind: TangentKind) -> Tangent {
        let (inner, inner_vector) = (unboxed(to.shapes, value), unboxed(to.shapes, vector));
        if inner == value && inner_vector == vector {
            return Tangent { value, vector, kind };
        }
        let inside = to.tangents.add(Tangent { value: inner, vector: inner_vector, kind });
        Tangent { value, vector, kind: TangentKind::Boxed(inside) }
    }

    fn kind(&mut self, to: &mut Tables<'_>, ty: &Type, vector: &Type) -> TangentKind {
        match ty {
            Type::Tuple(fields) => {
                let pairs = fields.iter().enumerate();
                let varied: Vec<_> = pairs.filter_map(|(i, (_, t))| Some((i as u32, self.tangent(to, t)?))).collect();
                // A tangent vector with as many elements as the tuple corresponds to all elements; any other vector
                // corresponds to the differentiable elements only.
                let all = matches!(vector, Type::Tuple(v) if v.len() == fields.len());
                let place = |j: usize, i: u32| if all { i } else { j as u32 };
                TangentKind::Fields(varied.iter().enumerate().map(|(j, (i, t))| (*i, place(j, *i), *t)).collect())
            }
            Type::Nominal(id, args) => {
                let nominal = to.d.nominal(*id);
                match (nominal.builtin, nominal.kind) {
                    (Some(builtin), _) => self.builtin(to, builtin, args),
                    _ if to.d.own_vector(ty).is_some() => {
                        self.tangent(to, vector).map_or(TangentKind::Nothing, |of| self.beside_value(to, ty, of))
                    }
                    (None, NominalKind::Struct | NominalKind::Class) => self.fields(to, ty, &nominal, args, vector),
                    (None, NominalKind::Enum) => self.enumeration(to, &nominal, args),
                }
            }
            _ => TangentKind::Nothing,
        }
    }

    /// Returns the kind of tangent type for values with the tangent vector beside them: the vector corresponds to the
    /// value component by component, or as a whole.
    fn beside_value(&mut self, to: &mut Tables<'_>, ty: &Type, of: TangentId) -> TangentKind {
        let value = self.shape(to.d, to.shapes, ty);
        let vector = to.tangents.get(of).vector;
        let beside = match to.shapes.get(unboxed(to.shapes, value)) {
            Shape::Struct { fields, style: Style::Beside, .. } => fields.get(BESIDE as usize).map(|(_, shape)| *shape),
            _ => None,
        };
        match beside {
            Some(value) if value != vector => {
                TangentKind::Beside(to.tangents.add(Tangent { value, vector, kind: TangentKind::Opaque(of) }))
            }
            _ => TangentKind::Beside(of),
        }
    }

    fn builtin(&mut self, to: &mut Tables<'_>, builtin: Builtin, args: &[Type]) -> TangentKind {
        let mut of = |i: usize| args.get(i).and_then(|t| self.tangent(to, t));
        let kind = match builtin {
            Builtin::Double | Builtin::Float => Some(TangentKind::Number),
            Builtin::TensorStorage => Some(TangentKind::Tensor),
            Builtin::Array => of(0).map(TangentKind::Array),
            Builtin::Dictionary => of(1).map(TangentKind::Dictionary),
            Builtin::Optional => of(0).map(TangentKind::Optional),
            Builtin::Int { .. } | Builtin::Bool | Builtin::String | Builtin::Character | Builtin::Set => None,
        };
        kind.unwrap_or(TangentKind::Nothing)
    }

    fn fields(
        &mut self,
        to: &mut Tables<'_>,
        ty: &Type,
        nominal: &Nominal,
        args: &[Type],
        vector: &Type,
    ) -> TangentKind {
        let Type::Nominal(id, _) = vector else { return TangentKind::Nothing };
        let of_vector = to.d.nominal(*id);
        let places: HashMap<_, _> = of_vector.stored.iter().enumerate().rev().map(|(j, s)| (&*s.name, j)).collect();
        let mut fields = vec![];
        for (i, stored) in nominal.stored.iter().enumerate() {
            let wrapped = stored.wrapped.as_ref().filter(|_| ty != vector);
            let name = wrapped.map_or(&*stored.name, |(name, _)| &**name);
            let Some(j) = places.get(name).copied() else { continue };
            if stored.no_derivative && ty != vector {
                continue;
            }
            let field = instantiate(to.d, nominal, args, &stored.ty);
            let tangent = match wrapped {
                Some((_, places)) if !places.is_empty() => self.wrapped(to, &field, places),
                _ => self.tangent(to, &field),
            };
            if let Some(tangent) = tangent {
                fields.push((i as u32, j as u32, tangent));
            }
        }
        TangentKind::Fields(fields)
    }

    /// Returns the tangent type of a property wrapper that is differentiated like one of its stored properties. The
    /// tangent vector of the wrapper is a tuple whose only field is the tangent vector of the wrapped value.
    fn wrapped(&mut self, to: &mut Tables<'_>, wrapper: &Type, places: &[u32]) -> Option<TangentId> {
        let Some((place, inside)) = places.split_first() else { return self.tangent(to, wrapper) };
        let Type::Nominal(id, args) = wrapper else { return None };
        let nominal = to.d.nominal(*id);
        let value = instantiate(to.d, &nominal, args, &nominal.stored.get(*place as usize)?.ty);
        let of_value = self.wrapped(to, &value, inside)?;
        let shape = self.shape(to.d, to.shapes, wrapper);
        let vector = to.shapes.add(Shape::Tuple(vec![(None, to.tangents.get(of_value).vector)]));
        let inner = unboxed(to.shapes, shape);
        let inside = Tangent { value: inner, vector, kind: TangentKind::Fields(vec![(*place, 0, of_value)]) };
        if inner == shape {
            return Some(to.tangents.add(inside));
        }
        let inside = to.tangents.add(inside);
        Some(to.tangents.add(Tangent { value: shape, vector, kind: TangentKind::Boxed(inside) }))
    }

    fn enumeration(&mut self, to: &mut Tables<'_>, nominal: &Nominal, args: &[Type]) -> TangentKind {
        let mut cases = vec![];
        for case in &nominal.cases {
            let mut varied = vec![];
            for (i, (_, t)) in case.payload.iter().enumerate() {
                let t = instantiate(to.d, nominal, args, t);
                if let Some(tangent) = self.tangent(to, &t) {
                    varied.push((i as u32, tangent));
                }
            }
            cases.push(varied);
        }
        if cases.iter().all(Vec::is_empty) { TangentKind::Nothing } else { TangentKind::Enum(cases) }
    }

    /// Returns the tangent type of several values together, such as the arguments of an operator. Values that are not
    /// differentiable are constant.
    pub fn tangent_of_all(&mut self, to: &mut Tables<'_>, types: &[Type]) -> TangentId {
        if let [one] = types
            && let Some(tangent) = self.tangent(to, one)
        {
            return tangent;
        }
        let tangents: Vec<_> = types.iter().map(|ty| self.tangent(to, ty)).collect();
        self.together(to, types, tangents)
    }

    /// Returns the tangent type of several results together. A tuple with an element that is not differentiable is
    /// constant.
    pub fn tangent_of_results(&mut self, to: &mut Tables<'_>, types: &[Type]) -> TangentId {
        let moves = |to: &mut Tables<'_>, ty: &Type| to.d.tangent_vector(ty).is_some();
        match types {
            [one] if moves(to, one) => self.tangent_of_all(to, types),
            _ => {
                let tangent = |ty: &Type| if moves(to, ty) { self.tangent(to, ty) } else { None };
                let tangents = types.iter().map(tangent).collect();
                self.together(to, types, tangents)
            }
        }
    }

    fn together(&mut self, to: &mut Tables<'_>, types: &[Type], tangents: Vec<Option<TangentId>>) -> TangentId {
        let mut value = vec![];
        let mut vector = vec![];
        let mut fields = vec![];
        for (i, (ty, tangent)) in types.iter().zip(tangents).enumerate() {
            value.push((None, self.shape(to.d, to.shapes, ty)));
            if let Some(tangent) = tangent {
                fields.push((i as u32, vector.len() as u32, tangent));
                vector.push((None, to.tangents.get(tangent).vector));
            }
        }
        let value = to.shapes.add(Shape::Tuple(value));
        let vector = to.shapes.add(Shape::Tuple(vector));
        to.tangents.add(Tangent { value, vector, kind: TangentKind::Fields(fields) })
    }
}

/// Returns the tangent vector of a type; the tangent vector of a tuple consists of the tangent vectors of its
/// differentiable elements.
fn tangent_vector(d: &mut dyn Declarations, ty: &Type) -> Option<Type> {
    if let Some(vector) = d.tangent_vector(ty) {
        return Some(vector);
    }
    let Type::Tuple(fields) = ty else { return None };
    let vectors: Vec<_> = fields.iter().filter_map(|(label, t)| Some((label.clone(), tangent_vector(d, t)?))).collect();
    (!vectors.is_empty()).then(|| Type::Tuple(vectors.into()))
}
