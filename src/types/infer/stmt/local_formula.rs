//! Local formulas: `f(x) = x^2` inside a function, as the declaration of a function.
//!
//! The variables that the formula captures are declared after it, so its result type is determined from its text: a number,
//! unless it has the form of another value.

use crate::source::Span;
use crate::syntax::ast::{
    Block, Closure, Expr, ExprKind, FunctionDecl, Generics, Ident, Param, Stmt, StmtKind, TypeExpr, TypeExprKind,
};
use crate::types::infer::expr::operator::is_comparison;

/// The methods of arrays whose result consists of some elements of the array.
const SELECTIONS: [&str; 6] = ["filter", "sorted", "reversed", "shuffled", "prefix", "suffix"];

/// Returns the function that a formula declares.
pub(super) fn function_of_formula(name: &Ident, params: &[Param], body: &Expr) -> FunctionDecl {
    let items = vec![Stmt { kind: StmtKind::Return(Some(body.clone())), span: body.span }];
    FunctionDecl {
        name: name.clone(),
        generics: Generics::default(),
        params: params.to_vec(),
        throws: false,
        rethrows: false,
        thrown: None,
        result: Some(result_type(body, name.span)),
        body: Some(Block { items, span: body.span }.into()),
    }
}

fn result_type(value: &Expr, span: Span) -> TypeExpr {
    let array_of = |element: &Expr| TypeExprKind::Array(Box::new(result_type(element, span)));
    let kind = match &value.kind {
        ExprKind::Paren(inner) | ExprKind::Ternary { then: inner, .. } => return result_type(inner, span),
        ExprKind::Array(elements) if !elements.is_empty() => array_of(&elements[0]),
        ExprKind::Tuple(parts) if !parts.is_empty() => {
            TypeExprKind::Tuple(parts.iter().map(|(label, part)| (label.clone(), result_type(part, span))).collect())
        }
        ExprKind::String(_) => named("String", span),
        ExprKind::Bool(_) | ExprKind::Is { .. } => named("Bool", span),
        ExprKind::Binary { op, .. } if is_comparison(&op.name) || matches!(&*op.name, "&&" | "||") => {
            named("Bool", span)
        }
        ExprKind::Prefix { op, .. } if &*op.name == "!" => named("Bool", span),
        ExprKind::Call { callee, args } => match &callee.kind {
            ExprKind::Member { base, name, .. } if SELECTIONS.contains(&&*name.name) => {
                return result_type(base, span);
            }
            ExprKind::Member { name, .. } if &*name.name == "map" => {
                let element = args.last().and_then(|arg| match &arg.value.kind {
                    ExprKind::Closure(closure) => only_value(closure),
                    _ => None,
                });
                let number = || TypeExpr { kind: named("Double", span), span };
                TypeExprKind::Array(Box::new(element.map_or_else(number, |element| result_type(element, span))))
            }
            _ => named("Double", span),
        },
        _ => named("Double", span),
    };
    TypeExpr { kind, span }
}

/// Returns the result of a closure with a single expression.
fn only_value(closure: &Closure) -> Option<&Expr> {
    match closure.body.items.as_slice() {
        [Stmt { kind: StmtKind::Expr(value) | StmtKind::Return(Some(value)), .. }] => Some(value),
        _ => None,
    }
}

fn named(name: &str, span: Span) -> TypeExprKind {
    TypeExprKind::Named(vec![(Ident { name: name.into(), span }, vec![])])
}
