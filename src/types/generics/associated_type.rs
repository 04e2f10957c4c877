//! Associated types: what `T.Name` is, by what surroundings, protocols and conformances say.

use crate::syntax::ast::Name;
use crate::types::generics::existential::known_type;
use crate::types::model::tables::{Clauses, MemberKind, Owner, Requirement, Signature, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

impl World {
    /// The protocols that the bound of an associated type names.
    pub(crate) fn associated_bounds(&mut self, p: ProtocolId, name: &str) -> Rc<[ProtocolId]> {
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
            out.extend(self.bounds(&bound, &scope).into_iter().filter_map(|(bound, _)| bound.ok()));
        }
        let out: Rc<[ProtocolId]> = out.into();
        self.protocols[p.0 as usize].associated[i].conforms = Some(out.clone());
        out
    }

    /// Looks up `T.Name` wherever it can be, deeply.
    pub(crate) fn normalize_type(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Associated(of, p, name) => {
                let of = self.normalize_type(of);
                let of = if let Type::Var(_) = of { self.shallow(&of) } else { of };
                if let Some(known) = known_type(&of, name).or_else(|| self.known_of_opaque(&of, name)) {
                    return known;
                }
                let here = Type::Associated(Rc::new(of.clone()), *p, name.clone());
                if let Some(same) = self.same_as(&here) {
                    return same;
                }
                if let Type::Associated(base, q, _) = &of
                    && let Some(same) = self.protocol_says(*q, base, &here)
                    && same != here
                {
                    return self.normalize_type(&same);
                }
                if matches!(of, Type::Param(_) | Type::Associated(..) | Type::Existential(_) | Type::Opaque(..)) {
                    for q in self.protocols_of(&of).iter().copied() {
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
                    // Which type it is was forgotten; what it conforms to was not.
                    Type::Existential(e) if &**name != "TangentVector" => self.forgotten(&e.clone(), *p, name),
                    Type::Error => Type::Error,
                    Type::Never => Type::Never,
                    _ => here,
                }
            }
            Type::Param(_) => self.same_as(ty).unwrap_or_else(|| ty.clone()),
            Type::Opaque(id, args) if self.opaques.are_known => self.underlying_type(*id, args),
            Type::Nominal(_, args) if args.is_empty() => ty.clone(),
            Type::Existential(e) if e.types().next().is_none() => ty.clone(),
            Type::Var(_) | Type::Never | Type::Error => ty.clone(),
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
        let clauses = self.protocol_clauses(p);
        let by = |t: &Type| t.substitute(&|q| (q == own).then(|| of.clone()));
        clauses.equal.iter().find_map(|(a, b)| {
            let (a, b) = (by(a), by(b));
            let (rank_a, rank_b) = (associated_depth(&a), associated_depth(&b));
            // Always towards the shorter name, so that this ends.
            if a == *here && rank_b <= rank_a {
                Some(b)
            } else if b == *here && rank_a < rank_b {
                Some(a)
            } else {
                None
            }
        })
    }

    /// What the `where` clauses of a protocol say, in terms of its `Self`.
    pub(crate) fn protocol_clauses(&mut self, p: ProtocolId) -> Rc<Clauses> {
        if let Some(known) = &self.protocol_data(p).clauses {
            return known.clone();
        }
        self.protocols[p.0 as usize].clauses = Some(Rc::default());
        let data = self.protocol_data(p);
        let clauses: Vec<_> = data
            .associated
            .iter()
            .flat_map(|a| a.requirements.iter())
            .chain(&data.requirement_clauses)
            .cloned()
            .collect();
        let (group, file) = (data.group, data.file);
        let env = self.group_env(group);
        let before = env.requirements.len();
        let mut env = (*env).clone();
        self.add_requirements(&mut env, &clauses, &TypeScope::of(Owner::Protocol(p), file));
        let mut out = Clauses::default();
        for requirement in env.requirements.drain(before..) {
            match requirement {
                Requirement::Same(a, b) if a != b => out.equal.push((a, b)),
                Requirement::Conforms(ty, q) => out.conform.push((ty, q)),
                Requirement::Same(..) | Requirement::Superclass(..) => {}
            }
        }
        let out = Rc::new(out);
        self.protocols[p.0 as usize].clauses = Some(out.clone());
        out
    }

    /// The protocols that a type conforms to because it is the same as a `T.Name` with a bound: `T == T.TangentVector`.
    pub(crate) fn bounds_of_equals(&mut self, ty: &Type, known: &[ProtocolId]) -> Vec<ProtocolId> {
        let mut equal = vec![];
        let env = self.env.clone();
        for requirement in &env.requirements {
            if let Requirement::Same(a, b) = requirement {
                equal.push((a.clone(), b.clone()));
            }
        }
        for p in known {
            let own = self.protocol_data(*p).self_param;
            let by = |t: &Type| t.substitute(&|q| (q == own).then(|| ty.clone()));
            equal.extend(self.protocol_clauses(*p).equal.iter().map(|(a, b)| (by(a), by(b))));
        }
        let mut bounds = vec![];
        for (a, b) in equal {
            for (one, other) in [(&a, &b), (&b, &a)] {
                if let Type::Associated(_, p, name) = one
                    && other == ty
                {
                    bounds.extend(self.associated_bounds(*p, name).iter());
                    bounds.extend(env.requirements.iter().filter_map(|r| match r {
                        Requirement::Conforms(of, p) if of == one => Some(*p),
                        _ => None,
                    }));
                }
            }
        }
        bounds
    }

    /// What the surroundings say that a type is equal to.
    fn same_as(&mut self, ty: &Type) -> Option<Type> {
        let env = self.env.clone();
        env.requirements.iter().find_map(|r| match r {
            Requirement::Same(a, b) => {
                let (key, value) = match (a, b) {
                    // Always towards the shorter name: 'T.TangentVector' is 'T'.
                    (Type::Associated(..), Type::Associated(..)) if associated_depth(a) < associated_depth(b) => (b, a),
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
    pub(crate) fn associated_type(&mut self, of: &Type, name: &str) -> Option<Type> {
        let of = self.shallow(of);
        let mut protocols = self.protocols_of(&of).to_vec();
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
            let base = self.base_type(n, args)?;
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
            found = self.equal_by_clauses(n, p, &declared, name);
        }
        if found.is_none() {
            found = self.alias_of_protocols(n, &declared, name);
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

    /// The protocols that a nominal type says it conforms to, with those that they refine.
    pub(crate) fn all_conforming(&mut self, n: NominalId) -> Vec<ProtocolId> {
        let conforming = self.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
        self.all_refined(conforming)
    }

    /// What the `where` clauses of its protocols say that an associated type is, when that is known without it: the
    /// elements of a sequence are those of its iterator.
    fn equal_by_clauses(&mut self, n: NominalId, p: ProtocolId, declared: &Type, name: &Name) -> Option<Type> {
        let wanted = Type::Associated(Rc::new(declared.clone()), p, name.clone());
        for q in self.all_conforming(n) {
            let own = self.protocol_data(q).self_param;
            let by = |t: &Type| t.substitute(&|x| (x == own).then(|| declared.clone()));
            for (a, b) in &self.protocol_clauses(q).equal {
                let (a, b) = (by(a), by(b));
                let other = match (a == wanted, b == wanted) {
                    (true, false) => b,
                    (false, true) => a,
                    _ => continue,
                };
                let found = self.normalize_type(&other);
                if found != other && !found.any(&mut |t| *t == wanted || *t == Type::Error) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// What an extension of a protocol that the type conforms to says by `typealias`.
    fn alias_of_protocols(&mut self, n: NominalId, declared: &Type, name: &Name) -> Option<Type> {
        for q in self.all_conforming(n) {
            let protocol = self.protocol_data(q).name.clone();
            self.load_extensions(&protocol);
            self.load_members(&protocol, name);
            let own = self.protocol_data(q).self_param;
            let members = self.protocol_data(q).members.get(name);
            let alias = members.into_iter().flatten().find_map(|m| match m.kind {
                MemberKind::Alias(alias) => Some(alias),
                _ => None,
            });
            if let Some(alias) = alias {
                let meant = self.resolve_alias(alias).substitute(&|p| (p == own).then(|| declared.clone()));
                return Some(self.normalize_type(&meant));
            }
        }
        None
    }

    /// An associated type from the members that fulfil requirements which mention it: the type's own ones, else those that
    /// a protocol gives it.
    fn infer_associated(&mut self, n: NominalId, p: ProtocolId, name: &Name) -> Option<Type> {
        let mut protocols = vec![p];
        for q in self.all_conforming(n) {
            if !protocols.contains(&q) && self.refined(q).contains(&p) {
                protocols.push(q);
            }
        }
        let mut requirements = vec![];
        for protocol in protocols {
            let own = Type::Param(self.protocol_data(protocol).self_param);
            let wanted = Type::Associated(Rc::new(own), p, name.clone());
            for r in 0..self.protocol_data(protocol).requirements.len() {
                let (function, base) = {
                    let data = &self.protocol_data(protocol).requirements[r];
                    (data.function, data.name.clone())
                };
                let required = self.signature(function);
                let mentions = |t: &Type| t.any(&mut |t| *t == wanted);
                if required.params.iter().any(|q| mentions(&q.ty)) || mentions(&required.result) {
                    requirements.push((required, wanted.clone(), base));
                }
            }
        }
        let own = requirements.iter().find_map(|(required, wanted, base)| self.infer_by_own(n, required, wanted, base));
        own.or_else(|| {
            requirements.iter().find_map(|(required, wanted, base)| self.infer_by_default(n, required, wanted, base))
        })
    }

    /// What `wanted` is in a requirement, by the member of the type that fulfils it.
    fn infer_by_own(&mut self, n: NominalId, required: &Signature, wanted: &Type, base: &Name) -> Option<Type> {
        self.load_own_members(n, base);
        let candidates = self.nominal_data(n).members.get(base).cloned().unwrap_or_default();
        candidates.into_iter().find_map(|member| match member.kind {
            MemberKind::Stored(i) => match_type(&required.result, wanted, &self.stored_type(n, i)),
            kind => {
                let given = self.signature(function_of(kind)?);
                match_signature(required, wanted, &given)
            }
        })
    }

    /// What `wanted` is in a requirement, by a member that an extension of a protocol gives to all types that fulfil its
    /// conditions. What these ask of types that are still to be inferred is not looked at.
    fn infer_by_default(&mut self, n: NominalId, required: &Signature, wanted: &Type, base: &Name) -> Option<Type> {
        let declared = self.declared_type(n);
        for q in self.all_conforming(n) {
            let protocol = self.protocol_data(q).name.clone();
            self.load_extensions(&protocol);
            self.load_members(&protocol, base);
            let own = self.protocol_data(q).self_param;
            let members = self.protocol_data(q).members.get(base).cloned().unwrap_or_default();
            for member in members {
                let Some(function) = function_of(member.kind) else { continue };
                let given = self.signature(function);
                let asks_more = given.env.requirements.iter().any(|r| match r {
                    Requirement::Conforms(of, wish) if *of == Type::Param(own) => !self.conforms_to(&declared, *wish),
                    _ => false,
                });
                if asks_more {
                    continue;
                }
                if let Some(found) = match_signature(required, wanted, &given) {
                    let found = found.substitute(&|x| (x == own).then(|| declared.clone()));
                    return Some(self.normalize_type(&found));
                }
            }
        }
        None
    }
}

/// The function behind a member.
fn function_of(member: MemberKind) -> Option<FunctionId> {
    match member {
        MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            Some(f)
        }
        _ => None,
    }
}

/// How many names follow each other in `T.A.B`; 0 for anything else.
fn associated_depth(ty: &Type) -> usize {
    match ty {
        Type::Associated(of, ..) => 1 + associated_depth(of),
        _ => 0,
    }
}

/// Whether a type may be what a requirement asks for, as far as the names of types say it.
fn may_be(pattern: &Type, ty: &Type) -> bool {
    match (pattern, ty) {
        (_, Type::Error) | (Type::Param(_) | Type::Associated(..), _) => true,
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) => m == n && xs.iter().zip(ys.iter()).all(|(x, y)| may_be(x, y)),
        (Type::Nominal(..), _) => false,
        _ => true,
    }
}

/// Finds what `wanted` stands for when a requirement is matched with a function.
fn match_signature(required: &Signature, wanted: &Type, given: &Signature) -> Option<Type> {
    let same_labels = given.params.len() == required.params.len()
        && given.params.iter().zip(&required.params).all(|(a, b)| a.label == b.label);
    if !same_labels {
        return None;
    }
    let pairs = required.params.iter().zip(&given.params).map(|(a, b)| (&a.ty, &b.ty));
    if !pairs.clone().all(|(pattern, ty)| may_be(pattern, ty)) {
        return None;
    }
    pairs.chain([(&required.result, &given.result)]).find_map(|(pattern, ty)| match_type(pattern, wanted, ty))
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
