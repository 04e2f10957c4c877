//! Misplaced closures: trailing closures whose parameter is followed by parameters with arguments.

use crate::diagnostic::{Code, Diagnostic, Help};
use crate::source::Span;
use crate::syntax::ast::Ident;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::Candidate;
use crate::types::model::ty::Type;

impl Infer<'_> {
    /// Returns the diagnostic for a call that a candidate would accept if the trailing closure stood before other
    /// arguments, with the call in this order as an edit.
    pub(crate) fn misplaced_closure(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
    ) -> Option<Diagnostic> {
        let (closure, others) = args.split_last()?;
        let last = others.last()?;
        if !closure.trailing || closure.label.is_some() || last.trailing {
            return None;
        }
        for candidate in candidates {
            let params = self.candidate_params(candidate);
            for (k, param) in params.iter().enumerate().take(others.len()) {
                if param.autoclosure || !matches!(param.ty, Type::Function(_)) {
                    continue;
                }
                let mut moved = others.to_vec();
                moved.insert(k, ArgNode { label: param.label.clone(), trailing: false, ..closure.clone() });
                if match_args(&params, &moved).is_err() {
                    continue;
                }
                let place = match k {
                    0 => "the first argument of".to_string(),
                    _ => format!("argument {} of", k + 1),
                };
                let of = match &*name.name {
                    "init" => "the initializer".to_string(),
                    name => format!("'{name}'"),
                };
                let message = format!("the closure is {place} {of}, and a trailing closure is the last one");
                let label = param.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
                let next = others[k].label_span.unwrap_or(others[k].span).start;
                let between = Span::new(last.span.end, closure.span.start);
                let written = self.cx.sink.source_text(between);
                let edits = vec![
                    (Span::new(next, next), format!("{label}{}, ", self.cx.sink.source_text(closure.span))),
                    (between.to(closure.span), written.trim_end().to_string()),
                ];
                let mut diagnostic = Diagnostic::error(Code::WrongArguments, closure.span, message);
                diagnostic.helps.push(Help { text: "move the closure".into(), edits });
                return Some(diagnostic);
            }
        }
        None
    }
}
