//! Rethrowing functions: creates the two versions of functions that throw only the errors that their function arguments
//! throw.
//!
//! In: a declaration with `rethrows`, or any function of the library, which writes neither `rethrows` nor `try`. Out:
//! two functions. The declared function takes functions that do not throw, and does not throw. The throwing version has
//! the same body, and is created when a call first passes a function that throws.

use crate::syntax::ast::{Param, TypeExprKind};
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{BodyState, Signature, SignatureParam};
use crate::types::model::ty::{FunctionType, NominalId, Strength, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

/// The primitives that accept throwing functions: the function's body may throw while it is recorded.
const THROWING: &[&str] = &[
    "valueWithDifferential",
    "valueWithTangent",
    "valueWithGradient",
    "gradient",
    "jacobian",
    "smallJacobian",
    "sparseJacobian",
    "recompute",
    "series",
];

/// Returns the version of a function that accepts throwing functions; `None` if no such version exists.
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
    let excludes_throws = |written: &Param| !data.is_prelude && written_throws(written) == Some(false);
    let is_unchanged = |param: &SignatureParam, written: &Param| {
        excludes_throws(written) || may_outlive_call(written) && !(is_passed_on && is_of(param))
    };
    let version = |(param, written): (&SignatureParam, &Param)| match is_unchanged(param, written) {
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
    data.memo.signature = Some(Rc::new(signature));
    data.memo.body = BodyState::None;
    data.registered = vec![];
    data.memo.differentiability = None;
    data.memo.info = None;
    let version = cx.defs.add_function(data);
    cx.memo.throwing_versions.insert(f, version);
    let overrides: Vec<_> =
        cx.defs.overrides.iter().filter(|((g, _), _)| *g == f).map(|((_, n), by)| (*n, *by)).collect();
    for (n, by) in overrides {
        override_throwing(cx, n, f, by);
    }
    Some(version)
}

/// Registers the override of a function as the override of its throwing version.
pub(crate) fn override_throwing(cx: &mut TypeContext, n: NominalId, old: FunctionId, new: FunctionId) {
    let Some(version) = cx.memo.throwing_versions.get(&old).copied() else { return };
    let by = throwing_version(cx, new).unwrap_or(new);
    cx.defs.overrides.insert((version, n), by);
    cx.defs.overridden.insert(version);
}

/// Whether a function derives another function from its argument (`gradient(of:)`): the derived function throws, not
/// the call.
fn passes_on(signature: &Signature) -> bool {
    matches!(signature.result, Type::Function(_)) && signature.params.iter().any(is_of)
}

/// Whether a parameter is the function from which another function is derived.
fn is_of(param: &SignatureParam) -> bool {
    let is_differentiable = matches!(&param.ty, Type::Function(f) if f.strength == Strength::Differentiable);
    is_differentiable && param.label.as_deref() == Some("of")
}

/// Whether a function that is passed to a parameter may outlive the call.
pub(crate) fn may_outlive_call(param: &Param) -> bool {
    let escapes = |a: &crate::syntax::ast::Attribute| &*a.name.name == "escaping";
    let in_type = match param.ty.as_ref().map(|t| &t.kind) {
        Some(TypeExprKind::Attributed(attributes, _)) => attributes.iter().any(escapes),
        _ => false,
    };
    in_type || param.attributes.iter().any(escapes)
}

/// Whether the type of a parameter is a function type that is written with `throws`.
pub(crate) fn is_throwing(param: &Param) -> bool {
    written_throws(param) == Some(true)
}

/// Returns whether the function type of a parameter is written with `throws`; `None` for other types.
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

/// Returns a function type with or without `throws`. Other types and linear functions are unchanged: a sweep throws no
/// errors.
pub(crate) fn throwing(ty: &Type, throws: bool) -> Type {
    match ty {
        Type::Function(f) if f.throws != throws && f.strength <= Strength::Differentiable => {
            Type::Function(Rc::new(FunctionType { throws, ..(**f).clone() }))
        }
        other => other.clone(),
    }
}
