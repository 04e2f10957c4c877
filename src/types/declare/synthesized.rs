//! Synthesized declarations: members that are written as source code by the checker and entered like those of a program.

use crate::syntax::ast::StmtKind;
use crate::types::declare;
use crate::types::declare::Span;
use crate::types::declare::member;
use crate::types::model::context::TypeContext;
use crate::types::model::tables::Group;
use crate::types::model::tables::GroupId;
use crate::types::model::tables::Owner;
use crate::types::names::prelude::written_items;

/// Enters members that nobody wrote, under the conditions of the group that asks for them, as if they stood at a place.
pub(crate) fn declare_synthesized(cx: &mut TypeContext, text: &str, asks: GroupId, place: Span) {
    let Group { owner, file, .. } = cx.defs.groups[asks.0 as usize];
    if owner == Owner::Module {
        return;
    }
    let items = written_items(cx, text, place);
    let requirements = cx.defs.groups[asks.0 as usize].requirements.clone();
    // Like the library's: nobody has written it, so nothing is said about places in it.
    let group = declare::new_group(cx, owner, requirements, vec![], file, true);
    for item in &items {
        if let StmtKind::Decl(decl) = &item.kind {
            member::declare_member(cx, decl, group);
        }
    }
}
