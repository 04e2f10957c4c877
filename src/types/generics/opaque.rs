//! `some P` in the result of a function: a type of which everybody else knows only what it conforms to.
//!
//! While bodies are checked, such a type is like a generic parameter that belongs to the function. The types that its
//! `return`s give are remembered; when code is made, the one that they agree on stands for it.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::TypeExpr;
use crate::types::model::tables::{BodyState, FunctionKind, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{Existential, OpaqueId, ParamId, ProtocolId, Type};
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// The opaque types of a session.
#[derive(Clone, Default)]
pub(crate) struct Opaques {
    all: Vec<Opaque>,
    /// The function whose result is being resolved.
    function: Option<FunctionId>,
    /// Whether the types behind are asked for, too: when bodies are checked they are not.
    pub(crate) are_known: bool,
}

#[derive(Clone)]
struct Opaque {
    function: FunctionId,
    /// The generic parameters of the function and its surroundings.
    params: Vec<ParamId>,
    /// What is known of it: an existential.
    bounds: Type,
    /// What it is, in terms of the parameters.
    underlying: Option<Type>,
}

/// A value that a function returns where its result is opaque.
pub(crate) struct Given {
    id: OpaqueId,
    ty: Type,
    span: Span,
}

impl World {
    /// The result of a function as it is written; `some P` in it is a type of the function's own.
    pub(crate) fn resolve_result(&mut self, f: FunctionId, ty: &TypeExpr, scope: &TypeScope) -> Type {
        let data = self.function_data(f);
        let has_body = matches!(data.kind, FunctionKind::Function | FunctionKind::Getter) && data.requirement.is_none();
        let saved = std::mem::replace(&mut self.opaques.function, has_body.then_some(f));
        let result = self.resolve_type(ty, scope);
        self.opaques.function = saved;
        result
    }

    /// `some P` of what is written behind it; elsewhere than in results it is `any P`.
    pub(crate) fn opaque_type(&mut self, bounds: Type, span: Span) -> Type {
        let Some(function) = self.opaques.function else { return bounds };
        let bounds = match bounds {
            Type::Existential(_) | Type::Error => bounds,
            class => self.composed(vec![(class, span)]),
        };
        if bounds == Type::Error {
            return bounds;
        }
        let params = self.env.params.clone();
        let args = params.iter().map(|p| Type::Param(*p)).collect();
        self.opaques.all.push(Opaque { function, params, bounds, underlying: None });
        Type::Opaque(OpaqueId(self.opaques.all.len() as u32 - 1), args)
    }

    fn of_arguments(&self, id: OpaqueId, args: &[Type], ty: &Type) -> Type {
        let params = &self.opaques.all[id.0 as usize].params;
        ty.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()))
    }

    /// What is known of an opaque type.
    pub(crate) fn bounds_of_opaque(&self, id: OpaqueId, args: &[Type]) -> Rc<Existential> {
        match self.of_arguments(id, args, &self.opaques.all[id.0 as usize].bounds) {
            Type::Existential(bounds) => bounds,
            _ => Rc::default(),
        }
    }

    /// The protocols that an opaque type conforms to.
    pub(crate) fn protocols_of_opaque(&mut self, ty: &Type) -> Rc<[ProtocolId]> {
        let Type::Opaque(id, args) = ty else { return Rc::from([]) };
        let bounds = Type::Existential(self.bounds_of_opaque(*id, args));
        self.protocols_of(&bounds)
    }

    /// `T.Name` of an opaque type, where that is written: `some Sequence<Int>`.
    pub(crate) fn known_of_opaque(&self, of: &Type, name: &str) -> Option<Type> {
        let Type::Opaque(id, args) = of else { return None };
        crate::types::generics::existential::known_type(&Type::Existential(self.bounds_of_opaque(*id, args)), name)
    }

    /// The type behind an opaque one.
    pub(crate) fn underlying_type(&mut self, id: OpaqueId, args: &[Type]) -> Type {
        let function = self.opaques.all[id.0 as usize].function;
        if self.opaques.all[id.0 as usize].underlying.is_none() {
            self.check_body(function);
        }
        match self.opaques.all[id.0 as usize].underlying.clone() {
            Some(underlying) => {
                let ty = self.of_arguments(id, args, &underlying);
                self.normalize_type(&ty)
            }
            None => Type::Error,
        }
    }

    /// The type that a `return` of a function is to have: what is opaque to others becomes what the value is.
    pub(crate) fn open_result(&mut self, f: FunctionId, result: &Type, span: Span, given: &mut Vec<Given>) -> Type {
        let mut found: Vec<OpaqueId> = vec![];
        result.any(&mut |t| {
            if let Type::Opaque(id, _) = t {
                found.push(*id);
            }
            false
        });
        found.retain(|id| self.opaques.all[id.0 as usize].function == f);
        if found.is_empty() {
            return result.clone();
        }
        let opened: Vec<(OpaqueId, Type)> = found.into_iter().map(|id| (id, self.fresh_for(id, span))).collect();
        given.extend(opened.iter().map(|(id, ty)| Given { id: *id, ty: ty.clone(), span }));
        result.map(&mut |t| match t {
            Type::Opaque(id, _) => opened.iter().find(|(other, _)| other == id).map(|(_, ty)| ty.clone()),
            _ => None,
        })
    }

    /// A variable for the type behind an opaque one, with what is asked of it.
    fn fresh_for(&mut self, id: OpaqueId, span: Span) -> Type {
        match self.opaques.all[id.0 as usize].bounds.clone() {
            Type::Existential(bounds) => self.fresh_within(&bounds, span),
            _ => self.fresh(),
        }
    }

    /// A variable for a type of which something is known.
    pub(crate) fn fresh_within(&mut self, bounds: &Existential, span: Span) -> Type {
        let ty = self.fresh();
        for p in &bounds.protocols {
            self.require(&ty, *p, span);
        }
        for (name, known) in &bounds.known {
            let owner = self
                .all_refined(bounds.protocols.clone())
                .into_iter()
                .find(|p| self.protocol_data(*p).associated.iter().any(|a| a.name == *name));
            if let Some(p) = owner {
                let own = Type::Associated(Rc::new(ty.clone()), p, name.clone());
                self.unify(&own, known, span);
            }
        }
        ty
    }

    /// Whether all values that are returned as one opaque type are of one type, which is remembered.
    pub(crate) fn agree_on_opaque(&mut self, given: Vec<Given>) {
        for Given { id, ty, span } in &given {
            let ty = self.resolved(ty);
            if matches!(ty, Type::Var(_) | Type::Error | Type::Never)
                || matches!(ty, Type::Opaque(other, _) if other == *id)
            {
                continue;
            }
            let bounds = self.opaques.all[id.0 as usize].bounds.clone();
            if let Type::Existential(bounds) = &bounds
                && let Some(class) = &bounds.class
                && !self.is_instance_of(&ty, class)
            {
                let message =
                    format!("return type requires that '{}' inherit from '{}'", self.show(&ty), self.show(class));
                self.report(Diagnostic::error(Code::Mismatch, *span, message));
            }
            match self.opaques.all[id.0 as usize].underlying.clone() {
                None => self.opaques.all[id.0 as usize].underlying = Some(ty),
                Some(before) if before != ty => self.report_disagreement(*id, &given),
                Some(_) => {}
            }
        }
        // What is open in a later one is known by an earlier one: `return nil`.
        for Given { id, ty, span } in &given {
            if let Some(known) = self.opaques.all[id.0 as usize].underlying.clone() {
                self.unify(ty, &known, *span);
            }
        }
    }

    /// Whether something stands behind every opaque type, and not the type itself again.
    pub(crate) fn check_opaques(&mut self) {
        for index in 0..self.opaques.all.len() {
            let id = OpaqueId(index as u32);
            let Opaque { function, underlying, .. } = &self.opaques.all[index];
            let (function, underlying) = (*function, underlying.clone());
            let problem = match underlying {
                None if !self.is_checked(function) => continue,
                None => {
                    "function declares an opaque return type, but has no return statements in its body from which to infer an underlying type".to_string()
                }
                Some(ty) if self.leads_to(&ty, id, &mut vec![]) => {
                    let shown = self.show(&ty);
                    format!("function opaque return type was inferred as '{shown}', which defines the opaque type in terms of itself")
                }
                Some(_) => continue,
            };
            self.opaques.all[index].underlying = Some(Type::Error);
            let span = self.function_data(function).span;
            self.report(Diagnostic::error(Code::CannotInfer, span, problem));
        }
    }

    fn is_checked(&self, f: FunctionId) -> bool {
        matches!(self.function_data(f).body, BodyState::Checked(_))
    }

    /// Whether a type mentions an opaque one, or what stands behind those that it mentions does.
    fn leads_to(&self, ty: &Type, id: OpaqueId, seen: &mut Vec<OpaqueId>) -> bool {
        let mut mentioned = vec![];
        ty.any(&mut |t| {
            if let Type::Opaque(other, _) = t {
                mentioned.push(*other);
            }
            false
        });
        mentioned.into_iter().any(|other| {
            let is_new = !seen.contains(&other);
            seen.push(other);
            let behind = &self.opaques.all[other.0 as usize].underlying;
            other == id || is_new && behind.as_ref().is_some_and(|ty| self.leads_to(ty, id, seen))
        })
    }

    fn report_disagreement(&mut self, id: OpaqueId, given: &[Given]) {
        let data = &self.opaques.all[id.0 as usize];
        let (span, bounds) = (self.function_data(data.function).span, data.bounds.clone());
        let shown = self.show(&bounds).replacen("any ", "some ", 1);
        let message = format!(
            "function declares an opaque return type '{shown}', but the return statements in its body do not have matching underlying types"
        );
        let mut diagnostic = Diagnostic::error(Code::Mismatch, span, message);
        for part in given.iter().filter(|part| part.id == id) {
            let ty = self.resolved(&part.ty);
            diagnostic = diagnostic.also(part.span, format!("of type '{}'", self.show(&ty)));
        }
        self.report(diagnostic);
    }
}
