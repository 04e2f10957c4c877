//! Derivative type: determines the type that a registered derivative must have. The type is `(value:, pullback:)` or
//! `(value:, differential:)`, with a linear function between the tangent vectors of the original's parameters and
//! results.
//!
//! An `inout` parameter of the original is both a parameter and a result. If the derivative is with respect to this
//! parameter, the linear function updates the parameter's tangent vector (`inout`); otherwise the parameter is an
//! additional result.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::derivative::registration::Original;
use crate::types::generics::associated_type;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::declaration_tables::Signature;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// Returns the diagnostic if the linear function of a derivative does not have the required type.
pub(crate) fn misfitting_derivative(
    cx: &mut TypeContext,
    f: FunctionId,
    original: &Original,
    kind: RegisteredKind,
    wrt: &[bool],
    linear: &Type,
    span: Span,
) -> Option<Diagnostic> {
    let name = cx.defs.function_data(original.function).base_name.clone();
    if !wrt.contains(&true) {
        let message = "no differentiation parameters could be inferred; must differentiate with respect to at least one parameter conforming to 'Differentiable'";
        return Some(Diagnostic::error(Code::WithRespectTo, span, message));
    }
    let results = semantic_results(cx, original, wrt);
    let is_by_changed = original.changed.iter().zip(wrt).any(|(changed, wrt)| *changed && *wrt);
    if results.is_empty() && !is_by_changed {
        let message = differentiability::result_does_not_conform(cx, &original.result);
        return Some(Diagnostic::error(Code::WithRespectTo, span, message));
    }
    let (from, to) = expected_map(cx, original, kind, wrt, &results);
    let word = if kind == RegisteredKind::Pullback { "pullback" } else { "differential" };
    let Type::Function(have) = linear else { return None };
    let same =
        |cx: &mut TypeContext, a: &Type, b: &Type| unlabeled(&associated_type::normalize_type(cx, a)) == unlabeled(b);
    let takes = |cx: &mut TypeContext, wanted: &[(Type, bool)]| {
        have.params.len() == wanted.len()
            && have.params.iter().zip(wanted).all(|(a, b)| a.is_inout == b.1 && same(cx, &a.ty, &b.0))
    };
    let fits = takes(cx, &from) || spread_seeds(&from, kind).is_some_and(|from| takes(cx, &from));
    if fits && same(cx, &have.result, &to) {
        return None;
    }
    let param =
        |(t, is_inout): &(Type, bool)| format!("{}{}", if *is_inout { "inout " } else { "" }, display::show(cx, t));
    let from = spread_seeds(&from, kind).unwrap_or(from);
    let takes = from.iter().map(param).collect::<Vec<_>>().join(", ");
    let message = format!("function result's '{word}' type does not match '{name}'");
    let note = format!("'{word}' does not have expected type '({takes}) -> {}'", display::show(cx, &to));
    Some(Diagnostic::error(Code::Registration, cx.defs.function_data(f).span, message).note(note))
}

/// Returns the types of a function's differentiable results: the result, and the modified parameters with respect to
/// which the function is not differentiated.
fn semantic_results(cx: &mut TypeContext, original: &Original, wrt: &[bool]) -> Vec<Type> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let changed = original.params.iter().zip(&original.changed).zip(wrt);
    let results = changed.filter(|((_, changed), wrt)| **changed && !**wrt).map(|((ty, _), _)| ty);
    let candidates: Vec<Type> = std::iter::once(&original.result).chain(results).cloned().collect();
    candidates.into_iter().filter(|ty| !ty.is_unit() && conformances::conforms_to(cx, ty, differentiable)).collect()
}

/// Returns the parameters, each with a flag for `inout`, and the result of a pullback or differential. A modified
/// parameter with respect to which the original is differentiated becomes an `inout` parameter.
fn expected_map(
    cx: &mut TypeContext,
    original: &Original,
    kind: RegisteredKind,
    wrt: &[bool],
    results: &[Type],
) -> (Vec<(Type, bool)>, Type) {
    let given: Vec<Type> = results.iter().map(|t| vector_type(cx, t)).collect();
    let (mut varied, mut seeds) = (vec![], vec![]);
    for ((ty, changed), _) in original.params.iter().zip(&original.changed).zip(wrt).filter(|(_, w)| **w) {
        let vector = vector_type(cx, ty);
        if *changed {
            seeds.push((vector.clone(), true));
        }
        varied.push((vector, *changed));
    }
    if kind != RegisteredKind::Pullback {
        return (varied, together(&given));
    }
    let only_read = varied.into_iter().filter(|(_, changed)| !changed).map(|(t, _)| t).collect::<Vec<_>>();
    (given.into_iter().map(|t| (t, false)).chain(seeds).collect(), together(&only_read))
}

pub(crate) fn vector_type(cx: &mut TypeContext, ty: &Type) -> Type {
    let vector =
        Type::Associated(Rc::new(ty.clone()), name_lookup::protocol(cx, "Differentiable"), "TangentVector".into());
    associated_type::normalize_type(cx, &vector)
}

/// Returns the parameters of a pullback that takes the seed of a tuple component by component.
fn spread_seeds(from: &[(Type, bool)], kind: RegisteredKind) -> Option<Vec<(Type, bool)>> {
    let ((Type::Tuple(parts), false), rest) = from.split_first()? else { return None };
    let spread = parts.iter().map(|(_, ty)| (ty.clone(), false)).chain(rest.iter().cloned());
    (kind == RegisteredKind::Pullback).then(|| spread.collect())
}

/// Returns the kind of a derivative from its result type, with the types of the value and of the linear function.
pub(crate) fn derivative_parts(result: &Type) -> Option<(RegisteredKind, Type, Type)> {
    let Type::Tuple(parts) = result else { return None };
    let [(Some(first), value), (Some(second), linear @ Type::Function(_))] = &**parts else { return None };
    let kind = match (&**first, &**second) {
        ("value", "differential") => RegisteredKind::Differential,
        ("value", "pullback") => RegisteredKind::Pullback,
        _ => return None,
    };
    Some((kind, value.clone(), linear.clone()))
}

/// Returns flags for the parameters that a function modifies, `self` first.
pub(crate) fn changed_parameters(signature: &Signature) -> Vec<bool> {
    let own = signature.self_type.is_some().then_some(signature.self_inout);
    own.into_iter().chain(signature.params.iter().map(|p| p.is_inout)).collect()
}

/// Returns the result type for several types: a single type unchanged, several types as a tuple.
pub(crate) fn together(types: &[Type]) -> Type {
    match types {
        [only] => only.clone(),
        several => Type::Tuple(several.iter().map(|t| (None::<Name>, t.clone())).collect()),
    }
}

/// Removes the labels from a tuple type.
pub(crate) fn unlabeled(ty: &Type) -> Type {
    match ty {
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(|(_, t)| (None, t.clone())).collect()),
        other => other.clone(),
    }
}
