//! The members of a type by name, from its declaration, its extensions, its superclass and its protocols.

use crate::types::infer::solver::type_vars::Clause;
use crate::types::model::tables::{Member, MemberKind, Requirement, World};
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use std::rc::Rc;

/// A member with the generic arguments of its surroundings (for a protocol's: `Self`, and which protocol), and how far
/// away it was found.
pub(crate) type MemberOf = (MemberKind, (Rc<[Type]>, Option<ProtocolId>), u32);

/// The distance of a requirement that a type fulfils: whatever fulfils it is nearer.
const FULFILLED: u32 = 100;

impl World {
    /// The members of that name, the nearest first.
    pub(crate) fn members(&mut self, of: &Type, name: &str, is_static: bool, file: u32) -> Vec<MemberOf> {
        crate::cancel::check();
        let of = self.shallow(of);
        let mut out: Vec<MemberOf> = vec![];
        // What is known to be an instance of a class has the members of that, too.
        let class = self.known_class(&of);
        if let Type::Nominal(n, args) = class.as_ref().unwrap_or(&of) {
            let (mut n, mut args) = (*n, args.clone());
            let mut distance = 0;
            let mut only_convenience = false;
            let mut passed = vec![];
            loop {
                self.enter_conformances(n);
                self.synthesize_member(n, name, is_static);
                self.load_own_members(n, name);
                let members = if name == "init" {
                    self.initializers(n)
                } else {
                    self.nominal_data(n).members.get(name).cloned().unwrap_or_default()
                };
                for member in members {
                    let is_skipped =
                        only_convenience && matches!(member.kind, MemberKind::Init(f) if !self.is_convenience(f));
                    let is_hidden = is_skipped
                        || member.is_private && member.file != file
                        || self.is_replaced(&member.kind, &passed);
                    let visible = !is_hidden;
                    if member.is_static == is_static && visible && self.group_may_hold(n, &args, member.group) {
                        out.push((member.kind, (args.clone(), None), distance));
                    }
                }
                let Some(Type::Nominal(base, base_args)) = self.base_type(n, &args) else { break };
                if name == "init" {
                    only_convenience = true;
                    if !self.inherits_convenience(n) {
                        break;
                    }
                }
                passed.push(n);
                (n, args, distance) = (base, base_args, distance + 1);
            }
        }
        let is_concrete = matches!(of, Type::Nominal(..) | Type::Tuple(_));
        let own = !out.is_empty();
        let protocols = self.protocols_of(&of);
        for p in protocols.iter().copied() {
            let protocol_name = self.protocol_data(p).name.clone();
            self.load_extensions(&protocol_name);
            self.load_members(&protocol_name, name);
            let members = self.protocol_data(p).members.get(name).cloned().unwrap_or_default();
            let generality = if members.is_empty() { 0 } else { self.generality(p, &protocols, name) };
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
                if !self.protocol_group_may_hold(p, &of, member.group) {
                    continue;
                }
                let prefix: Rc<[Type]> = Rc::from([of.clone()]);
                out.push((member.kind, (prefix, Some(p)), distance));
            }
        }
        out.sort_by_key(|(.., distance)| *distance);
        out
    }

    /// Enters the library's extensions of a type that declare a member.
    pub(crate) fn load_own_members(&mut self, n: NominalId, name: &str) {
        if self.nominal_data(n).is_prelude {
            let of = self.nominal_data(n).name.clone();
            self.load_members(&of, name);
        }
    }

    /// How many of these protocols refine one of them and have members of that name, too: theirs are nearer.
    pub(crate) fn generality(&mut self, p: ProtocolId, of: &[ProtocolId], name: &str) -> u32 {
        let mut count = 0;
        for q in of.iter().copied().filter(|q| *q != p) {
            let says = |m: &Member| !matches!(m.kind, MemberKind::Requirement(_));
            if !self.refined(q).contains(&p) {
                continue;
            }
            let refining = self.protocol_data(q).name.clone();
            self.load_extensions(&refining);
            self.load_members(&refining, name);
            if self.protocol_data(q).members.get(name).is_some_and(|all| all.iter().any(says)) {
                count += 1;
            }
        }
        count
    }

    /// The subscripts by key paths, which every type has.
    pub(crate) fn keyed_members(&mut self, of: &Type) -> Vec<MemberOf> {
        let p = self.protocol("_Keyed");
        self.load_all_members("_Keyed");
        let members = self.protocol_data(p).members.get("subscript").cloned().unwrap_or_default();
        let prefix: Rc<[Type]> = Rc::from([of.clone()]);
        members.into_iter().map(|member| (member.kind, (prefix.clone(), Some(p)), 0)).collect()
    }

    /// Whether one of these classes overrides a method.
    fn is_replaced(&self, member: &MemberKind, by: &[NominalId]) -> bool {
        match member {
            MemberKind::Method(f) | MemberKind::Subscript(f, _) => {
                by.iter().any(|n| self.overrides.contains_key(&(*f, *n)))
            }
            _ => false,
        }
    }

    /// Methods and properties of that name that a type would have if it met what their surroundings require: each with what
    /// it does not meet.
    pub(crate) fn methods_beyond(&mut self, of: &Type, name: &str) -> Vec<(Clause, Requirement)> {
        let of = self.shallow(of);
        let mut out = vec![];
        if let Type::Nominal(n, args) = &of {
            let params = self.nominal_data(*n).params.clone();
            let by = |p: ParamId| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
            let members = self.nominal_data(*n).members.get(name).cloned().unwrap_or_default();
            self.add_beyond(&members, &by, &mut out);
        }
        for p in self.protocols_of(&of).iter().copied() {
            let own = self.protocol_data(p).self_param;
            let members = self.protocol_data(p).members.get(name).cloned().unwrap_or_default();
            self.add_beyond(&members, &|q| (q == own).then(|| of.clone()), &mut out);
        }
        out
    }

    fn add_beyond(
        &mut self,
        members: &[Member],
        by: &dyn Fn(ParamId) -> Option<Type>,
        out: &mut Vec<(Clause, Requirement)>,
    ) {
        for member in members {
            let (MemberKind::Method(function) | MemberKind::Computed(function, _)) = member.kind else { continue };
            for (index, requirement) in self.group_env(member.group).requirements.iter().enumerate() {
                let put = requirement.map(&mut |ty| ty.substitute(by));
                let put = put.map(&mut |ty| self.resolved(ty));
                if !self.is_met(&put) {
                    out.push((Clause { function, index }, put));
                    break;
                }
            }
        }
    }

    /// Whether an extension's conditions hold, as far as the arguments are known.
    fn group_may_hold(
        &mut self,
        n: crate::types::model::ty::NominalId,
        args: &[Type],
        group: crate::types::model::tables::GroupId,
    ) -> bool {
        let saved = self.snapshot();
        let holds = self.group_holds(n, args, group);
        self.rollback(saved);
        holds
    }

    fn protocol_group_may_hold(
        &mut self,
        p: ProtocolId,
        of: &Type,
        group: crate::types::model::tables::GroupId,
    ) -> bool {
        if self.groups[group.0 as usize].requirements.is_empty() {
            return true;
        }
        let saved = self.snapshot();
        let holds = self.protocol_group_holds(p, of, group);
        self.rollback(saved);
        holds
    }

    /// The names of a type's members, to find one that was probably meant.
    pub fn member_names(&mut self, of: &Type) -> Vec<String> {
        let of = self.shallow(of);
        let mut names = vec![];
        if !self.still_suggests() {
            return names;
        }
        if let Type::Nominal(n, _) = &of {
            let own = self.nominal_data(*n).name.clone();
            self.load_all_members(&own);
            names.extend(self.nominal_data(*n).members.keys().map(ToString::to_string));
        }
        if let Type::Tuple(parts) = &of {
            names.extend(parts.iter().filter_map(|(l, _)| l.as_ref().map(ToString::to_string)));
        }
        for p in self.protocols_of(&of).iter().copied() {
            let protocol = self.protocol_data(p).name.clone();
            self.load_all_members(&protocol);
            names.extend(self.protocol_data(p).members.keys().map(ToString::to_string));
        }
        names.retain(|n| n.starts_with(char::is_alphabetic) && !n.contains(' ') && n != "init" && n != "subscript");
        names.sort();
        names.dedup();
        names
    }
}
