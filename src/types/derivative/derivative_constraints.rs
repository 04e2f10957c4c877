//! Constraints of derivatives: compares the types for which a function is differentiable or has a registered derivative
//! with the types for which its original, or the requirement that it satisfies, is declared.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, FunctionName, Name};
use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::derivative::original_function::parameter_labels;
use crate::types::derivative::registered_derivatives;
use crate::types::derivative::registration;
use crate::types::derivative::registration::Original;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{Env, Requirement, Signature};
use crate::types::model::syntax_query::differentiation;
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::nominal::overrides;
use std::rc::Rc;

/// Returns another candidate for the original that is a member of the same type and has the types of `found`, if neither
/// candidate is more constrained, and the labels of the derivative distinguish neither.
pub(crate) fn fits_as_well(
    cx: &mut TypeContext,
    found: &Original,
    candidates: &[FunctionId],
    f: FunctionId,
    given: &Rc<Signature>,
) -> Option<FunctionId> {
    let labels = parameter_labels(&signature::signature(cx, found.function));
    let own = parameter_labels(given);
    let has_others = |labels: &[Option<Name>]| registration::has_other_labels(labels, &own);
    let owner = cx.defs.function_data(found.function).owner;
    candidates.iter().copied().find(|other| {
        if *other == found.function || cx.defs.function_data(*other).owner != owner {
            return false;
        }
        let others = parameter_labels(&signature::signature(cx, *other));
        let has_same_labels = others == labels;
        (has_same_labels || has_others(&labels) && has_others(&others))
            && registration::original(cx, *other, f, given).is_some_and(|other| {
                is_like(cx, found, &other) && is_as_constrained(cx, found, &other, has_same_labels)
            })
    })
}

fn is_like(cx: &mut TypeContext, found: &Original, other: &Original) -> bool {
    (&found.params, &found.result, &found.changed) == (&other.params, &other.result, &other.changed)
        && unmet_of(cx, other).is_none()
}

/// Whether neither candidate is more constrained. Of two with the same labels, each can only imply the other if one of them is the
/// requirement that the other one satisfies.
fn is_as_constrained(cx: &mut TypeContext, found: &Original, other: &Original, has_same_labels: bool) -> bool {
    let is_implied = registered_derivatives::implies(cx, found.function, other.function);
    let implies = registered_derivatives::implies(cx, other.function, found.function);
    if has_same_labels { !is_implied && !implies } else { is_implied == implies }
}

/// Returns a requirement of the original on its generic parameters that the registered function does not imply.
pub(crate) fn unmet_of(cx: &mut TypeContext, original: &Original) -> Option<Requirement> {
    let env = signature::signature(cx, original.function).env.clone();
    let unmet = |r: &&Requirement| {
        !registered_derivatives::holds_here(cx, std::slice::from_ref(*r), &env.params, &original.arguments)
    };
    env.requirements.iter().find(unmet).cloned()
}

pub(crate) fn less_constrained(
    cx: &mut TypeContext,
    of: &FunctionName,
    original: FunctionId,
    requirement: &Requirement,
) -> Diagnostic {
    let name = &of.name.name;
    let message = format!("referenced declaration '{name}' could not be resolved");
    let required = registered_derivatives::required(cx, requirement);
    let note = format!("'{name}' requires that {required}, but its derivative does not");
    Diagnostic::error(Code::Registration, of.name.span, message)
        .note_at(cx.defs.function_data(original).span, note)
        .help("add the requirement to the derivative")
}

pub(crate) fn report_ambiguous(cx: &mut TypeContext, of: &FunctionName, found: FunctionId, other: FunctionId) {
    let message = format!("referenced declaration '{}' is ambiguous", of.name.name);
    let diagnostic = Diagnostic::error(Code::Registration, of.name.span, message);
    let here = "found this candidate";
    let (found, other) = (cx.defs.function_data(found).span, cx.defs.function_data(other).span);
    cx.sink.report(diagnostic.note_at(found, here).note_at(other, here));
}

/// Checks that the witness of a `@differentiable` requirement is differentiable for all conforming types, if the
/// witness is marked `@differentiable`.
pub(crate) fn check_witness_differentiability(
    cx: &mut TypeContext,
    requirement: FunctionId,
    witness: &FunctionRef,
    conformance: Span,
) {
    if differentiability::differentiability(cx, requirement).is_none() {
        return;
    }
    let Some(decl) = cx.defs.function_data(witness.function).decl.clone() else { return };
    let own = signature::signature(cx, witness.function).env.clone();
    // Callers satisfy the requirements on the generic parameters of the protocol's requirement.
    let mut extended = (*cx.scope.env).clone();
    extended.requirements.extend(signature::signature(cx, requirement).env.requirements.iter().cloned());
    let narrower = type_context::with_env(cx, Rc::new(extended), |cx| weaker_attribute(cx, &decl, &own, witness));
    let Some((at, unmet)) = narrower else { return };
    let name = cx.defs.function_data(requirement).base_name.clone();
    let message = format!("'{name}' is differentiable for fewer types than the requirement that it satisfies");
    let needs = format!("it is only differentiable where {}", registered_derivatives::required(cx, &unmet));
    let diagnostic = Diagnostic::error(Code::MissingRequirement, at, message);
    cx.sink.report(diagnostic.note(needs).also(conformance, "it must be differentiable for every type here"));
}

/// Returns the first `@differentiable` attribute of a function with an additional requirement that does not hold for
/// all types in the current generic environment; `None` if one of the attributes has no such requirement.
fn weaker_attribute(
    cx: &mut TypeContext,
    decl: &Decl,
    own: &Rc<Env>,
    witness: &FunctionRef,
) -> Option<(Span, Requirement)> {
    let mut narrower = None;
    for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
        let env = differentiability::required_env(cx, witness.function, own, &differentiation(attribute));
        let unmet = |r: &&Requirement| {
            !own.requirements.contains(r)
                && !registered_derivatives::holds_here(cx, std::slice::from_ref(*r), &env.params, &witness.generics)
        };
        match env.requirements.iter().find(unmet) {
            Some(unmet) => narrower = narrower.or(Some((attribute.span, unmet.clone()))),
            None => return None,
        }
    }
    narrower
}

/// Checks that a requirement that is redeclared from a refined protocol has the `@differentiable` attributes of the
/// original requirement.
pub(crate) fn check_repeated_attributes(cx: &mut TypeContext, p: ProtocolId) {
    for q in conformances::refined(cx, p).iter().copied().filter(|q| *q != p) {
        for r in 0..cx.defs.protocol_data(p).requirements.len() {
            let new = cx.defs.protocol_data(p).requirements[r].function;
            let all = &cx.defs.protocol_data(q).requirements;
            let name = &cx.defs.function_data(new).base_name;
            let named: Vec<FunctionId> =
                all.iter().map(|r| r.function).filter(|old| cx.defs.function_data(*old).base_name == *name).collect();
            for old in named {
                if repeats(cx, new, old) {
                    overrides::check_attribute(cx, old, new);
                }
            }
        }
    }
}

/// Whether the parameters and the result of a requirement are those of a requirement of a refined protocol.
fn repeats(cx: &mut TypeContext, new: FunctionId, old: FunctionId) -> bool {
    let (new, old) = (signature::signature(cx, new), signature::signature(cx, old));
    let (params, others) = (&new.env.params, &old.env.params);
    let put = |ty: &Type| ty.substitute(&|p| others.iter().position(|q| *q == p).map(|i| Type::Param(params[i])));
    params.len() == others.len()
        && parameter_labels(&new) == parameter_labels(&old)
        && put(&old.result) == new.result
        && old.params.iter().zip(&new.params).all(|(old, new)| put(&old.ty) == new.ty)
}
