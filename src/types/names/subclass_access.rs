//! Subclass access: determines the private members of a class, whose names subclasses may declare again.

use crate::types::model::declaration_tables::{Member, MemberKind, Owner};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;

/// Whether a member of a type is `private`, as opposed to `fileprivate`.
pub(crate) fn keeps_to_itself(cx: &TypeContext, n: NominalId, member: &Member) -> bool {
    let decl = match member.kind {
        MemberKind::Stored(i) => cx.defs.nominal_data(n).stored.get(i as usize).map(|s| s.decl.clone()),
        MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            cx.defs.function_data(f).decl.clone()
        }
        MemberKind::Global(g) => cx.defs.globals[g.0 as usize].decl.clone(),
        _ => None,
    };
    decl.is_some_and(|decl| decl.has("private"))
}

/// Whether a type is nested in another type.
pub(crate) fn is_nested_in(cx: &TypeContext, n: NominalId, outer: NominalId) -> bool {
    let mut at = cx.defs.nominal_data(n).parent;
    while let Owner::Nominal(parent) = at {
        if parent == outer {
            return true;
        }
        at = cx.defs.nominal_data(parent).parent;
    }
    false
}
