//! Missing result types: withdraws the errors that follow from a function that returns a value but declares no result
//! type.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::model::type_context::TypeContext;

/// Removes the errors about the value `()` of calls of functions whose missing result type was reported.
pub(crate) fn withdraw_consequences(cx: &mut TypeContext) {
    let functions = std::mem::take(&mut cx.module.missing_results);
    let calls = std::mem::take(&mut cx.module.calls_without_result);
    if functions.is_empty() {
        return;
    }
    let calls: Vec<Span> = calls.into_iter().filter(|(f, _)| functions.contains(f)).map(|(_, span)| span).collect();
    let is_about = |diagnostic: &Diagnostic| {
        let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        let mut spans = labels.map(|label| label.span);
        spans.any(|span| calls.contains(&span))
    };
    cx.sink.diagnostics.retain(|d| !(d.is_error() && d.message.contains("'()'") && is_about(d)));
}
