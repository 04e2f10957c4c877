//! Who may name what is `private`: what stands inside of the type that declares it, or in its extensions in the same file.

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Decl;
use crate::types::store::{Code as Body, FunctionKind, MemberKind, Owner};
use crate::types::tree::{FunctionId, GlobalId};
use crate::types::ty::{NominalId, Type};

impl Infer<'_> {
    /// A function is called or named.
    pub(super) fn check_function_access(&mut self, f: FunctionId, span: Span) {
        let data = self.world.function_data(f);
        let (owner, name) = (data.owner, data.base_name.clone());
        if let (Body::Memberwise(n), false) = (&data.code, data.is_prelude) {
            let n = *n;
            self.check_memberwise_access(n, span);
            return;
        }
        let is_setter = data.kind == FunctionKind::Setter;
        let hidden = data.decl.as_ref().is_some_and(|decl| hides(decl, is_setter));
        if !hidden || self.is_inside(owner) {
            return;
        }
        match data.kind {
            FunctionKind::Init { .. } => self.inaccessible_init(owner, span),
            FunctionKind::Setter if !data.decl.as_ref().is_some_and(|decl| hides(decl, false)) => {
                self.inaccessible_setter(&name, span);
            }
            _ => self.inaccessible(&name, "private", span),
        }
    }

    /// A stored property is read, or written.
    pub(super) fn check_stored_access(&mut self, n: NominalId, index: u32, writes: bool, span: Span) {
        let stored = &self.world.nominal_data(n).stored[index as usize];
        let (name, reads, hidden) = (stored.name.clone(), hides(&stored.decl, false), hides(&stored.decl, writes));
        if !hidden || self.is_inside(Owner::Nominal(n)) {
            return;
        }
        if reads { self.inaccessible(&name, "private", span) } else { self.inaccessible_setter(&name, span) }
    }

    /// A static stored property is read, or written.
    pub(super) fn check_global_access(&mut self, g: GlobalId, writes: bool, span: Span) {
        let global = &self.world.globals[g.0 as usize];
        let (owner, name) = (global.owner, global.name.clone());
        let Some(decl) = global.decl.clone().filter(|_| owner != Owner::Module) else { return };
        if !hides(&decl, writes) || self.is_inside(owner) {
            return;
        }
        if hides(&decl, false) {
            self.inaccessible(&name, "private", span)
        } else {
            self.inaccessible_setter(&name, span)
        }
    }

    /// An unwritten initialiser is as private as what it fills.
    fn check_memberwise_access(&mut self, n: NominalId, span: Span) {
        let stored = &self.world.nominal_data(n).stored;
        let is_private =
            stored.iter().any(|s| !(s.is_let && s.value.is_some() || s.wrapped.is_some()) && hides(&s.decl, false));
        if is_private && !self.is_inside(Owner::Nominal(n)) && !self.takes_nothing(n) {
            self.inaccessible_init(Owner::Nominal(n), span);
        }
    }

    /// Whether every property has a value, so that there is an initialiser which names none of them.
    fn takes_nothing(&mut self, n: NominalId) -> bool {
        let f = self.world.memberwise_init(n);
        let signature = self.world.signature(f);
        signature.params.iter().all(|p| p.default.is_some())
    }

    /// Whether the text stands inside of a type or an extension of it.
    fn is_inside(&self, owner: Owner) -> bool {
        let is_unwritten = |f: FunctionId| self.world.function_data(f).is_prelude;
        if self.frames.first().and_then(|f| f.function).is_some_and(is_unwritten) {
            return true;
        }
        let mut at = self.owner;
        loop {
            match at {
                _ if at == owner => return true,
                Owner::Nominal(n) => at = self.world.nominal_data(n).parent,
                Owner::Module | Owner::Protocol(_) => return false,
            }
        }
    }

    fn inaccessible_init(&mut self, owner: Owner, span: Span) {
        if let Owner::Nominal(n) = owner {
            let name = self.world.nominal_data(n).name.clone();
            let message = format!("'{name}' initializer is inaccessible due to 'private' protection level");
            self.error(Diagnostic::error(Code::Inaccessible, span, message));
        }
    }

    fn inaccessible_setter(&mut self, name: &str, span: Span) {
        let message = format!("cannot assign to property: '{name}' setter is inaccessible");
        self.error(Diagnostic::error(Code::Inaccessible, span, message));
    }

    fn inaccessible(&mut self, name: &str, level: &str, span: Span) {
        let message = format!("'{name}' is inaccessible due to '{level}' protection level");
        self.error(Diagnostic::error(Code::Inaccessible, span, message));
    }

    /// A member that a type has in another file, where it is kept to itself.
    pub(super) fn hidden_member(&mut self, of: &Type, name: &str, is_static: bool, span: Span) -> bool {
        let Type::Nominal(n, _) = self.world.shallow(of) else { return false };
        let members = self.world.nominal_data(n).members.get(name).cloned().unwrap_or_default();
        let Some(member) = members.iter().find(|m| m.is_private && m.is_static == is_static && m.file != self.file)
        else {
            return false;
        };
        let decl = match member.kind {
            MemberKind::Stored(i) => Some(self.world.nominal_data(n).stored[i as usize].decl.clone()),
            MemberKind::Global(g) => self.world.globals[g.0 as usize].decl.clone(),
            MemberKind::Method(f) | MemberKind::Computed(f, _) => self.world.function_data(f).decl.clone(),
            _ => None,
        };
        let level = if decl.is_some_and(|d| d.has("private")) { "private" } else { "fileprivate" };
        self.inaccessible(name, level, span);
        true
    }
}

/// Whether a declaration keeps what it declares, or the writing of it, to the type around.
fn hides(decl: &Decl, writes: bool) -> bool {
    decl.has("private") || writes && decl.has("private(set)")
}
