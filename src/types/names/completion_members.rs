//! Completion members: the members of a value that completion offers, with their kinds.

use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Member, MemberKind, RequirementData, RequirementKind};
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::prelude;
use hashbrown::HashMap;

/// The kind of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A property or variable.
    Property,
    /// A method or function without parameters.
    Call,
    /// A method or function with parameters.
    CallWithArguments,
    /// A type.
    Type,
}

/// A member of a value that completion offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompletionMember {
    /// The name of the member.
    pub name: String,
    /// The kind of the member.
    pub kind: CompletionKind,
    /// The number of the declaration from which the member comes: 0 for the type itself, then its protocols.
    pub distance: usize,
    /// The source location of the member's declaration, as an offset.
    pub position: u32,
}

/// Returns the members of a value of a type.
pub fn completion_members(cx: &mut TypeContext, of: &Type) -> Vec<CompletionMember> {
    let of = unification::shallow(cx, of);
    let mut found: HashMap<String, CompletionMember> = HashMap::new();
    let mut add = |name: &str, kind: CompletionKind, (distance, position): (usize, u32)| {
        let is_name =
            name.starts_with(char::is_alphabetic) && !name.contains(' ') && !["init", "subscript"].contains(&name);
        if !is_name {
            return;
        }
        let candidate = CompletionMember { name: name.to_owned(), kind, distance, position };
        let known = found.entry(name.to_owned()).or_insert_with(|| candidate.clone());
        // A method with and without parameters is offered with parameters.
        if known.distance == distance {
            known.kind = known.kind.max(kind);
        }
    };
    if let Type::Nominal(n, _) = &of {
        prelude::load_all_own_members(cx, *n);
        let data = cx.defs.nominal_data(*n);
        for (name, members) in &data.members {
            for (kind, position) in members.iter().filter_map(|member| kind_of(cx, member, &[])) {
                add(name, kind, (0, position));
            }
        }
    }
    if let Type::Tuple(parts) = &of {
        for (k, (label, _)) in parts.iter().enumerate() {
            label.iter().for_each(|label| add(label, CompletionKind::Property, (0, k as u32)));
        }
    }
    for (k, p) in conformances::protocols_of(cx, &of).iter().copied().enumerate() {
        let protocol = cx.defs.protocol_data(p).name.clone();
        prelude::load_all_members(cx, &protocol);
        let data = cx.defs.protocol_data(p);
        for (name, members) in &data.members {
            for (kind, position) in members.iter().filter_map(|member| kind_of(cx, member, &data.requirements)) {
                add(name, kind, (k + 1, position));
            }
        }
    }
    found.into_values().collect()
}

/// Returns the kind of a member and the offset of its declaration; `None` for static members and types.
fn kind_of(cx: &TypeContext, member: &Member, requirements: &[RequirementData]) -> Option<(CompletionKind, u32)> {
    if member.is_static {
        return None;
    }
    let called = |f: FunctionId| match cx.defs.function_data(f).ast_params.is_empty() {
        true => CompletionKind::Call,
        false => CompletionKind::CallWithArguments,
    };
    match &member.kind {
        MemberKind::Stored(k) => Some((CompletionKind::Property, *k)),
        MemberKind::Computed(f, _) => Some((CompletionKind::Property, cx.defs.function_data(*f).span.start)),
        MemberKind::Method(f) => Some((called(*f), cx.defs.function_data(*f).span.start)),
        MemberKind::Requirement(k) => {
            let requirement = requirements.get(*k as usize)?;
            let kind = match requirement.kind {
                RequirementKind::Getter => CompletionKind::Property,
                RequirementKind::Method => called(requirement.function),
                _ => return None,
            };
            Some((kind, cx.defs.function_data(requirement.function).span.start))
        }
        _ => None,
    }
}
