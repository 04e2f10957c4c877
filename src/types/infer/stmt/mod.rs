//! Statements: inference of each kind of statement.

pub(crate) mod async_constant;
pub(crate) mod branch;
pub(crate) mod display_statement;
pub(crate) mod exhaustiveness;
pub(crate) mod for_loop;
pub(crate) mod function_body;
pub(crate) mod local_accessors;
pub(crate) mod local_formula;
mod local_function;
pub(crate) mod local_type;
pub(crate) mod observed_place;
pub(crate) mod pattern;
pub(crate) mod place;
pub(crate) mod thrown_type;
mod undeclared_variable;
pub(crate) mod unreachable_case;
pub(crate) mod variable;
mod variable_parameter;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StmtKind as AstStmt};
use crate::types::generics::opaque_type;
use crate::types::generics::unification;
use crate::types::infer::stmt::branch::ends_in_statements;
use crate::types::infer::{FrameKind, Infer, Label, LabelKind};
use crate::types::model::display::did_you_mean;
use crate::types::model::syntax_query::{bound_names, single_expression};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Case, Expr, ExprKind, Stmt, StmtKind};
use crate::types::names::name_lookup;
use hashbrown::HashMap;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers the statements of a function's body; a single expression is its result.
    pub(crate) fn function_statements(&mut self, body: &ast::Block, result: &Type) -> Vec<Stmt> {
        if let Some(only) = single_expression(body)
            && !result.is_unit()
        {
            let start = (self.pending.len(), self.cx.vars.var_count());
            let is_statement = matches!(only.kind, Ast::If { .. } | Ast::Switch { .. }) && ends_in_statements(only);
            if !is_statement {
                let result = &self.opened_result(result, only.span);
                let of_class = self.of_own_class(only);
                let value = self.expr(of_class.as_ref().unwrap_or(only), Some(result));
                let value = self.coerce(value, result);
                self.resolve_statement(start);
                let span = value.span;
                let kind = if *result == Type::Never { StmtKind::Expr(value) } else { StmtKind::Return(Some(value)) };
                return vec![Stmt { kind, span }];
            }
        }
        self.body_statements(body)
    }

    /// Infers the statements of a body, in the outermost scope of its frame.
    pub(crate) fn body_statements(&mut self, body: &ast::Block) -> Vec<Stmt> {
        let types = self.local_types.clone();
        let statements = self.statements(&body.items);
        self.local_types = types;
        statements
    }

    pub(crate) fn block(&mut self, body: &ast::Block) -> Vec<Stmt> {
        self.in_scope(|infer| infer.statements(&body.items))
    }

    pub(crate) fn statements(&mut self, items: &[ast::Stmt]) -> Vec<Stmt> {
        let in_formula = std::mem::take(&mut self.in_formula);
        let out = self.without_fractions(|infer| infer.all_statements(items));
        self.in_formula = in_formula;
        out
    }

    fn all_statements(&mut self, items: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = vec![];
        let functions = match self.is_top() {
            true => vec![],
            false => {
                self.declare_local_types(items);
                self.declare_local_functions(items)
            }
        };
        self.upcoming.push(declared_names(items));
        let mut postponed = vec![];
        for (at, item) in items.iter().enumerate() {
            let start = (self.pending.len(), self.cx.vars.var_count());
            let is_function =
                |decl: &Rc<ast::Decl>| functions.iter().find(|(_, d)| Rc::ptr_eq(d, decl)).map(|(f, _)| *f);
            match &item.kind {
                AstStmt::Decl(decl) => {
                    self.check_prologue(decl);
                    match is_function(decl) {
                        Some(f) => match self.last_used_declaration(f, items, at) {
                            Some(last) => postponed.push((last, f)),
                            None => out.push(self.local_function(f)),
                        },
                        None => self.declaration(decl, &mut out),
                    }
                }
                _ => self.statement(item, &mut out),
            }
            self.resolve_statement(start);
            if let Some(last) = out.last_mut() {
                self.show_picture(last);
            }
            for (_, f) in postponed.extract_if(.., |(last, _)| *last == at) {
                let start = (self.pending.len(), self.cx.vars.var_count());
                out.push(self.local_function(f));
                self.resolve_statement(start);
            }
        }
        self.upcoming.pop();
        out
    }

    /// Ends a statement: expressions that are still pending are resolved by default.
    pub(crate) fn resolve_statement(&mut self, start: (usize, u32)) {
        let outer = std::mem::replace(&mut self.defaulting_numbers, true);
        self.resolve_pending(start.0, start.1);
        self.defaulting_numbers = outer;
    }

    pub(super) fn statement(&mut self, item: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = item.span;
        match &item.kind {
            AstStmt::Expr(e) => match &e.kind {
                Ast::If { .. } | Ast::Switch { .. } | Ast::Block(_) => self.branch_statement(e, None, out),
                _ => {
                    let is_requested = self.cx.module.wants_value && self.is_top();
                    let value = self.with_fractions(is_requested, |infer| infer.expr(e, None));
                    match value.kind {
                        ExprKind::Assign { place, value } => {
                            out.push(Stmt { kind: StmtKind::Assign { place: *place, value: *value }, span });
                        }
                        _ => out.push(Stmt { kind: StmtKind::Expr(value), span }),
                    }
                }
            },
            AstStmt::Labeled { label, body } => self.branch_statement(body, Some(label), out),
            AstStmt::Decl(decl) => self.declaration(decl, out),
            AstStmt::Guard { conditions, body } => self.guard(conditions, body, span, out),
            AstStmt::While { label, conditions, body } => {
                let kind = self.labeled(label.as_ref(), LabelKind::Loop, |infer, label| {
                    infer.in_scope(|infer| {
                        let conditions = infer.conditions(conditions);
                        let body = infer.block(body);
                        StmtKind::While { label, conditions, body }
                    })
                });
                out.push(Stmt { kind, span });
            }
            AstStmt::Repeat { label, body, condition } => {
                let kind = self.labeled(label.as_ref(), LabelKind::Loop, |infer, label| {
                    let body = infer.block(body);
                    let start = (infer.pending.len(), infer.cx.vars.var_count());
                    let condition = infer.condition_value(condition);
                    infer.resolve_statement(start);
                    StmtKind::Repeat { label, body, condition }
                });
                out.push(Stmt { kind, span });
            }
            AstStmt::For { label, pattern, sequence, filter, body } => {
                let statement = self.for_loop(label.as_ref(), pattern, sequence, filter.as_ref(), body, span);
                out.push(statement);
            }
            AstStmt::Return(value) => self.return_statement(value.as_ref(), span, out),
            AstStmt::Break(label) => self.jump(label.as_ref(), false, span, out),
            AstStmt::Continue(label) => self.jump(label.as_ref(), true, span, out),
            AstStmt::Fallthrough => {
                // A case of a `switch` expression is left only by its value.
                let labels = self.frame().labels.iter().rev();
                let innermost = labels.clone().find(|l| matches!(l.kind, LabelKind::Case | LabelKind::Switch));
                let left = innermost.filter(|l| l.kind == LabelKind::Case).map(|l| l.id);
                self.frame().left_cases.extend(left);
                match left {
                    Some(case) => out.push(Stmt { kind: StmtKind::Break(case), span }),
                    None => {
                        let message = "'fallthrough' is only allowed in a case of a 'switch' statement";
                        self.error(Diagnostic::error(Code::WrongContext, span, message));
                    }
                }
            }
            AstStmt::Throw(value) => {
                let wanted = self.thrown_here();
                let value = self.expr(value, wanted.as_ref());
                let value = match &wanted {
                    Some(wanted) => self.coerce(value, wanted),
                    None => value,
                };
                self.note_thrown(&value);
                let error = name_lookup::protocol(self.cx, "Error");
                let value = self.coerce(value, &Type::any_of(&[error]));
                self.throws_here(span);
                out.push(Stmt { kind: StmtKind::Throw(value), span });
            }
            AstStmt::Defer(body) => {
                // Control cannot leave a `defer`: the enclosing labels are not accessible.
                let outside = std::mem::take(&mut self.frame().labels);
                let outer = std::mem::replace(&mut self.frame().in_defer, true);
                let caught = std::mem::take(&mut self.frame().catching);
                let body = self.block(body);
                self.frame().catching = caught;
                self.frame().in_defer = outer;
                self.frame().labels = outside;
                out.push(Stmt { kind: StmtKind::Defer(body), span });
            }
            AstStmt::Do { thrown, body, catches } => {
                self.do_statement(thrown.as_ref(), body, catches, None, span, out);
            }
            AstStmt::Adjoint { .. } => {
                self.error(Diagnostic::error(
                    Code::Registration,
                    span,
                    "an inline adjoint is only allowed after the last 'return' of a function, and must declare its \
                     parameters with types",
                ));
            }
        }
    }

    fn do_statement(
        &mut self,
        thrown: Option<&ast::TypeExpr>,
        body: &ast::Block,
        catches: &[ast::Catch],
        label: Option<&ast::Ident>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if catches.is_empty() {
            let kind = self
                .labeled(label, LabelKind::Block, |infer, label| StmtKind::Block { label, body: infer.block(body) });
            out.push(Stmt { kind, span });
            return;
        }
        let error = name_lookup::protocol(self.cx, "Error");
        let ty = Type::any_of(&[error]);
        let (body, thrown) = self.catching_body(thrown, body);
        let local = self.new_local("error", ty.clone(), false, span);
        let mut cases = vec![];
        for catch in catches {
            let case = self.in_scope(|infer| {
                let mut begin = vec![];
                if catch.patterns.is_empty() {
                    let error = thrown.as_ref().map(|thrown| infer.typed_error(local, thrown, span, &mut begin));
                    infer.bind(&"error".into(), error.unwrap_or(local));
                }
                let typed = thrown.as_ref().map(|thrown| infer.typed_patterns(&catch.patterns, thrown));
                let patterns = infer.case_patterns(typed.as_ref().unwrap_or(&catch.patterns), &ty);
                let mut body = infer.block(&catch.body);
                body.splice(0..0, begin);
                Case { patterns, body, falls_through: false, span: catch.span }
            });
            cases.push(case);
        }
        out.push(Stmt { kind: StmtKind::Catch { body, local, cases }, span });
    }

    /// Adds the edit that declares a result type.
    fn with_result_type(&mut self, diagnostic: Diagnostic, ty: &Type) -> Diagnostic {
        let mut literals = vec![];
        unification::resolved(self.cx, ty).any(&mut |part| {
            if let Type::Var(v) = part
                && self.cx.vars.var(*v).literal.is_some()
            {
                literals.push(*v);
            }
            false
        });
        literals.into_iter().for_each(|literal| self.default_var(literal));
        let ty = Some(self.show(ty)).filter(|_| !unification::has_vars(self.cx, ty));
        let function = self.frame().function;
        let body = function.and_then(|f| self.cx.defs.function_data(f).body_without_result());
        match (ty, body.map(|body| body.span)) {
            (Some(ty), Some(body)) if self.frame().kind != FrameKind::Closure => {
                diagnostic.fix(format!("declare the result type: '-> {ty}'"), body.before(), format!("-> {ty} "))
            }
            _ => diagnostic.help("declare the result type: '-> Type'"),
        }
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
        if self.frame().in_defer {
            self.error(Diagnostic::error(Code::WrongContext, span, out_of_defer("return")));
            return;
        }
        if self.frame().kind == FrameKind::Script {
            let message = "'return' is only allowed inside a function";
            let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
            self.error(diagnostic.help("to end the script, call 'exit(0)'"));
            return;
        }
        let result = self.frame().result.clone();
        if let Some(local) = self.frame().init_self {
            let is_failable = name_lookup::is_optional(self.cx, &result)
                && !name_lookup::is_optional(self.cx, &self.frames[self.current].locals[local.0 as usize].ty.clone());
            let value = match value {
                Some(ast::Expr { kind: Ast::Nil, .. }) if is_failable => Expr { kind: ExprKind::Nil, ty: result, span },
                Some(_) => self.fail(
                    Code::WrongContext,
                    span,
                    "an initializer cannot return a value, except 'nil' if it is failable",
                ),
                None => {
                    let value = self.local_expr(local, span);
                    self.coerce(value, &result)
                }
            };
            out.push(Stmt { kind: StmtKind::Return(Some(value)), span });
            return;
        }
        let result = match value {
            Some(value) => self.opened_result(&result, value.span),
            None => result,
        };
        let is_unit = unification::shallow(self.cx, &result).is_unit();
        let value = match value {
            Some(value) => {
                let of_class = self.of_own_class(value);
                let found = self.expr(of_class.as_ref().unwrap_or(value), Some(&result));
                if is_unit && !unification::shallow(self.cx, &found.ty.clone()).is_unit() && found.ty != Type::Error {
                    let message = "unexpected non-void return value in void function";
                    let diagnostic = Diagnostic::error(Code::Mismatch, value.span, message);
                    let diagnostic = self.with_result_type(diagnostic, &found.ty);
                    self.error(diagnostic);
                    let function = self.frame().function;
                    self.cx.module.missing_results.extend(function);
                    return;
                }
                match self.postpones_result(&found, &result) {
                    true => Some(found),
                    false => Some(self.coerce(found, &result)),
                }
            }
            None => {
                let unit = Type::unit();
                if !unification::unify(self.cx, &result, &unit, span) {
                    let message = format!("non-void function should return a value of type '{}'", self.show(&result));
                    self.error(Diagnostic::error(Code::MissingReturn, span, message));
                }
                None
            }
        };
        out.push(Stmt { kind: StmtKind::Return(value), span });
    }

    /// Returns the type that a value returned by the current function must have, in which type variables replace the
    /// opaque types of the function.
    pub(crate) fn opened_result(&mut self, result: &Type, span: Span) -> Type {
        match self.frame().function {
            Some(f) => {
                let mut given = std::mem::take(&mut self.given);
                let opened = opaque_type::open_result(self.cx, f, result, span, &mut given);
                self.given = given;
                opened
            }
            None => result.clone(),
        }
    }

    fn jump(&mut self, label: Option<&ast::Ident>, is_continue: bool, span: Span, out: &mut Vec<Stmt>) {
        let word = if is_continue { "continue" } else { "break" };
        let is_found = |l: &Label| match label {
            Some(name) => l.name.as_ref() == Some(&name.name),
            None => l.kind == LabelKind::Loop || l.kind == LabelKind::Switch && !is_continue,
        };
        let found = self.frame().labels.iter().rev().find(|l| is_found(l)).map(|l| (l.id, l.kind == LabelKind::Loop));
        match found {
            Some((_, false)) if is_continue => {
                self.error(Diagnostic::error(Code::WrongContext, span, "'continue' must name a loop"));
            }
            Some((id, _)) => {
                let kind = if is_continue { StmtKind::Continue(id) } else { StmtKind::Break(id) };
                out.push(Stmt { kind, span });
            }
            None => {
                let message = match label {
                    _ if self.frame().in_defer => out_of_defer(word),
                    Some(name) => format!("cannot find label '{}' in scope", name.name),
                    None => format!("'{word}' is only allowed inside a loop"),
                };
                let known: Vec<String> =
                    self.frame().labels.iter().filter_map(|l| l.name.as_ref().map(ToString::to_string)).collect();
                let diagnostic = Diagnostic::error(Code::WrongContext, label.map_or(span, |l| l.span), message);
                self.error(match label {
                    Some(label) => did_you_mean(diagnostic, label, &known),
                    None => diagnostic,
                });
            }
        }
    }
}

/// Returns the variables that the statements of a block declare, with the location of the first declaration of each
/// variable.
fn declared_names(items: &[ast::Stmt]) -> HashMap<ast::Name, Span> {
    let mut names = vec![];
    for item in items {
        if let AstStmt::Decl(decl) = &item.kind
            && let ast::DeclKind::Variable { bindings, .. } = &decl.kind
        {
            bindings.iter().for_each(|b| bound_names(&b.pattern, &mut names));
        }
    }
    names.into_iter().rev().map(|(name, span, _)| (name, span)).collect()
}

pub(crate) fn out_of_defer(word: &str) -> String {
    format!("'{word}' cannot transfer control out of a defer statement")
}
