//! Existentials: which values are theirs, and what is known of the types that belong to them.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::model::tables::{Env, Requirement, World};
use crate::types::model::ty::{Existential, ParamId, ProtocolId, Type};
use std::rc::Rc;

/// What an existential says that `T.Name` is: `any P<A>`.
pub(crate) fn known_type(of: &Type, name: &str) -> Option<Type> {
    let Type::Existential(e) = of else { return None };
    e.known.iter().find(|(known, _)| &**known == name).map(|(_, ty)| ty.clone())
}

impl World {
    /// The type inside of an existential as a generic parameter, in surroundings that say what is known of it.
    pub(crate) fn inside(&mut self, e: &Existential) -> (Type, Rc<Env>) {
        let param = match self.inside {
            Some(param) => param,
            None => self.new_param(&"Self".into()),
        };
        self.inside = Some(param);
        let own = Type::Param(param);
        let mut requirements: Vec<Requirement> =
            e.protocols.iter().map(|p| Requirement::Conforms(own.clone(), *p)).collect();
        requirements.extend(e.class.iter().map(|class| Requirement::Superclass(own.clone(), class.clone())));
        for p in self.all_refined(e.protocols.clone()) {
            for (name, known) in &e.known {
                if self.protocol_data(p).associated.iter().any(|a| a.name == *name) {
                    let part = Type::Associated(Rc::new(own.clone()), p, name.clone());
                    requirements.push(Requirement::Same(part, known.clone()));
                }
            }
        }
        let mut env = (*self.env).clone();
        env.places.splice(0..0, requirements.iter().map(|_| Span::default()));
        env.requirements.splice(0..0, requirements);
        (own, Rc::new(env))
    }

    /// Types in terms of a parameter that stands for the type inside of an existential, as far as that is known. The first
    /// is what stands for it in them.
    pub(crate) fn seen_inside<'t>(
        &mut self,
        e: &Existential,
        param: ParamId,
        types: impl Iterator<Item = &'t Type>,
    ) -> (Type, Vec<Type>) {
        let (own, env) = self.inside(e);
        let saved = std::mem::replace(&mut self.env, env);
        let put = |t: &Type| t.substitute(&|p| (p == param).then(|| own.clone()));
        let types = types.map(|t| self.normalize_type(&put(t))).collect();
        self.env = saved;
        (own, types)
    }

    /// `T.Name` of an existential. Which type it is was forgotten, unless a clause of the protocol says it; what it
    /// conforms to was not, nor were the types that belong to it and are known.
    pub(crate) fn forgotten(&mut self, e: &Existential, p: ProtocolId, name: &Name) -> Type {
        let (own, env) = self.inside(e);
        let saved = std::mem::replace(&mut self.env, env);
        let part = self.normalize_type(&Type::Associated(Rc::new(own.clone()), p, name.clone()));
        let is_open = |t: &Type| t.any(&mut |t| *t == own);
        let found = match is_open(&part) {
            false => part,
            true => {
                let protocols = self.associated_bounds(p, name).to_vec();
                let mut known: Vec<(Name, Type)> = vec![];
                for q in self.all_refined(protocols.clone()) {
                    let names: Vec<Name> = self.protocol_data(q).associated.iter().map(|a| a.name.clone()).collect();
                    for name in names {
                        let ty = self.normalize_type(&Type::Associated(Rc::new(part.clone()), q, name.clone()));
                        if !is_open(&ty) && !known.iter().any(|(other, _)| *other == name) {
                            known.push((name, ty));
                        }
                    }
                }
                known.sort_by(|(a, _), (b, _)| a.cmp(b));
                Type::Existential(Rc::new(Existential { class: None, protocols, known }))
            }
        };
        self.env = saved;
        found
    }

    /// Whether a value of a type is one of a protocol's.
    pub(crate) fn can_erase(&mut self, from: &Type, p: ProtocolId) -> bool {
        self.conforms_to(from, p) || matches!(from, Type::Existential(_)) && self.protocols_of(from).contains(&p)
    }

    /// Whether the values of a type are values of an existential. What is open in either becomes what the other one says.
    pub(crate) fn is_value_of(&mut self, ty: &Type, e: &Existential) -> bool {
        let ty = self.shallow(ty);
        let holds = e.class.as_ref().is_none_or(|class| self.is_instance_of(&ty, class))
            && e.protocols.iter().all(|p| self.can_erase(&ty, *p));
        let snapshot = self.snapshot();
        // What belongs to the type of a literal is known when that is.
        let is_open = matches!(ty, Type::Var(_));
        let holds = holds
            && (is_open
                || e.known.iter().all(|(name, known)| {
                    let own = self.associated_type(&ty, name);
                    own.is_some_and(|own| self.unify(&own, known, Span::default()))
                }));
        if holds {
            self.keep(snapshot);
        } else {
            self.rollback(snapshot);
        }
        holds
    }

    /// The class whose instances the values of a type are known to be, for a type that is none itself.
    pub(crate) fn known_class(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Opaque(id, args) => self.bounds_of_opaque(*id, args).class.clone(),
            Type::Existential(e) => e.class.clone(),
            Type::Param(_) | Type::Associated(..) => self.env.requirements.iter().find_map(|r| match r {
                Requirement::Superclass(of, class) if of == ty => Some(class.clone()),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Whether the values of a type are instances of a class.
    pub(crate) fn is_instance_of(&mut self, ty: &Type, class: &Type) -> bool {
        let mut at = self.known_class(ty).unwrap_or_else(|| ty.clone());
        loop {
            if self.unifies(&at, class) {
                return self.unify(&at, class, Span::default());
            }
            let Type::Nominal(n, args) = &at else { return false };
            let Some(base) = self.base_type(*n, args) else { return false };
            at = base;
        }
    }

    pub(crate) fn unify_existentials(&mut self, a: &Existential, b: &Existential, span: Span) -> bool {
        let classes = match (&a.class, &b.class) {
            (Some(x), Some(y)) => self.unify(x, y, span),
            (x, y) => x.is_none() && y.is_none(),
        };
        classes
            && a.protocols == b.protocols
            && a.known.len() == b.known.len()
            && a.known.iter().zip(&b.known).all(|((n, x), (m, y))| n == m && self.unify(x, y, span))
    }

    /// `any P & Q` of the parts as they are written. Reports what cannot be a part.
    pub(crate) fn composed(&mut self, parts: Vec<(Type, Span)>) -> Type {
        let mut whole = Existential::default();
        for (part, span) in parts {
            match part {
                Type::Existential(e) => {
                    whole.class = whole.class.or(e.class.clone());
                    whole.protocols.extend(e.protocols.iter().copied());
                    whole.known.extend(e.known.iter().cloned());
                }
                Type::Nominal(n, _) if self.is_class(n) && whole.class.is_none() => whole.class = Some(part),
                Type::Error => return Type::Error,
                other => {
                    let message = format!(
                        "non-protocol, non-class type '{}' cannot be used within a protocol-constrained type",
                        self.show(&other)
                    );
                    self.report(Diagnostic::error(Code::Types, span, message));
                    return Type::Error;
                }
            }
        }
        whole.known.sort_by(|(a, _), (b, _)| a.cmp(b));
        whole.known.dedup_by(|(a, _), (b, _)| a == b);
        Type::Existential(Rc::new(whole))
    }

    /// `P<A>`: what it says of the types that belong to `P`.
    pub(crate) fn with_primary(&mut self, e: &Existential, given: Vec<Type>, span: Span) -> Type {
        let [p] = e.protocols.as_slice() else { return Type::Existential(Rc::new(e.clone())) };
        let (name, primary) = (self.protocol_data(*p).name.clone(), self.protocol_data(*p).primary.clone());
        if self.too_many_primary(&name, primary.len(), given.len(), span) {
            return Type::Error;
        }
        let mut known: Vec<(Name, Type)> = primary.into_iter().zip(given).collect();
        known.sort_by(|(a, _), (b, _)| a.cmp(b));
        Type::Existential(Rc::new(Existential { known, ..e.clone() }))
    }

    /// Reports when a protocol is given more types than it takes.
    pub(crate) fn too_many_primary(&mut self, name: &str, expected: usize, given: usize, span: Span) -> bool {
        if given > expected {
            let types = if expected == 1 { "type" } else { "types" };
            let message = format!("protocol '{name}' takes {expected} {types} in angle brackets, but is given {given}");
            self.report(Diagnostic::error(Code::Types, span, message));
        }
        given > expected
    }

    /// An existential as it is written.
    pub(crate) fn write_existential(&self, e: &Existential, full: bool) -> String {
        if e.is_any() {
            return "Any".to_string();
        }
        let class = e.class.iter().map(|class| self.write_type(class, full));
        let protocols = e.protocols.iter().map(|p| {
            let data = self.protocol_data(*p);
            let given = |name: &Name| e.known.iter().find(|(known, _)| known == name);
            let given: Vec<String> =
                data.primary.iter().map_while(|name| given(name).map(|(_, t)| self.write_type(t, full))).collect();
            if given.is_empty() { data.name.to_string() } else { format!("{}<{}>", data.name, given.join(", ")) }
        });
        format!("any {}", class.chain(protocols).collect::<Vec<_>>().join(" & "))
    }
}
