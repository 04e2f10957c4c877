//! Whether the arguments of generic types fulfil what the types require of them.

use super::store::{Requirement, World};
use super::tree::FunctionId;
use super::ty::{NominalId, Type};
use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{TypeExpr, TypeExprKind};

impl World {
    /// Reports every part of a written type whose arguments do not do what is required of them.
    pub(super) fn check_arguments(&mut self, ty: &Type, span: Span) {
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

    fn check_arguments_of(&mut self, n: NominalId, args: &[Type], span: Span) {
        let env = self.nominal_env(n);
        for requirement in &env.requirements {
            let failure = match requirement.map(&mut |t| self.substitute_nominal(n, args, t)) {
                Requirement::Conforms(ty, p) => {
                    let ty = self.resolved(&ty);
                    let fails = !self.has_vars(&ty) && !self.conforms_to(&ty, p);
                    fails.then(|| {
                        let protocol = self.protocol_data(p).name.clone();
                        format!("type '{}' does not conform to protocol '{protocol}'", self.show(&ty))
                    })
                }
                Requirement::Same(a, b) => {
                    let (a, b) = (self.resolved(&a), self.resolved(&b));
                    let fails = a != b && !self.has_vars(&a) && !self.has_vars(&b);
                    fails.then(|| format!("'{}' must be '{}'", self.show(&a), self.show(&b)))
                }
                Requirement::Superclass(..) => None,
            };
            if let Some(message) = failure {
                let whole = self.show(&Type::Nominal(n, args.into()));
                self.report(
                    Diagnostic::error(DiagnosticCode::NotConforming, span, message)
                        .note(format!("'{whole}' requires it")),
                );
                return;
            }
        }
    }

    /// The types that a function's signature spells.
    pub(super) fn check_signature(&mut self, f: FunctionId) {
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
    pub(super) fn check_stored(&mut self, n: NominalId) {
        let env = self.nominal_env(n);
        let saved = std::mem::replace(&mut self.env, env);
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            let span = self.nominal_data(n).stored[i as usize].span;
            self.check_arguments(&ty, span);
        }
        self.env = saved;
    }

    /// Where an extension requires a conformance to a protocol for its members.
    pub(super) fn required_at(&self, f: FunctionId, protocol: &str) -> Option<Span> {
        let group = &self.groups[self.function_data(f).group?.0 as usize];
        let names = |ty: &TypeExpr| match &ty.kind {
            TypeExprKind::Named(path) => path.last().is_some_and(|(name, _)| &*name.name == protocol),
            _ => false,
        };
        let written = group.requirements.iter().find(|r| !r.same && names(&r.right)).filter(|_| !group.is_prelude)?;
        Some(written.left.span.to(written.right.span))
    }
}
