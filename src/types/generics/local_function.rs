//! Local functions: whether a function is declared inside another function, and whether it can be compiled separately.

use crate::types::generics::signature;
use crate::types::model::declaration_tables::{BodyState, FunctionKind};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// Whether a local function can be compiled separately: the function was checked, and neither the function nor its
/// enclosing functions are generic.
pub fn is_local(cx: &mut TypeContext, f: FunctionId) -> bool {
    let is_plain = signature::signature(cx, f).env.params.is_empty();
    is_plain
        && is_local_function(cx, f)
        && cx.defs.function_data(f).outer.as_ref().is_some_and(|env| env.params.is_empty())
}

/// Whether a function is declared inside another function, and was checked.
pub fn is_local_function(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    matches!(data.memo.body, BodyState::Checked(_))
        && data.outer.is_some()
        && !matches!(data.kind, FunctionKind::Closure | FunctionKind::Script)
}
