//! Members: finds the members of a type by name, in its declaration, its extensions, its superclass and its protocols.

use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::generics::existential;
use crate::types::generics::generic_env;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::{Member, MemberKind, Requirement};
use crate::types::model::queries;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::type_vars::Clause;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

/// A member of a type, the generic arguments of its environment (for a member of a protocol: `Self`, and the protocol),
/// and its distance from the type.
pub(crate) type MemberOf = (MemberKind, (Rc<[Type]>, Option<ProtocolId>), u32);

/// The distance of a requirement of a protocol to which a concrete type conforms: every witness is nearer.
const FULFILLED: u32 = 100;

/// Returns the members of a type that have a given name, the nearest first.
pub(crate) fn members(cx: &mut TypeContext, of: &Type, name: &str, is_static: bool, file: u32) -> Vec<MemberOf> {
    crate::cancel::check();
    let of = unification::shallow(cx, of);
    let mut out: Vec<MemberOf> = vec![];
    // A value whose type is constrained to a class has the members of this class.
    let class = existential::known_class(cx, &of);
    if let Type::Nominal(n, args) = class.as_ref().unwrap_or(&of) {
        let (mut n, mut args) = (*n, args.clone());
        let mut distance = 0;
        let mut only_convenience = false;
        let mut passed = vec![];
        loop {
            conformances::enter_conformances(cx, n);
            queries::synthesize_member(cx, n, name, is_static);
            prelude::load_own_members(cx, n, name);
            let members = if name == "init" {
                queries::initializers(cx, n)
            } else {
                cx.defs.nominal_data(n).members.get(name).cloned().unwrap_or_default()
            };
            for member in members {
                let is_skipped = only_convenience
                    && matches!(member.kind, MemberKind::Init(f) if !superclass::is_convenience(cx, f));
                let is_hidden =
                    is_skipped || member.is_private && member.file != file || is_replaced(cx, &member.kind, &passed);
                let visible = !is_hidden;
                if member.is_static == is_static && visible && group_may_hold(cx, n, &args, member.group) {
                    out.push((member.kind, (args.clone(), None), distance));
                }
            }
            let Some(Type::Nominal(base, base_args)) = superclass::base_type(cx, n, &args) else { break };
            if name == "init" {
                only_convenience = true;
                if !queries::inherits_convenience(cx, n) {
                    break;
                }
            }
            passed.push(n);
            (n, args, distance) = (base, base_args, distance + 1);
        }
    }
    let is_concrete = matches!(of, Type::Nominal(..) | Type::Tuple(_));
    let own = !out.is_empty();
    let protocols = conformances::protocols_of(cx, &of);
    for p in protocols.iter().copied() {
        let protocol_name = cx.defs.protocol_data(p).name.clone();
        prelude::load_extensions(cx, &protocol_name);
        prelude::load_members(cx, &protocol_name, name);
        let members = cx.defs.protocol_data(p).members.get(name).cloned().unwrap_or_default();
        let generality = if members.is_empty() { 0 } else { self::generality(cx, p, &protocols, name) };
        for member in members {
            if member.is_static != is_static || (member.is_private && member.file != file) {
                continue;
            }
            let distance = match &member.kind {
                MemberKind::Requirement(_) if is_concrete && own => continue,
                MemberKind::Requirement(_) if is_concrete => FULFILLED,
                MemberKind::Requirement(_) => 0,
                _ => 2 + generality,
            };
            if !protocol_group_may_hold(cx, p, &of, member.group) {
                continue;
            }
            let prefix: Rc<[Type]> = Rc::from([of.clone()]);
            out.push((member.kind, (prefix, Some(p)), distance));
        }
    }
    out.sort_by_key(|(.., distance)| *distance);
    out
}

/// Returns the number of protocols in `of` that refine `p` and declare members of the same name: those members are
/// nearer.
pub(crate) fn generality(cx: &mut TypeContext, p: ProtocolId, of: &[ProtocolId], name: &str) -> u32 {
    let mut count = 0;
    for q in of.iter().copied().filter(|q| *q != p) {
        let declares_it = |m: &Member| !matches!(m.kind, MemberKind::Requirement(_));
        if !conformances::refined(cx, q).contains(&p) {
            continue;
        }
        let refining = cx.defs.protocol_data(q).name.clone();
        prelude::load_extensions(cx, &refining);
        prelude::load_members(cx, &refining, name);
        if cx.defs.protocol_data(q).members.get(name).is_some_and(|all| all.iter().any(declares_it)) {
            count += 1;
        }
    }
    count
}

/// Returns the subscripts by key paths, which every type has.
pub(crate) fn keyed_members(cx: &mut TypeContext, of: &Type) -> Vec<MemberOf> {
    let p = name_lookup::protocol(cx, "_Keyed");
    prelude::load_all_members(cx, "_Keyed");
    let members = cx.defs.protocol_data(p).members.get("subscript").cloned().unwrap_or_default();
    let prefix: Rc<[Type]> = Rc::from([of.clone()]);
    members.into_iter().map(|member| (member.kind, (prefix.clone(), Some(p)), 0)).collect()
}

/// Whether one of the given classes overrides a method or subscript.
fn is_replaced(cx: &TypeContext, member: &MemberKind, by: &[NominalId]) -> bool {
    match member {
        MemberKind::Method(f) | MemberKind::Subscript(f, _) => {
            by.iter().any(|n| cx.defs.overrides.contains_key(&(*f, *n)))
        }
        _ => false,
    }
}

/// Returns the methods and properties with a name that a type would have if it satisfied the requirements of their
/// groups, each with an unsatisfied requirement of its group.
pub(crate) fn methods_beyond(cx: &mut TypeContext, of: &Type, name: &str) -> Vec<(Clause, Requirement)> {
    let of = unification::shallow(cx, of);
    let mut out = vec![];
    if let Type::Nominal(n, args) = &of {
        let params = cx.defs.nominal_data(*n).params.clone();
        let by = |p: ParamId| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
        let members = cx.defs.nominal_data(*n).members.get(name).cloned().unwrap_or_default();
        add_beyond(cx, &members, &by, &mut out);
    }
    for p in conformances::protocols_of(cx, &of).iter().copied() {
        let own = cx.defs.protocol_data(p).self_param;
        let members = cx.defs.protocol_data(p).members.get(name).cloned().unwrap_or_default();
        add_beyond(cx, &members, &|q| (q == own).then(|| of.clone()), &mut out);
    }
    out
}

fn add_beyond(
    cx: &mut TypeContext,
    members: &[Member],
    by: &dyn Fn(ParamId) -> Option<Type>,
    out: &mut Vec<(Clause, Requirement)>,
) {
    for member in members {
        let (MemberKind::Method(function) | MemberKind::Computed(function, _)) = member.kind else { continue };
        for (index, requirement) in generic_env::group_env(cx, member.group).requirements.iter().enumerate() {
            let put = requirement.map(&mut |ty| ty.substitute(by));
            let put = put.map(&mut |ty| unification::resolved(cx, ty));
            if !unmet_requirement::is_met(cx, &put) {
                out.push((Clause { function, index }, put));
                break;
            }
        }
    }
}

/// Whether an extension's conditions hold, as far as the generic arguments are known.
fn group_may_hold(
    cx: &mut TypeContext,
    n: crate::types::model::ty::NominalId,
    args: &[Type],
    group: crate::types::model::declaration_tables::GroupId,
) -> bool {
    let saved = cx.vars.snapshot();
    let holds = conformances::group_holds(cx, n, args, group);
    cx.vars.rollback(saved);
    holds
}

fn protocol_group_may_hold(
    cx: &mut TypeContext,
    p: ProtocolId,
    of: &Type,
    group: crate::types::model::declaration_tables::GroupId,
) -> bool {
    if cx.defs.groups[group.0 as usize].requirements.is_empty() {
        return true;
    }
    let saved = cx.vars.snapshot();
    let holds = witness::protocol_group_holds(cx, p, of, group);
    cx.vars.rollback(saved);
    holds
}

/// Returns the names of a type's members, for suggestions.
pub fn member_names(cx: &mut TypeContext, of: &Type) -> Vec<String> {
    let of = unification::shallow(cx, of);
    let mut names = vec![];
    if !cx.sink.still_suggests() {
        return names;
    }
    if let Type::Nominal(n, _) = &of {
        prelude::load_all_own_members(cx, *n);
        names.extend(cx.defs.nominal_data(*n).members.keys().map(ToString::to_string));
    }
    if let Type::Tuple(parts) = &of {
        names.extend(parts.iter().filter_map(|(l, _)| l.as_ref().map(ToString::to_string)));
    }
    for p in conformances::protocols_of(cx, &of).iter().copied() {
        let protocol = cx.defs.protocol_data(p).name.clone();
        prelude::load_all_members(cx, &protocol);
        names.extend(cx.defs.protocol_data(p).members.keys().map(ToString::to_string));
    }
    names.retain(|n| n.starts_with(char::is_alphabetic) && !n.contains(' ') && n != "init" && n != "subscript");
    names.sort();
    names.dedup();
    names
}
