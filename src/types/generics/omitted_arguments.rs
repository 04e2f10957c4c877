//! Omitted generic arguments: finds annotations such as `var s: Set = [1]`, whose generic arguments the initial value
//! determines.

use crate::syntax::ast::{Ident, TypeExpr, TypeExprKind};
use crate::types::generics::generic_env;
use crate::types::generics::implied_requirements;
use crate::types::model::declaration_tables::Named;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_alias;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;

/// Whether a type expression names a generic type without its arguments, or contains the placeholder `_`.
pub(crate) fn omits_arguments(cx: &mut TypeContext, ty: &TypeExpr, scope: &TypeScope) -> bool {
    let omits = match &ty.kind {
        TypeExprKind::Inferred => true,
        TypeExprKind::Named(path) => path.iter().all(|(_, given)| given.is_empty()) && is_generic(cx, path, scope),
        _ => false,
    };
    omits || ty.parts().into_iter().any(|part| omits_arguments(cx, part, scope))
}

/// Whether a path refers to a generic type. Inside a generic type, its name stands for the type with its own arguments.
fn is_generic(cx: &mut TypeContext, path: &[(Ident, Vec<TypeExpr>)], scope: &TypeScope) -> bool {
    let [(first, _), rest @ ..] = path else { return false };
    if generic_env::param_named(cx, &cx.scope.env.params, &first.name).is_some() {
        return false;
    }
    if let Some(n) = implied_requirements::nominal_at(cx, path, scope) {
        return cx.defs.nominal_data(n).own_params > 0 && !type_expr::encloses(cx, scope.owner, n);
    }
    match name_lookup::type_entry(cx, &first.name, scope.file) {
        Some(Named::Alias(alias)) if rest.is_empty() => {
            type_alias::resolve_alias(cx, alias);
            !cx.defs.aliases[alias.0 as usize].params.is_empty()
        }
        _ => false,
    }
}
