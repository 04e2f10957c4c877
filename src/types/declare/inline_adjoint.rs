//! Inline adjoint: `adjoint let seed wrt a { … }` after the `return` of a function, a derivative written where the
//! values of the function are in scope. The inline adjoint becomes a registered pullback whose closure captures these
//! values.

use crate::source::Span;
use crate::syntax::ast::{
    Attribute, AttributeArgs, Block, Closure, ClosureParam, Decl, DeclKind, DifferentiationArgs, Expr, ExprKind,
    FunctionDecl, FunctionName, FunctionTypeParam, Ident, Stmt, StmtKind, TypeExpr, TypeExprKind, WrtKind, WrtParam,
};
use std::rc::Rc;

/// Splits a function with an inline adjoint into the function without the inline adjoint and the registered derivative.
pub(crate) fn take_apart(decl: &Decl) -> Option<(Decl, Decl)> {
    let DeclKind::Function(function) = &decl.kind else { return None };
    let items = &function.body.as_ref()?.items;
    let [before @ .., last, adjoint] = items.as_slice() else { return None };
    let StmtKind::Adjoint { seed, wrt, body } = &adjoint.kind else { return None };
    let (StmtKind::Return(Some(value)) | StmtKind::Expr(value)) = &last.kind else { return None };
    let mut returns_early = false;
    crate::types::model::syntax_walk::returns(before, &mut |_| returns_early = true);
    let result = function.result.clone().filter(|_| !returns_early)?;
    let span = adjoint.span;
    let adjoints = wrt.iter().map(|param| wrt_type(function, param)).collect::<Option<Vec<TypeExpr>>>()?;
    let given = match <[TypeExpr; 1]>::try_from(adjoints) {
        Ok([only]) => only,
        Err(several) => type_of(TypeExprKind::Tuple(several.into_iter().map(|t| (None, t)).collect()), span),
    };
    let takes = FunctionTypeParam {
        label: None,
        ty: tangent_vector(result.clone(), span),
        is_inout: false,
        variadic: false,
        attributes: vec![],
    };
    let pullback =
        TypeExprKind::Function { params: vec![takes], result: Box::new(given), throws: false, attributes: vec![] };
    let both = vec![(Some(ident("value", span)), result), (Some(ident("pullback", span)), type_of(pullback, span))];

    let closure =
        Closure::plain(Some(vec![ClosureParam { name: seed.clone(), ty: None, is_inout: false }]), false, body.clone());
    let closure = Expr { kind: ExprKind::Closure(Rc::new(closure)), span };
    let pair = Expr { kind: ExprKind::Tuple(vec![(None, value.clone()), (None, closure)]), span };
    let mut statements = before.to_vec();
    statements.push(Stmt { kind: StmtKind::Return(Some(pair)), span: last.span });

    let with_body = |name: Ident, result: Option<TypeExpr>, items: Vec<Stmt>| {
        let body = function.body.as_ref().map(|b| Block { items, span: b.span }.into());
        DeclKind::Function(FunctionDecl { name, result, body, ..function.clone() })
    };
    let plain = with_body(function.name.clone(), function.result.clone(), items[..items.len() - 1].to_vec());
    let derivative = with_body(ident("_", span), Some(type_of(TypeExprKind::Tuple(both), span)), statements);
    let attribute = Attribute {
        name: ident("derivative", span),
        generics: vec![],
        args: AttributeArgs::Differentiation(DifferentiationArgs {
            of: Some(FunctionName { base: None, name: function.name.clone(), labels: None, accessor: None }),
            wrt: Some(wrt.clone()),
            ..DifferentiationArgs::default()
        }),
        span,
    };
    let is_static = |m: &&Ident| matches!(&*m.name, "static" | "class");
    let modifiers = decl.modifiers.iter().filter(is_static).cloned().collect();
    let registered = Decl { kind: derivative, attributes: vec![attribute], modifiers, span, documentation: None };
    Some((Decl { kind: plain, ..decl.clone() }, registered))
}

/// Returns the type of the adjoint of a parameter that the inline adjoint names.
fn wrt_type(function: &FunctionDecl, param: &WrtParam) -> Option<TypeExpr> {
    let ty = match &param.kind {
        WrtKind::SelfParam => type_of(TypeExprKind::Named(vec![(ident("Self", param.span), vec![])]), param.span),
        WrtKind::Name(name) => function.params.iter().find(|p| p.name.name == *name)?.ty.clone()?,
        WrtKind::Index(i) => function.params.get(*i as usize)?.ty.clone()?,
    };
    Some(tangent_vector(ty, param.span))
}

fn tangent_vector(of: TypeExpr, span: Span) -> TypeExpr {
    type_of(TypeExprKind::Member(Box::new(of), ident("TangentVector", span)), span)
}

fn type_of(kind: TypeExprKind, span: Span) -> TypeExpr {
    TypeExpr { kind, span }
}

fn ident(name: &str, span: Span) -> Ident {
    Ident { name: name.into(), span }
}
