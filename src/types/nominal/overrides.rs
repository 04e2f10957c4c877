//! What a class puts in the place of what it inherits.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, Name};
use crate::types::model::tables::{BodyState, FunctionKind, Member, MemberKind, Owner, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{NominalId, Type};
use std::rc::Rc;

impl World {
    /// Whether subclasses may put something in the place of a function.
    pub(crate) fn is_overridable(&self, f: FunctionId) -> bool {
        let data = self.function_data(f);
        let Owner::Nominal(n) = data.owner else { return false };
        let is_fixed = |word| data.decl.as_ref().is_some_and(|d| d.has(word));
        self.is_class(n)
            && !self.nominal_data(n).is_final
            && !is_fixed("final")
            && !is_fixed("private")
            && match data.kind {
                FunctionKind::Init { .. } => true,
                FunctionKind::Function | FunctionKind::Getter | FunctionKind::Setter => {
                    !is_fixed("static") && data.group == Some(self.nominal_data(n).group)
                }
                FunctionKind::Closure | FunctionKind::Script | FunctionKind::Test => false,
            }
    }

    /// What a method is for instances of a class: the nearest override.
    pub(crate) fn nearest_override(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef {
        let Owner::Nominal(home) = self.function_data(method.function).owner else { return method.clone() };
        let outer = self.nominal_data(home).params.len();
        let mut at = of.clone();
        while let Type::Nominal(n, args) = &at {
            if let Some(function) = self.overrides.get(&(method.function, *n)) {
                let own = method.generics.get(outer..).unwrap_or_default();
                return FunctionRef { function: *function, generics: args.iter().chain(own).cloned().collect() };
            }
            let (n, args) = (*n, args.clone());
            if n == home {
                break;
            }
            let Some(base) = self.base_type(n, &args) else { break };
            at = base;
        }
        method.clone()
    }

    /// Whether a function says that it overrides another one.
    pub(crate) fn overrides_something(&self, f: FunctionId) -> bool {
        self.function_data(f).decl.as_ref().is_some_and(|d| d.has("override"))
    }

    /// The methods with registered derivatives that a method overrides, for its generic arguments: those of the nearest
    /// superclass that has any.
    pub(crate) fn overridden_by(&mut self, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
        let Owner::Nominal(n) = self.function_data(of.function).owner else { return vec![] };
        let mut olds: Vec<FunctionId> =
            self.overrides.iter().filter(|((_, c), by)| *c == n && **by == of.function).map(|((g, _), _)| *g).collect();
        olds.retain(|g| !self.function_data(*g).registered.is_empty() && self.gives_the_same(*g, of.function));
        olds.sort_unstable();
        let own = self.nominal_data(n).params.len().min(of.generics.len());
        let (args, further) = of.generics.split_at(own);
        let mut at = Some(Type::Nominal(n, args.into()));
        while let Some(Type::Nominal(class, args)) = at {
            let here = olds.iter().filter(|old| self.function_data(**old).owner == Owner::Nominal(class));
            let found: Vec<_> = here.map(|old| (*old, args.iter().chain(further).cloned().collect())).collect();
            if !found.is_empty() {
                return found;
            }
            at = self.base_type(class, &args);
        }
        vec![]
    }

    /// Whether what is registered for a method gives what one that overrides it gives, and not an instance of a superclass.
    fn gives_the_same(&mut self, old: FunctionId, new: FunctionId) -> bool {
        let results = [old, new].map(|f| self.signature(f).result.clone());
        let is_open = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
        let is_init = matches!(self.function_data(new).kind, FunctionKind::Init { .. });
        !is_init
            && (results.iter().any(is_open) || self.normalize_type(&results[0]) == self.normalize_type(&results[1]))
    }

    /// Finds out what a class overrides, and says what is wrong with it.
    pub(crate) fn link_class(&mut self, n: NominalId) {
        if !self.is_class(n) || std::mem::replace(&mut self.nominal_data_mut(n).linked, true) {
            return;
        }
        if let Some((base, _)) = self.superclass(n) {
            self.link_class(base);
        }
        self.synthesize_member(n, "init", true);
        let mut members: Vec<(Name, Member)> = vec![];
        for (name, all) in &self.nominal_data(n).members {
            members.extend(all.iter().map(|m| (name.clone(), m.clone())));
        }
        members.sort_by_key(|(name, m)| (self.member_span(n, &m.kind), name.clone()));
        for (name, member) in members {
            crate::cancel::check();
            self.link_member(n, &name, &member);
        }
    }

    fn member_span(&self, n: NominalId, kind: &MemberKind) -> Span {
        match kind {
            MemberKind::Stored(i) => self.nominal_data(n).stored[*i as usize].span,
            MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
                self.function_data(*f).span
            }
            _ => Span::default(),
        }
    }

    fn link_member(&mut self, n: NominalId, name: &Name, member: &Member) {
        let has = |world: &World, word| match &member.kind {
            MemberKind::Stored(i) => word == "override" && world.nominal_data(n).stored[*i as usize].overrides,
            MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
                world.function_data(*f).decl.as_ref().is_some_and(|d| d.has(word))
            }
            _ => false,
        };
        let (says, is_required) = (has(self, "override"), has(self, "required"));
        let span = self.member_span(n, &member.kind);
        let (what, whats) = match member.kind {
            MemberKind::Method(f) if self.function_data(f).decl.is_some() => ("method", "method"),
            MemberKind::Init(_) => ("initializer", "designated initializer"),
            MemberKind::Computed(..) | MemberKind::Stored(_) => ("property", "property"),
            MemberKind::Subscript(..) => ("subscript", "subscript"),
            _ => return,
        };
        let Some((class, inherited)) = self.inherited_member(n, name, member) else {
            if says {
                let message = format!("{what} does not override any {whats} from its superclass");
                self.report(Diagnostic::error(Code::Inheritance, span, message));
                if let MemberKind::Computed(get, set) = member.kind {
                    self.pass_over(get, set);
                }
            }
            return;
        };
        let declared = self.member_span(class, &inherited.kind);
        let problem = if matches!(member.kind, MemberKind::Stored(_)) {
            Some(format!("cannot override with a stored property '{name}'"))
        } else if self.is_final_member(class, &inherited) {
            Some(if inherited.is_static {
                format!("cannot override static {what}")
            } else {
                format!("{what} overrides a 'final' {what}")
            })
        } else {
            self.other_result(n, name, &member.kind, class, &inherited.kind)
        };
        if let Some(problem) = problem {
            self.report(Diagnostic::error(Code::Inheritance, span, problem).also(declared, "declared here"));
            return;
        }
        let must_say = what != "initializer" || !is_required;
        if must_say && !says {
            let message = "overriding declaration requires an 'override' keyword";
            let diagnostic = Diagnostic::error(Code::Inheritance, span, message).also(declared, "overridden here");
            self.report(diagnostic.help("write 'override' before it"));
        }
        self.record_overrides(n, name, (&member.kind, span), class, &inherited.kind);
    }

    /// What a member gives that the one which it overrides does not: another type, or errors.
    fn other_result(
        &mut self,
        n: NominalId,
        name: &str,
        member: &MemberKind,
        class: NominalId,
        inherited: &MemberKind,
    ) -> Option<String> {
        let (MemberKind::Method(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _)) = *member else {
            return None;
        };
        let mine = self.signature(f);
        let (theirs, throws) = match *inherited {
            MemberKind::Method(g) | MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => {
                let theirs = self.signature(g);
                (theirs.result.clone(), theirs.throws)
            }
            MemberKind::Stored(i) => (self.stored_type(class, i), false),
            _ => return None,
        };
        let hands_on = |world: &World, kind: &MemberKind| matches!(kind, MemberKind::Method(f) if world.function_data(*f).rethrows);
        if hands_on(self, inherited) && !hands_on(self, member) && mine.throws {
            return Some(format!("'{name}' throws errors of its own, and what it overrides only hands them on"));
        }
        if mine.throws && !throws {
            return Some(format!("cannot override '{name}', which does not throw, with a method that throws"));
        }
        let old = match *inherited {
            MemberKind::Method(g) | MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => Some(g),
            _ => None,
        };
        if old.is_some_and(|old| !self.keeps_self(old, f)) {
            return Some(format!("'{name}' must return 'Self', as what it overrides does"));
        }
        let own = self.declared_type(n);
        let mut at = Some(own);
        while let Some(Type::Nominal(m, args)) = at.clone().filter(|t| !matches!(t, Type::Nominal(m, _) if *m == class))
        {
            at = self.base_type(m, &args);
        }
        let Some(Type::Nominal(_, args)) = at else { return None };
        let theirs = self.substitute_nominal(class, &args, &theirs);
        let (mine, theirs) = (self.normalize_type(&mine.result), self.normalize_type(&theirs));
        // Methods with parameters of their own are compared when they are called.
        let is_generic = mine.any(&mut |t| matches!(t, Type::Param(_)));
        if is_generic || mine == theirs || self.is_class_of(&mine, &theirs) {
            return None;
        }
        Some(format!("'{name}' gives '{}', and what it overrides gives '{}'", self.show(&mine), self.show(&theirs)))
    }

    /// Whether a type is a class that inherits from another one, or an optional of such ones.
    fn is_class_of(&mut self, ty: &Type, of: &Type) -> bool {
        if let Some(of) = self.optional_payload(of) {
            let ty = self.optional_payload(ty).unwrap_or_else(|| ty.clone());
            return ty == of || self.is_class_of(&ty, &of);
        }
        let mut at = Some(ty.clone());
        while let Some(Type::Nominal(n, args)) = at {
            at = self.base_type(n, &args);
            if at.as_ref() == Some(of) {
                return true;
            }
        }
        false
    }

    fn record_overrides(
        &mut self,
        n: NominalId,
        name: &str,
        (by, span): (&MemberKind, Span),
        class: NominalId,
        inherited: &MemberKind,
    ) {
        match (by, inherited) {
            (MemberKind::Method(f), MemberKind::Method(g)) | (MemberKind::Init(f), MemberKind::Init(g)) => {
                self.record_override(n, *g, *f);
                self.check_promised(*g, *f);
            }
            (MemberKind::Computed(get, set) | MemberKind::Subscript(get, set), _) => {
                let (old_get, old_set) = match inherited {
                    MemberKind::Computed(get, set) | MemberKind::Subscript(get, set) => (*get, *set),
                    MemberKind::Stored(i) => {
                        let is_let = self.nominal_data(class).stored[*i as usize].is_let;
                        let get = self.stored_accessor(class, *i, false);
                        let set = (!is_let).then(|| self.stored_accessor(class, *i, true));
                        self.functions[get.0 as usize].setter = set;
                        (get, set)
                    }
                    _ => return,
                };
                self.record_override(n, old_get, *get);
                self.check_promised(old_get, *get);
                match (old_set, set) {
                    (None, Some(_)) if self.is_observing(*get) => {
                        let message = format!("cannot observe read-only property '{name}'; it can't change");
                        self.report(Diagnostic::error(Code::Inheritance, span, message));
                        self.pass_over(*get, *set);
                    }
                    (Some(old), Some(new)) => self.record_override(n, old, *new),
                    (Some(_), None) => {
                        let message = format!("cannot override mutable property with read-only property '{name}'");
                        self.report(Diagnostic::error(Code::Inheritance, span, message));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Whether an accessor is of a property that a subclass observes.
    fn is_observing(&self, accessor: FunctionId) -> bool {
        let Some(DeclKind::Variable { bindings, .. }) = self.function_data(accessor).decl.as_ref().map(|d| &d.kind)
        else {
            return false;
        };
        let mut all = bindings.iter().filter_map(|b| b.accessors.as_ref());
        all.any(|a| a.will_set.is_some() || a.did_set.is_some())
    }

    /// Accessors that override nothing: what they do with `super` is not worth a word.
    fn pass_over(&mut self, get: FunctionId, set: Option<FunctionId>) {
        for f in std::iter::once(get).chain(set) {
            self.functions[f.0 as usize].body = BodyState::Failed;
        }
    }

    /// What stands in the place of a function that promises derivatives promises them, too.
    pub(crate) fn check_promised(&mut self, old: FunctionId, new: FunctionId) {
        let given = self.promised_parameters(new);
        let covers = |given: &[bool], wanted: &[bool]| wanted.iter().zip(given).all(|(wanted, given)| given | !wanted);
        let mut wanted = self.promised_parameters(old).into_iter();
        let missing = wanted.find(|(_, wanted)| !given.iter().any(|(_, given)| covers(given, wanted)));
        let Some((promised, _)) = missing else { return };
        let data = self.function_data(new);
        // An initialiser that is inherited is written by nobody.
        let Some(decl) = data.decl.clone().filter(|_| !matches!(data.kind, FunctionKind::Init { .. })) else { return };
        let text = self.source_text(promised).to_string();
        let message = format!("overriding declaration is missing attribute '{text}'");
        let diagnostic = Diagnostic::error(Code::Inheritance, self.function_data(new).span, message)
            .also(promised, "what it overrides has it")
            .fix("promise it, too", decl.span.before(), format!("{text} "));
        self.report(diagnostic);
    }

    fn record_override(&mut self, n: NominalId, old: FunctionId, new: FunctionId) {
        let mut all: Vec<FunctionId> =
            self.overrides.iter().filter(|(_, by)| **by == old).map(|((method, _), _)| *method).collect();
        all.push(old);
        for method in all {
            self.overrides.insert((method, n), new);
            self.overridden.insert(method);
            self.override_throwing(n, method, new);
        }
    }

    fn is_final_member(&self, class: NominalId, member: &Member) -> bool {
        match member.kind {
            MemberKind::Stored(i) => self.nominal_data(class).stored[i as usize].is_final,
            MemberKind::Method(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
                let decl = self.function_data(f).decl.clone();
                decl.is_some_and(|d| d.has("final") || d.has("static"))
            }
            _ => false,
        }
    }

    /// What a class would have inherited in the place of a member, and from which class.
    fn inherited_member(&mut self, n: NominalId, name: &str, member: &Member) -> Option<(NominalId, Member)> {
        let mut at = self.superclass(n);
        while let Some((class, args)) = at {
            for candidate in self.nominal_data(class).members.get(name).cloned().unwrap_or_default() {
                let is_hidden = candidate.is_private && candidate.file != member.file
                    || self.keeps_to_itself(class, &candidate) && !self.is_nested_in(n, class);
                if !is_hidden && candidate.is_static == member.is_static && self.replaces(n, member, &candidate, &args)
                {
                    return Some((class, candidate));
                }
            }
            at = self.superclass(class).map(|(base, of)| {
                let of = of.iter().map(|t| self.substitute_nominal(class, &args, t)).collect();
                (base, of)
            });
        }
        None
    }

    /// Whether a member is what another one, of a superclass with these arguments, is there.
    fn replaces(&mut self, n: NominalId, member: &Member, inherited: &Member, args: &[Type]) -> bool {
        use MemberKind::{Computed, Init, Method, Stored, Subscript};
        match (&member.kind, &inherited.kind) {
            (Computed(..) | Stored(_), Computed(..) | Stored(_)) => true,
            (Init(f), Init(g)) => {
                let is_convenience = self.function_data(*g).decl.as_ref().is_some_and(|d| d.has("convenience"));
                !is_convenience && self.same_parameters(n, *f, *g, args)
            }
            (Method(f), Method(g)) | (Subscript(f, _), Subscript(g, _)) => self.same_parameters(n, *f, *g, args),
            _ => false,
        }
    }

    pub(crate) fn same_parameters(&mut self, n: NominalId, f: FunctionId, g: FunctionId, args: &[Type]) -> bool {
        let (mine, theirs) = (self.signature(f), self.signature(g));
        let outer = self.nominal_data(n).params.len().min(mine.env.params.len());
        let own: Vec<Type> = mine.env.params[outer..].iter().map(|p| Type::Param(*p)).collect();
        let params = theirs.env.params.clone();
        if params.len() != args.len() + own.len() || mine.params.len() != theirs.params.len() {
            return false;
        }
        let all: Vec<Type> = args.iter().cloned().chain(own).collect();
        mine.params.iter().zip(&theirs.params).all(|(a, b)| {
            let ty = b.ty.substitute(&|p| params.iter().position(|q| *q == p).map(|i| all[i].clone()));
            a.label == b.label && a.is_inout == b.is_inout && self.normalize_type(&ty) == self.normalize_type(&a.ty)
        })
    }
}
