//! What a call requires of the types that its generic parameters turned out to be.
//!
//! A parameter's own conformances are asked for when it is unified. What is required of a type that belongs to it, or of
//! its superclass, is only known when the parameter is.

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::prelude::PRELUDE_FILE;
use crate::types::store::Requirement;
use crate::types::tree::FunctionRef;
use crate::types::ty::{ParamId, Type};

impl Infer<'_> {
    /// Reports what a called function requires and its generic arguments do not have.
    pub(super) fn check_required(&mut self, f: &FunctionRef, span: Span) {
        if self.failed || self.file == PRELUDE_FILE || f.generics.is_empty() {
            return;
        }
        if f.generics.iter().any(|t| t.any(&mut |t| matches!(t, Type::Var(_)))) {
            self.undecided(f, span);
            return;
        }
        let env = self.world.signature(f.function).env.clone();
        let by = |p: ParamId| env.params.iter().position(|q| *q == p).and_then(|i| f.generics.get(i).cloned());
        for requirement in &env.requirements {
            let put = requirement.map(&mut |t| t.substitute(&by));
            if let Some(condition) = self.unheld(requirement, &put) {
                let message = format!("'{}' requires that {condition}", self.world.full_name(f.function));
                let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
                let data = self.world.function_data(f.function);
                let declared = (!data.is_prelude && data.span != Span::default()).then_some(data.span);
                self.error(match declared {
                    Some(at) => diagnostic.also(at, "required here"),
                    None => diagnostic,
                });
                return;
            }
        }
    }

    /// What does not hold, of the requirements that nothing else asks for.
    fn unheld(&mut self, written: &Requirement, put: &Requirement) -> Option<String> {
        match (written, put) {
            (Requirement::Conforms(Type::Associated(..), _), Requirement::Conforms(of, p)) => {
                let of = self.world.normalize_type(of);
                let holds = self.world.conforms_to(&of, *p);
                (!holds).then(|| format!("'{}' conform to '{}'", self.show(&of), self.world.protocol_data(*p).name))
            }
            (Requirement::Superclass(Type::Param(_), _), Requirement::Superclass(of, class)) => {
                let holds = of == class || self.can_convert(of, class);
                (!holds).then(|| format!("'{}' inherit from '{}'", self.show(of), self.show(class)))
            }
            _ => None,
        }
    }

    fn undecided(&mut self, f: &FunctionRef, span: Span) {
        if let Some(message) = self.undecided_parameter(f) {
            let diagnostic = Diagnostic::error(Code::CannotInfer, span, message);
            self.error(diagnostic.help("an argument, or the type of the result, says what it is"));
        }
    }
}
