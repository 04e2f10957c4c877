//! Types that say themselves what their tangent vectors are.

use super::store::World;
use super::ty::{NominalId, Type};
use crate::syntax::ast::NominalKind;
use std::rc::Rc;

impl World {
    /// The tangent vector of a concrete type.
    pub(super) fn vector_of(&mut self, ty: &Type) -> Option<Type> {
        let saved = std::mem::take(&mut self.env);
        let differentiable = self.protocol("Differentiable");
        let found = if matches!(ty, Type::Function(_)) || !self.conforms_to(ty, differentiable) {
            None
        } else {
            let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
            let normal = self.normalize_type(&vector);
            (normal != vector).then_some(normal)
        };
        self.env = saved;
        found
    }

    /// The tangent vector of a struct or enum that is not differentiated member by member, because the vector's members
    /// are not the type's own by name.
    pub(super) fn own_vector(&mut self, ty: &Type) -> Option<Type> {
        let Type::Nominal(n, args) = ty else { return None };
        let data = self.nominal_data(*n);
        if data.builtin.is_some() || data.kind == NominalKind::Class || !self.is_made_differentiable_by_user(*n) {
            return None;
        }
        let vector = self.vector_of(ty)?;
        let follows = vector == *ty || self.follows_members(*n, args, &vector);
        (!follows).then_some(vector)
    }

    /// The library's own types are differentiated as the machine knows.
    fn is_made_differentiable_by_user(&mut self, n: NominalId) -> bool {
        let Some(conformance) = self.declares(n, "Differentiable") else { return false };
        let (group, _) = self.asks(n, conformance);
        !self.groups[group.0 as usize].is_prelude
    }

    /// Whether each member of a vector is that of the member with the same name.
    fn follows_members(&mut self, n: NominalId, args: &[Type], vector: &Type) -> bool {
        let Type::Nominal(v, vector_args) = vector else { return false };
        if self.nominal_data(*v).builtin.is_some() {
            return false;
        }
        let (own, of_vector) = (self.nominal_info(n), self.nominal_info(*v));
        if own.kind == NominalKind::Enum || of_vector.kind == NominalKind::Enum {
            // That of an enum by its cases is an enum that nobody else writes.
            return own.kind == of_vector.kind;
        }
        of_vector.stored.iter().all(|member| {
            let Some(same) = own.stored.iter().find(|s| s.name == member.name) else { return false };
            let ty = self.substitute_nominal(n, args, &same.ty);
            let ty = self.normalize_type(&ty);
            let wanted = self.substitute_nominal(*v, vector_args, &member.ty);
            let wanted = self.normalize_type(&wanted);
            self.vector_of(&ty) == Some(wanted)
        })
    }
}
