//! Constant casts: a warning for casts whose outcome is known at compile time.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::CastKind;
use crate::types::conform::superclass;
use crate::types::generics::existential;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::names::name_lookup;

/// The outcome of a cast that is known at compile time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Succeeds,
    Fails,
}

impl Infer<'_> {
    /// Warns about a cast whose outcome is known at compile time, or about an `is` test if `kind` is `None`.
    pub(crate) fn check_cast(&mut self, from: &Type, to: &Type, kind: Option<CastKind>, span: Span) {
        let is_written = self.frames.first().and_then(|f| f.function);
        if is_written.is_none_or(|f| self.cx.defs.function_data(f).is_prelude) {
            return;
        }
        // `Self` of a class may be a subclass of its static type.
        if self.cx.sink.source_text(span).ends_with("Self") {
            return;
        }
        let Some(outcome) = self.outcome(from, to) else { return };
        let (from, to) = (self.show(from), self.show(to));
        let message = match (outcome, kind) {
            (Outcome::Fails, _) => format!("cast from '{from}' to unrelated type '{to}' always fails"),
            (Outcome::Succeeds, None) => "'is' test is always true".to_string(),
            (Outcome::Succeeds, Some(CastKind::Forced)) => {
                format!("forced cast from '{from}' to '{to}' always succeeds; did you mean to use 'as'?")
            }
            (Outcome::Succeeds, Some(CastKind::Optional | CastKind::Coerce)) => {
                format!("conditional cast from '{from}' to '{to}' always succeeds")
            }
        };
        self.cx.sink.report(Diagnostic::warning(Code::FixedCast, span, message));
    }

    fn outcome(&mut self, from: &Type, to: &Type) -> Option<Outcome> {
        let is_open = |t: &Type| {
            t.any(&mut |t| matches!(t, Type::Var(_) | Type::Param(_) | Type::Associated(..) | Type::Opaque(..)))
        };
        if is_open(from) || is_open(to) {
            return None;
        }
        if from == to {
            return Some(Outcome::Succeeds);
        }
        match (from, to) {
            (Type::Nominal(a, _), Type::Nominal(b, _)) => {
                let holds = |infer: &mut Self, t: &Type| name_lookup::optional_payload(infer.cx, t).is_some();
                if a == b || holds(self, from) || holds(self, to) {
                    return None;
                }
                match (superclass::is_class(self.cx, *a), superclass::is_class(self.cx, *b)) {
                    (true, true) if self.inherits(from, to) => Some(Outcome::Succeeds),
                    (true, true) if self.inherits(to, from) => None,
                    _ => Some(Outcome::Fails),
                }
            }
            (Type::Nominal(..), Type::Existential(e)) if name_lookup::optional_payload(self.cx, from).is_none() => {
                existential::is_value_of(self.cx, from, e).then_some(Outcome::Succeeds)
            }
            _ => None,
        }
    }

    /// Whether a class is equal to another class, or inherits from that class.
    fn inherits(&mut self, class: &Type, from: &Type) -> bool {
        let mut at = class.clone();
        loop {
            if at == *from {
                return true;
            }
            let Type::Nominal(n, args) = &at else { return false };
            let Some(base) = superclass::base_type(self.cx, *n, args) else { return false };
            at = base;
        }
    }
}
