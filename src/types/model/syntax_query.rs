//! What can be read off the syntax alone.

use crate::source::Span;
use crate::syntax::ast::{Binding, Block, Expr, ExprKind, Ident, Name, Pattern, PatternKind, TypeExpr, TypeExprKind};

/// How many characters, as people see them, a text has.
pub(crate) fn characters(text: &str) -> usize {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count()
}

/// The pattern without the type behind it.
pub(crate) fn strip(pattern: &Pattern) -> &Pattern {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => strip(inner),
        _ => pattern,
    }
}

/// Whether a type is written as `some P`.
pub(crate) fn is_opaque(ty: &TypeExpr) -> bool {
    matches!(ty.kind, TypeExprKind::Some(_))
}

/// The name and the type that a property is declared with; `None` when it is declared with another pattern.
pub(crate) fn property_name(binding: &Binding) -> Option<(Ident, Option<TypeExpr>)> {
    let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { return None };
    let ty = match &binding.pattern.kind {
        PatternKind::Typed(_, ty) => Some(ty.clone()),
        _ => binding.ty.clone(),
    };
    Some((Ident { name: name.clone(), span: binding.pattern.span }, ty))
}

/// The names that a pattern binds, with their place and, if it is written, their type.
pub(crate) fn bound_names(pattern: &Pattern, out: &mut Vec<(Name, Span, Option<TypeExpr>)>) {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => out.push((name.clone(), pattern.span, None)),
        PatternKind::Typed(inner, ty) => {
            let before = out.len();
            bound_names(inner, out);
            if let ([(_, _, slot)], PatternKind::Bind { .. }) = (&mut out[before..], &inner.kind) {
                *slot = Some(ty.clone());
            }
        }
        PatternKind::Tuple(parts) => parts.iter().for_each(|(_, p)| bound_names(p, out)),
        PatternKind::Some(inner) | PatternKind::As(inner, _) => bound_names(inner, out),
        PatternKind::Case { payload, .. } => payload.iter().flatten().for_each(|(_, p)| bound_names(p, out)),
        PatternKind::Wildcard | PatternKind::Is(_) | PatternKind::Expr(_) => {}
    }
}

/// Whether a name is that of an operator.
pub(crate) fn is_operator(name: &str) -> bool {
    name.chars()
        .next()
        .is_some_and(|c| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '`') && (c as u32) < 0x2E80)
}

/// The single expression that a block consists of, which is then its value.
pub(crate) fn single_expression(block: &Block) -> Option<&Expr> {
    match block.items.as_slice() {
        [only] => match &only.kind {
            crate::syntax::ast::StmtKind::Expr(e) if !matches!(e.kind, ExprKind::Assign { .. }) => Some(e),
            _ => None,
        },
        _ => None,
    }
}

/// The attributed protocol of an inheritance clause, and whether `@memberwise` stands before it.
pub(crate) fn inherited(ty: &TypeExpr) -> (&TypeExpr, bool) {
    match &ty.kind {
        TypeExprKind::Attributed(attributes, inner) => {
            (inner, attributes.iter().any(|a| &*a.name.name == "memberwise"))
        }
        _ => (ty, false),
    }
}

/// Whether an integer type of so many bits holds a number.
pub(crate) fn fits(n: i128, bits: u8, signed: bool) -> bool {
    let limit = 1i128 << (bits - u8::from(signed));
    if signed { n >= -limit && n < limit } else { n >= 0 && n < limit }
}
