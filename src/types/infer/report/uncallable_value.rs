//! Uncallable values: calls of values that are no functions, and argument labels in calls of function values.

use crate::diagnostic::{Code, Diagnostic, Help};
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, is_factor};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind};

impl Infer<'_> {
    /// Reports argument labels in the call of a function value, since function types have no labels.
    pub(crate) fn refuse_labels(&mut self, args: &[ArgNode]) {
        let labeled: Vec<(&ArgNode, Span)> = args
            .iter()
            .filter(|a| !a.trailing && a.label.is_some())
            .filter_map(|a| a.label_span.map(|span| (a, span)))
            .collect();
        let Some((_, first)) = labeled.first() else { return };
        let word = if labeled.len() == 1 { "label" } else { "labels" };
        let labels: String = labeled.iter().filter_map(|(a, _)| a.label.as_ref()).map(|l| format!("{l}:")).collect();
        let message = format!("extraneous argument {word} '{labels}' in call");
        let mut diagnostic = Diagnostic::error(Code::WrongArguments, *first, message);
        let edits = labeled.iter().map(|(a, span)| (Span::new(span.start, a.span.start), String::new())).collect();
        diagnostic
            .helps
            .push(Help { text: "remove the labels: a function value is called without them".into(), edits });
        self.error(diagnostic);
    }

    /// Reports the call of a value that is no function.
    pub(crate) fn not_callable(&mut self, function: &Expr, ty: &Type, args: &[ArgNode], span: Span) -> Expr {
        let message = format!("cannot call value of non-function type '{}'", self.show(ty));
        let mut diagnostic = Diagnostic::error(Code::NotCallable, function.span, message);
        if args.is_empty() && matches!(function.kind, ExprKind::Field { .. } | ExprKind::Call { .. }) {
            let brackets = Span::new(function.span.end, span.end);
            diagnostic = diagnostic.fix("remove the parentheses: a property is not called", brackets, "");
        } else if is_number(&self.show(ty)) && is_factor(args) {
            diagnostic = diagnostic.fix("to multiply, write '*'", function.span.after(), " * ");
        }
        self.error(diagnostic);
        self.check_anyway(args);
        self.error_expr(span)
    }
}

fn is_number(name: &str) -> bool {
    matches!(name, "Int" | "Double" | "Float")
}
