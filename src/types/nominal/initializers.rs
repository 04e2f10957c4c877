//! Which initialisers a class has: its own, and those that it inherits.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::model::tables::{FunctionKind, MemberKind, Owner, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::NominalId;
use std::fmt::Write;
use std::rc::Rc;

impl World {
    pub(crate) fn is_convenience(&self, f: FunctionId) -> bool {
        self.function_data(f).decl.as_ref().is_some_and(|d| d.has("convenience"))
    }

    /// Whether subclasses have an initialiser, too.
    pub(crate) fn is_required(&self, f: FunctionId) -> bool {
        self.function_data(f).decl.as_ref().is_some_and(|d| d.has("required"))
    }

    /// The initialisers of a class that fill its properties themselves.
    fn designated(&mut self, n: NominalId) -> Vec<FunctionId> {
        self.synthesize_member(n, "init", true);
        let members = self.nominal_data(n).members.get("init").cloned().unwrap_or_default();
        let functions = members.into_iter().filter_map(|m| match m.kind {
            MemberKind::Init(f) => Some(f),
            _ => None,
        });
        functions.filter(|f| !self.is_convenience(*f)).collect()
    }

    /// Whether a class has written an initialiser of its own that fills its properties.
    fn has_own_designated(&self, n: NominalId) -> bool {
        let members = self.nominal_data(n).members.get("init");
        members.is_some_and(|all| all.iter().any(|m| matches!(m.kind, MemberKind::Init(f) if !self.is_convenience(f))))
    }

    /// Whether a class inherits the initialisers that only lead to others: it has all those that they may lead to.
    pub(crate) fn inherits_convenience(&mut self, n: NominalId) -> bool {
        let Some((base, _)) = self.superclass(n) else { return false };
        self.link_class(n);
        self.designated(base).into_iter().all(|f| self.overrides.contains_key(&(f, n)))
    }

    /// The first stored property of a class itself that has no value from the start.
    fn first_without_value(&mut self, n: NominalId) -> Option<usize> {
        (0..self.nominal_data(n).stored.len()).find(|i| {
            let ty = self.stored_type(n, *i as u32);
            let stored = &self.nominal_data(n).stored[*i];
            let starts_as_nil = !stored.is_let && stored.value.is_none();
            stored.value.is_none() && !(starts_as_nil && self.is_optional(&ty))
        })
    }

    /// The initialisers of a class that writes none: those of its superclass, or one without parameters.
    pub(crate) fn inherited_initializers(&mut self, n: NominalId) -> Option<String> {
        if self.has_own_designated(n) || self.first_without_value(n).is_some() {
            return None;
        }
        let Some((base, args)) = self.superclass(n) else { return Some("init() {}".into()) };
        let mut text = String::new();
        for f in self.designated(base) {
            let signature = self.signature(f);
            let FunctionKind::Init { failable } = self.function_data(f).kind else { continue };
            let is_plain =
                |p: &crate::types::model::tables::SignatureParam| !p.is_inout && !p.variadic && !p.autoclosure;
            if signature.env.params.len() != args.len() || !signature.params.iter().all(is_plain) {
                continue;
            }
            let (mut params, mut given) = (vec![], vec![]);
            for (k, p) in signature.params.iter().enumerate() {
                let ty = self.substitute_nominal(base, &args, &p.ty);
                let ty = self.name_for(ty);
                let label = p.label.as_deref().unwrap_or("_");
                params.push(format!("{label} p{k}: {ty}"));
                given.push(p.label.as_ref().map_or(format!("p{k}"), |label| format!("{label}: p{k}")));
            }
            let is_required = self.is_required(f);
            let (word, mark) = (if is_required { "required" } else { "override" }, if failable { "?" } else { "" });
            let (throws, attempt) = if signature.throws { (" throws", "try ") } else { ("", "") };
            let (params, given) = (params.join(", "), given.join(", "));
            let _ = writeln!(text, "{word} init{mark}({params}){throws} {{ {attempt}super.init({given}) }}");
        }
        (!text.is_empty()).then_some(text)
    }

    /// What inherited initialisers have as default arguments, they keep.
    pub(crate) fn inherit_defaults(&mut self, n: NominalId) {
        let Some((base, args)) = self.superclass(n) else { return };
        let olds = self.designated(base);
        for f in self.designated(n) {
            for g in &olds {
                if self.same_parameters(n, f, *g, &args) {
                    let theirs = self.signature(*g);
                    let mut mine = (*self.signature(f)).clone();
                    for (a, b) in mine.params.iter_mut().zip(&theirs.params) {
                        a.default = a.default.or(b.default);
                    }
                    self.functions[f.0 as usize].signature = Some(Rc::new(mine));
                }
            }
        }
    }

    /// A class whose instances can be made.
    pub(crate) fn check_class(&mut self, n: NominalId) {
        self.link_class(n);
        if !self.is_class(n) || !self.designated(n).is_empty() {
            self.check_required(n);
            return;
        }
        let data = self.nominal_data(n);
        let message = format!("class '{}' has no initializers", data.name);
        let mut diagnostic = Diagnostic::error(Code::Inheritance, data.span, message);
        if let Some(i) = self.first_without_value(n) {
            let stored = &self.nominal_data(n).stored[i];
            let text =
                format!("stored property '{}' without initial value prevents synthesized initializers", stored.name);
            diagnostic = diagnostic.note_at(stored.span, text);
        }
        self.report(diagnostic);
    }

    /// A subclass must have the initialisers that its superclass requires.
    fn check_required(&mut self, n: NominalId) {
        let Some((base, _)) = self.superclass(n) else { return };
        for f in self.designated(base) {
            let is_required = self.is_required(f);
            if is_required && !self.overrides.contains_key(&(f, n)) {
                let (name, class) = (self.full_name(f), self.nominal_data(base).name.clone());
                let message = format!("'required' initializer '{name}' must be provided by subclass of '{class}'");
                let at = self.function_data(f).span;
                let span = self.nominal_data(n).span;
                self.report(Diagnostic::error(Code::Inheritance, span, message).also(at, "declared here"));
            }
        }
    }

    /// Whether an initialiser is of a class: then it gets the instance that it fills as `self`.
    pub(crate) fn fills_instance(&self, f: FunctionId) -> bool {
        let data = self.function_data(f);
        matches!((data.kind, data.owner), (FunctionKind::Init { .. }, Owner::Nominal(n)) if self.is_class(n))
    }
}
