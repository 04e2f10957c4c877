//! Whether the arguments of generic types fulfil what the types require of them.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::types::model::tables::{Requirement, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{NominalId, Type};

impl World {
    /// Reports every part of a written type whose arguments do not do what is required of them.
    pub(crate) fn check_arguments(&mut self, ty: &Type, span: Span) {
        self.check_alias_uses();
        if self.refused_by_alias.contains(ty) {
            return;
        }
        let mut parts: Vec<Type> = vec![];
        ty.any(&mut |t| {
            if matches!(t, Type::Nominal(_, args) if !args.is_empty()) {
                parts.push(t.clone());
            }
            false
        });
        for part in parts {
            if let Type::Nominal(n, args) = &part {
                self.check_arguments_of(*n, args, span);
            }
        }
    }

    pub(crate) fn check_arguments_of(&mut self, n: NominalId, args: &[Type], span: Span) {
        let env = self.nominal_env(n);
        for (index, requirement) in env.requirements.iter().enumerate() {
            let put = requirement.map(&mut |t| self.substitute_nominal(n, args, t));
            if self.is_met(&put) || self.is_undecided(&put) {
                continue;
            }
            let whole = self.show(&Type::Nominal(n, args.into()));
            let message = match &put {
                Requirement::Conforms(ty, p) => {
                    let protocol = self.protocol_data(*p).name.clone();
                    format!("type '{}' does not conform to protocol '{protocol}'", self.show(ty))
                }
                other => format!("'{whole}' requires {}", self.condition(other)),
            };
            let diagnostic = Diagnostic::error(DiagnosticCode::NotConforming, span, message);
            let is_shown = !self.nominal_data(n).is_prelude;
            let diagnostic = match &put {
                Requirement::Conforms(..) if !is_shown => diagnostic.note(format!("'{whole}' requires it")),
                _ => self.with_clause(diagnostic, &env, index, &put, is_shown),
            };
            let diagnostic = self.with_way_out(diagnostic, &put);
            self.report(diagnostic);
            self.refused.push(Type::Nominal(n, args.into()));
            return;
        }
    }

    /// Whether the type that must conform is not known.
    fn is_undecided(&mut self, put: &Requirement) -> bool {
        matches!(put, Requirement::Conforms(ty, _) if self.has_vars(ty))
    }

    /// The types that a function's signature spells.
    pub(crate) fn check_signature(&mut self, f: FunctionId) {
        let signature = self.signature(f);
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        for param in &signature.params {
            self.check_arguments(&param.ty, param.span);
        }
        let span = self.function_data(f).ast_result.as_ref().map_or(self.function_data(f).span, |t| t.span);
        self.check_arguments(&signature.result, span);
        self.env = saved;
    }

    /// The types of a type's stored properties.
    pub(crate) fn check_stored(&mut self, n: NominalId) {
        let env = self.nominal_env(n);
        let saved = std::mem::replace(&mut self.env, env);
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            let span = self.nominal_data(n).stored[i as usize].span;
            self.check_arguments(&ty, span);
        }
        self.env = saved;
    }
}
