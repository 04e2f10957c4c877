//! Implied requirements: determines the requirements on generic parameters that follow from the types in a signature.

use crate::source::Span;
use crate::syntax::ast::{FunctionTypeParam, Ident, Param, TypeExpr, TypeExprKind};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::generic_env;
use crate::types::model::declaration_tables::{Env, Named, Owner, Requirement};
use crate::types::model::ty::{NominalId, ParamId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr::{TypeScope, differentiable_attribute};
use std::rc::Rc;

/// Adds the requirements that the types of a signature imply: the requirements of `@differentiable` function types, and
/// the requirements of generic types on their arguments. The function's own parameters start at index `first`.
pub(crate) fn add_implied(
    cx: &mut TypeContext,
    env: &mut Env,
    first: usize,
    params: &[Param],
    result: Option<&TypeExpr>,
    scope: &TypeScope,
) {
    let mut implied: Vec<(Requirement, Span)> = vec![];
    for ty in params.iter().filter_map(|p| p.ty.as_ref()).chain(result) {
        implied_by(cx, ty, env, scope, &mut implied);
        if first < env.params.len() {
            add_of_arguments(cx, ty, env, first, scope);
        }
    }
    for (requirement, at) in implied {
        env.require(requirement, at);
    }
}

/// Adds the requirements of `@differentiable` function types on members of generic parameters, such as `C.Element`. The
/// environment contains the declared requirements, which determine these members. The library declares all of its
/// requirements.
pub(crate) fn add_implied_of_members(
    cx: &mut TypeContext,
    env: &mut Env,
    params: &[Param],
    result: Option<&TypeExpr>,
    scope: &TypeScope,
) {
    let mut parts = vec![];
    params.iter().filter_map(|p| p.ty.as_ref()).chain(result).for_each(|ty| differentiable_parts(ty, &mut parts));
    if parts.is_empty() {
        return;
    }
    let mut implied = vec![];
    type_context::with_env(cx, Rc::new(env.clone()), |cx| {
        for (ty, linear) in parts {
            let Some(member) = member_of_parameter(cx, ty, env, scope) else { continue };
            let differentiable = name_lookup::protocol(cx, "Differentiable");
            if linear || !conformances::conforms_to(cx, &member, differentiable) {
                differentiable_parameter(cx, member, linear, ty.span, &mut implied);
            }
        }
    });
    for (requirement, at) in implied {
        env.require(requirement, at);
    }
}

/// Collects the parameter and result types of the `@differentiable` function types in a type, with whether the function
/// type is linear.
fn differentiable_parts<'a>(ty: &'a TypeExpr, out: &mut Vec<(&'a TypeExpr, bool)>) {
    match &ty.kind {
        TypeExprKind::Function { params, result, attributes, .. } => {
            if let Some(linear) = differentiable_attribute(attributes) {
                out.extend(differentiated(params).chain([&**result]).map(|part| (part, linear)));
            }
            differentiable_parts(result, out);
        }
        TypeExprKind::Attributed(_, inner) | TypeExprKind::Optional(inner) => differentiable_parts(inner, out),
        TypeExprKind::Tuple(parts) => parts.iter().for_each(|(_, part)| differentiable_parts(part, out)),
        _ => {}
    }
}

/// Returns the types of the parameters of a function type with respect to which it is differentiated.
fn differentiated(params: &[FunctionTypeParam]) -> impl Iterator<Item = &TypeExpr> {
    params.iter().filter(|p| !p.attributes.iter().any(|a| &*a.name.name == "noDerivative")).map(|p| &p.ty)
}

/// Returns the associated type to which a path refers: `C.Element` of a generic parameter `C`, or `Element` in an extension
/// of a protocol.
fn member_of_parameter(cx: &mut TypeContext, ty: &TypeExpr, env: &Env, scope: &TypeScope) -> Option<Type> {
    let TypeExprKind::Named(path) = &ty.kind else { return None };
    let ((first, _), rest) = path.split_first()?;
    let found = match (generic_env::param_named(cx, &env.params, &first.name), scope.owner) {
        (Some(_), _) if rest.is_empty() => return None,
        (Some(param), _) => Type::Param(param),
        (None, Owner::Protocol(p)) => {
            let own = Type::Param(cx.defs.protocol_data(p).self_param);
            match &*first.name {
                "Self" => own,
                name => name_lookup::member_type(cx, &own, name)?,
            }
        }
        (None, Owner::Nominal(_) | Owner::Module) => return None,
    };
    let found = rest.iter().try_fold(found, |of, (name, _)| name_lookup::member_type(cx, &of, &name.name))?;
    let found = associated_type::normalize_type(cx, &found);
    matches!(found, Type::Associated(..)).then_some(found)
}

/// Returns the local type or the type at the top level that a name refers to.
fn type_in_scope(cx: &mut TypeContext, name: &str, scope: &TypeScope) -> Option<Named> {
    scope.locals.get(name).copied().or_else(|| name_lookup::type_entry(cx, name, scope.file))
}

/// Returns the type that a path refers to, starting in the scope or in the enclosing types: `Layer`, `Model.Layer`.
pub(crate) fn nominal_at(
    cx: &mut TypeContext,
    path: &[(Ident, Vec<TypeExpr>)],
    scope: &TypeScope,
) -> Option<NominalId> {
    let ((first, _), rest) = path.split_first()?;
    let mut owner = scope.owner;
    let mut found = None;
    while let (None, Owner::Nominal(n)) = (found, owner) {
        found = nested_type(cx, n, &first.name);
        owner = cx.defs.nominal_data(n).parent;
    }
    let first = found.or_else(|| match type_in_scope(cx, &first.name, scope) {
        Some(Named::Nominal(n)) => Some(n),
        _ => None,
    });
    rest.iter().try_fold(first?, |of, (name, _)| nested_type(cx, of, &name.name))
}

/// Returns a type that is declared inside another type.
fn nested_type(cx: &mut TypeContext, of: NominalId, name: &str) -> Option<NominalId> {
    if !name_lookup::has_member_type(cx, of, name) {
        return None;
    }
    match name_lookup::member_type(cx, &cx.defs.declared_type(of), name) {
        Some(Type::Nominal(n, _)) => Some(n),
        _ => None,
    }
}

/// Collects the requirements that `@differentiable` function types imply for generic parameters.
fn implied_by(cx: &mut TypeContext, ty: &TypeExpr, env: &Env, scope: &TypeScope, out: &mut Vec<(Requirement, Span)>) {
    match &ty.kind {
        TypeExprKind::Function { params, result, attributes, .. } => {
            if let Some(linear) = differentiable_attribute(attributes) {
                for part in differentiated(params).chain([&**result]) {
                    implied_by_differentiable(cx, part, linear, env, scope, out);
                }
            }
            implied_by(cx, result, env, scope, out);
        }
        TypeExprKind::Attributed(_, inner) | TypeExprKind::Optional(inner) => {
            implied_by(cx, inner, env, scope, out);
        }
        TypeExprKind::Tuple(parts) => parts.iter().for_each(|(_, t)| implied_by(cx, t, env, scope, out)),
        _ => {}
    }
}

/// Collects the requirements on generic parameters under which a type conforms to `Differentiable`; with `linear`, a
/// parameter must also be its own tangent vector.
fn implied_by_differentiable(
    cx: &mut TypeContext,
    ty: &TypeExpr,
    linear: bool,
    env: &Env,
    scope: &TypeScope,
    out: &mut Vec<(Requirement, Span)>,
) {
    match &ty.kind {
        TypeExprKind::Named(path) => {
            let Some((ident, given)) = path.last() else { return };
            if path.len() == 1
                && let Some(param) = generic_env::param_named(cx, &env.params, &ident.name)
            {
                differentiable_parameter(cx, Type::Param(param), linear, ty.span, out);
            } else if !given.is_empty()
                && let Some(n) = nominal_at(cx, path, scope)
            {
                let conditions = conditions_of_conformance(cx, n, given, env);
                out.extend(conditions.into_iter().map(|requirement| (requirement, ty.span)));
            }
        }
        TypeExprKind::Attributed(_, of)
        | TypeExprKind::Array(of)
        | TypeExprKind::Optional(of)
        | TypeExprKind::Unwrapped(of)
        | TypeExprKind::Dictionary(_, of) => implied_by_differentiable(cx, of, linear, env, scope, out),
        TypeExprKind::Tuple(parts) => {
            parts.iter().for_each(|(_, part)| implied_by_differentiable(cx, part, linear, env, scope, out));
        }
        _ => {}
    }
}

fn differentiable_parameter(
    cx: &mut TypeContext,
    ty: Type,
    linear: bool,
    at: Span,
    out: &mut Vec<(Requirement, Span)>,
) {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    out.push((Requirement::Conforms(ty.clone(), differentiable), at));
    if linear {
        let additive = name_lookup::protocol(cx, "AdditiveArithmetic");
        out.push((Requirement::Conforms(ty.clone(), additive), at));
        let tangent = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
        out.push((Requirement::Same(tangent, ty), at));
    }
}

/// Returns the conditions under which a generic type conforms to `Differentiable`, as far as they concern generic
/// parameters.
fn conditions_of_conformance(cx: &mut TypeContext, n: NominalId, given: &[TypeExpr], env: &Env) -> Vec<Requirement> {
    let arguments: Vec<Option<Type>> = given.iter().map(|ty| as_parameter(cx, ty, &env.params)).collect();
    let params = cx.defs.nominal_data(n).params.clone();
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    if arguments.iter().all(Option::is_none) || params.len() != arguments.len() {
        return vec![];
    }
    let Some(conformance) = conformances::find_conformance(cx, n, differentiable) else { return vec![] };
    let (group, _) = conformances::declaration_site(cx, n, conformance);
    let by = |p| params.iter().position(|q| *q == p).and_then(|i| arguments[i].clone());
    let conditions = generic_env::group_env(cx, group);
    let substituted = conditions.requirements.iter().map(|r| r.map(&mut |t| t.substitute(&by)));
    substituted.filter(|r| !is_about(r, &params)).collect()
}

/// Adds the requirements of generic types on arguments that are generic parameters: `[K: V]` requires a hashable `K`.
fn add_of_arguments(cx: &mut TypeContext, ty: &TypeExpr, env: &mut Env, first: usize, scope: &TypeScope) {
    match &ty.kind {
        TypeExprKind::Dictionary(key, value) => {
            let dictionary = name_lookup::library_nominal(cx, "Dictionary");
            add_of_nominal(cx, dictionary, &[key, value], env, first, ty.span);
        }
        TypeExprKind::Named(path) => {
            if let Some((_, given)) = path.last()
                && !given.is_empty()
                && let Some(n) = nominal_at(cx, path, scope)
            {
                add_of_nominal(cx, n, &given.iter().collect::<Vec<_>>(), env, first, ty.span);
            }
        }
        _ => {}
    }
    ty.parts().into_iter().for_each(|part| add_of_arguments(cx, part, env, first, scope));
}

/// Adds the requirements of one generic type on those of its arguments that are generic parameters.
fn add_of_nominal(cx: &mut TypeContext, n: NominalId, given: &[&TypeExpr], env: &mut Env, first: usize, at: Span) {
    let own = &env.params[first..];
    let mut arguments: Vec<Option<Type>> = given.iter().map(|ty| as_parameter(cx, ty, own)).collect();
    let params = cx.defs.nominal_data(n).params.clone();
    // The arguments of the enclosing types precede the arguments of the type itself.
    let outer = params.len().saturating_sub(arguments.len());
    arguments.splice(0..0, std::iter::repeat_n(None, outer));
    if arguments.iter().all(Option::is_none) || params.len() != arguments.len() {
        return;
    }
    let by = |p| params.iter().position(|q| *q == p).and_then(|i| arguments[i].clone());
    for requirement in generic_env::nominal_env(cx, n).requirements.clone() {
        let requirement = requirement.map(&mut |ty| ty.substitute(&by));
        if !is_about(&requirement, &params) {
            env.require(requirement, at);
        }
    }
}

/// Whether a requirement mentions one of the given generic parameters.
fn is_about(requirement: &Requirement, params: &[ParamId]) -> bool {
    let mut mentions = false;
    requirement.map(&mut |ty| {
        mentions |= ty.any(&mut |t| matches!(t, Type::Param(p) if params.contains(p)));
        ty.clone()
    });
    mentions
}

/// Returns the generic parameter that a type expression names.
fn as_parameter(cx: &TypeContext, ty: &TypeExpr, params: &[ParamId]) -> Option<Type> {
    let TypeExprKind::Named(path) = &ty.kind else { return None };
    let [(ident, _)] = path.as_slice() else { return None };
    generic_env::param_named(cx, params, &ident.name).map(Type::Param)
}
