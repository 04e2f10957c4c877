//! Recursive requirements: a same-type requirement whose right side mentions its left side, as `P == Box<P.Item>`.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::generics::associated_type::is_variable;
use crate::types::model::declaration_tables::{Env, Requirement};
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;

/// Adds the requirement `left == right` to an environment. Members of `left` inside `right` are replaced by the types
/// that the environment declares equal to them; if there is none, the requirement is an error.
pub(crate) fn require_same(cx: &mut TypeContext, env: &mut Env, left: Type, right: Type, at: Span) {
    let (left, right) = if is_variable(&left) { (left, right) } else { (right, left) };
    if !is_variable(&left) || is_variable(&right) || !mentions(&right, &left) {
        return env.require(Requirement::Same(left, right), at);
    }
    let replaced = right.map(&mut |ty| equal_type(env, ty, &left));
    if mentions(&replaced, &left) {
        let (left, right) = (display::show(cx, &left), display::show(cx, &right));
        let message = format!("same-type constraint '{left}' == '{right}' is recursive");
        cx.sink.report(Diagnostic::error(Code::Types, at, message));
        return;
    }
    prefer_others(env, &left);
    env.require(Requirement::Same(left, replaced), at);
}

/// Returns the type that an environment declares equal to `ty`, which is a member of `of`, and which does not mention
/// `of` itself.
fn equal_type(env: &Env, ty: &Type, of: &Type) -> Option<Type> {
    if !is_member(ty, of) {
        return None;
    }
    env.requirements.iter().find_map(|requirement| match requirement {
        Requirement::Same(a, b) if a == ty && !mentions(b, of) => Some(b.clone()),
        Requirement::Same(a, b) if b == ty && !mentions(a, of) => Some(a.clone()),
        _ => None,
    })
}

/// Orders the sides of the requirements so that the members of `of` are rewritten to other types, and not the reverse.
fn prefer_others(env: &mut Env, of: &Type) {
    for requirement in &mut env.requirements {
        if let Requirement::Same(a, b) = requirement
            && is_member(b, of)
            && !mentions(a, of)
        {
            std::mem::swap(a, b);
        }
    }
}

/// Whether `ty` is an associated type of `of`, or of such a type: `P.Item.Index` of `P`.
fn is_member(ty: &Type, of: &Type) -> bool {
    match ty {
        Type::Associated(base, ..) => **base == *of || is_member(base, of),
        _ => false,
    }
}

fn mentions(ty: &Type, of: &Type) -> bool {
    ty.any(&mut |part| part == of)
}
