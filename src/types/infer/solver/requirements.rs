//! Requirements: checks the requirements of a called function on its inferred generic arguments.
//!
//! The conformances of a generic parameter itself are checked when the parameter is unified. Requirements on its
//! associated types and on its superclass can only be checked once the generic argument is known.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::generics::type_arguments;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::{Owner, Requirement};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::{ParamId, ProtocolId, Type};
use crate::types::model::type_vars::Clause;
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::type_vars::Equation;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};

impl Infer<'_> {
    /// Reports a requirement of a called function that its generic arguments do not satisfy.
    pub(crate) fn check_required(&mut self, f: &FunctionRef, span: Span) {
        if self.failed || self.file == PRELUDE_FILE || f.generics.is_empty() {
            return;
        }
        if f.generics.iter().any(|t| t.any(&mut |t| matches!(t, Type::Var(_)))) {
            self.undecided(f, span);
            return;
        }
        if self.was_refused(f.function, &f.generics) {
            return;
        }
        let env = signature::signature(self.cx, f.function).env.clone();
        let by = |p: ParamId| env.params.iter().position(|q| *q == p).and_then(|i| f.generics.get(i).cloned());
        for (index, requirement) in env.requirements.iter().enumerate() {
            let substituted = requirement.map(&mut |t| t.substitute(&by));
            let report = |infer: &mut Self, of: &Type, protocol: ProtocolId| {
                let constraint = ConformanceConstraint { protocol, span, by: Some(f.function) };
                let diagnostic = infer.not_conforming(of, &constraint, span);
                infer.error(diagnostic);
            };
            if let Some((of, protocol)) = self.unheld_condition(requirement, &substituted) {
                return report(self, &of, protocol);
            }
            if let Some(unheld) = self.unheld(requirement, &substituted) {
                // A missing conformance of a generic argument is the reason why its associated types do not conform.
                let missing = env.requirements.iter().find_map(|written| {
                    let (Requirement::Conforms(Type::Param(_), _), Requirement::Conforms(of, p)) =
                        (written, written.map(&mut |t| t.substitute(&by)))
                    else {
                        return None;
                    };
                    (!conformances::conforms_to(self.cx, &of, p)).then_some((of, p))
                });
                if let Some((of, protocol)) = missing {
                    return report(self, &of, protocol);
                }
                let diagnostic =
                    unmet_requirement::unmet(self.cx, Clause { function: f.function, index }, &unheld, span);
                self.error(diagnostic);
                return;
            }
        }
    }

    /// Reports a requirement of an enum that its generic arguments in a case expression do not satisfy.
    pub(crate) fn check_required_of_type(&mut self, ty: &Type, span: Span) {
        if self.failed || self.file == PRELUDE_FILE || self.cx.memo.refused.contains(ty) {
            return;
        }
        if let Type::Nominal(n, args) = ty {
            type_arguments::check_arguments_of(self.cx, *n, args, span);
        }
    }

    /// Returns a requirement, after substitution of the generic arguments, if it does not hold. Requirements that
    /// unification checks are skipped.
    fn unheld(&mut self, written: &Requirement, substituted: &Requirement) -> Option<Requirement> {
        match (written, substituted) {
            (Requirement::Conforms(Type::Associated(..), _), Requirement::Conforms(of, p)) => {
                let of = associated_type::normalize_type(self.cx, of);
                let holds = conformances::conforms_to(self.cx, &of, *p);
                (!holds).then_some(Requirement::Conforms(of, *p))
            }
            (Requirement::Superclass(..), Requirement::Superclass(of, class)) => {
                let of = associated_type::normalize_type(self.cx, of);
                let holds = of == *class || self.can_convert(&of, class);
                (!holds).then(|| Requirement::Superclass(of, class.clone()))
            }
            _ => None,
        }
    }

    /// Returns a generic argument and a protocol to which it does not conform. When the argument was unified, the conformance
    /// may have depended on the types of literals: `0...3.0` is not a sequence.
    fn unheld_condition(&mut self, written: &Requirement, substituted: &Requirement) -> Option<(Type, ProtocolId)> {
        match (written, substituted) {
            (Requirement::Conforms(Type::Param(_), _), Requirement::Conforms(of @ Type::Nominal(..), p)) => {
                (!conformances::conforms_to(self.cx, of, *p)).then(|| (of.clone(), *p))
            }
            _ => None,
        }
    }

    /// Returns the base and the protocol of an associated type whose base does not conform to its protocol.
    fn memberless(&mut self, ty: &Type) -> Option<(Type, ProtocolId)> {
        let Type::Associated(of, protocol, _) = unification::resolved(self.cx, ty) else { return None };
        (!unification::has_vars(self.cx, &of) && !conformances::conforms_to(self.cx, &of, protocol))
            .then(|| ((*of).clone(), protocol))
    }

    /// Reports two types that must be equal and are not. The equality is required by a called function or by the use of
    /// a value.
    pub(crate) fn contradiction(&mut self, equation: &Equation) {
        let Equation { left, right, span, by } = equation;
        if let Some((of, protocol)) = self.memberless(left).or_else(|| self.memberless(right)) {
            if !self.unmet_in.contains(span) {
                self.unmet_in.push(*span);
                let constraint = ConformanceConstraint { protocol, span: *span, by: by.map(|clause| clause.function) };
                let diagnostic = self.not_conforming(&of, &constraint, *span);
                self.error(diagnostic);
            }
            self.failed = true;
            return;
        }
        let is_broken = *left == Type::Error || *right == Type::Error;
        // A missing conformance is reported in preference to the inequality.
        let Some(clause) = by.filter(|_| !is_broken && self.unmet(left, right).is_none()) else {
            return self.mismatch(left, right, *span);
        };
        let diagnostic =
            unmet_requirement::unmet(self.cx, clause, &Requirement::Same(left.clone(), right.clone()), *span);
        self.error(diagnostic);
    }

    /// Whether the type that declares a member has been reported as invalid.
    pub(crate) fn was_refused(&mut self, f: FunctionId, generics: &[Type]) -> bool {
        let Owner::Nominal(n) = self.cx.defs.function_data(f).owner else { return false };
        let count = self.cx.defs.nominal_data(n).params.len();
        let Some(own) = generics.get(..count) else { return false };
        let own: Vec<Type> = own.iter().map(|ty| unification::resolved(self.cx, ty)).collect();
        self.cx.memo.refused.contains(&Type::Nominal(n, own.into()))
    }

    fn undecided(&mut self, f: &FunctionRef, span: Span) {
        if let Some(message) = self.undecided_parameter(f) {
            let diagnostic = Diagnostic::error(Code::CannotInfer, span, message);
            self.error(diagnostic.help("state it in the type of an argument or of the result"));
        }
    }
}
