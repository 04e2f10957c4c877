//! Declarations that hold whether anybody uses them or not: extensions, aliases, protocols.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::model::tables::{AliasId, GroupId, Owner, World};
use crate::types::model::ty::{NominalId, ProtocolId};

/// How many declarations there are.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    groups: usize,
    aliases: usize,
    protocols: usize,
}

impl World {
    pub(crate) fn entered(&self) -> Entered {
        Entered { groups: self.groups.len(), aliases: self.aliases.len(), protocols: self.protocols.len() }
    }

    /// Looks at what was entered since then.
    pub(crate) fn check_entered(&mut self, since: Entered) {
        for p in since.protocols..self.protocols.len() {
            if !self.protocols[p].is_prelude {
                self.check_protocol(ProtocolId(p as u32));
            }
        }
        for a in since.aliases..self.aliases.len() {
            if self.is_own_file(self.aliases[a].file) {
                self.resolve_alias(AliasId(a as u32));
            }
        }
        for g in since.groups..self.groups.len() {
            if !self.groups[g].is_prelude {
                self.check_group(GroupId(g as u32));
            }
        }
    }

    fn is_own_file(&self, file: u32) -> bool {
        file != crate::types::declare::prelude::PRELUDE_FILE
    }

    /// What a protocol refines and what its requirements mention.
    fn check_protocol(&mut self, p: ProtocolId) {
        self.check_repeated_promises(p);
        self.protocol_clauses(p);
        for a in 0..self.protocol_data(p).associated.len() {
            let name = self.protocol_data(p).associated[a].name.clone();
            self.associated_bounds(p, &name);
        }
        for r in 0..self.protocol_data(p).requirements.len() {
            let function = self.protocol_data(p).requirements[r].function;
            self.signature(function);
        }
    }

    /// What an extension requires and which conformances it adds.
    fn check_group(&mut self, group: GroupId) {
        self.group_env(group);
        match self.groups[group.0 as usize].owner {
            Owner::Nominal(n) if self.nominal_data(n).is_prelude => self.check_extended(n, group),
            Owner::Protocol(p) if self.protocol_data(p).group != group => self.check_extended_protocol(p, group),
            Owner::Nominal(_) | Owner::Protocol(_) | Owner::Module => {}
        }
    }

    /// The conformances that an extension gives to a type of the library.
    fn check_extended(&mut self, n: NominalId, group: GroupId) {
        self.enter_conformances(n);
        self.check_not_in_library(n, group);
        for i in 0..self.nominal_data(n).conformances.len() {
            if self.nominal_data(n).conformances[i].group == group {
                self.check_conformance(n, i);
            }
        }
    }

    fn check_extended_protocol(&mut self, p: ProtocolId, group: GroupId) {
        let Some(first) = self.groups[group.0 as usize].inherits.first().map(|ty| ty.span) else { return };
        let name = self.protocol_data(p).name.clone();
        let message = format!("extension of protocol '{name}' cannot have an inheritance clause");
        let help = "refine the protocol where it is declared, or add 'where Self: …' to the extension";
        self.report(Diagnostic::error(Code::Inheritance, first, message).help(help));
    }
}
