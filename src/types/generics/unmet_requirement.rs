//! What is said when a requirement of generic parameters is not met: which one, of whom, where it is written, and what the
//! types turned out to be.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::solver::type_vars::Clause;
use crate::types::model::tables::{Env, Requirement, World};
use crate::types::model::ty::{NominalId, ProtocolId, Type};

impl World {
    /// Says that a function that is used requires something of types which is not so; `put` has the types in it.
    pub(crate) fn unmet(&mut self, clause: Clause, put: &Requirement, span: Span) -> Diagnostic {
        let (env, name) = (self.signature(clause.function).env.clone(), self.full_name(clause.function));
        let message = format!("'{name}' requires {}", self.condition(put));
        let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
        let is_shown = !self.function_data(clause.function).is_prelude;
        let diagnostic = self.with_clause(diagnostic, &env, clause.index, put, is_shown);
        self.with_way_out(diagnostic, put)
    }

    /// What a requirement asks for, behind "requires".
    pub(crate) fn condition(&mut self, put: &Requirement) -> String {
        match put {
            Requirement::Conforms(ty, p) => {
                format!("that '{}' conform to '{}'", self.show_resolved(ty), self.protocol_data(*p).name)
            }
            Requirement::Same(a, b) => {
                format!("the types '{}' and '{}' be equivalent", self.show_resolved(a), self.show_resolved(b))
            }
            Requirement::Superclass(ty, class) => {
                format!("that '{}' inherit from '{}'", self.show_resolved(ty), self.show_resolved(class))
            }
        }
    }

    /// Adds where a requirement is written, and what its generic parameters are.
    pub(crate) fn with_clause(
        &mut self,
        diagnostic: Diagnostic,
        env: &Env,
        index: usize,
        put: &Requirement,
        is_shown: bool,
    ) -> Diagnostic {
        let place = env.places.get(index).copied().filter(|at| is_shown && *at != Span::default());
        let is_plain = matches!(&env.requirements[index], Requirement::Conforms(Type::Param(_), _));
        let types = self.generic_types(&env.requirements[index], put).filter(|_| place.is_some() || !is_plain);
        match (place, types) {
            (Some(at), Some(types)) => diagnostic.also(at, format!("required here, where {types}")),
            (Some(at), None) => diagnostic.also(at, "required here"),
            (None, Some(types)) => diagnostic.note(format!("where {types}")),
            (None, None) => diagnostic,
        }
    }

    /// `'S.Element' is 'String'`, for each side of a requirement that is not a type by itself.
    fn generic_types(&mut self, written: &Requirement, put: &Requirement) -> Option<String> {
        let sides = match (written, put) {
            (Requirement::Conforms(a, _), Requirement::Conforms(x, _)) => vec![(a, x)],
            (Requirement::Same(a, b), Requirement::Same(x, y)) => vec![(a, x), (b, y)],
            (Requirement::Superclass(a, b), Requirement::Superclass(x, y)) => vec![(a, x), (b, y)],
            _ => vec![],
        };
        let is_generic = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
        let open = sides.into_iter().filter(|(written, put)| is_generic(written) && written != put);
        let shown: Vec<(String, String)> = open.map(|(a, b)| (self.show(a), self.show_resolved(b))).collect();
        let differ = shown.iter().filter(|(written, put)| written != put);
        let texts: Vec<String> = differ.map(|(written, put)| format!("'{written}' is '{put}'")).collect();
        (!texts.is_empty()).then(|| texts.join(" and "))
    }

    fn show_resolved(&mut self, ty: &Type) -> String {
        let ty = self.resolved(ty);
        self.show(&ty)
    }

    /// What can be done about a conformance that lacks.
    pub(crate) fn with_way_out(&mut self, diagnostic: Diagnostic, put: &Requirement) -> Diagnostic {
        match put {
            Requirement::Conforms(ty, p) => {
                let ty = self.resolved(ty);
                self.with_declaration(diagnostic, &ty, *p)
            }
            Requirement::Same(..) | Requirement::Superclass(..) => diagnostic,
        }
    }

    /// Where a type of the program is declared that lacks a conformance, and how it gets one; for a type that conforms under
    /// a condition, which part does not meet it.
    pub(crate) fn with_declaration(&mut self, diagnostic: Diagnostic, ty: &Type, p: ProtocolId) -> Diagnostic {
        if let Some((n, env, index, put)) = self.failing_condition(ty, p) {
            let (shown, protocol) = (self.show(ty), self.protocol_data(p).name.clone());
            let is_shown = !self.nominal_data(n).is_prelude;
            let written = self.generic_types(&env.requirements[index], &put);
            let text =
                format!("'{shown}' conforms to '{protocol}' only where {}", self.as_clause(&env.requirements[index]));
            let text = written.map_or(text.clone(), |types| format!("{text}, and {types}"));
            let place = env.places.get(index).copied().filter(|at| is_shown && *at != Span::default());
            let diagnostic = match place {
                Some(at) => diagnostic.also(at, text),
                None => diagnostic.note(text),
            };
            return self.with_way_out(diagnostic, &put);
        }
        match ty {
            Type::Nominal(n, _) if !self.nominal_data(*n).is_prelude => {
                let (data, protocol) = (self.nominal_data(*n), self.protocol_data(p).name.clone());
                let (name, at) = (data.name.clone(), data.span);
                let diagnostic = diagnostic.also(at, format!("'{name}' is declared here"));
                diagnostic.help(format!("declare the conformance: 'extension {name}: {protocol} {{ … }}'"))
            }
            _ => diagnostic,
        }
    }

    /// Whether a type would conform to a protocol if its parts did more.
    pub(crate) fn conforms_under_conditions(&mut self, ty: &Type, p: ProtocolId) -> bool {
        self.failing_condition(ty, p).is_some()
    }

    /// A requirement as it is written.
    fn as_clause(&mut self, written: &Requirement) -> String {
        match written {
            Requirement::Conforms(ty, p) => format!("'{}: {}'", self.show(ty), self.protocol_data(*p).name),
            Requirement::Same(a, b) => format!("'{} == {}'", self.show(a), self.show(b)),
            Requirement::Superclass(ty, class) => format!("'{}: {}'", self.show(ty), self.show(class)),
        }
    }

    /// Of a type that conforms to a protocol under conditions the first that does not hold, with the types in it.
    fn failing_condition(
        &mut self,
        ty: &Type,
        p: ProtocolId,
    ) -> Option<(NominalId, std::rc::Rc<Env>, usize, Requirement)> {
        let Type::Nominal(n, args) = ty else { return None };
        let i = self.find_conformance(*n, p)?;
        let group = self.nominal_data(*n).conformances[i].group;
        let (env, own) = (self.group_env(group), self.nominal_env(*n));
        let conditions = env.requirements.iter().enumerate().filter(|(_, r)| !own.requirements.contains(r));
        for (index, requirement) in conditions {
            let put = requirement.map(&mut |t| self.substitute_nominal(*n, args, t));
            if !self.is_met(&put) {
                return Some((*n, env.clone(), index, put));
            }
        }
        None
    }

    /// Whether a requirement holds, as far as its types are known.
    pub(crate) fn is_met(&mut self, put: &Requirement) -> bool {
        match put {
            Requirement::Conforms(of, p) => {
                let of = self.shallow(of);
                // What belongs to an open type is open, too.
                matches!(of, Type::Associated(..)) && self.has_vars(&of) || self.conforms_to(&of, *p)
            }
            Requirement::Same(a, b) => {
                let (a, b) = (self.resolved(a), self.resolved(b));
                a == b || self.has_vars(&a) || self.has_vars(&b)
            }
            Requirement::Superclass(of, class) => {
                let (of, class) = (self.resolved(of), self.resolved(class));
                self.has_vars(&of) || self.has_vars(&class) || self.inherits(&of, &class)
            }
        }
    }

    /// Whether a type is a class or one of its subclasses, as far as its surroundings say.
    fn inherits(&mut self, ty: &Type, class: &Type) -> bool {
        let mut at = Some(ty.clone());
        while let Some(ty) = at {
            if ty == *class {
                return true;
            }
            at = match &ty {
                Type::Nominal(n, args) => self.base_type(*n, args),
                _ => self.known_class(&ty),
            };
        }
        false
    }
}
