//! Error handling: checks that throwing expressions are marked with `try` and that errors are handled or declared.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::flow::Flow;
use crate::types::flow::exits::Scope;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::FunctionKind;
use crate::types::model::typed_tree::{Case, Expr, PatternKind};

impl<'b> Flow<'b, '_> {
    /// Visits the operand of a `try` expression.
    pub(crate) fn tried(&mut self, value: &'b Expr) {
        self.tried += 1;
        self.expr(value);
        self.tried -= 1;
    }

    /// Warns about a `try` whose operand does not throw.
    pub(crate) fn warn_of_needless_try(&mut self, whole: Span) {
        let text = self.cx.sink.source_text(whole);
        if !self.warns || self.throws_elsewhere || !text.starts_with("try") {
            return;
        }
        let sign = text["try".len()..].chars().next().filter(|c| matches!(c, '?' | '!'));
        let keyword = Span::new(whole.start, whole.start + "try".len() as u32 + u32::from(sign.is_some()));
        let message = "no calls to throwing functions occur within 'try' expression";
        let diagnostic = Diagnostic::warning(Code::Unused, keyword, message);
        self.cx.sink.report(match sign {
            // No fix is offered here: without `try?`, the value would not be an optional.
            Some('?') => diagnostic,
            _ => {
                let space = text[(keyword.end - keyword.start) as usize..].starts_with(' ');
                diagnostic.fix("remove it", Span::new(keyword.start, keyword.end + u32::from(space)), "")
            }
        });
    }

    /// Warns about a `catch` whose body does not throw, and about a `catch` after a `catch` that handles all errors.
    pub(crate) fn warn_of_needless_catch(&mut self, cases: &'b [Case], throws: bool) {
        if !self.warns || self.throws_elsewhere {
            return;
        }
        let taking = cases.iter().position(|case| takes_all(std::slice::from_ref(case)));
        let message = "'catch' block is unreachable because no errors are thrown in 'do' block";
        let needless = match taking {
            _ if !throws => cases.first().map(|first| (first, message)),
            Some(all) => cases
                .get(all + 1)
                .map(|next| (next, "'catch' block will never be executed: the previous one catches every error")),
            None => None,
        };
        if let Some((case, message)) = needless
            && self.cx.sink.source_text(case.span).starts_with("catch")
        {
            let keyword = Span::new(case.span.start, case.span.start + "catch".len() as u32);
            self.cx.sink.report(Diagnostic::warning(Code::Unreachable, keyword, message));
        }
    }

    /// Records a call that may throw.
    pub(crate) fn throwing_call(&mut self, span: Span) {
        self.thrown += 1;
        self.may_throw();
        if !self.warns {
            return;
        }
        if self.tried == 0 {
            self.unmarked += 1;
            let mut whole = self.operation.unwrap_or(span);
            // The expression is `try await f()`.
            if let Some((at, word)) = self.cx.sink.word_before(whole)
                && word == "await"
                && self.cx.sink.source_text(Span::new(at.end, whole.start)).trim().is_empty()
            {
                whole = at.to(whole);
            }
            let message = "call can throw but is not marked with 'try'";
            let mut diagnostic =
                Diagnostic::error(Code::Unhandled, span, message).fix("mark it with 'try'", whole.before(), "try ");
            if !self.is_handled() {
                diagnostic =
                    diagnostic.help("'try?' returns 'nil' if an error is thrown, and 'try!' stops the program");
            }
            self.cx.sink.report(diagnostic);
            return;
        }
        self.must_be_handled(span);
    }

    /// Reports an error thrown at `span` that is neither caught nor declared.
    pub(crate) fn must_be_handled(&mut self, span: Span) {
        if !self.warns || self.is_handled() {
            return;
        }
        let message = "errors thrown from here are not handled";
        let in_catch = self.scopes.iter().any(|s| matches!(s, Scope::Catch { .. }));
        let diagnostic = match in_catch {
            true => Diagnostic::error(
                Code::Unhandled,
                span,
                format!("{message} because the enclosing 'catch' is not exhaustive"),
            )
            .help("add a 'catch' without a pattern, which catches every error"),
            false => Diagnostic::error(Code::Unhandled, span, message)
                .help("catch them with 'do' and 'catch', or declare the enclosing function with 'throws'"),
        };
        self.cx.sink.report(diagnostic);
    }

    fn is_handled(&mut self) -> bool {
        // An error that leaves the script or a test is reported as a failure.
        matches!(self.cx.defs.function_data(self.function).kind, FunctionKind::Script | FunctionKind::Test)
            || self.scopes.iter().any(|s| matches!(s, Scope::Catch { takes_all: true, .. }))
            || signature::signature(self.cx, self.function).throws
    }
}

/// Whether the cases of a `catch` handle all errors.
pub(crate) fn takes_all(cases: &[Case]) -> bool {
    cases.iter().any(|case| {
        let takes = |kind: &PatternKind| matches!(kind, PatternKind::Wildcard | PatternKind::Bind(_));
        case.patterns.is_empty() || case.patterns.iter().any(|(p, guard)| guard.is_none() && takes(&p.kind))
    })
}
