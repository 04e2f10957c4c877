//! Type aliases: resolves aliases, and checks the requirements of generic aliases.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Ident, TypeExpr, TypeExprKind};
use crate::types::generics::generic_env;
use crate::types::generics::type_size;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::AliasUse;
use crate::types::model::declaration_tables::{AliasId, AliasMemo, MemberKind, Named, Requirement};
use crate::types::model::display;
use crate::types::model::ty::{ParamId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

pub(crate) fn resolve_alias(cx: &mut TypeContext, a: AliasId) -> Type {
    let data = &cx.defs.aliases[a.0 as usize];
    if let Some(resolved) = &data.memo.resolved {
        return resolved.clone();
    }
    let span = data.span;
    if data.memo.resolving {
        let message = format!("type alias '{}' references itself", data.name);
        cx.sink.report(Diagnostic::error(Code::Types, span, message));
        return Type::Error;
    }
    let (target, generics, params) = (data.target.clone(), data.generics.clone(), data.params.clone());
    let (group, enclosing_env) = (data.group, data.enclosing_env.clone());
    let scope = TypeScope { locals: data.locals.clone(), ..TypeScope::of(data.owner, data.file) };
    cx.defs.aliases[a.0 as usize].memo.resolving = true;
    let enclosing_env = group.map(|g| generic_env::group_env(cx, g)).or(enclosing_env).unwrap_or_default();
    let mut env = (*enclosing_env).clone();
    env.params.extend(params);
    generic_env::add_generics(cx, &mut env, &generics, &scope);
    let env = Rc::new(env);
    let resolved = type_context::with_env(cx, env.clone(), |cx| {
        let resolved = match unapplied_generic(cx, &target, &scope).filter(|_| generics.params.is_empty()) {
            Some((params, generic)) => {
                cx.defs.aliases[a.0 as usize].params = params;
                generic
            }
            None => type_expr::resolve_type(cx, &target, &scope),
        };
        // Errors in a part of the type were reported; without `Type::Error`, aliases of this alias would report these
        // errors again.
        let is_wrong = type_size::refuse_large(cx, &resolved, span) || resolved.any(&mut |t| *t == Type::Error);

        if is_wrong { Type::Error } else { resolved }
    });
    cx.defs.aliases[a.0 as usize].memo =
        AliasMemo { resolved: Some(resolved.clone()), resolving: false, env: Some(env) };
    resolved
}

/// Returns the parameters of a generic type that is named without arguments, and the type applied to these parameters:
/// an alias of the type takes the arguments of the type.
fn unapplied_generic(cx: &mut TypeContext, target: &TypeExpr, scope: &TypeScope) -> Option<(Vec<ParamId>, Type)> {
    let TypeExprKind::Named(path) = &target.kind else { return None };
    let [(ident, given)] = path.as_slice() else { return None };
    if !given.is_empty() || generic_env::param_named(cx, &cx.scope.env.params, &ident.name).is_some() {
        return None;
    }
    let found = scope.locals.get(&ident.name).copied();
    match found.or_else(|| name_lookup::type_entry(cx, &ident.name, scope.file))? {
        Named::Nominal(n) if !type_expr::encloses(cx, scope.owner, n) => {
            let data = cx.defs.nominal_data(n);
            let first = data.params.len() - data.own_params;
            let params = data.params.get(first..).filter(|own| !own.is_empty())?.to_vec();
            Some((params, cx.defs.declared_type(n)))
        }
        Named::Alias(other) => {
            let generic = resolve_alias(cx, other);
            let params = cx.defs.aliases[other.0 as usize].params.clone();
            (!params.is_empty()).then_some((params, generic))
        }
        _ => None,
    }
}

/// Returns the type to which an alias refers with the given arguments.
pub(crate) fn apply_alias(
    cx: &mut TypeContext,
    a: AliasId,
    generics: &[TypeExpr],
    scope: &TypeScope,
    span: Span,
) -> Type {
    let target = resolve_alias(cx, a);
    let params = cx.defs.aliases[a.0 as usize].params.clone();
    if params.is_empty() && !generics.is_empty() {
        return type_expr::apply(cx, target, generics, scope, span);
    }
    let args: Vec<Type> = if generics.is_empty() && scope.open {
        params.iter().map(|_| cx.vars.fresh()).collect()
    } else {
        generics.iter().map(|g| type_expr::resolve_type(cx, g, scope)).collect()
    };
    if args.len() != params.len() {
        let message =
            format!("reference to generic type '{}' requires arguments in <...>", cx.defs.aliases[a.0 as usize].name);
        cx.sink.report(Diagnostic::error(Code::CannotInfer, span, message));
        return Type::Error;
    }
    let whole =
        |args: &[Type]| target.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()));
    let generics = &cx.defs.aliases[a.0 as usize].generics;
    if generics.params.iter().any(|(_, bound)| bound.is_some()) || !generics.requirements.is_empty() {
        let whole = whole(&args);
        cx.module.alias_uses.push(AliasUse { alias: a, args, whole: whole.clone(), env: cx.scope.env.clone(), span });
        return whole;
    }
    whole(&args)
}

/// Returns the type to which a generic alias that is a member of a type refers with the given arguments; `None` if the member
/// has no generic parameters of its own. `found` is the member with the parameters as its arguments.
pub(crate) fn apply_member_alias(
    cx: &mut TypeContext,
    of: &Type,
    name: &Ident,
    found: &Type,
    generics: &[TypeExpr],
    scope: &TypeScope,
) -> Option<Type> {
    let Type::Nominal(n, _) = of else { return None };
    let members = cx.defs.nominal_data(*n).members.get(&*name.name)?;
    let alias = members.iter().find_map(|member| match member.kind {
        MemberKind::Alias(alias) => Some(alias),
        _ => None,
    })?;
    let data = &cx.defs.aliases[alias.0 as usize];
    let params = data.params.clone();
    if data.generics.params.is_empty() {
        return None;
    }
    let args: Vec<Type> = if generics.is_empty() && scope.open {
        params.iter().map(|_| cx.vars.fresh()).collect()
    } else {
        generics.iter().map(|g| type_expr::resolve_type(cx, g, scope)).collect()
    };
    if args.len() != params.len() {
        let message = format!("reference to generic type '{}' requires arguments in <...>", name.name);
        cx.sink.report(Diagnostic::error(Code::CannotInfer, name.span, message));
        return Some(Type::Error);
    }
    Some(found.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned())))
}

/// Reports the uses of aliases whose arguments do not satisfy the alias's requirements, once per use.
pub(crate) fn check_alias_uses(cx: &mut TypeContext) {
    let mut reported: Vec<Span> = vec![];
    for AliasUse { alias, args, whole, env, span } in std::mem::take(&mut cx.module.alias_uses) {
        type_context::with_env(cx, env, |cx| {
            if !reported.contains(&span) && check_alias_use(cx, alias, &args, span) {
                reported.push(span);
                let whole = unification::resolved(cx, &whole);
                cx.memo.refused_by_alias.push(whole);
            }
        });
    }
}

/// Reports the first requirement that the arguments of an alias do not satisfy; returns whether there is such a
/// requirement.
fn check_alias_use(cx: &mut TypeContext, a: AliasId, args: &[Type], span: Span) -> bool {
    let data = &cx.defs.aliases[a.0 as usize];
    let (params, name) = (data.params.clone(), data.name.clone());
    let Some(env) = data.memo.env.clone() else { return false };
    let by = |p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
    for (index, requirement) in env.requirements.iter().enumerate() {
        let substituted = requirement.map(&mut |t| t.substitute(&by));
        let substituted = substituted.map(&mut |t| unification::resolved(cx, t));
        if is_open(&substituted) || unmet_requirement::is_met(cx, &substituted) {
            continue;
        }
        let shown: Vec<String> = args.iter().map(|arg| display::show(cx, arg)).collect();
        let message =
            format!("'{name}<{}>' requires {}", shown.join(", "), unmet_requirement::condition(cx, &substituted));
        let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
        let diagnostic = unmet_requirement::with_clause(cx, diagnostic, &env, index, &substituted, true);
        let diagnostic = unmet_requirement::with_way_out(cx, diagnostic, &substituted);
        cx.sink.report(diagnostic);
        return true;
    }
    false
}

/// Whether a type in a requirement is unknown or erroneous.
fn is_open(substituted: &Requirement) -> bool {
    let mut open = false;
    substituted.map(&mut |t| {
        open |= t.any(&mut |t| matches!(t, Type::Error | Type::Var(_)));
        t.clone()
    });
    open
}
