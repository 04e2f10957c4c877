//! Existentials: determines which values an existential contains, and which of its associated types are known.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Env, Requirement};
use crate::types::model::display;
use crate::types::model::opaque_requirements;
use crate::types::model::ty::{Existential, ParamId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// Returns the type that an existential specifies for the associated type `T.Name`, as `any P<A>` does.
pub(crate) fn known_type(of: &Type, name: &str) -> Option<Type> {
    let Type::Existential(e) = of else { return None };
    e.known.iter().find(|(known, _)| &**known == name).map(|(_, ty)| ty.clone())
}

/// Returns a generic parameter that represents the type inside an existential, and an environment with the requirements
/// that the existential implies.
pub(crate) fn inside(cx: &mut TypeContext, e: &Existential) -> (Type, Rc<Env>) {
    let param = match cx.memo.opened {
        Some(param) => param,
        None => cx.defs.new_param(&"Self".into()),
    };
    cx.memo.opened = Some(param);
    let own = Type::Param(param);
    let mut requirements: Vec<Requirement> =
        e.protocols.iter().map(|p| Requirement::Conforms(own.clone(), *p)).collect();
    requirements.extend(e.class.iter().map(|class| Requirement::Superclass(own.clone(), class.clone())));
    for p in conformances::all_refined(cx, e.protocols.clone()) {
        for (name, known) in &e.known {
            if cx.defs.protocol_data(p).associated.iter().any(|a| a.name == *name) {
                let part = Type::Associated(Rc::new(own.clone()), p, name.clone());
                requirements.push(Requirement::Same(part, known.clone()));
            }
        }
    }
    let mut env = (*cx.scope.env).clone();
    env.places.splice(0..0, requirements.iter().map(|_| Span::default()));
    env.requirements.splice(0..0, requirements);
    (own, Rc::new(env))
}

/// Replaces `param` in types by the generic parameter that represents the type inside an existential, and normalizes
/// the types with the requirements that the existential implies. Returns the parameter and the types.
pub(crate) fn seen_inside<'t>(
    cx: &mut TypeContext,
    e: &Existential,
    param: ParamId,
    types: impl Iterator<Item = &'t Type>,
) -> (Type, Vec<Type>) {
    let (own, env) = inside(cx, e);
    let types = type_context::with_env(cx, env, |cx| {
        let replace = |t: &Type| t.substitute(&|p| (p == param).then(|| own.clone()));

        types.map(|t| associated_type::normalize_type(cx, &replace(t))).collect()
    });
    (own, types)
}

/// Returns the associated type `T.Name` of an existential: the exact type if a clause of the protocol determines it;
/// otherwise an existential with its bounds and its known associated types.
pub(crate) fn forgotten(cx: &mut TypeContext, e: &Existential, p: ProtocolId, name: &Name) -> Type {
    let (own, env) = inside(cx, e);

    type_context::with_env(cx, env, |cx| {
        let part = associated_type::normalize_type(cx, &Type::Associated(Rc::new(own.clone()), p, name.clone()));
        let is_open = |t: &Type| t.any(&mut |t| *t == own);

        match is_open(&part) {
            false => part,
            true => {
                let protocols = associated_type::associated_bounds(cx, p, name).to_vec();
                let mut known: Vec<(Name, Type)> = vec![];
                for q in conformances::all_refined(cx, protocols.clone()) {
                    let names: Vec<Name> = cx.defs.protocol_data(q).associated.iter().map(|a| a.name.clone()).collect();
                    for name in names {
                        let ty = associated_type::normalize_type(
                            cx,
                            &Type::Associated(Rc::new(part.clone()), q, name.clone()),
                        );
                        if !is_open(&ty) && !known.iter().any(|(other, _)| *other == name) {
                            known.push((name, ty));
                        }
                    }
                }
                known.sort_by(|(a, _), (b, _)| a.cmp(b));
                Type::Existential(Rc::new(Existential { class: None, protocols, known }))
            }
        }
    })
}

/// Whether values of a type are values of `any P`.
pub(crate) fn can_erase(cx: &mut TypeContext, from: &Type, p: ProtocolId) -> bool {
    conformances::conforms_to(cx, from, p)
        || matches!(from, Type::Existential(_)) && conformances::protocols_of(cx, from).contains(&p)
}

/// Whether values of a type are values of an existential. In that case the type variables of both types are unified.
pub(crate) fn is_value_of(cx: &mut TypeContext, ty: &Type, e: &Existential) -> bool {
    let ty = unification::shallow(cx, ty);
    let holds = e.class.as_ref().is_none_or(|class| is_instance_of(cx, &ty, class))
        && e.protocols.iter().all(|p| can_erase(cx, &ty, *p));
    let snapshot = cx.vars.snapshot();
    // The associated types of a literal's type are known once the type of the literal is known.
    let is_open = matches!(ty, Type::Var(_));
    let holds = holds
        && (is_open
            || e.known.iter().all(|(name, known)| {
                let own = associated_type::associated_type(cx, &ty, name);
                own.is_some_and(|own| unification::unify(cx, &own, known, Span::default()))
            }));
    if holds {
        cx.vars.keep(snapshot);
    } else {
        cx.vars.rollback(snapshot);
    }
    holds
}

/// Returns the class to which a type that is not a class is constrained.
pub(crate) fn known_class(cx: &TypeContext, ty: &Type) -> Option<Type> {
    match ty {
        Type::Opaque(id, args) => opaque_requirements::requirements_of_opaque(cx, *id, args).class.clone(),
        Type::Existential(e) => e.class.clone(),
        // The bound of an extension is narrower than that of the type, which comes first.
        Type::Param(_) | Type::Associated(..) => cx.scope.env.requirements.iter().rev().find_map(|r| match r {
            Requirement::Superclass(of, class) if of == ty => Some(class.clone()),
            _ => None,
        }),
        _ => None,
    }
}

/// Whether values of a type are instances of a class.
pub(crate) fn is_instance_of(cx: &mut TypeContext, ty: &Type, class: &Type) -> bool {
    let mut at = known_class(cx, ty).unwrap_or_else(|| ty.clone());
    loop {
        if unification::unifies(cx, &at, class) {
            return unification::unify(cx, &at, class, Span::default());
        }
        let Type::Nominal(n, args) = &at else { return false };
        let Some(base) = superclass::base_type(cx, *n, args) else { return false };
        at = base;
    }
}

pub(crate) fn unify_existentials(cx: &mut TypeContext, a: &Existential, b: &Existential, span: Span) -> bool {
    let classes = match (&a.class, &b.class) {
        (Some(x), Some(y)) => unification::unify(cx, x, y, span),
        (x, y) => x.is_none() && y.is_none(),
    };
    classes
        && a.protocols == b.protocols
        && a.known.len() == b.known.len()
        && a.known.iter().zip(&b.known).all(|((n, x), (m, y))| n == m && unification::unify(cx, x, y, span))
}

/// Returns `any P & Q` for the parts of a composition. The function reports a type that cannot be a part.
pub(crate) fn composed(cx: &mut TypeContext, parts: Vec<(Type, Span)>) -> Type {
    let mut whole = Existential::default();
    for (part, span) in parts {
        match part {
            Type::Existential(e) => {
                whole.class = whole.class.or(e.class.clone());
                whole.protocols.extend(e.protocols.iter().copied());
                whole.known.extend(e.known.iter().cloned());
            }
            Type::Nominal(n, _) if superclass::is_class(cx, n) && whole.class.is_none() => whole.class = Some(part),
            Type::Error => return Type::Error,
            other => {
                let message = format!(
                    "non-protocol, non-class type '{}' cannot be used within a protocol-constrained type",
                    display::show(cx, &other)
                );
                cx.sink.report(Diagnostic::error(Code::Types, span, message));
                return Type::Error;
            }
        }
    }
    whole.known.sort_by(|(a, _), (b, _)| a.cmp(b));
    whole.known.dedup_by(|(a, _), (b, _)| a == b);
    Type::Existential(Rc::new(whole))
}

/// Returns the existential `any P<A>` with the given primary associated types.
pub(crate) fn with_primary(cx: &mut TypeContext, e: &Existential, given: Vec<Type>, span: Span) -> Type {
    let [p] = e.protocols.as_slice() else { return Type::Existential(Rc::new(e.clone())) };
    let (name, primary) = (cx.defs.protocol_data(*p).name.clone(), cx.defs.protocol_data(*p).primary.clone());
    if too_many_primary(cx, &name, primary.len(), given.len(), span) {
        return Type::Error;
    }
    let mut known: Vec<(Name, Type)> = primary.into_iter().zip(given).collect();
    known.sort_by(|(a, _), (b, _)| a.cmp(b));
    Type::Existential(Rc::new(Existential { known, ..e.clone() }))
}

/// Reports a protocol with more types in angle brackets than the protocol has primary associated types; returns whether
/// an error was reported.
pub(crate) fn too_many_primary(cx: &mut TypeContext, name: &str, expected: usize, given: usize, span: Span) -> bool {
    if given > expected {
        let types = if expected == 1 { "type" } else { "types" };
        let message = format!("protocol '{name}' takes {expected} {types} in angle brackets, but is given {given}");
        cx.sink.report(Diagnostic::error(Code::Types, span, message));
    }
    given > expected
}
