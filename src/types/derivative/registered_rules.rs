//! Which registered derivatives apply to a function: its own and those that an extension of a protocol gives it, as far
//! as they are visible and what they require holds.

use crate::source::Span;
use crate::types::model::declared::Rule;
use crate::types::model::tables::{Registered, Requirement, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{ParamId, Type};

impl World {
    /// What is registered for a function, its own first. Generic arguments are put in, those of the rules come out.
    pub(crate) fn rules_of(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
        self.resolve_registrations();
        let saved = std::mem::take(&mut self.env);
        let mut rules = self.rules_here(of, view);
        for rule in &mut rules {
            let registered = rule.function.function;
            rule.inherited = rule.inherited.filter(|original| !self.gives_value_of(registered, *original));
        }
        self.env = saved;
        rules
    }

    /// The same in the current generic surroundings, whatever the derivatives give as the value.
    pub(crate) fn rules_here(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
        let own = self.function_data(of.function).registered.clone();
        let mut rules = self.applicable(&own, &of.generics, view);
        if !own.is_empty() {
            return rules;
        }
        for (original, generics) in self.stands_for(of) {
            let registered = self.function_data(original).registered.clone();
            let mut found = self.applicable(&registered, &generics, view);
            for rule in &mut found {
                rule.wrt = self.flags_of(&rule.wrt, original, of.function);
                if !self.is_declared_with(of.function, rule.function.function) {
                    rule.inherited = Some(original);
                }
            }
            rules.extend(found);
        }
        rules
    }

    /// The file that sees derivatives of a function that others do not, if that is the file of a place.
    pub(crate) fn view_of(&mut self, of: &FunctionRef, at: Span) -> Option<u32> {
        self.resolve_registrations();
        if !self.has_private_rules {
            return None;
        }
        let file = self.file_of(at)?;
        let mut all = self.function_data(of.function).registered.clone();
        let saved = std::mem::take(&mut self.env);
        let others = self.stands_for(of);
        self.env = saved;
        for (original, _) in others {
            all.extend(self.function_data(original).registered.iter().cloned());
        }
        all.iter().any(|r| r.visible_in == Some(file)).then_some(file)
    }

    /// The number of the file that a place is in.
    pub(crate) fn file_of(&self, at: Span) -> Option<u32> {
        let after = self.texts.partition_point(|(start, _)| *start <= at.start);
        after.checked_sub(1).map(|file| file as u32)
    }

    fn applicable(&mut self, registered: &[Registered], generics: &[Type], view: Option<u32>) -> Vec<Rule> {
        let mut rules = vec![];
        for r in registered {
            if r.visible_in.is_some() && r.visible_in != view {
                continue;
            }
            let env = self.signature(r.function).env.clone();
            let mut bound: Vec<Option<Type>> = vec![None; env.params.len()];
            let fits = r.arguments.len() == generics.len()
                && r.arguments.iter().zip(generics).all(|(a, b)| match_argument(a, b, &env.params, &mut bound));
            let Some(arguments) = bound.into_iter().collect::<Option<Vec<Type>>>().filter(|_| fits) else { continue };
            if self.holds_here(&env.requirements, &env.params, &arguments) {
                let primal = r.primal.map(|p| FunctionRef { function: p, generics: arguments.clone() });
                let function = FunctionRef { function: r.function, generics: arguments };
                let rule =
                    Rule { function, wrt: r.wrt.clone(), kind: r.kind, differs: r.differs, primal, inherited: None };
                // What is private hides what is not, and what asks for more what asks for less.
                let serves_it = |old: &&Rule| old.wrt == rule.wrt && old.kind.mode() == rule.kind.mode();
                let same = rules.iter().position(|old: &Rule| serves_it(&old));
                let other = same.map(|at| (at, rules[at].function.function));
                match other {
                    Some((at, _)) if r.visible_in.is_some() => rules[at] = rule,
                    Some((at, old)) if self.asks_for_more(r.function, old) => rules[at] = rule,
                    Some((_, old)) if self.asks_for_more(old, r.function) => {}
                    _ => rules.push(rule),
                }
            }
        }
        rules
    }

    /// Whether one of two registered functions is for fewer types than the other: all that the other requires holds for it,
    /// and not the other way round.
    fn asks_for_more(&mut self, one: FunctionId, other: FunctionId) -> bool {
        one != other && self.implies(one, other) && !self.implies(other, one)
    }

    /// Whether what a registered function requires of its generic parameters implies what another one requires.
    pub(crate) fn implies(&mut self, one: FunctionId, other: FunctionId) -> bool {
        let (env, wanted) = (self.signature(one).env.clone(), self.signature(other).env.clone());
        if env.params.len() != wanted.params.len() {
            return false;
        }
        let arguments: Vec<Type> = env.params.iter().map(|p| Type::Param(*p)).collect();
        let saved = std::mem::replace(&mut self.env, env);
        let holds = self.holds_here(&wanted.requirements, &wanted.params, &arguments);
        self.env = saved;
        holds
    }

    /// What is required by everything that is registered for a function, and does not hold for its generic arguments.
    pub(crate) fn unmet_by(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String> {
        let saved = std::mem::take(&mut self.env);
        let unmet = self.unmet_here(of, view);
        self.env = saved;
        unmet
    }

    /// The same in the current generic surroundings.
    pub(crate) fn unmet_here(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String> {
        let own = self.function_data(of.function).registered.clone();
        let visible = |r: &Registered| r.visible_in.is_none() || r.visible_in == view;
        let first = own.iter().find(|r| visible(r))?;
        if !self.applicable(&own, &of.generics, view).is_empty() {
            return None;
        }
        let env = self.signature(first.function).env.clone();
        let mut bound: Vec<Option<Type>> = vec![None; env.params.len()];
        let fits = first.arguments.len() == of.generics.len()
            && first.arguments.iter().zip(&of.generics).all(|(a, b)| match_argument(a, b, &env.params, &mut bound));
        let arguments = bound.into_iter().collect::<Option<Vec<Type>>>().filter(|_| fits)?;
        let failing =
            env.requirements.iter().find(|r| !self.holds_here(std::slice::from_ref(*r), &env.params, &arguments))?;
        Some(self.required(failing))
    }

    /// A requirement in words.
    pub(crate) fn required(&self, requirement: &Requirement) -> String {
        match requirement {
            Requirement::Conforms(t, p) => format!("'{}' conforms to '{}'", self.show(t), self.protocol_data(*p).name),
            Requirement::Same(a, b) => format!("'{}' is '{}'", self.show(a), self.show(b)),
            Requirement::Superclass(a, b) => format!("'{}' inherits from '{}'", self.show(a), self.show(b)),
        }
    }

    /// Whether requirements hold for concrete arguments.
    pub(crate) fn holds(&mut self, requirements: &[Requirement], params: &[ParamId], arguments: &[Type]) -> bool {
        let saved = std::mem::take(&mut self.env);
        let holds = self.holds_here(requirements, params, arguments);
        self.env = saved;
        holds
    }

    /// The same in the current generic surroundings.
    pub(crate) fn holds_here(&mut self, requirements: &[Requirement], params: &[ParamId], arguments: &[Type]) -> bool {
        let put = |t: &Type| t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| arguments[i].clone()));
        requirements.iter().all(|requirement| match requirement {
            Requirement::Conforms(t, p) => {
                let t = self.normalize_type(&put(t));
                self.conforms_to(&t, *p)
            }
            Requirement::Same(a, b) => {
                let (a, b) = (put(a), put(b));
                self.normalize_type(&a) == self.normalize_type(&b)
            }
            Requirement::Superclass(..) => true,
        })
    }
}

/// Finds what the generic parameters of a rule stand for, from what it says of those of its original.
fn match_argument(pattern: &Type, concrete: &Type, params: &[ParamId], bound: &mut [Option<Type>]) -> bool {
    match (pattern, concrete) {
        (Type::Param(p), _) => match params.iter().position(|q| q == p) {
            Some(i) => *bound[i].get_or_insert_with(|| concrete.clone()) == *concrete,
            None => false,
        },
        (Type::Nominal(m, xs), Type::Nominal(n, ys)) => {
            m == n && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| match_argument(x, y, params, bound))
        }
        _ => pattern == concrete,
    }
}
