//! Which function fulfils a requirement for a type.

use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::model::tables::{GroupId, MemberKind, Named, Requirement, RequirementKind, Signature, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use std::rc::Rc;

impl World {
    /// The function that fulfils a requirement for a concrete type. `generics` are those of the requirement itself.
    pub(crate) fn find_witness(
        &mut self,
        p: ProtocolId,
        requirement: u32,
        of: &Type,
        generics: &[Type],
    ) -> Option<FunctionRef> {
        let found = self.fitting_witness(p, requirement, of, generics)?;
        let wanted = self.protocol_data(p).requirements[requirement as usize].function;
        (!self.throws_beyond(found.function, wanted)).then_some(found)
    }

    /// Whether a function throws errors of its own where a requirement only hands on those of what it is given.
    pub(crate) fn throws_beyond(&self, f: FunctionId, requirement: FunctionId) -> bool {
        let (wanted, given) = (self.function_data(requirement), self.function_data(f));
        wanted.rethrows && given.throws && !given.rethrows
    }

    fn fitting_witness(
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
            let Type::Tuple(parts) = &of else { return None };
            if let Some(found) = self.tuple_witness(&base, parts) {
                return Some(found);
            }
            let wanted = self.requirement_for(function, p, &of);
            return self.default_witness(p, &base, kind, is_static, &of, &wanted, generics);
        };
        self.enter_conformances(*n);
        let wanted = self.requirement_for(function, p, &of);
        let (declaring, its_args) = self.conforming_class(*n, args, p);
        // There `Self` is the class that declares the conformance.
        let there = match declaring == *n {
            true => wanted.clone(),
            false => self.requirement_for(function, p, &Type::Nominal(declaring, its_args.clone())),
        };
        let mut class = Some((declaring, its_args));
        while let Some((n, args)) = class {
            self.synthesize_member(n, &base, is_static);
            self.load_own_members(n, &base);
            let members = match &*base {
                "init" => {
                    let mut all = self.initializers(n);
                    all.extend(self.default_init(n));
                    all
                }
                _ => self.nominal_data(n).members.get(&base).cloned().unwrap_or_default(),
            };
            for member in members {
                let is_constant = match &member.kind {
                    MemberKind::Stored(i) => self.nominal_data(n).stored[*i as usize].is_let,
                    MemberKind::Global(g) => self.globals[g.0 as usize].is_let,
                    _ => false,
                };
                if is_constant && kind == RequirementKind::Setter {
                    continue;
                }
                let found = match (&member.kind, kind) {
                    (MemberKind::Stored(i), RequirementKind::Getter | RequirementKind::Setter) if !is_static => {
                        self.stored_accessor(n, *i, kind == RequirementKind::Setter)
                    }
                    (MemberKind::Global(g), RequirementKind::Getter) => self.global_accessor(*g),
                    (MemberKind::Global(g), RequirementKind::Setter) => self.global_setter(*g),
                    (MemberKind::Case(case), RequirementKind::Getter)
                        if is_static && !self.nominal_data(n).cases[*case as usize].has_payload =>
                    {
                        self.case_accessor(n, *case)
                    }
                    (member, _) => match function_for(member, kind) {
                        Some(found) => found,
                        None => continue,
                    },
                };
                if member.is_static != is_static || !self.group_holds(n, &args, member.group) {
                    continue;
                }
                let found = self.for_requirement(found, &there);
                if let Some(own) = self.fits_requirement(found, &args, &there, generics) {
                    let generics = args.iter().cloned().chain(own).collect();
                    return Some(FunctionRef { function: found, generics });
                }
            }
            class = match self.base_type(n, &args) {
                Some(Type::Nominal(b, a)) => Some((b, a)),
                _ => None,
            };
        }
        self.default_witness(p, &base, kind, is_static, &of, &wanted, generics)
    }

    /// What stands for a function where a requirement may throw, as a caller may give functions that throw, or where it may
    /// give nothing.
    fn for_requirement(&mut self, f: FunctionId, wanted: &Signature) -> FunctionId {
        let version = match (wanted.throws, self.is_optional(&wanted.result)) {
            (true, _) => self.throwing_version(f),
            (false, true) => self.failable_version(f),
            (false, false) => None,
        };
        version.unwrap_or(f)
    }

    /// The type that declares a conformance: what a subclass adds fulfils nothing, unless it overrides.
    fn conforming_class(&mut self, n: NominalId, args: &Rc<[Type]>, p: ProtocolId) -> (NominalId, Rc<[Type]>) {
        let mut at = (n, args.clone());
        while self.is_class(at.0) && self.find_conformance(at.0, p).is_none() {
            match self.base_type(at.0, &at.1) {
                Some(Type::Nominal(base, of)) => at = (base, of),
                _ => return (n, args.clone()),
            }
        }
        at
    }

    /// The signature of a requirement for a concrete `Self`.
    pub(crate) fn requirement_for(&mut self, function: FunctionId, p: ProtocolId, of: &Type) -> Signature {
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
            || signature.self_inout && !wanted.self_inout
            || signature.throws && !wanted.throws
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
        let mut protocols = self.protocols_of(of).to_vec();
        if !protocols.contains(&p) {
            protocols.push(p);
        }
        // The function under the most conditions, of the protocol that refines the others.
        let mut best: Option<((usize, std::cmp::Reverse<u32>), FunctionRef)> = None;
        for q in protocols.clone() {
            let name = self.protocol_data(q).name.clone();
            self.load_extensions(&name);
            self.load_members(&name, base);
            let members = self.protocol_data(q).members.get(base).cloned().unwrap_or_default();
            let generality = if members.is_empty() { 0 } else { self.generality(q, &protocols, base) };
            for member in members {
                let Some(found) = function_for(&member.kind, kind) else { continue };
                if member.is_static != is_static || !self.protocol_group_holds(q, of, member.group) {
                    continue;
                }
                let found = self.for_requirement(found, wanted);
                let weight = (self.group_env(member.group).requirements.len(), std::cmp::Reverse(generality));
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
    pub(crate) fn protocol_group_holds(&mut self, p: ProtocolId, of: &Type, group: GroupId) -> bool {
        let own = self.protocol_data(p).self_param;
        let env = self.group_env(group);
        env.requirements.iter().all(|r| match r {
            Requirement::Conforms(t, q) => {
                // An existential is opened where a member of what is inside is meant.
                let is_self = *t == Type::Param(own);
                let t = t.substitute(&|x| (x == own).then(|| of.clone()));
                if is_self { self.can_erase(&t, *q) } else { self.conforms_to(&t, *q) }
            }
            Requirement::Same(..) | Requirement::Superclass(..) => {
                let put = r.map(&mut |t| t.substitute(&|x| (x == own).then(|| of.clone())));
                self.is_met(&put)
            }
        })
    }

    /// Requirements of tuples are fulfilled by functions of the prelude: `_tuple2_zero`, `_tuple3_plus`.
    fn tuple_witness(&mut self, base: &str, parts: &[(Option<Name>, Type)]) -> Option<FunctionRef> {
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

/// The function of a member that fulfils a requirement of that kind, where the member has functions.
fn function_for(member: &MemberKind, kind: RequirementKind) -> Option<FunctionId> {
    match (member, kind) {
        (MemberKind::Method(f), RequirementKind::Method)
        | (MemberKind::Init(f), RequirementKind::Init)
        | (MemberKind::Computed(f, _), RequirementKind::Getter)
        | (MemberKind::Computed(_, Some(f)), RequirementKind::Setter)
        | (MemberKind::Subscript(f, _), RequirementKind::SubscriptGetter)
        | (MemberKind::Subscript(_, Some(f)), RequirementKind::SubscriptSetter) => Some(*f),
        _ => None,
    }
}
