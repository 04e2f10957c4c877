//! The notation of mathematics: `f'`, `∇f`, `∂(f, x)`, and operators as values.

use super::Infer;
use super::args::ArgNode;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::types::store::Named;
use crate::types::tree::Expr;
use crate::types::ty::{Strength, Type};
use std::rc::Rc;

impl Infer<'_> {
    /// `f'`
    pub(super) fn prime(&mut self, function: &ast::Expr, order: u32, span: Span) -> Expr {
        let mut value = self.expr(function, None);
        if let Type::Function(f) = self.world.shallow(&value.ty.clone())
            && f.params.len() != 1
        {
            return self.prime_of_several(function, f.params.len());
        }
        for _ in 0..order {
            value = self.apply_prelude_to(value, "derivative", "of", span);
        }
        value
    }

    /// A derivative is by one number; of a function of several there are two other kinds.
    fn prime_of_several(&mut self, function: &ast::Expr, count: usize) -> Expr {
        let (name, first) = match &function.kind {
            Ast::Ident { name, .. } => {
                let names = self.parameter_names(function).map(|(names, _)| names).unwrap_or_default();
                (name.to_string(), names.first().map_or("x".into(), ToString::to_string))
            }
            _ => ("f".into(), "x".to_string()),
        };
        let message = format!("a derivative written with ' is of a function of one number, and '{name}' takes {count}");
        let diagnostic = Diagnostic::error(Code::WithRespectTo, function.span, message)
            .help(format!("the derivatives by all of them: '∇{name}'"))
            .help(format!("the derivative by one of them: '∂({name}, {first})'"));
        self.error(diagnostic);
        self.error_expr(function.span)
    }

    pub(super) fn apply_prelude(&mut self, name: &'static str, label: &str, function: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(function, None);
        self.apply_prelude_to(value, name, label, span)
    }

    fn apply_prelude_to(&mut self, value: Expr, name: &'static str, label: &str, span: Span) -> Expr {
        let arg = ArgNode {
            label: Some(label.into()),
            label_span: span,
            ast: Rc::new(ast::Expr { kind: Ast::Error, span: value.span }),
            trailing: false,
            ready: Some(Rc::new(value)),
            span,
        };
        let mut candidates = vec![];
        for entry in self.world.library_entries(name) {
            if let Named::Function(f) = entry.what {
                candidates.push(super::candidates::Candidate {
                    target: super::candidates::Target::Function(f),
                    prefix: Rc::from([]),
                    receiver: None,
                    tier: 1,
                });
            }
        }
        self.call_overloaded(&Ident { name: name.into(), span }, candidates, vec![arg], None, span)
    }

    /// `∂(f, x)`: the derivative by one parameter, as a function of all of them.
    pub(super) fn partial(&mut self, function: &ast::Expr, parameter: &Ident, span: Span) -> Expr {
        let Some((names, types)) = self.parameter_names(function) else {
            let message = "the names of the parameters of this function are not known";
            return self.fail(Code::WithRespectTo, function.span, message);
        };
        let Some(at) = names.iter().position(|n| *n == parameter.name) else {
            let known = names.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
            let message = format!("the function has no parameter '{}'; it has {known}", parameter.name);
            return self.fail(Code::WithRespectTo, parameter.span, message);
        };
        let text_params: Vec<String> = (0..names.len()).map(|i| format!("$p{i}")).collect();
        let ident = |name: &str| ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        let call = |args: Vec<ast::Expr>, callee: ast::Expr| {
            let args = args.into_iter().map(|value| ast::Arg { label: None, value, trailing: false }).collect();
            ast::Expr { kind: Ast::Call { callee: Rc::new(callee), args }, span }
        };
        let inner_args =
            text_params.iter().enumerate().map(|(i, p)| if i == at { ident("$dp") } else { ident(p) }).collect();
        let inner = closure_of(&["$dp".to_string()], call(inner_args, function.clone()), span);
        let labelled =
            |label: &str, value| ast::Arg { label: Some(Ident { name: label.into(), span }), value, trailing: false };
        let args = vec![labelled("at", ident(&text_params[at])), labelled("in", inner)];
        let body = ast::Expr { kind: Ast::Call { callee: Rc::new(ident("derivative")), args }, span };
        let outer = closure_of(&text_params, body, span);
        let params = types
            .into_iter()
            .map(|ty| crate::types::ty::FunctionParam { ty, is_inout: false, no_derivative: false, autoclosure: false })
            .collect();
        let result = self.world.fresh();
        let wanted = crate::types::ty::FunctionType { params, result, throws: false, strength: Strength::Open };
        self.expr(&outer, Some(&Type::Function(Rc::new(wanted))))
    }

    /// The names of a function's parameters with their types.
    fn parameter_names(&mut self, function: &ast::Expr) -> Option<(Vec<ast::Name>, Vec<Type>)> {
        let Ast::Ident { name, .. } = &function.kind else { return None };
        let file = self.file;
        for entry in self.world.entries(name, file) {
            match entry.what {
                Named::Function(f) => {
                    let signature = self.world.signature(f);
                    return Some(signature.params.iter().map(|p| (p.name.clone(), p.ty.clone())).unzip());
                }
                Named::Global(g) => {
                    let names = self.world.closure_names.get(&g).cloned();
                    if let (Some(names), Type::Function(f)) = (names, self.world.global_type(g)) {
                        return Some((names, f.params.iter().map(|p| p.ty.clone()).collect()));
                    }
                }
                Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        None
    }

    /// `+` and the like as a value.
    pub(super) fn operator_value(&mut self, name: &ast::Name, expected: Option<&Type>, span: Span) -> Expr {
        let operand = match expected.and_then(|t| self.known(t)) {
            Some(Type::Function(f)) if f.params.len() == 1 => match self.world.shallow(&f.params[0].ty) {
                Type::Tuple(parts) => parts.len(),
                _ => 1,
            },
            _ => 2,
        };
        let params: Vec<String> = (0..operand).map(|i| format!("$op{i}")).collect();
        let ident = |name: &str| ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        let op = Ident { name: name.clone(), span };
        let body = if operand == 2 {
            Ast::Binary { op, lhs: Rc::new(ident(&params[0])), rhs: Rc::new(ident(&params[1])), juxtaposed: false }
        } else {
            Ast::Prefix { op, operand: Rc::new(ident("$op0")) }
        };
        let closure = closure_of(&params, ast::Expr { kind: body, span }, span);
        self.expr(&closure, expected)
    }
}

/// `{ params in body }`
pub(super) fn closure_of(params: &[String], body: ast::Expr, span: Span) -> ast::Expr {
    let params = params
        .iter()
        .map(|p| ast::ClosureParam { name: Ident { name: p.as_str().into(), span }, ty: None, is_inout: false })
        .collect();
    let items = vec![ast::Stmt { kind: ast::StmtKind::Expr(body), span }];
    let closure = ast::Closure {
        captures: vec![],
        params: Some(params),
        throws: false,
        result: None,
        attributes: vec![],
        body: ast::Block { items, span },
    };
    ast::Expr { kind: Ast::Closure(Rc::new(closure)), span }
}
