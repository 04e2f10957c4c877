//! Tuple properties: splits the declaration `var (x, y) = (0.0, 1.0)` of several properties into its components.

use crate::syntax::ast::{Binding, Expr, ExprKind, Pattern, PatternKind, TypeExpr, TypeExprKind};
use crate::types::model::syntax_query::strip;

/// Returns the declarations of the components of a tuple pattern. `None` if the binding has no tuple pattern, or if its
/// value is not a tuple of the same size: the value of each property is computed separately, so a value that is computed
/// once for all of them has no components.
pub(crate) fn components(binding: &Binding) -> Option<Vec<Binding>> {
    let PatternKind::Tuple(patterns) = &strip(&binding.pattern).kind else { return None };
    if binding.accessors.is_some() {
        return None;
    }
    let declared = match &binding.pattern.kind {
        PatternKind::Typed(_, ty) => Some(ty),
        _ => binding.ty.as_ref(),
    };
    let types = parts(declared, patterns.len(), tuple_type)?;
    let values = parts(binding.value.as_ref(), patterns.len(), tuple_value)?;
    let named = patterns.iter().zip(types).zip(values);
    let named = named.filter(|(((_, pattern), _), _)| !matches!(pattern.kind, PatternKind::Wildcard));
    Some(named.map(|(((_, pattern), ty), value)| component(pattern, ty, value)).collect())
}

fn component(pattern: &Pattern, ty: Option<&TypeExpr>, value: Option<&Expr>) -> Binding {
    Binding { pattern: pattern.clone(), ty: ty.cloned(), value: value.cloned(), accessors: None }
}

/// Returns the parts of a tuple, or `None` for each part if there is no tuple.
fn parts<'a, T>(
    tuple: Option<&'a T>,
    count: usize,
    of: impl Fn(&'a T) -> Option<Vec<&'a T>>,
) -> Option<Vec<Option<&'a T>>> {
    match tuple {
        Some(tuple) => {
            of(tuple).filter(|parts| parts.len() == count).map(|parts| parts.into_iter().map(Some).collect())
        }
        None => Some(vec![None; count]),
    }
}

fn tuple_type(ty: &TypeExpr) -> Option<Vec<&TypeExpr>> {
    match &ty.kind {
        TypeExprKind::Tuple(parts) => Some(parts.iter().map(|(_, part)| part).collect()),
        _ => None,
    }
}

fn tuple_value(value: &Expr) -> Option<Vec<&Expr>> {
    match &value.kind {
        ExprKind::Tuple(parts) => Some(parts.iter().map(|(_, part)| part).collect()),
        _ => None,
    }
}
