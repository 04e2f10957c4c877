//! Syntax queries: determines properties of a program that depend on its syntax only.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Attribute;
use crate::syntax::ast::AttributeArgs;
use crate::syntax::ast::Decl;
use crate::syntax::ast::DifferentiationArgs;
use crate::syntax::ast::{
    Binding, Block, Expr, ExprKind, Ident, Name, Pattern, PatternKind, Stmt, StmtKind, TypeExpr, TypeExprKind,
};
use crate::types::model::typed_tree::Ownership;
use std::rc::Rc;

/// Returns the number of characters (grapheme clusters) in a string.
pub(crate) fn characters(text: &str) -> usize {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count()
}

/// Returns a pattern without its type annotation.
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

/// Returns the name and the type annotation of a property declaration; `None` if the pattern of the declaration is not
/// a name.
pub(crate) fn property_name(binding: &Binding) -> Option<(Ident, Option<TypeExpr>)> {
    let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { return None };
    let ty = match &binding.pattern.kind {
        PatternKind::Typed(_, ty) => Some(ty.clone()),
        _ => binding.ty.clone(),
    };
    Some((Ident { name: name.clone(), span: binding.pattern.span }, ty))
}

/// Collects the names that a pattern binds, with their spans and their type annotations, if any.
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

/// Whether a name is the name of an operator.
pub(crate) fn is_operator(name: &str) -> bool {
    name.chars()
        .next()
        .is_some_and(|c| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '`') && (c as u32) < 0x2E80)
}

/// Returns the expression of a block that consists of a single expression, which is the value of the block.
pub(crate) fn single_expression(block: &Block) -> Option<&Expr> {
    match block.items.as_slice() {
        [only] => match &only.kind {
            StmtKind::Expr(e) if !matches!(e.kind, ExprKind::Assign { .. }) => Some(e),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the expression of a closure's body that consists of a single expression, which may be written with `return`.
pub(crate) fn result_expression(body: &Block) -> Option<&Expr> {
    match body.items.as_slice() {
        [Stmt { kind: StmtKind::Return(value), .. }] => value.as_ref(),
        _ => single_expression(body),
    }
}

/// Returns an entry of an inheritance clause without its attributes, such as `@memberwise`.
pub(crate) fn without_attributes(ty: &TypeExpr) -> &TypeExpr {
    match &ty.kind {
        TypeExprKind::Attributed(_, inner) => inner,
        _ => ty,
    }
}

/// Whether a number fits into an integer type of `bits` bits.
pub(crate) fn fits(n: i128, bits: u8, signed: bool) -> bool {
    let limit = 1i128 << (bits - u8::from(signed));
    if signed { n >= -limit && n < limit } else { n >= 0 && n < limit }
}

/// Returns the ownership that the modifiers of a declaration specify.
pub(crate) fn ownership(decl: &Decl) -> Ownership {
    decl.modifiers.iter().map(|m| named(&m.name)).find(|o| *o != Ownership::Strong).unwrap_or_default()
}

/// Returns the ownership that a single modifier specifies.
pub(crate) fn named(word: &str) -> Ownership {
    match word {
        "weak" => Ownership::Weak,
        _ if word.starts_with("unowned") => Ownership::Unowned,
        _ => Ownership::Strong,
    }
}

/// Whether a type is declared as `T!`.
pub(crate) fn is_implicitly_unwrapped(ty: Option<&TypeExpr>) -> bool {
    match ty.map(|t| &t.kind) {
        Some(TypeExprKind::Unwrapped(_)) => true,
        Some(TypeExprKind::Attributed(_, inner)) => is_implicitly_unwrapped(Some(inner)),
        _ => false,
    }
}

/// Creates `value as ty`, if a type is given.
pub(crate) fn coerced(value: &ast::Expr, ty: Option<&ast::TypeExpr>) -> ast::Expr {
    let Some(ty) = ty else { return value.clone() };
    let kind = ast::ExprKind::As { value: Rc::new(value.clone()), ty: ty.clone(), kind: ast::CastKind::Coerce };
    ast::Expr { kind, span: value.span }
}

/// Creates the closure `{ params in body }`.
pub(crate) fn closure_of(params: &[String], body: ast::Expr, span: Span) -> ast::Expr {
    let params = params
        .iter()
        .map(|p| ast::ClosureParam { name: Ident { name: p.as_str().into(), span }, ty: None, is_inout: false })
        .collect();
    closure_with(params, body, span)
}

/// Creates the closure `{ params in body }` with parameters that may have types.
pub(crate) fn closure_with(params: Vec<ast::ClosureParam>, body: ast::Expr, span: Span) -> ast::Expr {
    let items = vec![ast::Stmt { kind: ast::StmtKind::Expr(body), span }];
    let closure = ast::Closure::plain(Some(params), false, ast::Block { items, span });
    ast::Expr { kind: ast::ExprKind::Closure(Rc::new(closure)), span }
}

/// Returns the arguments of a differentiation attribute.
pub(crate) fn differentiation(attribute: &Attribute) -> DifferentiationArgs {
    match &attribute.args {
        AttributeArgs::Differentiation(args) => args.clone(),
        AttributeArgs::None | AttributeArgs::Text(_) => DifferentiationArgs::default(),
    }
}
