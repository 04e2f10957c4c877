//! Classes that inherit: where their properties are, which methods they override, which initialisers they have.

use super::store::{BodyState, FunctionKind, Member, MemberKind, Owner, World};
use super::tree::{FunctionId, FunctionRef};
use super::ty::{NominalId, Type};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, Name, NominalKind};
use std::fmt::Write;
use std::rc::Rc;

impl World {
    pub(super) fn is_class(&self, n: NominalId) -> bool {
        self.nominal_data(n).kind == NominalKind::Class
    }

    /// The class that a class inherits from, with arguments in terms of its own parameters.
    pub(super) fn superclass(&mut self, n: NominalId) -> Option<(NominalId, Rc<[Type]>)> {
        if !self.is_class(n) {
            return None;
        }
        self.enter_conformances(n);
        match self.nominal_data(n).superclass.clone()? {
            Type::Nominal(base, args) => Some((base, args)),
            _ => None,
        }
    }

    /// The same for given arguments.
    pub(super) fn base_type(&mut self, n: NominalId, args: &[Type]) -> Option<Type> {
        let base = self.nominal_data(n).superclass.clone()?;
        Some(self.substitute_nominal(n, args, &base))
    }

    /// A class names what it inherits from.
    pub(super) fn set_superclass(&mut self, n: NominalId, ty: Type, span: Span) {
        let shown = self.show(&ty);
        let problem = match &ty {
            Type::Nominal(base, _) if self.is_class(*base) => {
                self.enter_conformances(*base);
                let mut at = Some(*base);
                while let Some(class) = at.filter(|class| *class != n) {
                    at = self.superclass(class).map(|(base, _)| base);
                }
                match at {
                    Some(_) => format!("'{}' inherits from itself", self.nominal_data(n).name),
                    None if self.nominal_data(*base).is_final => {
                        format!("inheritance from a final class '{shown}'")
                    }
                    None => match self.nominal_data(n).superclass.clone() {
                        Some(other) if other != ty => {
                            format!("multiple inheritance from classes '{}' and '{shown}'", self.show(&other))
                        }
                        _ => {
                            self.nominal_data_mut(n).superclass = Some(ty);
                            return;
                        }
                    },
                }
            }
            Type::Error => return,
            _ => format!("inheritance from non-protocol, non-class type '{shown}'"),
        };
        self.report(Diagnostic::error(Code::Inheritance, span, problem));
    }

    // Stored properties

    /// How many stored properties an instance has from the classes that its class inherits from; its own ones follow.
    pub(super) fn inherited_count(&mut self, n: NominalId) -> u32 {
        let (mut count, mut at) = (0, n);
        while let Some((base, _)) = self.superclass(at) {
            count += self.nominal_data(base).stored.len() as u32;
            at = base;
        }
        count
    }

    /// The type that declares the `index`-th stored property of a type, and its number there.
    pub(super) fn stored_owner(&mut self, n: NominalId, index: u32) -> (NominalId, usize) {
        let mut at = n;
        loop {
            let inherited = self.inherited_count(at);
            match self.superclass(at) {
                Some((base, _)) if index < inherited => at = base,
                _ => return (at, (index - inherited) as usize),
            }
        }
    }

    // Overriding

    /// Whether subclasses may put something in the place of a function.
    pub(super) fn is_overridable(&self, f: FunctionId) -> bool {
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
    pub(super) fn nearest_override(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef {
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
    pub(super) fn overrides_something(&self, f: FunctionId) -> bool {
        self.function_data(f).decl.as_ref().is_some_and(|d| d.has("override"))
    }

    /// The methods with registered derivatives that a method overrides, for its generic arguments.
    pub(super) fn overridden_by(&mut self, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
        let Owner::Nominal(n) = self.function_data(of.function).owner else { return vec![] };
        let mut olds: Vec<FunctionId> =
            self.overrides.iter().filter(|((_, c), by)| *c == n && **by == of.function).map(|((g, _), _)| *g).collect();
        olds.retain(|g| !self.function_data(*g).registered.is_empty());
        olds.sort_unstable();
        let own = self.nominal_data(n).params.len().min(of.generics.len());
        let (args, further) = of.generics.split_at(own);
        let mut found = vec![];
        for old in olds {
            let Owner::Nominal(home) = self.function_data(old).owner else { continue };
            let mut at = Type::Nominal(n, args.into());
            while let Type::Nominal(class, args) = at.clone() {
                if class == home {
                    found.push((old, args.iter().chain(further).cloned().collect()));
                    break;
                }
                let Some(base) = self.base_type(class, &args) else { break };
                at = base;
            }
        }
        found
    }

    /// Finds out what a class overrides, and says what is wrong with it.
    pub(super) fn link_class(&mut self, n: NominalId) {
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
    fn check_promised(&mut self, old: FunctionId, new: FunctionId) {
        let attribute = |world: &World, f: FunctionId| {
            let decl = world.function_data(f).decl.clone()?;
            decl.attribute("differentiable").map(|attribute| attribute.span)
        };
        let (Some(promised), None) = (attribute(self, old), attribute(self, new)) else { return };
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

    fn same_parameters(&mut self, n: NominalId, f: FunctionId, g: FunctionId, args: &[Type]) -> bool {
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

    // Initialisers

    pub(super) fn is_convenience(&self, f: FunctionId) -> bool {
        self.function_data(f).decl.as_ref().is_some_and(|d| d.has("convenience"))
    }

    /// Whether subclasses have an initialiser, too.
    pub(super) fn is_required(&self, f: FunctionId) -> bool {
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
    pub(super) fn inherits_convenience(&mut self, n: NominalId) -> bool {
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
    pub(super) fn inherited_initializers(&mut self, n: NominalId) -> Option<String> {
        if self.has_own_designated(n) || self.first_without_value(n).is_some() {
            return None;
        }
        let Some((base, args)) = self.superclass(n) else { return Some("init() {}".into()) };
        let mut text = String::new();
        for f in self.designated(base) {
            let signature = self.signature(f);
            let FunctionKind::Init { failable } = self.function_data(f).kind else { continue };
            let is_plain = |p: &super::store::SignatureParam| !p.is_inout && !p.variadic && !p.autoclosure;
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
    pub(super) fn inherit_defaults(&mut self, n: NominalId) {
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
    pub(super) fn check_class(&mut self, n: NominalId) {
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
    pub(super) fn fills_instance(&self, f: FunctionId) -> bool {
        let data = self.function_data(f);
        matches!((data.kind, data.owner), (FunctionKind::Init { .. }, Owner::Nominal(n)) if self.is_class(n))
    }
}
