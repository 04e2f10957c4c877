//! `rethrows`: a function that throws what the functions throw that it is given, and nothing else.
//!
//! In: a declaration, or any function of the library, which writes neither `rethrows` nor `try`. Out: two functions. The
//! one that was declared is given functions that do not throw, and does not throw either. The other one has the same
//! text; it is made when a call first gives it a function that throws.

use crate::syntax::ast::{Param, TypeExprKind};
use crate::types::generics::signature;
use crate::types::model::context::TypeContext;
use crate::types::model::tables::{BodyState, Signature, SignatureParam};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{FunctionType, NominalId, Strength, Type};
use std::rc::Rc;

/// The primitives whose functions may throw: what a body throws while it is recorded.
const THROWING: &[&str] =
    &["valueWithDifferential", "valueWithTangent", "valueWithGradient", "gradient", "recompute", "series"];

/// The function with the same text that may be given functions that throw; `None` when there can be none.
pub(crate) fn throwing_version(cx: &mut TypeContext, f: FunctionId) -> Option<FunctionId> {
    if let Some(known) = cx.memo.throwing_versions.get(&f) {
        return Some(*known);
    }
    let data = cx.defs.function_data(f);
    let is_primitive = data.primitive.as_deref().is_some_and(|name| !THROWING.contains(&name));
    if !data.rethrows || data.throws || is_primitive || data.requirement.is_some() {
        return None;
    }
    let (written, mut data) = (data.ast_params.clone(), data.clone());
    let signature = signature::signature(cx, f);
    let is_passed_on = data.is_prelude && passes_on(&signature);
    let says_no = |written: &Param| !data.is_prelude && written_throws(written) == Some(false);
    let stays = |param: &SignatureParam, written: &Param| {
        says_no(written) || is_kept(written) && !(is_passed_on && is_of(param))
    };
    let version = |(param, written): (&SignatureParam, &Param)| match stays(param, written) {
        true => param.clone(),
        false => SignatureParam { ty: throwing(&param.ty, true), ..param.clone() },
    };
    let params: Vec<SignatureParam> = signature.params.iter().zip(written.iter()).map(version).collect();
    if params.iter().zip(&signature.params).all(|(a, b)| a.ty == b.ty) {
        return None;
    }
    let result = if is_passed_on { throwing(&signature.result, true) } else { signature.result.clone() };
    let signature = Signature { params, result, throws: !is_passed_on, ..(*signature).clone() };
    data.throws = signature.throws;
    data.gives_throwing = is_passed_on;
    data.signature = Some(Rc::new(signature));
    data.body = BodyState::None;
    data.registered = vec![];
    data.promise = None;
    data.info = None;
    let version = cx.defs.add_function(data);
    cx.memo.throwing_versions.insert(f, version);
    let overrides: Vec<_> =
        cx.defs.overrides.iter().filter(|((g, _), _)| *g == f).map(|((_, n), by)| (*n, *by)).collect();
    for (n, by) in overrides {
        override_throwing(cx, n, f, by);
    }
    Some(version)
}

/// What overrides a function stands in the place of its throwing version, too.
pub(crate) fn override_throwing(cx: &mut TypeContext, n: NominalId, old: FunctionId, new: FunctionId) {
    let Some(version) = cx.memo.throwing_versions.get(&old).copied() else { return };
    let by = throwing_version(cx, new).unwrap_or(new);
    cx.defs.overrides.insert((version, n), by);
    cx.defs.overridden.insert(version);
}

/// Whether a function makes another one of the one that it is given (`gradient(of:)`): that one throws, not the call.
fn passes_on(signature: &Signature) -> bool {
    matches!(signature.result, Type::Function(_)) && signature.params.iter().any(is_of)
}

/// Whether a parameter is the function that another one is made of.
fn is_of(param: &SignatureParam) -> bool {
    let is_differentiable = matches!(&param.ty, Type::Function(f) if f.strength == Strength::Differentiable);
    is_differentiable && param.label.as_deref() == Some("of")
}

/// Whether a function outlives the call that it is given to.
pub(crate) fn is_kept(param: &Param) -> bool {
    let escapes = |a: &crate::syntax::ast::Attribute| &*a.name.name == "escaping";
    let in_type = match param.ty.as_ref().map(|t| &t.kind) {
        Some(TypeExprKind::Attributed(attributes, _)) => attributes.iter().any(escapes),
        _ => false,
    };
    in_type || param.attributes.iter().any(escapes)
}

/// Whether a function that throws is asked for.
pub(crate) fn is_throwing(param: &Param) -> bool {
    written_throws(param) == Some(true)
}

/// Whether the function that is asked for throws, where the type of a function is written.
fn written_throws(param: &Param) -> Option<bool> {
    let kind = param.ty.as_ref().map(|t| match &t.kind {
        TypeExprKind::Attributed(_, inner) => &inner.kind,
        kind => kind,
    });
    match kind? {
        TypeExprKind::Function { throws, .. } => Some(*throws),
        _ => None,
    }
}

/// A function type with or without `throws`; any other type as it is, and linear functions: no error comes out of a sweep.
pub(crate) fn throwing(ty: &Type, throws: bool) -> Type {
    match ty {
        Type::Function(f) if f.throws != throws && f.strength <= Strength::Differentiable => {
            Type::Function(Rc::new(FunctionType { throws, ..(**f).clone() }))
        }
        other => other.clone(),
    }
}
