//! Returns: reports missing returns, unreachable statements and infinite recursion.

use super::Flow;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Stmt, StmtKind};

impl Flow<'_, '_> {
    /// Checks at the end of a body that a function with a result returns a value on every path.
    pub(super) fn check_result(&mut self) {
        if !self.state.reachable {
            return;
        }
        self.escape();
        let kind = self.cx.defs.function_data(self.function).kind;
        let result = signature::signature(self.cx, self.function).result.clone();
        if result.is_unit() || result == Type::Error || matches!(kind, FunctionKind::Init { .. } | FunctionKind::Script)
        {
            return;
        }
        let declared = self.cx.defs.function_data(self.function).span;
        let span = self.body.statements.last().map_or(declared, |last| last.span).last();
        let what = if kind == FunctionKind::Closure { "closure" } else { "function" };
        let diagnostic = if result == Type::Never {
            let message = format!("{what} with uninhabited return type 'Never' returns");
            Diagnostic::error(Code::MissingReturn, span, message)
        } else {
            let message = format!("missing return in {what} expected to return '{}'", display::show(self.cx, &result));
            Diagnostic::error(Code::MissingReturn, span, message).also(declared, "must return a value on every path")
        };
        self.cx.sink.report(diagnostic);
    }

    pub(super) fn guard_falls_through(&mut self, end: Span) {
        let message = "'guard' body must not fall through, consider using a 'return' or 'throw' to exit the scope";
        self.cx.sink.report(Diagnostic::error(Code::WrongContext, end, message));
    }

    /// Warns that the statement `next`, which follows the statement `s`, is unreachable.
    pub(super) fn warn_of_unreachable(&mut self, s: &Stmt, next: &Stmt) {
        // The statement in which a result builder combines its parts surrounds them.
        let is_combining = next.span.start <= s.span.start;
        if !self.warns || is_combining || self.is_made_up(next) {
            return;
        }
        let word = match &s.kind {
            StmtKind::Return(_) => Some("return"),
            StmtKind::Break(_) => Some("break"),
            StmtKind::Continue(_) => Some("continue"),
            StmtKind::Throw(_) => Some("throw"),
            _ => None,
        };
        let message = match word {
            Some(word) => format!("code after '{word}' will never be executed"),
            None => "will never be executed".to_string(),
        };
        let mut diagnostic = Diagnostic::warning(Code::Unreachable, next.span, message);
        if word.is_none()
            && let Some(never) = self.never
            && never.start >= s.span.start
            && never.end <= s.span.end
        {
            diagnostic = diagnostic.also(never, "a call to a never-returning function");
        }
        self.cx.sink.report(diagnostic);
    }

    /// Whether the checker synthesized a statement, such as the `return` at the end of an initializer.
    fn is_made_up(&self, s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::Return(_) => {
                self.filled.is_some() && self.body.statements.last().is_some_and(|last| std::ptr::eq(last, s))
            }
            StmtKind::LocalFunction(_) => true,
            // The end of a case of a `switch` that a `fallthrough` inside another statement leaves.
            StmtKind::Break(_) => s.span.start == s.span.end,
            _ => false,
        }
    }

    /// Warns after the walk if every path contains a call of the function itself.
    pub(super) fn warn_of_recursion(&mut self) {
        if let (Some(span), false) = (self.calls_itself, self.escapes) {
            let message = "function call causes an infinite recursion";
            let diagnostic = Diagnostic::warning(Code::EndlessRecursion, span, message)
                .label("the function calls itself on every path");
            self.cx.sink.report(diagnostic.help("add a case that returns without another call"));
        }
    }
}
