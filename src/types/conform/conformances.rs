//! Conformances: which type conforms to which protocol, and on which conditions.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::model::syntax_query::inherited;
use crate::types::model::tables::{Conformance, Env, GroupId, Owner, Requirement, World};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::names::type_expr::TypeScope;
use std::collections::HashSet;
use std::rc::Rc;

/// The most elements that a tuple may have to conform to anything: the prelude says how, one size after another.
const LARGEST_TUPLE: usize = 6;

/// The protocols that tuples conform to when all their elements do.
const OF_TUPLES: &[&str] = &["Differentiable", "Equatable", "Comparable", "Hashable", "AdditiveArithmetic", "Scalable"];

impl World {
    /// The protocols that a protocol refines, itself first.
    pub(crate) fn refined(&mut self, p: ProtocolId) -> Rc<[ProtocolId]> {
        if let Some(known) = &self.protocol_data(p).refines {
            return known.clone();
        }
        crate::cancel::check();
        self.protocols[p.0 as usize].refines = Some(Rc::from([p]));
        let (mut all, mut seen) = (vec![p], HashSet::from([p]));
        let (inherits, file) = (self.protocol_data(p).inherits.clone(), self.protocol_data(p).file);
        let scope = TypeScope::of(Owner::Protocol(p), file);
        self.refining.push(p);
        for ty in &inherits {
            for (bound, span) in self.bounds(ty, &scope) {
                let Ok(q) = bound else { continue };
                if self.refining.contains(&q) {
                    self.refines_itself(q, span);
                }
                all.extend(self.refined(q).iter().filter(|r| seen.insert(**r)));
            }
        }
        self.refining.pop();
        let all: Rc<[ProtocolId]> = all.into();
        self.protocols[p.0 as usize].refines = Some(all.clone());
        all
    }

    fn refines_itself(&mut self, p: ProtocolId, span: Span) {
        let around: Vec<Name> = self.refining.iter().skip_while(|q| **q != p).map(|q| self.name_of(*q)).collect();
        let message = format!("protocol '{}' refines itself", self.name_of(p));
        let mut diagnostic = Diagnostic::error(Code::Inheritance, span, message);
        if around.len() > 1 {
            let others: Vec<String> = around.iter().skip(1).map(|name| format!("'{name}'")).collect();
            diagnostic = diagnostic.note(format!("through {}", others.join(" and ")));
        }
        self.report(diagnostic);
    }

    fn name_of(&self, p: ProtocolId) -> Name {
        self.protocol_data(p).name.clone()
    }

    /// The protocols that a type is known to conform to, those they refine included.
    pub(crate) fn protocols_of(&mut self, ty: &Type) -> Rc<[ProtocolId]> {
        let mut direct: Vec<ProtocolId> = vec![];
        let env = self.env.clone();
        for requirement in &env.requirements {
            match requirement {
                Requirement::Conforms(of, p) if of == ty => direct.push(*p),
                // Whatever an instance of the class conforms to.
                Requirement::Superclass(of, Type::Nominal(class, _)) if of == ty => {
                    direct.extend(self.declared_conformances(*class));
                }
                _ => {}
            }
        }
        match ty {
            Type::Associated(of, p, name) => {
                direct.extend(self.associated_bounds(*p, name).iter());
                for q in self.protocols_of(of).iter().copied() {
                    let own = self.protocol_data(q).self_param;
                    let by = |t: &Type| t.substitute(&|x| (x == own).then(|| (**of).clone()));
                    let clauses = self.protocol_clauses(q);
                    direct.extend(clauses.conform.iter().filter(|(t, _)| by(t) == *ty).map(|(_, r)| *r));
                }
            }
            Type::Existential(e) => {
                direct.extend(e.protocols.iter());
                if let Some(Type::Nominal(n, _)) = &e.class {
                    direct.extend(self.declared_conformances(*n));
                }
            }
            Type::Opaque(..) => direct.extend(self.protocols_of_opaque(ty).iter()),
            Type::Var(v) => direct.extend(self.var(*v).conforms.iter().map(|wish| wish.protocol)),
            Type::Nominal(n, _) if direct.is_empty() => return self.declared_protocols(*n),
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
        let mut all = self.all_refined(direct);
        if matches!(ty, Type::Param(_) | Type::Associated(..)) {
            let more = self.bounds_of_equals(ty, &all);
            all.extend(more);
            all = self.all_refined(all);
        }
        all.into()
    }

    /// The protocols that a declared type conforms to, those they refine included. They are asked for at each member and
    /// each operator, so those of a type without a superclass are kept until it gets more.
    fn declared_protocols(&mut self, n: NominalId) -> Rc<[ProtocolId]> {
        self.enter_conformances(n);
        let data = self.nominal_data(n);
        let (count, has_superclass) = (data.conformances.len(), data.superclass.is_some());
        if let (Some((known_of, known)), false) = (&data.protocols, has_superclass)
            && *known_of == count
        {
            return known.clone();
        }
        let direct = self.declared_conformances(n);
        let all: Rc<[ProtocolId]> = self.all_refined(direct).into();
        // While a protocol is being looked at, it is not known yet what it refines.
        if self.refining.is_empty() && !has_superclass {
            self.nominal_data_mut(n).protocols = Some((count, all.clone()));
        }
        all
    }

    pub(crate) fn all_refined(&mut self, direct: Vec<ProtocolId>) -> Vec<ProtocolId> {
        let mut seen = HashSet::new();
        let mut all = vec![];
        for p in direct {
            crate::cancel::check();
            all.extend(self.refined(p).iter().filter(|q| seen.insert(**q)));
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
    pub(crate) fn enter_conformances(&mut self, n: NominalId) {
        let name = self.nominal_data(n).name.clone();
        if self.nominal_data(n).parent == Owner::Module {
            self.load_extensions(&name);
        }
        // What is entered may ask for conformances itself: it finds the group counted, and goes on with the next one.
        while let Some(group) = self.nominal_data(n).groups.get(self.nominal_data(n).groups_entered).copied() {
            self.nominal_data_mut(n).groups_entered += 1;
            let (inherits, file) = (self.groups[group.0 as usize].inherits.clone(), self.groups[group.0 as usize].file);
            let own = self.nominal_data(n).group == group;
            let scope = TypeScope::of(Owner::Nominal(n), file);
            // What is inherited may be named with the type's own parameters; what is required of them is not known yet.
            let params = Env { params: self.nominal_data(n).params.clone(), ..Env::default() };
            let saved = std::mem::replace(&mut self.env, Rc::new(params));
            for ty in &inherits {
                let (inner, memberwise) = inherited(ty);
                for (bound, span) in self.bounds(inner, &scope) {
                    match bound {
                        Ok(p) => {
                            self.check_not_repeated(n, p, group, span);
                            self.add_conformance(n, p, group, memberwise, span);
                        }
                        Err(ty) if own => self.set_base(n, ty, span),
                        Err(ty) => self.inherits_no_protocol(n, &ty, span),
                    }
                }
            }
            self.env = saved;
        }
        self.add_automatic_conformances(n);
        self.continue_tangent_vector(n);
    }

    /// A type says once that it conforms.
    fn check_not_repeated(&mut self, n: NominalId, p: ProtocolId, group: GroupId, span: Span) {
        let data = self.nominal_data(n);
        let Some(known) = data.conformances.iter().find(|c| c.protocol == p) else { return };
        let is_shown = !self.groups[group.0 as usize].is_prelude && !data.is_prelude && !self.is_interactive;
        let first = known.span;
        if !is_shown || first == data.span || first == span {
            return;
        }
        let (name, protocol) = (data.name.clone(), self.protocol_data(p).name.clone());
        let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
        let diagnostic = Diagnostic::error(Code::Inheritance, span, message);
        let text = format!("'{name}' declares conformance to protocol '{protocol}' here");
        self.report(diagnostic.note_at(first, text).help("leave it out"));
    }

    /// A type of the library says there that it can be compared. The documents let such types conform to other protocols that
    /// they conform to here already.
    pub(crate) fn check_not_in_library(&mut self, n: NominalId, group: GroupId) {
        let data = &self.groups[group.0 as usize];
        let (inherits, scope) = (data.inherits.clone(), TypeScope::of(Owner::Nominal(n), data.file));
        for ty in &inherits {
            for (bound, span) in self.bounds(inherited(ty).0, &scope) {
                let Ok(p) = bound else { continue };
                let protocol = self.protocol_data(p).name.clone();
                let of_library: Vec<_> =
                    self.nominal_data(n).conformances.iter().map(|c| (c.group, c.protocol)).collect();
                let is_known = of_library
                    .into_iter()
                    .any(|(g, q)| self.groups[g.0 as usize].is_prelude && self.refined(q).contains(&p));
                if !is_known || self.is_interactive || !matches!(&*protocol, "Equatable" | "Hashable" | "Comparable") {
                    continue;
                }
                let name = self.nominal_data(n).name.clone();
                let message = format!("redundant conformance of '{name}' to protocol '{protocol}'");
                let diagnostic = Diagnostic::error(Code::Inheritance, span, message).help("leave it out");
                self.report(diagnostic.note(format!("in the library '{name}' conforms to protocol '{protocol}'")));
            }
        }
    }

    fn set_base(&mut self, n: NominalId, ty: Type, span: Span) {
        match self.nominal_data(n).kind {
            NominalKind::Class => self.set_superclass(n, ty, span),
            NominalKind::Enum => {
                self.nominal_data_mut(n).raw_type = Some(ty);
                let (group, p) = (self.nominal_data(n).group, self.protocol("RawRepresentable"));
                self.add_conformance(n, p, group, false, span);
            }
            NominalKind::Struct => self.inherits_no_protocol(n, &ty, span),
        }
    }

    fn inherits_no_protocol(&mut self, n: NominalId, ty: &Type, span: Span) {
        let message = format!("inheritance from non-protocol type '{}'", self.show(ty));
        let help = match self.nominal_data(n).kind {
            NominalKind::Class => "a superclass is named where the class is declared",
            NominalKind::Struct => "a struct conforms to protocols only; keep the other one in a property",
            NominalKind::Enum => "a raw type is named where the enum is declared",
        };
        self.report(Diagnostic::error(Code::Types, span, message).help(help));
    }

    pub(crate) fn add_conformance(
        &mut self,
        n: NominalId,
        p: ProtocolId,
        group: GroupId,
        memberwise: bool,
        span: Span,
    ) {
        let is_prelude = self.groups[group.0 as usize].is_prelude;
        let data = self.nominal_data_mut(n);
        if let Some(known) = data.conformances.iter_mut().find(|c| c.protocol == p) {
            known.memberwise |= memberwise;
            if is_prelude && data.is_prelude {
                // What the library says comes before what an extension of the user repeats.
                (known.group, known.span) = (group, span);
            }
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
    pub(crate) fn find_conformance(&mut self, n: NominalId, p: ProtocolId) -> Option<usize> {
        self.enter_conformances(n);
        if let Some(i) = self.nominal_data(n).conformances.iter().position(|c| c.protocol == p) {
            return Some(i);
        }
        if let Some(i) = self.find_refinement(n, p) {
            return Some(i);
        }
        // A type that is its own tangent vector can be scaled, which is only known when its tangent vector is.
        if matches!(&*self.protocol_data(p).name, "Scalable" | "ScalableVector")
            && self.declares(n, "Differentiable").is_some()
        {
            self.synthesize_member(n, "TangentVector", true);
            return self.find_refinement(n, p);
        }
        None
    }

    /// A conformance to a protocol that refines another one, or to that itself.
    fn find_refinement(&mut self, n: NominalId, p: ProtocolId) -> Option<usize> {
        let protocols: Vec<ProtocolId> = self.nominal_data(n).conformances.iter().map(|c| c.protocol).collect();
        protocols.into_iter().position(|q| self.refined(q).contains(&p))
    }

    /// Whether a known type conforms to a protocol, in the current generic surroundings.
    pub(crate) fn conforms_to(&mut self, ty: &Type, p: ProtocolId) -> bool {
        crate::cancel::check();
        let ty = self.shallow(ty);
        match &*self.protocol_data(p).name {
            "_Keyed" => return true,
            "AnyObject" if self.protocol_data(p).is_prelude => return self.is_object(&ty),
            _ => {}
        }
        match &ty {
            Type::Error | Type::Never => true,
            Type::Var(v) => self.var(*v).literal.is_none_or(|l| self.literal_may_conform(l, p)),
            Type::Param(_) | Type::Associated(..) | Type::Opaque(..) => self.protocols_of(&ty).contains(&p),
            Type::Existential(_) => self.protocols_of(&ty).contains(&p) && self.conforms_to_itself(p),
            Type::Nominal(n, args) => self.nominal_conforms(*n, args, p, &ty),
            Type::Tuple(parts) => {
                let name = self.protocol_data(p).name.clone();
                OF_TUPLES.contains(&&*name)
                    && parts.len() <= LARGEST_TUPLE
                    && parts.iter().all(|(_, t)| self.conforms_to(t, p))
            }
            // The exception of the documents: a curried function may give a function back.
            Type::Function(_) => &*self.protocol_data(p).name == "Differentiable",
            Type::Metatype(_) => false,
        }
    }

    /// Whether all values of a type are instances of classes.
    pub(crate) fn is_object(&mut self, ty: &Type) -> bool {
        match ty {
            Type::Nominal(n, _) => self.is_class(*n),
            Type::Param(_) | Type::Associated(..) => {
                let inherits = |r: &Requirement| matches!(r, Requirement::Superclass(of, _) if of == ty);
                let p = self.protocol("AnyObject");
                self.env.requirements.iter().any(inherits) || self.protocols_of(ty).contains(&p)
            }
            Type::Opaque(..) => {
                let p = self.protocol("AnyObject");
                self.known_class(ty).is_some() || self.protocols_of(ty).contains(&p)
            }
            Type::Existential(e) => {
                let p = self.protocol("AnyObject");
                e.class.is_some() || self.protocols_of(ty).contains(&p)
            }
            Type::Error | Type::Never | Type::Var(_) => true,
            Type::Tuple(_) | Type::Function(_) | Type::Metatype(_) => false,
        }
    }

    fn nominal_conforms(&mut self, n: NominalId, args: &[Type], p: ProtocolId, ty: &Type) -> bool {
        let Some(i) = self.find_conformance(n, p) else {
            return self.base_type(n, args).is_some_and(|base| self.conforms_to(&base, p));
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
    pub(crate) fn group_holds(&mut self, n: NominalId, args: &[Type], group: GroupId) -> bool {
        if self.groups[group.0 as usize].requirements.is_empty() {
            return true;
        }
        let env = self.group_env(group);
        let own = self.nominal_env(n);
        env.requirements.iter().filter(|r| !own.requirements.contains(r)).all(|r| {
            let put = r.map(&mut |t| self.substitute_nominal(n, args, t));
            self.is_met(&put)
        })
    }

    pub(crate) fn substitute_nominal(&mut self, n: NominalId, args: &[Type], ty: &Type) -> Type {
        let params = &self.nominal_data(n).params;
        if params.is_empty() {
            return ty.clone();
        }
        let by = |p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
        ty.substitute(&by)
    }

    /// Requires a conformance of a type whose arguments are not all known: what it asks of them is asked of them.
    pub(crate) fn require_conditional(&mut self, n: NominalId, args: &[Type], p: ProtocolId, span: Span) -> bool {
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
}
