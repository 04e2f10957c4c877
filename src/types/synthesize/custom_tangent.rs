//! Types that say themselves what their tangent vectors are.

use crate::syntax::ast::{Name, NominalKind};
use crate::types::model::declared::Builtin;
use crate::types::model::tables::World;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::synthesize::VECTOR;
use std::rc::Rc;

impl World {
    /// The tangent vector of a concrete type.
    pub(crate) fn vector_of(&mut self, ty: &Type) -> Option<Type> {
        let saved = std::mem::take(&mut self.env);
        let found = self.vector_here(ty);
        self.env = saved;
        found
    }

    /// The tangent vector of a type in the current generic surroundings.
    fn vector_here(&mut self, ty: &Type) -> Option<Type> {
        let differentiable = self.protocol("Differentiable");
        if matches!(ty, Type::Function(_)) || !self.conforms_to(ty, differentiable) {
            return None;
        }
        let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
        let normal = self.normalize_type(&vector);
        (normal != vector || matches!(ty, Type::Param(_) | Type::Associated(..) | Type::Opaque(..))).then_some(normal)
    }

    /// The tangent vector of a struct or enum that is not differentiated member by member, because the vector's members
    /// are not the type's own by name.
    pub(crate) fn own_vector(&mut self, ty: &Type) -> Option<Type> {
        let Type::Nominal(n, args) = ty else { return None };
        let data = self.nominal_data(*n);
        if data.builtin.is_some() || data.kind == NominalKind::Class || !self.is_made_differentiable_by_user(*n) {
            return None;
        }
        let saved = std::mem::take(&mut self.env);
        let vector = self.vector_here(ty);
        let follows = vector
            .as_ref()
            .is_none_or(|v| v == ty || self.follows_members(*n, args, v) && !self.is_written_without_members(*n, v));
        self.env = saved;
        vector.filter(|_| !follows)
    }

    /// Whether a tangent vector that the user has written leaves out a property of its type.
    pub(crate) fn leaves_out(&mut self, ty: &Type, property: &str) -> bool {
        let Type::Nominal(n, _) = ty else { return false };
        let data = self.nominal_data(*n);
        if data.builtin.is_some() || data.is_prelude || !self.is_made_differentiable_by_user(*n) {
            return false;
        }
        if self.own_vector(ty).is_some() {
            return false;
        }
        match self.vector_of(ty) {
            Some(vector @ Type::Nominal(v, _))
                if vector != *ty && !self.nominal_data(*n).synthesized.contains(&VECTOR) =>
            {
                let own = self.nominal_info(*n);
                let keeps = own.stored.iter().find(|s| &*s.name == property).and_then(|s| s.wrapped.as_ref());
                let name = keeps.map_or(property, |(name, _)| &**name);
                !self.nominal_info(v).stored.iter().any(|s| &*s.name == name)
            }
            _ => false,
        }
    }

    /// Whether moving a value along its tangent vector is moving its members along those of the vector.
    pub(crate) fn moves_by_members(&mut self, n: NominalId, ty: &Type) -> bool {
        let Type::Nominal(_, args) = ty else { return false };
        self.vector_here(ty).is_none_or(|vector| self.follows_members(n, args, &vector))
    }

    /// The protocols beside its usual ones that a synthesized tangent vector must conform to, because a protocol that the
    /// type conforms to says so.
    pub(crate) fn asked_of_vector(&mut self, n: NominalId) -> Vec<Name> {
        let differentiable = self.protocol("Differentiable");
        let is_vector = |t: &Type, own: ParamId| matches!(t, Type::Associated(of, p, name) if **of == Type::Param(own) && *p == differentiable && &**name == "TangentVector");
        let mut asked: Vec<Name> = vec![];
        for q in self.all_conforming(n) {
            let own = self.protocol_data(q).self_param;
            let clauses = self.protocol_clauses(q);
            for (_, bound) in clauses.conform.iter().filter(|(of, _)| is_vector(of, own)) {
                let name = self.protocol_data(*bound).name.clone();
                let usual = ["Differentiable", "AdditiveArithmetic", "ScalableVector", "Scalable", "Equatable"];
                if !usual.contains(&&*name) && !asked.contains(&name) {
                    asked.push(name);
                }
            }
        }
        asked
    }

    /// A synthesized vector must fulfil what protocols of its type ask of it.
    pub(crate) fn check_asked_vector(&mut self, n: NominalId) {
        if self.declares(n, "Differentiable").is_none() || self.asked_of_vector(n).is_empty() {
            return;
        }
        let own = self.declared_type(n);
        let Some(Type::Nominal(v, _)) = self.vector_of(&own).filter(|vector| *vector != own) else { return };
        if !self.nominal_data(v).is_prelude {
            self.check_nominal(v);
            return;
        }
        // One that is synthesized has no place of its own.
        let (span, before) = (self.nominal_data(n).span, self.diagnostics.len());
        for i in 0..self.nominal_data(v).conformances.len() {
            self.check_conformance(v, i);
        }
        for diagnostic in &mut self.diagnostics[before..] {
            diagnostic.primary.span = span;
        }
    }

    /// A class is differentiated by its members only: its instances have no place for anything else.
    pub(crate) fn unreachable_vector(&mut self, n: NominalId, ty: &Type) -> Option<String> {
        let Type::Nominal(_, args) = ty else { return None };
        let vector = self.vector_here(ty)?;
        let is_own = self.nominal_data(n).kind == NominalKind::Class && !self.follows_members(n, args, &vector);
        is_own.then(|| {
            format!(
                "the 'TangentVector' of a class to have properties with the same names as the class, unlike '{}'",
                self.show(&vector)
            )
        })
    }

    /// Tangent vectors are added number by number: all that they are made of has to say where its numbers are.
    pub(crate) fn hidden_in_vector(&mut self, ty: &Type) -> Option<String> {
        let vector = self.vector_here(ty)?;
        let Type::Nominal(v, args) = &vector else { return None };
        let data = self.nominal_data(*v);
        if data.is_prelude || data.kind != NominalKind::Struct {
            return None;
        }
        let differentiable = self.protocol("Differentiable");
        for member in self.nominal_info(*v).stored.iter().filter(|member| !member.no_derivative) {
            let part = self.substitute_nominal(*v, args, &member.ty);
            let part = self.normalize_type(&part);
            if !self.conforms_to(&part, differentiable) && self.holds_numbers(&part, &mut vec![]) {
                let (name, part) = (&member.name, self.show(&part));
                return Some(format!(
                    "a 'TangentVector' whose stored properties conform to 'Differentiable', unlike '{name}' of type '{part}'"
                ));
            }
        }
        None
    }

    /// Whether there are numbers in a value that could move.
    fn holds_numbers(&mut self, ty: &Type, around: &mut Vec<Type>) -> bool {
        match ty {
            Type::Param(_) | Type::Associated(..) | Type::Existential(_) => true,
            Type::Tuple(parts) => parts.iter().any(|(_, part)| self.holds_numbers(part, around)),
            Type::Nominal(n, args) => {
                if around.contains(ty) {
                    return false;
                }
                around.push(ty.clone());
                let info = self.nominal_info(*n);
                if matches!(info.builtin, Some(Builtin::Double | Builtin::Float)) {
                    return true;
                }
                let stored = info.stored.iter().map(|s| &s.ty);
                let payloads = info.cases.iter().flat_map(|case| case.payload.iter().map(|(_, ty)| ty));
                let own: Vec<Type> = stored.chain(payloads).map(|t| self.substitute_nominal(*n, args, t)).collect();
                own.iter().chain(args.iter()).any(|part| {
                    let part = self.normalize_type(part);
                    self.holds_numbers(&part, around)
                })
            }
            _ => false,
        }
    }

    /// What a protocol asks of the associated types of a type, and does not hold.
    pub(crate) fn broken_clauses(&mut self, p: ProtocolId, ty: &Type) -> Vec<String> {
        let own = self.protocol_data(p).self_param;
        let by = |t: &Type| t.substitute(&|q| (q == own).then(|| ty.clone()));
        let mut asked: Vec<(Type, ProtocolId)> = vec![];
        for a in 0..self.protocol_data(p).associated.len() {
            let name = self.protocol_data(p).associated[a].name.clone();
            let bounds = self.associated_bounds(p, &name);
            let of = Type::Associated(Rc::new(Type::Param(own)), p, name);
            asked.extend(bounds.iter().map(|bound| (of.clone(), *bound)));
        }
        let clauses = self.protocol_clauses(p);
        asked.extend(clauses.conform.iter().cloned());
        // What the library asks beside the documents is given where it can be.
        let given = [self.protocol("Scalable"), self.protocol("ScalableVector")];
        let mut broken = vec![];
        for (of, bound) in asked.into_iter().filter(|(_, bound)| !given.contains(bound)) {
            let found = self.normalize_type(&by(&of));
            if !found.any(&mut |t| *t == Type::Error) && !self.conforms_to(&found, bound) {
                let (what, found) = (self.show(&by(&of)), self.show(&found));
                broken.push(format!(
                    "that '{what}', which is '{found}', conform to '{}'",
                    self.protocol_data(bound).name
                ));
            }
        }
        for (a, b) in &clauses.equal {
            let (one, other) = (self.normalize_type(&by(a)), self.normalize_type(&by(b)));
            if one != other && ![&one, &other].iter().any(|t| t.any(&mut |t| *t == Type::Error)) {
                let (one, other) = (self.show(&one), self.show(&other));
                broken.push(format!(
                    "that '{}' be '{}', but it is '{one}', not '{other}'",
                    self.show(&by(a)),
                    self.show(&by(b))
                ));
            }
        }
        broken
    }

    /// The library's own types are differentiated as the machine knows.
    fn is_made_differentiable_by_user(&mut self, n: NominalId) -> bool {
        let Some(conformance) = self.declares(n, "Differentiable") else { return false };
        let (group, _) = self.asks(n, conformance);
        !self.groups[group.0 as usize].is_prelude
    }

    /// Whether the user has written a tangent vector without members: it stands for something that is elsewhere, or for
    /// nothing.
    fn is_written_without_members(&mut self, n: NominalId, vector: &Type) -> bool {
        let Type::Nominal(v, _) = vector else { return false };
        let of_vector = self.nominal_info(*v);
        let is_struct = of_vector.kind == NominalKind::Struct && self.nominal_data(*v).builtin.is_none();
        is_struct && of_vector.stored.is_empty() && !self.nominal_data(n).synthesized.contains(&VECTOR)
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
            let keeps = own.stored.iter().find(|s| s.wrapped.as_ref().is_some_and(|(name, _)| *name == member.name));
            let Some(same) = keeps.or_else(|| own.stored.iter().find(|s| s.name == member.name)) else { return false };
            let ty = self.substitute_nominal(n, args, &same.ty);
            let mut ty = self.normalize_type(&ty);
            for place in same.wrapped.iter().flat_map(|(_, places)| places) {
                let Type::Nominal(wrapper, of) = &ty else { return false };
                let value = self.nominal_info(*wrapper).stored[*place as usize].ty.clone();
                let value = self.substitute_nominal(*wrapper, &of.clone(), &value);
                ty = self.normalize_type(&value);
            }
            let wanted = self.substitute_nominal(*v, vector_args, &member.ty);
            let wanted = self.normalize_type(&wanted);
            self.vector_here(&ty) == Some(wanted)
        })
    }
}
