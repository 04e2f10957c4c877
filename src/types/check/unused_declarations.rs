//! Unused declarations: checks extensions, aliases and protocols, which must be valid even if no code uses them.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::check::conformance;
use crate::types::conform::conformances;
use crate::types::derivative::derivative_constraints;
use crate::types::generics::associated_type;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{AliasId, GroupId, Owner};
use crate::types::model::ty::{NominalId, ProtocolId};
use crate::types::model::type_context::TypeContext;
use crate::types::names::type_alias;

/// The numbers of declarations of each kind at one moment.
#[derive(Clone, Copy)]
pub(crate) struct DeclarationCounts {
    groups: usize,
    aliases: usize,
    protocols: usize,
}

pub(crate) fn declaration_counts(cx: &TypeContext) -> DeclarationCounts {
    DeclarationCounts {
        groups: cx.defs.groups.len(),
        aliases: cx.defs.aliases.len(),
        protocols: cx.defs.protocols.len(),
    }
}

/// Checks all declarations that were entered after the counts `since` were taken.
pub(crate) fn check_declarations_since(cx: &mut TypeContext, since: DeclarationCounts) {
    for p in since.protocols..cx.defs.protocols.len() {
        if !cx.defs.protocols[p].is_prelude {
            check_protocol(cx, ProtocolId(p as u32));
        }
    }
    for a in since.aliases..cx.defs.aliases.len() {
        if is_own_file(cx.defs.aliases[a].file) {
            type_alias::resolve_alias(cx, AliasId(a as u32));
        }
    }
    for g in since.groups..cx.defs.groups.len() {
        if !cx.defs.groups[g].is_prelude {
            check_group(cx, GroupId(g as u32));
        }
    }
}

fn is_own_file(file: u32) -> bool {
    file != crate::types::model::prelude_index::PRELUDE_FILE
}

/// Checks the protocols that a protocol refines, its associated types, and the types in its requirements.
fn check_protocol(cx: &mut TypeContext, p: ProtocolId) {
    derivative_constraints::check_repeated_attributes(cx, p);
    associated_type::protocol_clauses(cx, p);
    for a in 0..cx.defs.protocol_data(p).associated.len() {
        let name = cx.defs.protocol_data(p).associated[a].name.clone();
        associated_type::associated_bounds(cx, p, &name);
    }
    for r in 0..cx.defs.protocol_data(p).requirements.len() {
        let function = cx.defs.protocol_data(p).requirements[r].function;
        signature::signature(cx, function);
    }
}

/// Checks the requirements of an extension and the conformances that it adds.
fn check_group(cx: &mut TypeContext, group: GroupId) {
    generic_env::group_env(cx, group);
    match cx.defs.groups[group.0 as usize].owner {
        Owner::Nominal(n) if cx.defs.nominal_data(n).is_prelude => check_extended(cx, n, group),
        Owner::Protocol(p) if cx.defs.protocol_data(p).group != group => check_extended_protocol(cx, p, group),
        Owner::Nominal(n) if cx.module.is_interactive && cx.defs.nominal_data(n).group != group => {
            conformances::enter_conformances(cx, n);
            conformances::check_same_requirements(cx, n, group);
        }
        Owner::Nominal(_) | Owner::Protocol(_) | Owner::Module => {}
    }
}

/// Checks the conformances that an extension adds to a library type.
fn check_extended(cx: &mut TypeContext, n: NominalId, group: GroupId) {
    conformances::enter_conformances(cx, n);
    conformances::check_not_in_library(cx, n, group);
    for i in 0..cx.defs.nominal_data(n).conformances.len() {
        if cx.defs.nominal_data(n).conformances[i].group == group {
            conformance::check_conformance(cx, n, i);
        }
    }
}

fn check_extended_protocol(cx: &mut TypeContext, p: ProtocolId, group: GroupId) {
    let Some(first) = cx.defs.groups[group.0 as usize].inherits.first().map(|ty| ty.span) else { return };
    let name = cx.defs.protocol_data(p).name.clone();
    let message = format!("extension of protocol '{name}' cannot have an inheritance clause");
    let help = "refine the protocol where it is declared, or add 'where Self: …' to the extension";
    cx.sink.report(Diagnostic::error(Code::Inheritance, first, message).help(help));
}
