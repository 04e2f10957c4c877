//! Asynchronous sequences of a program whose iterators throw no errors: their methods, such as `map`, throw none either.

use crate::syntax::ast::TypeExprKind;
use crate::types::conform::conformances;
use crate::types::model::declaration_tables::{MemberKind, Named};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;

/// Adds the conformances of iterators that throw no errors, and of sequences with such iterators.
pub(super) fn add_safe_conformances(cx: &mut TypeContext, n: NominalId) {
    if cx.defs.nominal_data(n).is_prelude {
        return;
    }
    if conforms(cx, n, "AsyncIteratorProtocol")
        && method(cx, n, "next").is_some_and(|next| !cx.defs.function_data(next).throws)
    {
        add(cx, n, "_SafeAsyncIterator");
    }
    if conforms(cx, n, "AsyncSequence")
        && let Some(iterator) = iterator(cx, n)
    {
        conformances::enter_conformances(cx, iterator);
        if conforms(cx, iterator, "_SafeAsyncIterator") {
            add(cx, n, "_SafeAsyncSequence");
        }
    }
}

fn conforms(cx: &TypeContext, n: NominalId, protocol: &str) -> bool {
    cx.defs.nominal_data(n).conformances.iter().any(|c| {
        let data = cx.defs.protocol_data(c.protocol);
        &*data.name == protocol && data.is_prelude
    })
}

fn add(cx: &mut TypeContext, n: NominalId, protocol: &'static str) {
    let (group, span) = (cx.defs.nominal_data(n).group, cx.defs.nominal_data(n).span);
    let protocol = name_lookup::protocol(cx, protocol);
    conformances::add_conformance(cx, n, protocol, group, span);
}

/// Returns the only method of a type with a name.
fn method(cx: &TypeContext, n: NominalId, name: &str) -> Option<FunctionId> {
    match cx.defs.nominal_data(n).members.get(name)?.as_slice() {
        [only] => match only.kind {
            MemberKind::Method(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the type of the iterator: the sequence itself, a type that it contains, or another type of the program.
fn iterator(cx: &mut TypeContext, n: NominalId) -> Option<NominalId> {
    let made = cx.defs.function_data(method(cx, n, "makeAsyncIterator")?).ast_result.clone()?;
    let TypeExprKind::Named(path) = &made.kind else { return None };
    let name = path.last()?.0.name.clone();
    let data = cx.defs.nominal_data(n);
    if &*name == "Self" || name == data.name {
        return Some(n);
    }
    let nested = data.members.get(&name).into_iter().flatten().find_map(|member| match member.kind {
        MemberKind::Nominal(m) => Some(m),
        _ => None,
    });
    let file = cx.defs.groups[data.group.0 as usize].file;
    nested.or_else(|| match name_lookup::type_entry(cx, &name, file) {
        Some(Named::Nominal(m)) => Some(m),
        _ => None,
    })
}
