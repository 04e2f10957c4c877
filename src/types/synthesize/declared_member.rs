//! Declared members: determines whether a type declares a member that would be synthesized otherwise.

use crate::syntax::ast::Name;
use crate::types::conform::global_operator;
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// The members that are properties; a property with the name of another member is not that member.
const PROPERTIES: &[&str] = &[
    "zero",
    "one",
    "reciprocal",
    "differentiableVectorView",
    "allKeyPaths",
    "recursivelyAllKeyPaths",
    "allCases",
    "rawValue",
];

/// Whether a type declares the member with the name `key` that a protocol requires.
pub(super) fn declares_required(cx: &mut TypeContext, n: NominalId, key: &str, is_static: bool) -> bool {
    let written = cx.defs.nominal_data(n).members.get(key).cloned().unwrap_or_default();
    let is_operator = matches!(key, "+" | "-" | "==" | "<");
    let is_member = written.iter().filter(|m| m.is_static == is_static).any(|m| match m.kind {
        MemberKind::Method(f) if key == "move" => is_along(cx, f),
        MemberKind::Method(f) => {
            !is_operator || cx.defs.function_data(f).ast_params.len() == 2 && is_own_operator(cx, f)
        }
        _ => PROPERTIES.contains(&key),
    });
    is_member || is_operator && global_operator::has_global_operator(cx, n, key)
}

/// Whether a class lacks `move(by:)`, the method of current Swift, which does not mutate the variable that contains an
/// instance.
pub(super) fn needs_move_by(cx: &mut TypeContext, n: NominalId, key: &str) -> bool {
    key == "move" && superclass::is_class(cx, n) && !has_move_by(cx, n)
}

/// Whether a method named `move` is the required `move(along:)`.
fn is_along(cx: &mut TypeContext, f: FunctionId) -> bool {
    label_of_first(cx, f).as_deref() != Some("by")
}

/// Whether a type declares `move(by:)`, the method of current Swift.
pub(super) fn has_move_by(cx: &mut TypeContext, n: NominalId) -> bool {
    let written = cx.defs.nominal_data(n).members.get("move").cloned().unwrap_or_default();
    written.iter().any(|m| matches!(m.kind, MemberKind::Method(f) if !is_along(cx, f)))
}

pub(super) fn label_of_first(cx: &mut TypeContext, f: FunctionId) -> Option<Name> {
    signature::signature(cx, f).params.first().and_then(|p| p.label.clone())
}

/// Whether both operands of an operator have the same type, so that no operator has to be synthesized.
fn is_own_operator(cx: &mut TypeContext, f: FunctionId) -> bool {
    let signature = signature::signature(cx, f);
    match signature.params.as_slice() {
        [a, b] => a.ty == b.ty,
        _ => false,
    }
}
