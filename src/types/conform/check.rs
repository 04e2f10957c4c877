//! Whether conformances are kept: every requirement is fulfilled, and what nobody wrote can be made.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, Name, NominalKind};
use crate::types::model::tables::{FunctionKind, GroupId, MemberKind, Named, Owner, RequirementKind, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use std::rc::Rc;

impl World {
    /// Every requirement must be fulfilled.
    pub(crate) fn check_conformance(&mut self, n: NominalId, i: usize) {
        let conformance = &self.nominal_data(n).conformances[i];
        let (p, group, span) = (conformance.protocol, conformance.group, conformance.span);
        if std::mem::replace(&mut self.nominal_data_mut(n).conformances[i].checked, true) {
            return;
        }
        let env = self.group_env(group);
        let saved = std::mem::replace(&mut self.env, env);
        let own = self.declared_type(n);
        let type_name = self.show(&own);
        let object = self.protocol("AnyObject");
        if !self.is_class(n) && self.refined(p).contains(&object) {
            let name = self.protocol_data(p).name.clone();
            let message = format!("non-class type '{type_name}' cannot conform to class protocol '{name}'");
            self.report(Diagnostic::error(DiagnosticCode::MissingRequirement, span, message));
        }
        let mut missing: Vec<String> = vec![];
        let mut near: Vec<(String, Span)> = vec![];
        let (mut made, mut elsewhere): (Vec<ProtocolId>, Vec<String>) = (vec![], vec![]);
        for q in self.refined(p).iter().copied().collect::<Vec<_>>() {
            let unknown = self.missing_types(q, &own);
            missing.extend(unknown.iter().map(|name| format!("the associated type '{name}'")));
            if unknown.is_empty() {
                missing.extend(self.broken_clauses(q, &own));
            }
            for r in 0..self.protocol_data(q).requirements.len() as u32 {
                let generics = self.own_generics(q, r);
                let data = &self.protocol_data(q).requirements[r as usize];
                let (function, setter) = (data.function, data.setter);
                if matches!(data.kind, RequirementKind::Setter | RequirementKind::SubscriptSetter)
                    || self.is_supplied(q, r)
                {
                    continue;
                }
                // What mentions a type that is not known is missing with it.
                if self.mentions(function, q, &unknown) {
                    continue;
                }
                let Some(witness) = self.find_witness(q, r, &own, &generics) else {
                    missing.push(self.requirement_text(function, q, &own));
                    near.extend(self.near_members(n, function));
                    continue;
                };
                self.check_required_init(n, q, witness.function);
                self.check_open_enough(n, q, witness.function);
                self.check_gives_self(n, q, function, witness.function);
                self.check_promise_of_witness(function, &witness, span);
                if self.is_made(n, witness.function) {
                    made.push(q);
                    elsewhere.extend(self.made_elsewhere(n, q, group, witness.function));
                }
                if let Some(setter) = setter
                    && self.find_witness(q, setter, &own, &generics).is_none()
                {
                    let text = self.requirement_text(function, q, &own);
                    missing.push(format!("{text} that can be set"));
                }
            }
        }
        if &*self.protocol_data(p).name == "Differentiable" {
            missing.extend(self.unreachable_vector(n, &own).or_else(|| self.hidden_in_vector(&own)));
        }
        let in_the_way = self.unsynthesized(n, p, &made);
        self.env = saved;
        if !missing.is_empty() || !in_the_way.is_empty() || !elsewhere.is_empty() {
            let protocol = self.protocol_data(p).name.clone();
            let message = format!("type '{type_name}' does not conform to protocol '{protocol}'");
            let mut diagnostic = Diagnostic::error(DiagnosticCode::MissingRequirement, span, message);
            if !elsewhere.is_empty() {
                diagnostic =
                    diagnostic.help("declare the conformance in the file that declares the type, or write the member");
            }
            for text in elsewhere {
                diagnostic = diagnostic.note(text);
            }
            for requirement in missing {
                diagnostic = diagnostic.note(format!("protocol '{protocol}' requires {requirement}"));
            }
            for (text, span) in near.into_iter().chain(in_the_way) {
                diagnostic = diagnostic.note_at(span, text);
            }
            self.report(diagnostic);
        }
    }

    /// The associated types of a protocol that nothing in a type says.
    fn missing_types(&mut self, p: ProtocolId, own: &Type) -> Vec<Name> {
        let names: Vec<Name> = self.protocol_data(p).associated.iter().map(|a| a.name.clone()).collect();
        let is_unknown = |name: &Name| {
            let ty = Type::Associated(Rc::new(own.clone()), p, name.clone());
            self.normalize_type(&ty) == ty
        };
        names.into_iter().filter(is_unknown).collect()
    }

    /// Whether the signature of a requirement mentions one of the associated types of its protocol.
    fn mentions(&mut self, requirement: FunctionId, p: ProtocolId, names: &[Name]) -> bool {
        let signature = self.signature(requirement);
        let mut is_one = |ty: &Type| matches!(ty, Type::Associated(_, q, name) if *q == p && names.contains(name));
        !names.is_empty()
            && (signature.result.any(&mut is_one) || signature.params.iter().any(|param| param.ty.any(&mut is_one)))
    }

    /// Subclasses conform, too, and must have the initialiser.
    fn check_required_init(&mut self, n: NominalId, p: ProtocolId, f: FunctionId) {
        if !self.fills_instance(f) || self.nominal_data(n).is_final || self.is_required(f) {
            return;
        }
        let (name, class) = (self.full_name(f), self.nominal_data(n).name.clone());
        let message = format!(
            "initializer requirement '{name}' can only be satisfied by a 'required' initializer in non-final class '{class}'"
        );
        let span = self.function_data(f).span;
        let diagnostic = Diagnostic::error(DiagnosticCode::Inheritance, span, message);
        let protocol = self.protocol_data(p).name.clone();
        self.report(
            diagnostic.note(format!("it is required by protocol '{protocol}'")).help("write 'required' before 'init'"),
        );
    }

    /// Whether nobody wrote a member of a type.
    fn is_made(&self, n: NominalId, f: FunctionId) -> bool {
        let data = self.function_data(f);
        data.is_prelude && data.owner == Owner::Nominal(n)
    }

    /// Why what a conformance asks for cannot be made: that needs to stand where the type is declared.
    fn made_elsewhere(&mut self, n: NominalId, p: ProtocolId, group: GroupId, by: FunctionId) -> Option<String> {
        let data = self.nominal_data(n);
        if self.groups[group.0 as usize].file == data.file || self.is_interactive || data.is_prelude {
            return None;
        }
        let (kind, owner, member) = (kind_name(data.kind), &data.name, &self.function_data(by).base_name);
        let protocol = &self.protocol_data(p).name;
        Some(format!(
            "extension outside of file declaring {kind} '{owner}' prevents automatic synthesis of '{member}' for protocol '{protocol}'"
        ))
    }

    /// What fulfils a requirement is no more private than the type and the protocol.
    fn check_open_enough(&mut self, n: NominalId, p: ProtocolId, f: FunctionId) {
        let data = self.function_data(f);
        let is_kept = |decl: &Rc<Decl>| decl.has("private") || decl.has("fileprivate");
        let hidden = data.decl.as_ref().is_some_and(is_kept) && data.owner == Owner::Nominal(n);
        if !hidden || self.is_kept_at_top(Named::Nominal(n)) || self.is_kept_at_top(Named::Protocol(p)) {
            return;
        }
        let (what, span) = (self.full_name(f), data.span);
        let protocol = self.protocol_data(p).name.clone();
        let message = format!(
            "'{what}' must be as accessible as its enclosing type because it matches a requirement in protocol '{protocol}'"
        );
        let diagnostic = Diagnostic::error(DiagnosticCode::Inaccessible, span, message);
        self.report(diagnostic.help("remove 'private' or 'fileprivate'"));
    }

    /// Whether a declaration of the top level, or one inside of a type, is kept to its file.
    fn is_kept_at_top(&self, what: Named) -> bool {
        let nested = matches!(what, Named::Nominal(n) if self.nominal_data(n).parent != Owner::Module);
        nested || self.module.values().flatten().any(|e| e.what == what && e.is_private)
    }

    /// Members of a type that have the name of a requirement and do not fulfil it.
    fn near_members(&mut self, n: NominalId, requirement: FunctionId) -> Vec<(String, Span)> {
        let base = self.function_data(requirement).base_name.clone();
        let members = self.nominal_data(n).members.get(&base).cloned().unwrap_or_default();
        let mut near = vec![];
        for member in members {
            let (ty, span) = match member.kind {
                MemberKind::Method(f) | MemberKind::Init(f) => {
                    let signature = self.signature(f);
                    (self.function_type(&signature), self.function_data(f).span)
                }
                MemberKind::Computed(f, _) => (self.signature(f).result.clone(), self.function_data(f).span),
                MemberKind::Stored(i) => (self.stored_type(n, i), self.nominal_data(n).stored[i as usize].span),
                _ => continue,
            };
            let name = match member.kind {
                MemberKind::Method(f) | MemberKind::Init(f) => self.full_name(f),
                _ => base.to_string(),
            };
            near.push(match member.kind {
                MemberKind::Method(f) if self.throws_beyond(f, requirement) => {
                    let text =
                        format!("'{name}' throws errors of its own, but the requirement is declared with 'rethrows'");
                    (text, span)
                }
                _ => (format!("candidate '{name}' has type '{}'", self.show(&ty)), span),
            });
        }
        near
    }

    /// Why equality, hashing or arithmetic, which a conformance needs and nobody wrote, cannot be made from the parts
    /// of the type.
    fn unsynthesized(&mut self, n: NominalId, p: ProtocolId, made: &[ProtocolId]) -> Vec<(String, Span)> {
        let data = self.nominal_data(n);
        if data.kind == NominalKind::Class || data.builtin.is_some() || data.is_prelude {
            return vec![];
        }
        let refined = self.refined(p);
        let mut out = vec![];
        for (protocol, member) in [("Equatable", "=="), ("Hashable", "hash")] {
            let written = self.nominal_data(n).members.contains_key(member);
            let p = self.protocol(protocol);
            if refined.contains(&p) && !written {
                out.extend(self.in_the_way(n, protocol));
            }
        }
        let additive = self.protocol("AdditiveArithmetic");
        if made.contains(&additive) {
            out.extend(self.in_the_way(n, "AdditiveArithmetic"));
        }
        out
    }

    pub(crate) fn own_generics(&mut self, p: ProtocolId, r: u32) -> Vec<Type> {
        let f = self.protocol_data(p).requirements[r as usize].function;
        let signature = self.signature(f);
        signature.env.params.iter().skip(1).map(|q| Type::Param(*q)).collect()
    }

    /// A requirement with the types that a type has to give it.
    fn requirement_text(&mut self, f: FunctionId, p: ProtocolId, of: &Type) -> String {
        let wanted = self.requirement_for(f, p, of);
        let data = self.function_data(f);
        let what = match data.kind {
            FunctionKind::Getter if data.base_name.starts_with("subscript") => "subscript",
            FunctionKind::Getter => {
                return format!("property '{}' with type '{}'", self.full_name(f), self.show(&wanted.result));
            }
            FunctionKind::Init { .. } => "initializer",
            _ => "function",
        };
        let ty = self.function_type(&wanted);
        format!("{what} '{}' with type '{}'", self.full_name(f), self.show(&ty))
    }

    /// Requirements that the machine or the checker fulfils for every type.
    fn is_supplied(&self, p: ProtocolId, _r: u32) -> bool {
        matches!(&*self.protocol_data(p).name, "Hashable" | "Error")
    }
}

fn kind_name(kind: NominalKind) -> &'static str {
    match kind {
        NominalKind::Struct => "struct",
        NominalKind::Enum => "enum",
        NominalKind::Class => "class",
    }
}
