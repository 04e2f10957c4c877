//! Wrapped parameters: `func f(@Clamped x: Int)` wraps its argument in a property wrapper, to which `x` and `$x` refer.

use crate::syntax::ast;
use crate::syntax::ast::{Block, DeclKind, Expr, ExprKind, Param, PatternKind, Stmt, StmtKind};
use crate::types::infer::Infer;
use crate::types::infer::expr::closure::with_return;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the body of a function that has wrapped parameters: each becomes a wrapped variable with the argument as
    /// its value. `None` if no parameter is wrapped.
    pub(crate) fn wrapping_body(&mut self, f: FunctionId, body: &Block, returns: bool) -> Option<Block> {
        let params = self.cx.defs.function_data(f).ast_params.clone();
        let wrappers = &self.cx.defs.wrappers;
        let wrapped: Vec<Stmt> = params
            .iter()
            .filter(|param| !param.is_inout && !param.variadic)
            .filter(|param| param.attributes.iter().any(|a| wrappers.contains_key(&*a.name.name)))
            .map(wrapped_variable)
            .collect();
        if wrapped.is_empty() {
            return None;
        }
        let body = if returns { with_return(body) } else { body.clone() };
        Some(Block { items: [wrapped, body.items].concat(), span: body.span })
    }
}

/// Returns the declaration `@Wrapper var name = name`.
fn wrapped_variable(param: &Param) -> Stmt {
    let (name, span) = (&param.name.name, param.name.span);
    let pattern = ast::Pattern { kind: PatternKind::Bind { name: name.clone(), mutable: true }, span };
    let value = Expr { kind: ExprKind::Ident { name: name.clone(), generics: vec![] }, span };
    let binding = ast::Binding { pattern, ty: None, value: Some(value), accessors: None };
    let decl = ast::Decl {
        kind: DeclKind::Variable { is_let: false, bindings: vec![binding] },
        attributes: param.attributes.clone(),
        modifiers: vec![],
        span,
        documentation: None,
    };
    Stmt { kind: StmtKind::Decl(Rc::new(decl)), span }
}
