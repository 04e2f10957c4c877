//! Synthesized declarations: members that the checker generates as source code, and that are entered like the members
//! of a program.

use crate::syntax::ast::StmtKind;
use crate::types::declare;
use crate::types::declare::Span;
use crate::types::declare::member;
use crate::types::model::declaration_tables::Group;
use crate::types::model::declaration_tables::GroupId;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::type_context::TypeContext;
use crate::types::names::prelude::written_items;

/// Enters synthesized members, given as source text, under the requirements of the group `conditions`, with `place` as
/// the span of their tokens.
pub(crate) fn declare_synthesized(cx: &mut TypeContext, text: &str, conditions: GroupId, place: Span) {
    let Group { owner, file, .. } = cx.defs.groups[conditions.0 as usize];
    if owner == Owner::Module {
        return;
    }
    let items = written_items(cx, text, place);
    let requirements = cx.defs.groups[conditions.0 as usize].requirements.clone();
    // The members are marked as prelude code: nothing is reported at locations in source text that the program does not
    // contain.
    let group = declare::new_group(cx, owner, requirements, vec![], file, true);
    for item in &items {
        if let StmtKind::Decl(decl) = &item.kind {
            member::declare_member(cx, decl, group);
        }
    }
}
