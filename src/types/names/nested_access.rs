//! Nested access: determines the access levels `private` and `fileprivate` of nested types and stored properties.

use crate::syntax::ast::Decl;
use crate::types::conform::superclass;
use crate::types::model::declaration_tables::VECTOR;
use crate::types::model::declaration_tables::{Member, MemberKind, Owner, StoredData};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// Returns the access level by which a nested type is inaccessible from a declaration in a file; `None` if the type is
/// accessible.
pub(crate) fn hidden_type(cx: &TypeContext, of: &Type, name: &str, from: Owner, file: u32) -> Option<&'static str> {
    let Type::Nominal(n, _) = of else { return None };
    let (members, is_prelude) = (&cx.defs.nominal_data(*n).members, cx.defs.nominal_data(*n).is_prelude);
    let is_hidden = |m: &&Member| m.is_private && !is_prelude;
    let member = members
        .get(name)?
        .iter()
        .filter(is_hidden)
        .find(|m| matches!(m.kind, MemberKind::Nominal(_) | MemberKind::Alias(_)))?;
    let is_own = match member.kind {
        MemberKind::Nominal(inner) => cx.defs.nominal_data(inner).is_private,
        MemberKind::Alias(a) => cx.defs.aliases[a.0 as usize].is_private,
        _ => false,
    };
    match is_own {
        true => (member.file != file || !is_declared_inside(cx, from, Owner::Nominal(*n))).then_some("private"),
        false => (member.file != file).then_some("fileprivate"),
    }
}

/// Returns the declaration of a stored property.
pub(crate) fn stored_decl(cx: &TypeContext, member: &Member) -> Option<Rc<Decl>> {
    match (&member.kind, cx.defs.groups[member.group.0 as usize].owner) {
        (MemberKind::Stored(i), Owner::Nominal(n)) => {
            cx.defs.nominal_data(n).stored.get(*i as usize).map(|s| s.decl.clone())
        }
        _ => None,
    }
}

/// Whether a declaration inside `inner` is inside `outer`.
pub(crate) fn is_declared_inside(cx: &TypeContext, inner: Owner, outer: Owner) -> bool {
    let mut at = inner;
    loop {
        match at {
            _ if at == outer => return true,
            Owner::Nominal(n) => at = cx.defs.nominal_data(n).parent,
            Owner::Module | Owner::Protocol(_) => return false,
        }
    }
}

/// Returns the access modifier of a property of a differentiable type, as written: the property's tangent gets this
/// modifier.
pub(crate) fn level_of_stored(cx: &mut TypeContext, n: NominalId, field: &str) -> &'static str {
    let mut at = Some(n);
    while let Some(class) = at {
        let levels = [("private", "private "), ("fileprivate", "fileprivate ")];
        let is_storage = |s: &&StoredData| s.wrapped.as_ref().is_some_and(|wrapped| &*wrapped.name == field);
        if let Some(stored) = cx.defs.nominal_data(class).stored.iter().find(is_storage) {
            // The last modifier, `private`, was added to the storage of a wrapped property.
            let written = stored.decl.modifiers.split_last().map_or(&[][..], |(_, written)| written);
            let is = |word: &str| written.iter().any(|m| &*m.name == word);
            return levels.into_iter().find(|(word, _)| is(word)).map_or("", |(_, written)| written);
        }
        if let Some(stored) = cx.defs.nominal_data(class).stored.iter().find(|s| &*s.name == field) {
            return levels.into_iter().find(|(word, _)| stored.decl.has(word)).map_or("", |(_, written)| written);
        }
        at = superclass::superclass(cx, class).map(|(base, _)| base);
    }
    ""
}

/// Returns the type inside which private members of a type are accessible. For a synthesized tangent vector, this is
/// the differentiable type.
pub(crate) fn private_scope(cx: &TypeContext, owner: Owner) -> Owner {
    let Owner::Nominal(n) = owner else { return owner };
    let data = cx.defs.nominal_data(n);
    match data.parent {
        Owner::Nominal(moving)
            if &*data.name == "TangentVector" && cx.defs.nominal_data(moving).memo.synthesized.contains(&VECTOR) =>
        {
            data.parent
        }
        _ => owner,
    }
}
