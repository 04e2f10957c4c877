//! Truncated quotients: a warning for quotients of integer literals that drop a remainder.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::model::prelude::PRELUDE_FILE;
use crate::types::model::tree::{Argument, Callee, Expr, ExprKind};

impl Infer<'_> {
    /// Warns about `7 / 2` as an integer, since 3.5 is usually intended.
    pub(crate) fn check_quotient(&mut self, callee: &Callee, args: &[Argument], span: Span) {
        let ([Argument::Value(left), Argument::Value(right)], Callee::Static(function)) = (args, callee) else {
            return;
        };
        let (Some(n), Some(d)) = (integer(left), integer(right)) else { return };
        let is_library = self.cx.defs.function_data(function.function).is_prelude && self.file != PRELUDE_FILE;
        let is_quotient = &*self.cx.defs.function_data(function.function).base_name == "/";
        if !is_library || !is_quotient || d == 0 || n % d == 0 {
            return;
        }
        let written = self.cx.sink.source_text(span);
        let message = format!("integer division drops the remainder: '{written}' is {}", n / d);
        let diagnostic = Diagnostic::warning(Code::TruncatedQuotient, span, message)
            .fix("for a floating-point result, write a decimal point", left.span.after(), ".0")
            .fix("for an integer result, write it as a literal", span, (n / d).to_string());
        self.cx.sink.report(diagnostic);
    }
}

fn integer(e: &Expr) -> Option<i128> {
    match e.kind {
        ExprKind::Int(n) => Some(n),
        _ => None,
    }
}
