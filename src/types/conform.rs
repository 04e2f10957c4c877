//! Conformances: which type conforms to which protocol, what its associated types are, and which function fulfils a
//! requirement.

use super::declare::inherited;
use super::resolve::TypeScope;
use super::store::{Conformance, GroupId, MemberKind, Named, Owner, Requirement, RequirementKind, Signature, World};
use super::tree::{FunctionId, FunctionRef};
use super::ty::{NominalId, ProtocolId, Type};
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind, TypeExprKind};
use std::rc::Rc;

/// The protocols that tuples conform to when all their elements do.
const OF_TUPLES: &[&str] =
    &["Differentiable", "Equatable", "Comparable", "Hashable", "AdditiveArithmetic", "ScalableVector"];

impl World {
    /// The protocols that a protocol refines, itself first.
    pub(super) fn refined(&mut self, p: ProtocolId) -> Rc<[ProtocolId]> {
        if let Some(known) = &self.protocol_data(p).refines {
            return known.clone();
        }
        self.protocols[p.0 as usize].refines = Some(Rc::from([p]));
        let mut all = vec![p];
        let (inherits, file) = (self.protocol_data(p).inherits.clone(), self.protocol_data(p).file);
        let scope = TypeScope::of(Owner::Protocol(p), file);
        for ty in &inherits {
            let parts = match &inherited(ty).0.kind {
                TypeExprKind::Composition(parts) => parts.clone(),
                _ => vec![inherited(ty).0.clone()],
            };
            for part in &parts {
                if matches!(&part.kind, TypeExprKind::Named(path) if &*path[0].0.name == "AnyObject") {
                    continue;
                }
                if let Some(Ok(q)) = self.protocol_or_type(part, &scope) {
                    for r in self.refined(q).iter() {
                        if !all.contains(r) {
                            all.push(*r);
                        }
                    }
                }
            }
        }
        let all: Rc<[ProtocolId]> = all.into();
        self.protocols[p.0 as usize].refines = Some(all.clone());
        all
    }

    /// The protocols that the bound of an associated type names.
    pub(super) fn associated_bounds(&mut self, p: ProtocolId, name: &str) -> Rc<[ProtocolId]> {
        let Some(i) = self.protocol_data(p).associated.iter().position(|a| &*a.name == name) else {
            return Rc::from([]);
        };
        if let Some(known) = &self.protocol_data(p).associated[i].conforms {
            return known.clone();
        }
        self.protocols[p.0 as usize].associated[i].conforms = Some(Rc::from([]));
        let bound = self.protocol_data(p).associated[i].bound.clone();
        let scope = TypeScope::of(Owner::Protocol(p), self.protocol_data(p).file);
        let mut out = vec![];
        if let Some(bound) = bound {
            let parts = match bound.kind {
                TypeExprKind::Composition(parts) => parts,
                _ => vec![bound],
            };
            for part in &parts {
                if let Some(Ok(q)) = self.protocol_or_type(part, &scope) {
                    out.push(q);
                }
            }
        }
        let out: Rc<[ProtocolId]> = out.into();
        self.protocols[p.0 as usize].associated[i].conforms = Some(out.clone());
        out
    }

    /// The protocols that a type that is not nominal is known to conform to, those they refine included.
    pub(super) fn protocols_of(&mut self, ty: &Type) -> Vec<ProtocolId> {
        let mut direct: Vec<ProtocolId> = vec![];
        let env = self.env.clone();
        for requirement in &env.requirements {
            if let Requirement::Conforms(of, p) = requirement
                && of == ty
            {
                direct.push(*p);
            }
        }
        match ty {
            Type::Associated(_, p, name) => direct.extend(self.associated_bounds(*p, name).iter()),
            Type::Existential(protocols) => direct.extend(protocols.iter()),
            Type::Var(v) => direct.extend(self.var(*v).conforms.iter().map(|(p, _)| *p)),
            Type::Nominal(n, _) => direct.extend(self.declared_conformances(*n)),
            Type::Tuple(_) => {
                for name in OF_TUPLES {
                    let p = self.protocol(name);
                    if self.conforms_to(ty, p) {
                        direct.push(p);
                    }
                }
            }
            _ => {}
        }
        let mut all = vec![];
        for p in direct {
            for q in self.refined(p).iter() {
                if !all.contains(q) {
                    all.push(*q);
                }
            }
        }
        all
    }

    fn declared_conformances(&mut self, n: NominalId) -> Vec<ProtocolId> {
        self.enter_conformances(n);
        let mut out: Vec<ProtocolId> = self.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
        if let Some(Type::Nominal(base, _)) = self.nominal_data(n).superclass.clone() {
            out.extend(self.declared_conformances(base));
        }
        out
    }

    /// Enters the conformances of a type that were not looked at yet.
    pub(super) fn enter_conformances(&mut self, n: NominalId) {
        let name = self.nominal_data(n).name.clone();
        if self.nominal_data(n).parent == Owner::Module {
            self.load_extensions(&name);
        }
        let groups = self.nominal_data(n).groups.clone();
        for group in groups {
            if std::mem::replace(&mut self.groups[group.0 as usize].conformances_entered, true) {
                continue;
            }
            let (inherits, file) = (self.groups[group.0 as usize].inherits.clone(), self.groups[group.0 as usize].file);
            let own = self.nominal_data(n).group == group;
            let scope = TypeScope::of(Owner::Nominal(n), file);
            for ty in &inherits {
                let (inner, memberwise) = inherited(ty);
                let parts = match &inner.kind {
                    TypeExprKind::Composition(parts) => parts.clone(),
                    _ => vec![inner.clone()],
                };
                for part in &parts {
                    let span = part.span;
                    match self.protocol_or_type(part, &scope) {
                        Some(Ok(p)) => self.add_conformance(n, p, group, memberwise, span),
                        Some(Err(ty)) if own => self.set_base(n, ty, span),
                        Some(Err(_)) | None => {}
                    }
                }
            }
        }
        self.add_automatic_conformances(n);
    }

    fn set_base(&mut self, n: NominalId, ty: Type, span: Span) {
        match self.nominal_data(n).kind {
            NominalKind::Class => self.nominal_data_mut(n).superclass = Some(ty),
            NominalKind::Enum => {
                self.nominal_data_mut(n).raw_type = Some(ty);
                let (group, p) = (self.nominal_data(n).group, self.protocol("RawRepresentable"));
                self.add_conformance(n, p, group, false, span);
            }
            NominalKind::Struct => {
                let message = format!("inheritance from non-protocol type '{}'", self.show(&ty));
                self.report(crate::diagnostic::Diagnostic::error(crate::diagnostic::Code::Types, span, message));
            }
        }
    }

    pub(super) fn add_conformance(
        &mut self,
        n: NominalId,
        p: ProtocolId,
        group: GroupId,
        memberwise: bool,
        span: Span,
    ) {
        let data = self.nominal_data_mut(n);
        if let Some(known) = data.conformances.iter_mut().find(|c| c.protocol == p) {
            known.memberwise |= memberwise;
            return;
        }
        data.conformances.push(Conformance {
            protocol: p,
            group,
            memberwise,
            types: hashbrown::HashMap::new(),
            span,
            checked: false,
        });
    }

    /// Enums without payload are `Equatable` and `Hashable` by themselves.
    fn add_automatic_conformances(&mut self, n: NominalId) {
        let data = self.nominal_data(n);
        if data.kind != NominalKind::Enum || data.builtin.is_some() || data.synthesized.contains(&"automatic") {
            return;
        }
        if data.cases.iter().any(|c| c.has_payload) || data.cases.is_empty() {
            return;
        }
        let (group, span) = (data.group, data.span);
        self.nominal_data_mut(n).synthesized.push("automatic");
        let hashable = self.protocol("Hashable");
        self.add_conformance(n, hashable, group, false, span);
    }

    /// The conformance (its index) by which a nominal type conforms to a protocol or to one that refines it.
    pub(super) fn find_conformance(&mut self, n: NominalId, p: ProtocolId) -> Option<usize> {
        self.enter_conformances(n);
        if let Some(i) = self.nominal_data(n).conformances.iter().position(|c| c.protocol == p) {
            return Some(i);
        }
        let protocols: Vec<ProtocolId> = self.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
        protocols.into_iter().position(|q| self.refined(q).contains(&p))
    }

    /// Whether a known type conforms to a protocol, in the current generic surroundings.
    pub(super) fn conforms_to(&mut self, ty: &Type, p: ProtocolId) -> bool {
        let ty = self.shallow(ty);
        match &ty {
            Type::Error | Type::Never | Type::Var(_) => true,
            Type::Param(_) | Type::Associated(..) => self.protocols_of(&ty).contains(&p),
            Type::Existential(protocols) => {
                let protocols = protocols.clone();
                protocols.iter().any(|q| self.refined(*q).contains(&p))
            }
            Type::Nominal(n, args) => self.nominal_conforms(*n, args, p, &ty),
            Type::Tuple(parts) => {
                let name = self.protocol_data(p).name.clone();
                OF_TUPLES.contains(&&*name) && parts.iter().all(|(_, t)| self.conforms_to(t, p))
            }
            // The exception of the documents: a curried function may give a function back.
            Type::Function(_) => &*self.protocol_data(p).name == "Differentiable",
            Type::Metatype(_) => false,
        }
    }

    fn nominal_conforms(&mut self, n: NominalId, args: &[Type], p: ProtocolId, ty: &Type) -> bool {
        let Some(i) = self.find_conformance(n, p) else {
            return match self.nominal_data(n).superclass.clone() {
                Some(base) => {
                    let base = self.substitute_nominal(n, args, &base);
                    self.conforms_to(&base, p)
                }
                None => false,
            };
        };
        let group = self.nominal_data(n).conformances[i].group;
        // A recursive type conforms while its parts are looked at.
        if self.conforming.iter().any(|(t, q)| t == ty && *q == p) {
            return true;
        }
        self.conforming.push((ty.clone(), p));
        let holds = self.group_holds(n, args, group);
        self.conforming.pop();
        holds
    }

    /// Whether the conditions of an extension hold for given arguments of the type.
    pub(super) fn group_holds(&mut self, n: NominalId, args: &[Type], group: GroupId) -> bool {
        if self.groups[group.0 as usize].requirements.is_empty() {
            return true;
        }
        let env = self.group_env(group);
        let own = self.nominal_env(n);
        env.requirements.iter().filter(|r| !own.requirements.contains(r)).all(|r| match r {
            Requirement::Conforms(of, p) => {
                let of = self.substitute_nominal(n, args, of);
                self.conforms_to(&of, *p)
            }
            Requirement::Same(a, b) => {
                let (a, b) = (self.substitute_nominal(n, args, a), self.substitute_nominal(n, args, b));
                let (a, b) = (self.resolved(&a), self.resolved(&b));
                a == b || a.any(&mut |t| matches!(t, Type::Var(_))) || b.any(&mut |t| matches!(t, Type::Var(_)))
            }
            Requirement::Superclass(..) => true,
        })
    }

    pub(super) fn substitute_nominal(&mut self, n: NominalId, args: &[Type], ty: &Type) -> Type {
        let params = &self.nominal_data(n).params;
        if params.is_empty() {
            return ty.clone();
        }
        let by = |p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
        ty.substitute(&by)
    }

    /// Requires a conformance of a type whose arguments are not all known: what it asks of them is asked of them.
    pub(super) fn require_conditional(&mut self, n: NominalId, args: &[Type], p: ProtocolId, span: Span) -> bool {
        let Some(i) = self.find_conformance(n, p) else { return false };
        let group = self.nominal_data(n).conformances[i].group;
        if self.groups[group.0 as usize].requirements.is_empty() {
            return true;
        }
        let (env, own) = (self.group_env(group), self.nominal_env(n));
        env.requirements.iter().filter(|r| !own.requirements.contains(r)).all(|r| match r {
            Requirement::Conforms(of, q) => {
                let of = self.substitute_nominal(n, args, of);
                self.require(&of, *q, span)
            }
            Requirement::Same(a, b) => {
                let (a, b) = (self.substitute_nominal(n, args, a), self.substitute_nominal(n, args, b));
                self.unify(&a, &b, span)
            }
            Requirement::Superclass(..) => true,
        })
    }

    /// Looks up `T.Name` wherever it can be, deeply.
    pub(super) fn normalize_type(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Associated(of, p, name) => {
                let of = self.normalize_type(of);
                let of = if let Type::Var(_) = of { self.shallow(&of) } else { of };
                let here = Type::Associated(Rc::new(of.clone()), *p, name.clone());
                if let Some(same) = self.same_as(&here) {
                    return same;
                }
                if let Type::Associated(base, q, _) = &of
                    && let Some(same) = self.protocol_says(*q, base, &here)
                {
                    return same;
                }
                if matches!(of, Type::Param(_) | Type::Associated(..)) {
                    for q in self.protocols_of(&of) {
                        if let Some(same) = self.protocol_says(q, &of, &here)
                            && same != here
                        {
                            return self.normalize_type(&same);
                        }
                    }
                }
                match &of {
                    // The tangent vector of a tangent vector is itself.
                    Type::Associated(_, q, inner) if p == q && name == inner && &**name == "TangentVector" => of,
                    Type::Nominal(n, args) => {
                        let args = args.clone();
                        self.type_witness(*n, &args, *p, name).unwrap_or(here)
                    }
                    Type::Tuple(parts) if &**name == "TangentVector" => {
                        let part = |t: &Type| Type::Associated(Rc::new(t.clone()), *p, name.clone());
                        let parts: Vec<_> = parts.iter().map(|(l, t)| (l.clone(), part(t))).collect();
                        Type::Tuple(parts.into_iter().map(|(l, t)| (l, self.normalize_type(&t))).collect())
                    }
                    Type::Function(_) if &**name == "TangentVector" => Type::unit(),
                    Type::Error => Type::Error,
                    _ => here,
                }
            }
            Type::Param(_) => self.same_as(ty).unwrap_or_else(|| ty.clone()),
            Type::Nominal(_, args) if args.is_empty() => ty.clone(),
            Type::Var(_) | Type::Existential(_) | Type::Never | Type::Error => ty.clone(),
            _ => {
                let mut first = true;
                ty.map(&mut |t| {
                    if std::mem::replace(&mut first, false) { None } else { Some(self.normalize_type(t)) }
                })
            }
        }
    }

    /// What the `where` clauses of a protocol say that an associated type of an associated type is.
    fn protocol_says(&mut self, p: ProtocolId, of: &Type, here: &Type) -> Option<Type> {
        let own = self.protocol_data(p).self_param;
        let equalities = self.protocol_equalities(p);
        let by = |t: &Type| t.substitute(&|q| (q == own).then(|| of.clone()));
        equalities.iter().find_map(|(a, b)| {
            let (a, b) = (by(a), by(b));
            (a == *here).then_some(b.clone()).or_else(|| (b == *here).then_some(a))
        })
    }

    fn protocol_equalities(&mut self, p: ProtocolId) -> Rc<[(Type, Type)]> {
        if let Some(known) = &self.protocol_data(p).equalities {
            return known.clone();
        }
        self.protocols[p.0 as usize].equalities = Some(Rc::from([]));
        let data = self.protocol_data(p);
        let clauses: Vec<_> = data
            .associated
            .iter()
            .flat_map(|a| a.requirements.iter())
            .chain(&data.requirement_clauses)
            .filter(|r| r.same)
            .cloned()
            .collect();
        let (group, file) = (data.group, data.file);
        let env = self.group_env(group);
        let saved = std::mem::replace(&mut self.env, env);
        let scope = TypeScope::of(Owner::Protocol(p), file);
        let mut out = vec![];
        for clause in clauses {
            let (a, b) = (self.resolve_type(&clause.left, &scope), self.resolve_type(&clause.right, &scope));
            if a != b {
                out.push((a, b));
            }
        }
        self.env = saved;
        let out: Rc<[(Type, Type)]> = out.into();
        self.protocols[p.0 as usize].equalities = Some(out.clone());
        out
    }

    /// What the surroundings say that a type is equal to.
    fn same_as(&mut self, ty: &Type) -> Option<Type> {
        let env = self.env.clone();
        env.requirements.iter().find_map(|r| match r {
            Requirement::Same(a, b) => {
                let (key, value) = match (a, b) {
                    (Type::Associated(..), _) => (a, b),
                    (_, Type::Associated(..)) | (Type::Nominal(..), Type::Param(_)) => (b, a),
                    _ => (a, b),
                };
                (key == ty && value != ty).then(|| value.clone())
            }
            _ => None,
        })
    }

    /// `T.Name` by the protocols that `T` conforms to.
    pub(super) fn associated_type(&mut self, of: &Type, name: &str) -> Option<Type> {
        let of = self.shallow(of);
        let mut protocols = self.protocols_of(&of);
        if matches!(of, Type::Var(_) | Type::Tuple(_) | Type::Function(_)) && name == "TangentVector" {
            protocols.push(self.protocol("Differentiable"));
        }
        let p = protocols.into_iter().find(|p| self.protocol_data(*p).associated.iter().any(|a| &*a.name == name))?;
        let ty = Type::Associated(Rc::new(of), p, name.into());
        Some(self.normalize_type(&ty))
    }

    /// The type that a conformance supplies for an associated type.
    fn type_witness(&mut self, n: NominalId, args: &[Type], p: ProtocolId, name: &Name) -> Option<Type> {
        let owner = self.owner_of_associated(p, name)?;
        let Some(i) = self.find_conformance(n, owner) else {
            let base = self.nominal_data(n).superclass.clone()?;
            let base = self.substitute_nominal(n, args, &base);
            let ty = Type::Associated(Rc::new(base), p, name.clone());
            let normal = self.normalize_type(&ty);
            return (normal != ty).then_some(normal);
        };
        let known = self.nominal_data(n).conformances[i].types.get(name).cloned();
        let found = match known {
            Some(found) => found,
            None => {
                // Set first, so that a lookup that comes back here ends.
                self.nominal_data_mut(n).conformances[i].types.insert(name.clone(), Type::Error);
                let found = self.find_type_witness(n, i, owner, name);
                match found {
                    Some(found) => {
                        self.nominal_data_mut(n).conformances[i].types.insert(name.clone(), found.clone());
                        found
                    }
                    None => {
                        self.nominal_data_mut(n).conformances[i].types.remove(name);
                        return None;
                    }
                }
            }
        };
        let found = self.substitute_nominal(n, args, &found);
        Some(self.normalize_type(&found))
    }

    fn owner_of_associated(&mut self, p: ProtocolId, name: &str) -> Option<ProtocolId> {
        let refined = self.refined(p);
        refined.iter().copied().find(|q| self.protocol_data(*q).associated.iter().any(|a| &*a.name == name))
    }

    fn find_type_witness(&mut self, n: NominalId, conformance: usize, p: ProtocolId, name: &Name) -> Option<Type> {
        let group = self.nominal_data(n).conformances[conformance].group;
        let env = self.group_env(group);
        let saved = std::mem::replace(&mut self.env, env);
        let declared = self.declared_type(n);
        let Type::Nominal(_, args) = &declared else { return None };
        let mut found = self.own_member_type(n, args, name);
        if found.is_none() {
            let params = self.nominal_data(n).params.clone();
            found = params.iter().rev().find(|q| self.params[q.0 as usize].name == *name).map(|q| Type::Param(*q));
        }
        if found.is_none() && &**name == "TangentVector" {
            found = self.synthesize_tangent_vector(n);
        }
        if found.is_none() && &**name == "RawValue" {
            found = self.nominal_data(n).raw_type.clone();
        }
        if found.is_none() {
            found = self.infer_associated(n, p, name);
        }
        if found.is_none() {
            let default =
                self.protocol_data(p).associated.iter().find(|a| a.name == *name).and_then(|a| a.default.clone());
            if let Some(default) = default {
                let scope = TypeScope::of(Owner::Nominal(n), self.protocol_data(p).file);
                found = Some(self.resolve_type(&default, &scope));
            }
        }
        self.env = saved;
        found
    }

    /// An associated type from the members that fulfil requirements which mention it.
    fn infer_associated(&mut self, n: NominalId, p: ProtocolId, name: &Name) -> Option<Type> {
        let own = Type::Param(self.protocol_data(p).self_param);
        let wanted = Type::Associated(Rc::new(own.clone()), p, name.clone());
        let mut protocols = vec![p];
        let conforming: Vec<ProtocolId> = self.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
        for q in conforming {
            for r in self.refined(q).iter() {
                if !protocols.contains(r) && self.refined(*r).contains(&p) {
                    protocols.push(*r);
                }
            }
        }
        for protocol in protocols {
            let own = Type::Param(self.protocol_data(protocol).self_param);
            let wanted = match &wanted {
                Type::Associated(_, p, name) => Type::Associated(Rc::new(own.clone()), *p, name.clone()),
                other => other.clone(),
            };
            for r in 0..self.protocol_data(protocol).requirements.len() {
                let (function, base) = {
                    let data = &self.protocol_data(protocol).requirements[r];
                    (data.function, data.name.clone())
                };
                let required = self.signature(function);
                let mentions = required
                    .params
                    .iter()
                    .map(|q| &q.ty)
                    .chain([&required.result])
                    .any(|t| t.any(&mut |t| *t == wanted));
                if !mentions {
                    continue;
                }
                let candidates = self.nominal_data(n).members.get(&base).cloned().unwrap_or_default();
                for member in candidates {
                    let candidate = match member.kind {
                        MemberKind::Method(f)
                        | MemberKind::Init(f)
                        | MemberKind::Computed(f, _)
                        | MemberKind::Subscript(f, _) => f,
                        MemberKind::Stored(i) => {
                            let ty = self.stored_type(n, i);
                            if let Some(found) = match_type(&required.result, &wanted, &ty) {
                                return Some(found);
                            }
                            continue;
                        }
                        _ => continue,
                    };
                    let given = self.signature(candidate);
                    if given.params.len() != required.params.len()
                        || given.params.iter().zip(&required.params).any(|(a, b)| a.label != b.label)
                    {
                        continue;
                    }
                    let pairs = required.params.iter().zip(&given.params).map(|(a, b)| (&a.ty, &b.ty));
                    for (pattern, ty) in pairs.chain([(&required.result, &given.result)]) {
                        if let Some(found) = match_type(pattern, &wanted, ty) {
                            return Some(found);
                        }
                    }
                }
            }
        }
        None
    }

    /// The function that fulfils a requirement for a concrete type. `generics` are those of the requirement itself.
    pub(super) fn find_witness(
        &mut self,
        p: ProtocolId,
        requirement: u32,
        of: &Type,
        generics: &[Type],
    ) -> Option<FunctionRef> {
        let (function, base, kind, is_static) = {
            let data = &self.protocol_data(p).requirements[requirement as usize];
            (data.function, data.name.clone(), data.kind, data.is_static)
        };
        let of = self.resolved(of);
        let Type::Nominal(n, args) = &of else {
            return match &of {
                Type::Tuple(parts) => self.tuple_witness(p, &base, parts),
                _ => None,
            };
        };
        self.enter_conformances(*n);
        let wanted = self.requirement_for(function, p, &of);
        let mut class = Some((*n, args.clone()));
        while let Some((n, args)) = class {
            self.synthesize_member(n, &base, is_static);
            let members = self.nominal_data(n).members.get(&base).cloned().unwrap_or_default();
            for member in members {
                let found = match (&member.kind, kind) {
                    (MemberKind::Method(f), RequirementKind::Method)
                    | (MemberKind::Init(f), RequirementKind::Init)
                    | (MemberKind::Computed(f, _), RequirementKind::Getter)
                    | (MemberKind::Computed(_, Some(f)), RequirementKind::Setter)
                    | (MemberKind::Subscript(f, _), RequirementKind::SubscriptGetter)
                    | (MemberKind::Subscript(_, Some(f)), RequirementKind::SubscriptSetter) => *f,
                    (MemberKind::Stored(i), RequirementKind::Getter | RequirementKind::Setter) if !is_static => {
                        self.stored_accessor(n, *i, kind == RequirementKind::Setter)
                    }
                    (MemberKind::Global(g), RequirementKind::Getter) => self.global_accessor(*g),
                    (MemberKind::Case(_), RequirementKind::Getter | RequirementKind::Method) => continue,
                    _ => continue,
                };
                if member.is_static != is_static || !self.group_holds(n, &args, member.group) {
                    continue;
                }
                if let Some(own) = self.fits_requirement(found, &args, &wanted, generics) {
                    let generics = args.iter().cloned().chain(own).collect();
                    return Some(FunctionRef { function: found, generics });
                }
            }
            class = match self.nominal_data(n).superclass.clone() {
                Some(base) => match self.substitute_nominal(n, &args, &base) {
                    Type::Nominal(b, a) => Some((b, a)),
                    _ => None,
                },
                None => None,
            };
        }
        self.default_witness(p, &base, kind, is_static, &of, &wanted, generics)
    }

    /// The signature of a requirement for a concrete `Self`.
    fn requirement_for(&mut self, function: FunctionId, p: ProtocolId, of: &Type) -> Signature {
        let signature = self.signature(function);
        let own = self.protocol_data(p).self_param;
        let mut map = |t: &Type| {
            let t = t.substitute(&|q| (q == own).then(|| of.clone()));
            self.normalize_type(&t)
        };
        let mut out = (*signature).clone();
        for param in &mut out.params {
            param.ty = map(&param.ty);
        }
        out.result = map(&out.result);
        out
    }

    /// Whether a function has the types that are wanted, and if so its own generic arguments.
    fn fits_requirement(
        &mut self,
        f: FunctionId,
        args: &[Type],
        wanted: &Signature,
        generics: &[Type],
    ) -> Option<Vec<Type>> {
        let signature = self.signature(f);
        if signature.params.len() != wanted.params.len()
            || signature.params.iter().zip(&wanted.params).any(|(a, b)| a.label != b.label)
        {
            return None;
        }
        let snapshot = self.snapshot();
        let count = args.len().min(signature.env.params.len());
        let own: Vec<Type> = signature.env.params[count..].iter().map(|_| self.fresh()).collect();
        let params = signature.env.params.clone();
        let all: Vec<Type> = args[..count].iter().cloned().chain(own.iter().cloned()).collect();
        let substitute = |t: &Type| t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| all[i].clone()));
        // The requirement's own generic parameters stand for the arguments that the caller gave.
        let required_own: Vec<_> = wanted.env.params.iter().skip(1).copied().collect();
        let required = |t: &Type| {
            t.substitute(&|p| required_own.iter().position(|q| *q == p).and_then(|i| generics.get(i).cloned()))
        };
        let mut fits = true;
        for (a, b) in signature.params.iter().zip(&wanted.params) {
            let (have, want) = (substitute(&a.ty), required(&b.ty));
            fits = fits && self.unify(&have, &want, Span::default());
        }
        let (have, want) = (substitute(&signature.result), required(&wanted.result));
        fits = fits && (self.unify(&have, &want, Span::default()) || have == Type::Never);
        let own: Vec<Type> = own.iter().map(|t| self.resolved(t)).collect();
        self.rollback(snapshot);
        fits.then_some(own)
    }

    #[expect(clippy::too_many_arguments, reason = "what is known of the requirement")]
    fn default_witness(
        &mut self,
        p: ProtocolId,
        base: &str,
        kind: RequirementKind,
        is_static: bool,
        of: &Type,
        wanted: &Signature,
        generics: &[Type],
    ) -> Option<FunctionRef> {
        let mut protocols = self.protocols_of(of);
        if !protocols.contains(&p) {
            protocols.push(p);
        }
        let mut best: Option<(usize, FunctionRef)> = None;
        for q in protocols {
            let name = self.protocol_data(q).name.clone();
            self.load_extensions(&name);
            let members = self.protocol_data(q).members.get(base).cloned().unwrap_or_default();
            for member in members {
                let found = match (&member.kind, kind) {
                    (MemberKind::Method(f), RequirementKind::Method)
                    | (MemberKind::Init(f), RequirementKind::Init)
                    | (MemberKind::Computed(f, _), RequirementKind::Getter)
                    | (MemberKind::Computed(_, Some(f)), RequirementKind::Setter)
                    | (MemberKind::Subscript(f, _), RequirementKind::SubscriptGetter)
                    | (MemberKind::Subscript(_, Some(f)), RequirementKind::SubscriptSetter) => *f,
                    _ => continue,
                };
                if member.is_static != is_static || !self.protocol_group_holds(q, of, member.group) {
                    continue;
                }
                let weight = self.group_env(member.group).requirements.len();
                if let Some(own) = self.fits_requirement(found, std::slice::from_ref(of), wanted, generics)
                    && best.as_ref().is_none_or(|(w, _)| weight > *w)
                {
                    let generics = std::iter::once(of.clone()).chain(own).collect();
                    best = Some((weight, FunctionRef { function: found, generics }));
                }
            }
        }
        best.map(|(_, f)| f)
    }

    /// Whether the conditions of a protocol's extension hold for a type.
    pub(super) fn protocol_group_holds(&mut self, p: ProtocolId, of: &Type, group: GroupId) -> bool {
        let own = self.protocol_data(p).self_param;
        let env = self.group_env(group);
        env.requirements.iter().all(|r| match r {
            Requirement::Conforms(t, q) => {
                let t = t.substitute(&|x| (x == own).then(|| of.clone()));
                self.conforms_to(&t, *q)
            }
            Requirement::Same(a, b) => {
                let by = |t: &Type| t.substitute(&|x| (x == own).then(|| of.clone()));
                let (a, b) = (self.resolved(&by(a)), self.resolved(&by(b)));
                a == b || a.any(&mut |t| matches!(t, Type::Var(_))) || b.any(&mut |t| matches!(t, Type::Var(_)))
            }
            Requirement::Superclass(..) => true,
        })
    }

    /// Requirements of tuples are fulfilled by functions of the prelude: `_tuple2_zero`, `_tuple3_plus`.
    fn tuple_witness(&mut self, _p: ProtocolId, base: &str, parts: &[(Option<Name>, Type)]) -> Option<FunctionRef> {
        let word = match base {
            "+" => "plus",
            "-" => "minus",
            "==" => "equal",
            "<" => "less",
            other => other,
        };
        let name = format!("_tuple{}_{word}", parts.len());
        let entry = self.library_entries(&name).into_iter().find_map(|e| match e.what {
            Named::Function(f) => Some(f),
            _ => None,
        })?;
        Some(FunctionRef { function: entry, generics: parts.iter().map(|(_, t)| t.clone()).collect() })
    }
}

/// Finds what `wanted` stands for when `pattern` is matched with a type.
fn match_type(pattern: &Type, wanted: &Type, ty: &Type) -> Option<Type> {
    if pattern == wanted {
        return Some(ty.clone());
    }
    match (pattern, ty) {
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) if m == n => {
            xs.iter().zip(ys.iter()).find_map(|(x, y)| match_type(x, wanted, y))
        }
        (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => {
            xs.iter().zip(ys.iter()).find_map(|((_, x), (_, y))| match_type(x, wanted, y))
        }
        (Type::Function(f), Type::Function(g)) if f.params.len() == g.params.len() => f
            .params
            .iter()
            .zip(&g.params)
            .find_map(|(p, q)| match_type(&p.ty, wanted, &q.ty))
            .or_else(|| match_type(&f.result, wanted, &g.result)),
        _ => None,
    }
}
