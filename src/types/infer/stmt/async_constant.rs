//! Constants that tasks compute: `async let`.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{Ident, TypeExpr};
use crate::types::declare::async_global;
use crate::types::declare::property_observers;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::expr::calculus_notation;
use crate::types::infer::{Infer, LocalEntity};
use crate::types::model::syntax_query::{coerced, strip};
use crate::types::model::syntax_walk;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionId, Stmt, StmtKind};
use std::rc::Rc;

impl Infer<'_> {
    /// Declares `async let name = value`: a task computes the value, and reading the constant waits for the task. The
    /// task ends before the scope is left.
    pub(crate) fn async_constant(
        &mut self,
        ident: &Ident,
        written: Option<&TypeExpr>,
        value: &ast::Expr,
        out: &mut Vec<Stmt>,
    ) {
        let (name, span) = (&ident.name, ident.span);
        let value = coerced(value, written);
        let Some((body, throws, ty)) = self.task_body(name, value, span, out) else { return };
        let task = format!("task of {name}");
        let (begin, read) = match throws {
            true => ("_beginThrowingChild", "try _throwingChildValue"),
            false => ("_beginChild", "_childValue"),
        };
        let begun = property_observers::written_block(self.cx, &format!("{begin}(`{body}`)"), span);
        let Some(ast::StmtKind::Expr(begun)) = begun.items.into_iter().next().map(|item| item.kind) else { return };
        self.hidden_variable(&task, None, begun, span, out);
        let ending = property_observers::written_block(self.cx, &format!("defer {{ _endChild(`{task}`) }}"), span);
        for statement in &ending.items {
            self.statement(statement, out);
        }
        let get = property_observers::written_block(self.cx, &format!("return {read}(`{task}`)"), span);
        let accessors = ast::Accessors { get: Some(get.into()), get_throws: throws, ..ast::Accessors::default() };
        self.accessors(ident, accessors, &ty, out);
    }

    /// Begins the task of an `async let` at the top level, which a hidden constant holds.
    pub(crate) fn begin_task_of_global(&mut self, binding: &ast::Binding, out: &mut Vec<Stmt>) {
        let ast::PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { return };
        let text = format!("_ = `{}`", async_global::task_name(name));
        for statement in &property_observers::written_block(self.cx, &text, binding.pattern.span).items {
            self.statement(statement, out);
        }
    }

    /// Declares the function that a task calls to compute a constant. Returns the name of the function, whether it throws,
    /// and the type of the constant.
    fn task_body(
        &mut self,
        name: &str,
        value: ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<(String, bool, Type)> {
        let mut throws = syntax_walk::tries(&value);
        let mut body = format!("value of {name}");
        let closure = calculus_notation::closure_of_call(&[], value.clone(), throws, span);
        let start = out.len();
        self.hidden_variable(&body, None, closure, span, out);
        // The value need not be marked with `try`, because the error is thrown where the constant is read.
        if !throws && self.throws_unmarked(&out[start..]) {
            out.truncate(start);
            throws = true;
            body.push('\'');
            let kind = ast::ExprKind::Try { kind: ast::TryKind::Propagate, value: Rc::new(value) };
            let closure = calculus_notation::closure_of_call(&[], ast::Expr { kind, span }, true, span);
            self.hidden_variable(&body, None, closure, span, out);
        }
        let Some(LocalEntity::Local(local)) = self.find_local(&body) else { return None };
        let ty = self.local_type(local);
        let Type::Function(function) = unification::resolved(self.cx, &ty) else { return None };
        Some((body, throws, function.result.clone()))
    }

    /// Whether the value of a closure, which the statements store, is a call that throws.
    fn throws_unmarked(&mut self, statements: &[Stmt]) -> bool {
        let closure = statements.iter().find_map(|statement| match &statement.kind {
            StmtKind::Let { value: Some(Expr { kind: ExprKind::Closure { function }, .. }), .. } => Some(*function),
            _ => None,
        });
        let value = closure.and_then(|function| self.value_of_closure(function));
        match value.map(|value| value.kind) {
            Some(ExprKind::Call { callee, .. }) => {
                let function = match callee {
                    Callee::Static(callee) => callee.function,
                    Callee::Class { function, .. } | Callee::Opened { function, .. } => function.function,
                    Callee::Requirement { protocol, requirement, .. } => {
                        self.cx.defs.protocol_data(protocol).requirements[requirement as usize].function
                    }
                };
                signature::signature(self.cx, function).throws
            }
            Some(ExprKind::CallValue { function, .. }) => matches!(&function.ty, Type::Function(f) if f.throws),
            _ => false,
        }
    }

    /// Returns the value of a closure that consists of an expression.
    fn value_of_closure(&self, function: FunctionId) -> Option<Expr> {
        let body = self.open.iter().find(|body| body.function == function)?;
        match &body.statements.first()?.kind {
            StmtKind::Return(value) => value.clone(),
            StmtKind::Expr(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// Reports an `async` declaration that is not a constant with a value.
    pub(crate) fn reject_async_variable(&mut self, is_let: bool, span: Span) {
        let message = match is_let {
            true => "'async let' declaration must have an initializer expression",
            false => "'async' can only be used with 'let' declarations",
        };
        self.error(Diagnostic::error(Code::WrongContext, span, message));
    }
}
