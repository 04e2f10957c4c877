//! Access levels: checks that a `private` name is used only inside the type that declares it, or in extensions of this
//! type in the same file.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Decl;
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::report::availability;
use crate::types::model::declaration_tables::{Code as Body, FunctionKind, Member, MemberKind, Owner};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use crate::types::names::nested_access;

impl Infer<'_> {
    /// Checks the access to a called function. A memberwise initializer without arguments names no property.
    pub(crate) fn check_call_access(&mut self, f: FunctionId, takes_nothing: bool, span: Span) {
        if !(takes_nothing && matches!(self.cx.defs.function_data(f).code, Body::Memberwise(_))) {
            self.check_function_access(f, span);
        }
    }

    /// Checks the access level and the availability of a function that is called or referred to.
    pub(crate) fn check_function_access(&mut self, f: FunctionId, span: Span) {
        let data = self.cx.defs.function_data(f);
        let (owner, name) = (data.owner, data.base_name.clone());
        if let Some(decl) = data.decl.clone().filter(|decl| availability::is_restricted(decl)) {
            let name = self.cx.defs.full_name(f);
            self.check_availability(&decl, &name, span);
        }
        let data = self.cx.defs.function_data(f);
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
            FunctionKind::Init { .. } => self.inaccessible_init(owner, "private", span),
            FunctionKind::Setter if !data.decl.as_ref().is_some_and(|decl| hides(decl, false)) => {
                self.inaccessible_setter(&name, span);
            }
            _ => self.inaccessible(&name, "private", span),
        }
    }

    /// Removes the private functions that cannot be called here, unless no other candidates remain.
    pub(crate) fn accessible(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let is_accessible = |candidate: &Candidate| {
            let Target::Function(f) = candidate.target else { return true };
            let data = self.cx.defs.function_data(f);
            !data.decl.as_ref().is_some_and(|decl| hides(decl, false)) || self.is_inside(data.owner)
        };
        if candidates.len() < 2 || candidates.iter().all(is_accessible) || !candidates.iter().any(is_accessible) {
            return candidates;
        }
        candidates.into_iter().filter(is_accessible).collect()
    }

    /// Checks the access level of a stored property that is read or written, and its availability when it is read: the place of
    /// an assignment is first inferred as an expression.
    pub(crate) fn check_stored_access(&mut self, n: NominalId, index: u32, writes: bool, span: Span) {
        let stored = &self.cx.defs.nominal_data(n).stored[index as usize];
        let decl = stored.decl.clone();
        let (name, reads, hidden) = (stored.name.clone(), hides(&stored.decl, false), hides(&stored.decl, writes));
        if !writes {
            self.check_availability(&decl, &name, span);
        }
        if !hidden || self.is_inside(Owner::Nominal(n)) {
            return;
        }
        match (reads, writes) {
            (true, false) => self.inaccessible(&name, "private", span),
            // The place of an assignment was first inferred as an expression, so the error was already reported.
            (true, true) => {}
            (false, _) => self.inaccessible_setter(&name, span),
        }
    }

    /// Checks the access level of a static stored property, or of a global variable, that is read or written, and its
    /// availability when it is read.
    pub(crate) fn check_global_access(&mut self, g: GlobalId, writes: bool, span: Span) {
        let global = &self.cx.defs.globals[g.0 as usize];
        let (owner, name) = (global.owner, global.name.clone());
        let Some(decl) = global.decl.clone() else { return };
        if !writes {
            self.check_availability(&decl, &name, span);
        }
        if owner == Owner::Module || !hides(&decl, writes) || self.is_inside(owner) {
            return;
        }
        match (hides(&decl, false), writes) {
            (true, false) => self.inaccessible(&name, "private", span),
            (true, true) => {}
            (false, _) => self.inaccessible_setter(&name, span),
        }
    }

    /// Checks the access level of a memberwise initializer, which is as private as the properties that it initializes.
    fn check_memberwise_access(&mut self, n: NominalId, span: Span) {
        let data = self.cx.defs.nominal_data(n);
        let filled = || data.stored.iter().filter(|s| !(s.is_let && s.value.is_some() || s.wrapped.is_some()));
        let is_other_file = data.file != self.file;
        let has_any = |word: &str| filled().any(|s| s.decl.has(word));
        if has_any("private") && !self.is_inside(Owner::Nominal(n)) {
            self.inaccessible_init(Owner::Nominal(n), "private", span);
        } else if is_other_file && has_any("fileprivate") {
            self.inaccessible_init(Owner::Nominal(n), "fileprivate", span);
        }
    }

    /// Whether the function that is checked is inside a type or an extension of the type.
    fn is_inside(&self, owner: Owner) -> bool {
        self.is_unwritten()
            || nested_access::is_declared_inside(self.cx, self.owner, nested_access::private_scope(self.cx, owner))
    }

    /// Whether the function that is checked is synthesized or belongs to the library.
    pub(crate) fn is_unwritten(&self) -> bool {
        let is_unwritten = |f: FunctionId| self.cx.defs.function_data(f).is_prelude;
        self.frames.first().and_then(|f| f.function).is_some_and(is_unwritten)
    }

    fn inaccessible_init(&mut self, owner: Owner, level: &str, span: Span) {
        if let Owner::Nominal(n) = owner {
            let name = self.cx.defs.nominal_data(n).name.clone();
            let message = format!("'{name}' initializer is inaccessible due to '{level}' protection level");
            self.error(Diagnostic::error(Code::Inaccessible, span, message));
        }
    }

    fn inaccessible_setter(&mut self, name: &str, span: Span) {
        let message = format!("cannot assign to property: '{name}' setter is inaccessible");
        self.error(Diagnostic::error(Code::Inaccessible, span, message));
    }

    pub(crate) fn inaccessible(&mut self, name: &str, level: &str, span: Span) {
        let message = format!("'{name}' is inaccessible due to '{level}' protection level");
        self.error(Diagnostic::error(Code::Inaccessible, span, message));
    }

    /// Reports a member that is private in another file; returns whether there is such a member.
    pub(crate) fn hidden_member(&mut self, of: &Type, name: &str, is_static: bool, span: Span) -> bool {
        let Some(member) = self.private_elsewhere(of, name).into_iter().find(|m| m.is_static == is_static) else {
            return false;
        };
        self.inaccessible(name, self.level_of(&member), span);
        true
    }

    /// Reports an initializer that is private in another file and accepts the arguments; returns whether there is such
    /// an initializer.
    pub(crate) fn hidden_init(&mut self, candidates: &[Candidate], args: &[ArgNode], span: Span) -> bool {
        let owner = candidates.iter().find_map(|c| match c.target {
            Target::Function(f) => Some(self.cx.defs.function_data(f).owner),
            _ => None,
        });
        let Some(Owner::Nominal(n)) = owner else { return false };
        let of = self.cx.defs.declared_type(n);
        for member in self.private_elsewhere(&of, "init") {
            let MemberKind::Init(f) = member.kind else { continue };
            let params = signature::signature(self.cx, f).params.clone();
            if match_args(&params, args).is_ok() {
                self.inaccessible_init(Owner::Nominal(n), self.level_of(&member), span);
                return true;
            }
        }
        false
    }

    /// Returns the members named `name` of a type that are private in other files.
    fn private_elsewhere(&mut self, of: &Type, name: &str) -> Vec<Member> {
        let of = unification::shallow(self.cx, of);
        let mut members = match &of {
            Type::Nominal(n, _) => self.cx.defs.nominal_data(*n).members.get(name).cloned().unwrap_or_default(),
            _ => vec![],
        };
        for p in conformances::protocols_of(self.cx, &of).iter().copied() {
            members.extend(self.cx.defs.protocol_data(p).members.get(name).cloned().unwrap_or_default());
        }
        members.retain(|m| m.is_private && ![self.file, PRELUDE_FILE].contains(&m.file));
        members
    }

    fn level_of(&self, member: &Member) -> &'static str {
        let decl = match member.kind {
            MemberKind::Stored(_) => nested_access::stored_decl(self.cx, member),
            MemberKind::Global(g) => self.cx.defs.globals[g.0 as usize].decl.clone(),
            MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
                self.cx.defs.function_data(f).decl.clone()
            }
            _ => None,
        };
        if decl.is_some_and(|d| d.has("private")) { "private" } else { "fileprivate" }
    }
}

/// Whether a declaration is private to its type; with `writes`, whether its setter is private.
fn hides(decl: &Decl, writes: bool) -> bool {
    decl.has("private") || writes && decl.has("private(set)")
}
