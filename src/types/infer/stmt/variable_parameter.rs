//! Parameters that are variables in the body of a function: `func f(@Clamped x: Int)` wraps its argument in a property
//! wrapper, to which `x` and `$x` refer, and `func f(x: consuming Int)` may modify its copy of the argument.

use crate::syntax::ast;
use crate::syntax::ast::{Block, DeclKind, Expr, ExprKind, Param, PatternKind, Stmt, StmtKind};
use crate::types::infer::Infer;
use crate::types::infer::expr::closure::with_return;
use crate::types::model::syntax_query::bound_names;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the body of a function that has wrapped or `consuming` parameters: each becomes a variable with the argument
    /// as its value. `None` if there is no such parameter.
    pub(crate) fn body_with_variables(&mut self, f: FunctionId, body: &Block, returns: bool) -> Option<Block> {
        let params = self.cx.defs.function_data(f).ast_params.clone();
        let wrappers = &self.cx.defs.wrappers;
        let is_wrapped = |param: &Param| param.attributes.iter().any(|a| wrappers.contains_key(&*a.name.name));
        let variables: Vec<Stmt> = params
            .iter()
            .filter(|param| !param.is_inout && !param.variadic)
            .filter(|param| param.is_consuming || is_wrapped(param))
            .map(variable_of_parameter)
            .collect();
        if variables.is_empty() {
            return None;
        }
        let body = if returns { with_return(body) } else { body.clone() };
        let span = body.span;
        let items = match params.iter().any(|param| declares(&body, &param.name.name)) {
            // The body may declare the name again, as it may that of any parameter.
            true => vec![Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Block(body), span }), span }],
            false => body.items,
        };
        Some(Block { items: [variables, items].concat(), span })
    }
}

/// Whether a block declares a variable with a name.
fn declares(block: &Block, name: &str) -> bool {
    let mut names = vec![];
    for item in &block.items {
        if let StmtKind::Decl(decl) = &item.kind
            && let DeclKind::Variable { bindings, .. } = &decl.kind
        {
            bindings.iter().for_each(|binding| bound_names(&binding.pattern, &mut names));
        }
    }
    names.iter().any(|(declared, ..)| &**declared == name)
}

/// Returns the declaration `@Wrapper var name = name`.
fn variable_of_parameter(param: &Param) -> Stmt {
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
