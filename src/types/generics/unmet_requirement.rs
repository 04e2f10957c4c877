//! Unmet requirements: creates diagnostics that state which requirement of generic parameters is not satisfied, where
//! it is declared, and what the types are.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::existential;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Env, Requirement};
use crate::types::model::display;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::type_vars::Clause;

/// Creates the diagnostic for a requirement of a function that is not satisfied; `substituted` is the requirement with
/// the types substituted.
pub(crate) fn unmet(cx: &mut TypeContext, clause: Clause, substituted: &Requirement, span: Span) -> Diagnostic {
    let (env, name) = (signature::signature(cx, clause.function).env.clone(), cx.defs.full_name(clause.function));
    let message = format!("'{name}' requires {}", condition(cx, substituted));
    let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
    let is_shown = !cx.defs.function_data(clause.function).is_prelude;
    let diagnostic = with_clause(cx, diagnostic, &env, clause.index, substituted, is_shown);
    with_way_out(cx, diagnostic, substituted)
}

/// Formats a requirement as an object of the verb "requires".
pub(crate) fn condition(cx: &mut TypeContext, substituted: &Requirement) -> String {
    match substituted {
        Requirement::Conforms(ty, p) => {
            format!("that '{}' conform to '{}'", show_resolved(cx, ty), cx.defs.protocol_data(*p).name)
        }
        Requirement::Same(a, b) => {
            format!("the types '{}' and '{}' be equivalent", show_resolved(cx, a), show_resolved(cx, b))
        }
        Requirement::Superclass(ty, class) => {
            format!("that '{}' inherit from '{}'", show_resolved(cx, ty), show_resolved(cx, class))
        }
    }
}

/// Adds the source location of a requirement and the types of its generic parameters to a diagnostic.
pub(crate) fn with_clause(
    cx: &mut TypeContext,
    diagnostic: Diagnostic,
    env: &Env,
    index: usize,
    substituted: &Requirement,
    is_shown: bool,
) -> Diagnostic {
    let place = env.places.get(index).copied().filter(|at| is_shown && *at != Span::default());
    let is_plain = matches!(&env.requirements[index], Requirement::Conforms(Type::Param(_), _));
    let types = generic_types(cx, &env.requirements[index], substituted).filter(|_| place.is_some() || !is_plain);
    match (place, types) {
        (Some(at), Some(types)) => diagnostic.also(at, format!("required here, where {types}")),
        (Some(at), None) => diagnostic.also(at, "required here"),
        (None, Some(types)) => diagnostic.note(format!("where {types}")),
        (None, None) => diagnostic,
    }
}

/// Formats the types of both sides of a requirement that contain generic parameters, such as `'S.Element' is 'String'`.
fn generic_types(cx: &mut TypeContext, written: &Requirement, substituted: &Requirement) -> Option<String> {
    let sides = match (written, substituted) {
        (Requirement::Conforms(a, _), Requirement::Conforms(x, _)) => vec![(a, x)],
        (Requirement::Same(a, b), Requirement::Same(x, y)) => vec![(a, x), (b, y)],
        (Requirement::Superclass(a, b), Requirement::Superclass(x, y)) => vec![(a, x), (b, y)],
        _ => vec![],
    };
    let is_generic = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
    let open = sides.into_iter().filter(|(written, substituted)| is_generic(written) && written != substituted);
    let shown: Vec<(String, String)> = open.map(|(a, b)| (display::show(cx, a), show_resolved(cx, b))).collect();
    let differ = shown.iter().filter(|(written, substituted)| written != substituted);
    let texts: Vec<String> = differ.map(|(written, substituted)| format!("'{written}' is '{substituted}'")).collect();
    (!texts.is_empty()).then(|| texts.join(" and "))
}

fn show_resolved(cx: &mut TypeContext, ty: &Type) -> String {
    let ty = unification::resolved(cx, ty);
    display::show(cx, &ty)
}

/// Adds a way to satisfy a requirement to a diagnostic, if the requirement is a conformance.
pub(crate) fn with_way_out(cx: &mut TypeContext, diagnostic: Diagnostic, substituted: &Requirement) -> Diagnostic {
    match substituted {
        Requirement::Conforms(ty, p) => {
            let ty = unification::resolved(cx, ty);
            with_declaration(cx, diagnostic, &ty, *p)
        }
        Requirement::Same(..) | Requirement::Superclass(..) => diagnostic,
    }
}

/// Adds to a diagnostic the declaration of a type that lacks a conformance, and how to declare the conformance; for a
/// conditional conformance, adds the condition that does not hold.
pub(crate) fn with_declaration(cx: &mut TypeContext, diagnostic: Diagnostic, ty: &Type, p: ProtocolId) -> Diagnostic {
    if let Some((n, env, index, substituted)) = failing_condition(cx, ty, p) {
        let (shown, protocol) = (display::show(cx, ty), cx.defs.protocol_data(p).name.clone());
        let is_shown = !cx.defs.nominal_data(n).is_prelude;
        let written = generic_types(cx, &env.requirements[index], &substituted);
        let text = format!("'{shown}' conforms to '{protocol}' only where {}", as_clause(cx, &env.requirements[index]));
        let text = written.map_or(text.clone(), |types| format!("{text}, and {types}"));
        let place = env.places.get(index).copied().filter(|at| is_shown && *at != Span::default());
        let diagnostic = match place {
            Some(at) => diagnostic.also(at, text),
            None => diagnostic.note(text),
        };
        return with_way_out(cx, diagnostic, &substituted);
    }
    match ty {
        Type::Nominal(n, _) if !cx.defs.nominal_data(*n).is_prelude => {
            let (data, protocol) = (cx.defs.nominal_data(*n), cx.defs.protocol_data(p).name.clone());
            let (name, at) = (data.name.clone(), data.span);
            let diagnostic = diagnostic.also(at, format!("'{name}' is declared here"));
            diagnostic.help(format!("declare the conformance: 'extension {name}: {protocol} {{ … }}'"))
        }
        _ => diagnostic,
    }
}

/// Whether a type has a conditional conformance to a protocol whose conditions do not hold.
pub(crate) fn conforms_under_conditions(cx: &mut TypeContext, ty: &Type, p: ProtocolId) -> bool {
    failing_condition(cx, ty, p).is_some()
}

/// Formats a requirement in the syntax of a `where` clause.
fn as_clause(cx: &mut TypeContext, written: &Requirement) -> String {
    match written {
        Requirement::Conforms(ty, p) => format!("'{}: {}'", display::show(cx, ty), cx.defs.protocol_data(*p).name),
        Requirement::Same(a, b) => format!("'{} == {}'", display::show(cx, a), display::show(cx, b)),
        Requirement::Superclass(ty, class) => format!("'{}: {}'", display::show(cx, ty), display::show(cx, class)),
    }
}

/// Returns the first condition of a type's conditional conformance that does not hold, with the types substituted.
fn failing_condition(
    cx: &mut TypeContext,
    ty: &Type,
    p: ProtocolId,
) -> Option<(NominalId, std::rc::Rc<Env>, usize, Requirement)> {
    let Type::Nominal(n, args) = ty else { return None };
    let i = conformances::find_conformance(cx, *n, p)?;
    let group = cx.defs.nominal_data(*n).conformances[i].group;
    let (env, own) = (generic_env::group_env(cx, group), generic_env::nominal_env(cx, *n));
    let conditions = env.requirements.iter().enumerate().filter(|(_, r)| !own.requirements.contains(r));
    for (index, requirement) in conditions {
        let substituted = requirement.map(&mut |t| conformances::substitute_nominal(cx, *n, args, t));
        if !is_met(cx, &substituted) {
            return Some((*n, env.clone(), index, substituted));
        }
    }
    None
}

/// Whether a requirement holds; a requirement with unknown types is assumed to hold.
pub(crate) fn is_met(cx: &mut TypeContext, substituted: &Requirement) -> bool {
    match substituted {
        Requirement::Conforms(of, p) => {
            let of = unification::shallow(cx, of);
            // An associated type of an unknown type is unknown, too.
            matches!(of, Type::Associated(..)) && unification::has_vars(cx, &of)
                || conformances::conforms_to(cx, &of, *p)
        }
        Requirement::Same(a, b) => {
            let (a, b) = (unification::resolved(cx, a), unification::resolved(cx, b));
            a == b || unification::has_vars(cx, &a) || unification::has_vars(cx, &b)
        }
        Requirement::Superclass(of, class) => {
            let (of, class) = (unification::resolved(cx, of), unification::resolved(cx, class));
            unification::has_vars(cx, &of) || unification::has_vars(cx, &class) || inherits(cx, &of, &class)
        }
    }
}

/// Whether a type is a class or one of its subclasses, as far as the generic environment determines it.
fn inherits(cx: &mut TypeContext, ty: &Type, class: &Type) -> bool {
    let mut at = Some(ty.clone());
    while let Some(ty) = at {
        if ty == *class {
            return true;
        }
        at = match &ty {
            Type::Nominal(n, args) => superclass::base_type(cx, *n, args),
            _ => existential::known_class(cx, &ty),
        };
    }
    false
}
