//! Generic environment: the generic parameters in scope and their requirements.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Generics, Requirement as AstRequirement, TypeExpr, TypeExprKind};
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::recursive_requirement;
use crate::types::generics::requirement_order;
use crate::types::model::declaration_tables::{Env, GroupId, Named, Owner, Requirement};
use crate::types::model::display;
use crate::types::model::ty::{NominalId, ParamId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// Returns the generic environment of the members of a group.
pub(crate) fn group_env(cx: &mut TypeContext, group: GroupId) -> Rc<Env> {
    if let Some(env) = &cx.defs.groups[group.0 as usize].memo.env {
        return env.clone();
    }
    let (owner, file) = (cx.defs.groups[group.0 as usize].owner, cx.defs.groups[group.0 as usize].file);
    let mut env = match owner {
        Owner::Module => Env::default(),
        Owner::Nominal(n) => (*nominal_env(cx, n)).clone(),
        Owner::Protocol(p) => {
            let own = Type::Param(cx.defs.protocol_data(p).self_param);
            let mut env = Env { params: vec![cx.defs.protocol_data(p).self_param], ..Env::default() };
            env.require(Requirement::Conforms(own, p), Span::default());
            env
        }
    };
    // The environment is set first, because the lookup of a type in a requirement may need the environment.
    cx.defs.groups[group.0 as usize].memo.env = Some(Rc::new(env.clone()));
    let requirements = cx.defs.groups[group.0 as usize].requirements.clone();
    add_requirements(cx, &mut env, &requirements, &TypeScope::of(owner, file));
    let env = Rc::new(env);
    cx.defs.groups[group.0 as usize].memo.env = Some(env.clone());
    env
}

/// Returns the generic environment inside a nominal type.
pub(crate) fn nominal_env(cx: &mut TypeContext, n: NominalId) -> Rc<Env> {
    let own_group = cx.defs.nominal_data(n).group;
    if let Some(env) = &cx.defs.groups[own_group.0 as usize].memo.env {
        return env.clone();
    }
    let data = cx.defs.nominal_data(n);
    let (parent, generics, file) = (data.parent, data.generics.clone(), data.file);
    let params = data.params.clone();
    let mut env = match parent {
        Owner::Nominal(_) => match cx.defs.nominal_data(n).outer {
            Some(outer) => (*group_env(cx, outer)).clone(),
            None => Env::default(),
        },
        Owner::Module => cx.defs.nominal_data(n).enclosing_env.as_deref().cloned().unwrap_or_default(),
        Owner::Protocol(_) => Env::default(),
    };
    env.params = params;
    let memo = &mut cx.defs.groups[own_group.0 as usize].memo;
    (memo.env, memo.resolving) = (Some(Rc::new(env.clone())), true);
    let scope = TypeScope::of(Owner::Nominal(n), file);
    add_generics(cx, &mut env, &generics, &scope);
    let env = Rc::new(env);
    let memo = &mut cx.defs.groups[own_group.0 as usize].memo;
    (memo.env, memo.resolving) = (Some(env.clone()), false);
    env
}

/// Whether the requirements of a type's own generic parameters are being resolved.
pub(crate) fn resolves_requirements(cx: &TypeContext, n: NominalId) -> bool {
    cx.defs.groups[cx.defs.nominal_data(n).group.0 as usize].memo.resolving
}

/// Adds the requirements from the bounds and the `where` clause of generic parameters. The parameters must be in `env`.
pub(crate) fn add_generics(cx: &mut TypeContext, env: &mut Env, generics: &Generics, scope: &TypeScope) {
    for (name, bound) in &generics.params {
        let Some(bound) = bound else { continue };
        let Some(param) = param_named(cx, &env.params, &name.name) else { continue };
        add_bound(cx, env, &Type::Param(param), bound, scope, name.span.to(bound.span));
    }
    add_requirements(cx, env, &generics.requirements, scope);
}

pub(crate) fn param_named(cx: &TypeContext, params: &[ParamId], name: &str) -> Option<ParamId> {
    params.iter().rev().copied().find(|p| &*cx.defs.params[p.0 as usize].name == name)
}

fn add_bound(cx: &mut TypeContext, env: &mut Env, of: &Type, bound: &TypeExpr, scope: &TypeScope, at: Span) {
    for (bound, _) in type_expr::bounds(cx, bound, scope) {
        let requirement = match bound {
            Ok(p) => Requirement::Conforms(of.clone(), p),
            Err(ty) if is_no_bound(cx, &ty) => {
                let (of, ty) = (display::show(cx, of), display::show(cx, &ty));
                let message = format!("type '{of}' constrained to non-protocol, non-class type '{ty}'");
                cx.sink.report(
                    Diagnostic::error(Code::Types, at, message)
                        .help(format!("to require exactly this type, write '{of} == {ty}' in a 'where' clause")),
                );
                continue;
            }
            Err(ty) => Requirement::Superclass(of.clone(), ty),
        };
        env.require(requirement, at);
    }
    add_primary(cx, env, of, bound, scope);
}

/// Whether a type cannot be the bound of a generic parameter, because it is not a class.
fn is_no_bound(cx: &TypeContext, ty: &Type) -> bool {
    match ty {
        Type::Nominal(n, _) => !superclass::is_class(cx, *n),
        Type::Tuple(_) | Type::Function(_) | Type::Metatype(_) | Type::Param(_) => true,
        _ => false,
    }
}

/// Adds the requirements that `T: P<A>` implies for the associated types of `T`.
fn add_primary(cx: &mut TypeContext, env: &mut Env, of: &Type, bound: &TypeExpr, scope: &TypeScope) {
    match &bound.kind {
        TypeExprKind::Composition(parts) => parts.iter().for_each(|part| add_primary(cx, env, of, part, scope)),
        TypeExprKind::Named(path) => {
            let [(ident, given)] = path.as_slice() else { return };
            let Some(Named::Protocol(p)) = name_lookup::type_entry(cx, &ident.name, scope.file) else { return };
            let primary = cx.defs.protocol_data(p).primary.clone();
            if existential::too_many_primary(cx, &ident.name, primary.len(), given.len(), bound.span) {
                return;
            }
            type_context::with_env(cx, Rc::new(env.clone()), |cx| {
                for (name, given) in primary.iter().zip(given) {
                    let given = type_expr::resolve_type(cx, given, scope);
                    if let Some(associated) = associated_type::associated_type(cx, of, name) {
                        env.require(Requirement::Same(associated, given), bound.span);
                    }
                }
            });
        }
        _ => {}
    }
}

pub(crate) fn add_requirements(
    cx: &mut TypeContext,
    env: &mut Env,
    requirements: &[AstRequirement],
    scope: &TypeScope,
) {
    for requirement in requirement_order::resolvable_order(requirements) {
        let (left, right) = type_context::with_env(cx, Rc::new(env.clone()), |cx| {
            let left = type_expr::resolve_type(cx, &requirement.left, scope);
            let right = requirement.same.then(|| type_expr::resolve_type(cx, &requirement.right, scope));
            (left, right)
        });
        let at = requirement.left.span.to(requirement.right.span);
        match right {
            Some(right) => recursive_requirement::require_same(cx, env, left, right, at),
            None => add_bound(cx, env, &left, &requirement.right, scope, at),
        }
    }
}

/// Whether two groups of members have different requirements.
pub(crate) fn has_other_requirements(cx: &mut TypeContext, a: GroupId, b: GroupId) -> bool {
    let is_conditional = |group: GroupId| !cx.defs.groups[group.0 as usize].requirements.is_empty();
    if a == b || !is_conditional(a) && !is_conditional(b) {
        return false;
    }
    let (a, b) = (group_env(cx, a), group_env(cx, b));
    let is_within = |a: &Env, b: &Env| a.requirements.iter().all(|requirement| b.requirements.contains(requirement));
    !(is_within(&a, &b) && is_within(&b, &a))
}
