//! Which registered derivatives apply to a function: its own and those that an extension of a protocol gives it, as far
//! as they are visible and what they require holds.

use super::promise::Promise;
use super::store::{MemberKind, Owner, Registered, Requirement, RequirementKind, World};
use super::tree::{FunctionId, FunctionRef};
use super::ty::{ParamId, ProtocolId, Type};
use super::world::Rule;
use crate::source::Span;
use std::rc::Rc;

impl World {
    /// What is registered for a function, its own first. Generic arguments are put in, those of the rules come out.
    pub(super) fn rules_of(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
        self.resolve_registrations();
        let own = self.function_data(of.function).registered.clone();
        let mut rules = self.applicable(&own, &of.generics, view);
        if !own.is_empty() {
            return rules;
        }
        for (requirement, generics) in self.stands_for(of) {
            let registered = self.function_data(requirement).registered.clone();
            let mut found = self.applicable(&registered, &generics, view);
            for rule in &mut found {
                rule.wrt = self.flags_of(&rule.wrt, requirement, of.function);
            }
            rules.extend(found);
        }
        rules
    }

    /// The file that sees derivatives of a function that others do not, if that is the file of a place.
    pub(super) fn view_of(&mut self, of: &FunctionRef, at: Span) -> Option<u32> {
        self.resolve_registrations();
        if !self.has_private_rules {
            return None;
        }
        let file = self.file_of(at)?;
        let mut all = self.function_data(of.function).registered.clone();
        for (requirement, _) in self.stands_for(of) {
            all.extend(self.function_data(requirement).registered.iter().cloned());
        }
        all.iter().any(|r| r.visible_in == Some(file)).then_some(file)
    }

    /// The number of the file that a place is in.
    fn file_of(&self, at: Span) -> Option<u32> {
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
            if self.holds(&env.requirements, &env.params, &arguments) {
                let primal = r.primal.map(|p| FunctionRef { function: p, generics: arguments.clone() });
                let function = FunctionRef { function: r.function, generics: arguments };
                let rule = Rule { function, wrt: r.wrt.clone(), kind: r.kind, differs: r.differs, primal };
                // What is private hides what is not, and what asks for more what asks for less.
                let same = rules.iter().position(|old: &Rule| old.wrt == rule.wrt);
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
    fn implies(&mut self, one: FunctionId, other: FunctionId) -> bool {
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
    pub(super) fn unmet_by(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String> {
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
            env.requirements.iter().find(|r| !self.holds(std::slice::from_ref(*r), &env.params, &arguments))?;
        Some(match failing {
            Requirement::Conforms(t, p) => format!("'{}' conforms to '{}'", self.show(t), self.protocol_data(*p).name),
            Requirement::Same(a, b) => format!("'{}' is '{}'", self.show(a), self.show(b)),
            Requirement::Superclass(a, b) => format!("'{}' inherits from '{}'", self.show(a), self.show(b)),
        })
    }

    /// Whether requirements hold for concrete arguments.
    pub(super) fn holds(&mut self, requirements: &[Requirement], params: &[ParamId], arguments: &[Type]) -> bool {
        let saved = std::mem::take(&mut self.env);
        let holds = self.holds_here(requirements, params, arguments);
        self.env = saved;
        holds
    }

    /// The same in the current generic surroundings.
    fn holds_here(&mut self, requirements: &[Requirement], params: &[ParamId], arguments: &[Type]) -> bool {
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

    /// What a function is in the place of, by its body alone: the requirements that it fulfils and the methods that it
    /// overrides, whose derivatives it has when it promises nothing of its own.
    fn stands_for(&mut self, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
        let mut all = self.fulfilled_by(of);
        let is_promised = |promise: Rc<Promise>| !promise.default;
        if self.overrides_something(of.function) && !self.promise(of.function).is_some_and(is_promised) {
            all.extend(self.overridden_by(of));
        }
        all
    }

    /// Whether a function fulfils a requirement, or overrides a method, that has a registered derivative.
    pub(super) fn has_default_derivative(&mut self, f: FunctionId) -> bool {
        self.resolve_registrations();
        let generics = self.signature(f).env.params.iter().map(|p| Type::Param(*p)).collect();
        !self.stands_for(&FunctionRef { function: f, generics }).is_empty()
    }

    fn fulfilled_by(&mut self, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
        let data = self.function_data(of.function);
        let (owner, base, is_static) = (data.owner, data.base_name.clone(), data.is_static);
        if !self.registers_for_requirements || data.is_prelude || data.requirement.is_some() || owner == Owner::Module {
            return vec![];
        }
        if self.promise(of.function).is_some_and(|promise| !promise.default) {
            return vec![];
        }
        let (own, outer) = match owner {
            Owner::Nominal(n) => {
                let count = self.nominal_data(n).params.len();
                (Type::Nominal(n, of.generics[..count.min(of.generics.len())].into()), count)
            }
            _ => (of.generics.first().cloned().unwrap_or(Type::Error), 1),
        };
        let saved = std::mem::take(&mut self.env);
        let mut found = vec![];
        for p in self.protocols_of(&own) {
            for r in self.requirements_named(p, &base, is_static) {
                let function = self.protocol_data(p).requirements[r as usize].function;
                if self.function_data(function).registered.is_empty() {
                    continue;
                }
                let further = of.generics.get(outer..).unwrap_or_default();
                let witness = self.find_witness(p, r, &own, further);
                if witness.is_some_and(|w| w.function == of.function) {
                    found.push((function, std::iter::once(&own).chain(further).cloned().collect()));
                }
            }
        }
        self.env = saved;
        found
    }

    fn requirements_named(&mut self, p: ProtocolId, base: &str, is_static: bool) -> Vec<u32> {
        let members = self.protocol_data(p).members.get(base).cloned().unwrap_or_default();
        let index = |kind: &MemberKind| match kind {
            MemberKind::Requirement(r) => Some(*r),
            _ => None,
        };
        let all = members.iter().filter_map(|m| index(&m.kind));
        all.filter(|r| {
            let data = &self.protocol_data(p).requirements[*r as usize];
            data.is_static == is_static
                && !matches!(data.kind, RequirementKind::Setter | RequirementKind::SubscriptSetter)
        })
        .collect()
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
