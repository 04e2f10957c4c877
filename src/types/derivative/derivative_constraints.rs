//! For which types a function promises or has a derivative: those of its original, or of the requirement that it fulfils.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, FunctionName};
use crate::types::derivative::differentiability::differentiation;
use crate::types::derivative::original::parameter_labels;
use crate::types::derivative::registration::Original;
use crate::types::model::tables::{Env, Requirement, Signature, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{ProtocolId, Type};
use std::rc::Rc;

impl World {
    /// Another function that an attribute may mean, if it is like the one that was found and neither is for fewer types.
    pub(crate) fn fits_as_well(
        &mut self,
        found: &Original,
        candidates: &[FunctionId],
        f: FunctionId,
        given: &Rc<Signature>,
    ) -> Option<FunctionId> {
        let labels = parameter_labels(&self.signature(found.function));
        let owner = self.function_data(found.function).owner;
        candidates.iter().copied().find(|other| {
            *other != found.function
                && self.function_data(*other).owner == owner
                && parameter_labels(&self.signature(*other)) == labels
                && self.original(*other, f, given).is_some_and(|other| self.is_like(found, &other))
        })
    }

    fn is_like(&mut self, found: &Original, other: &Original) -> bool {
        (&found.params, &found.result, &found.changed) == (&other.params, &other.result, &other.changed)
            && self.unmet_of(other).is_none()
            && !self.implies(found.function, other.function)
            && !self.implies(other.function, found.function)
    }

    /// What an original requires of its generic parameters, and the function that is to be registered does not.
    pub(crate) fn unmet_of(&mut self, original: &Original) -> Option<Requirement> {
        let env = self.signature(original.function).env.clone();
        let unmet = |r: &&Requirement| !self.holds_here(std::slice::from_ref(*r), &env.params, &original.arguments);
        env.requirements.iter().find(unmet).cloned()
    }

    pub(crate) fn less_constrained(
        &mut self,
        of: &FunctionName,
        original: FunctionId,
        requirement: &Requirement,
    ) -> Diagnostic {
        let name = &of.name.name;
        let message = format!("referenced declaration '{name}' could not be resolved");
        let required = self.required(requirement);
        let note = format!("'{name}' requires that {required}, but its derivative does not");
        Diagnostic::error(Code::Registration, of.name.span, message)
            .note_at(self.function_data(original).span, note)
            .help("add the requirement to the derivative")
    }

    pub(crate) fn report_ambiguous(&mut self, of: &FunctionName, found: FunctionId, other: FunctionId) {
        let message = format!("referenced declaration '{}' is ambiguous", of.name.name);
        let diagnostic = Diagnostic::error(Code::Registration, of.name.span, message);
        let here = "found this candidate";
        let (found, other) = (self.function_data(found).span, self.function_data(other).span);
        self.report(diagnostic.note_at(found, here).note_at(other, here));
    }

    /// What stands for a requirement that promises derivatives promises them for all types that conform, if it promises
    /// any.
    pub(crate) fn check_promise_of_witness(
        &mut self,
        requirement: FunctionId,
        witness: &FunctionRef,
        conformance: Span,
    ) {
        if self.promise(requirement).is_none() {
            return;
        }
        let Some(decl) = self.function_data(witness.function).decl.clone() else { return };
        let own = self.signature(witness.function).env.clone();
        // What the requirement asks of its own generic parameters holds for whoever calls it.
        let mut around = (*self.env).clone();
        around.requirements.extend(self.signature(requirement).env.requirements.iter().cloned());
        let saved = std::mem::replace(&mut self.env, Rc::new(around));
        let narrower = self.narrower_promise(&decl, &own, witness);
        self.env = saved;
        let Some((at, unmet)) = narrower else { return };
        let name = self.function_data(requirement).base_name.clone();
        let message = format!("'{name}' is differentiable for fewer types than the requirement that it satisfies");
        let needs = format!("it is only differentiable where {}", self.required(&unmet));
        let diagnostic = Diagnostic::error(Code::MissingRequirement, at, message);
        self.report(diagnostic.note(needs).also(conformance, "it must be differentiable for every type here"));
    }

    /// A promise of a function, and what it requires besides, if none is for all types here.
    fn narrower_promise(&mut self, decl: &Decl, own: &Rc<Env>, witness: &FunctionRef) -> Option<(Span, Requirement)> {
        let mut narrower = None;
        for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
            let env = self.required_env(witness.function, own, &differentiation(attribute));
            let unmet = |r: &&Requirement| {
                !own.requirements.contains(r)
                    && !self.holds_here(std::slice::from_ref(*r), &env.params, &witness.generics)
            };
            match env.requirements.iter().find(unmet) {
                Some(unmet) => narrower = narrower.or(Some((attribute.span, unmet.clone()))),
                None => return None,
            }
        }
        narrower
    }

    /// A requirement that a protocol repeats of one that it refines promises the same derivatives.
    pub(crate) fn check_repeated_promises(&mut self, p: ProtocolId) {
        for q in self.refined(p).iter().copied().filter(|q| *q != p) {
            for r in 0..self.protocol_data(p).requirements.len() {
                let new = self.protocol_data(p).requirements[r].function;
                let all = &self.protocol_data(q).requirements;
                let name = &self.function_data(new).base_name;
                let named: Vec<FunctionId> =
                    all.iter().map(|r| r.function).filter(|old| self.function_data(*old).base_name == *name).collect();
                for old in named {
                    if self.repeats(new, old) {
                        self.check_promised(old, new);
                    }
                }
            }
        }
    }

    /// Whether a requirement takes and gives what one of a refined protocol does.
    fn repeats(&mut self, new: FunctionId, old: FunctionId) -> bool {
        let (new, old) = (self.signature(new), self.signature(old));
        let (params, others) = (&new.env.params, &old.env.params);
        let put = |ty: &Type| ty.substitute(&|p| others.iter().position(|q| *q == p).map(|i| Type::Param(params[i])));
        params.len() == others.len()
            && parameter_labels(&new) == parameter_labels(&old)
            && put(&old.result) == new.result
            && old.params.iter().zip(&new.params).all(|(old, new)| put(&old.ty) == new.ty)
    }
}
