//! What a signature requires of generic parameters without saying so.

use super::resolve::{TypeScope, differentiable_attribute};
use super::store::{Env, Named, Requirement, World};
use super::ty::{NominalId, ParamId, Type};
use crate::source::Span;
use crate::syntax::ast::{Param, TypeExpr, TypeExprKind};
use std::rc::Rc;

impl World {
    /// Adds what the types of a signature imply for generic parameters: those of `@differentiable` functions, and generic
    /// types that ask something of their arguments. The function's own parameters are those from `first` on.
    pub(super) fn add_implied(
        &mut self,
        env: &mut Env,
        first: usize,
        params: &[Param],
        result: Option<&TypeExpr>,
        scope: &TypeScope,
    ) {
        let mut types: Vec<(Type, bool, Span)> = vec![];
        for ty in params.iter().filter_map(|p| p.ty.as_ref()).chain(result) {
            self.implied_by(ty, env, &mut types);
            if first < env.params.len() {
                self.add_of_arguments(ty, env, first, scope);
            }
        }
        let differentiable = self.protocol("Differentiable");
        for (ty, linear, at) in types {
            env.require(Requirement::Conforms(ty.clone(), differentiable), at);
            if linear {
                let additive = self.protocol("AdditiveArithmetic");
                env.require(Requirement::Conforms(ty.clone(), additive), at);
                let tangent = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
                env.require(Requirement::Same(tangent, ty), at);
            }
        }
    }

    /// What `@differentiable` functions imply for the parameters that they name.
    fn implied_by(&mut self, ty: &TypeExpr, env: &Env, out: &mut Vec<(Type, bool, Span)>) {
        match &ty.kind {
            TypeExprKind::Function { params, result, attributes, .. } => {
                if let Some(linear) = differentiable_attribute(attributes) {
                    let marked =
                        params.iter().filter(|p| !p.attributes.iter().any(|a| &*a.name.name == "noDerivative"));
                    for part in marked.map(|p| &p.ty).chain([&**result]) {
                        if let TypeExprKind::Named(path) = &part.kind
                            && let [(ident, _)] = path.as_slice()
                            && let Some(param) = self.param_named(&env.params, &ident.name)
                        {
                            out.push((Type::Param(param), linear, part.span));
                        }
                    }
                }
                self.implied_by(result, env, out);
            }
            TypeExprKind::Attributed(_, inner) | TypeExprKind::Optional(inner) => self.implied_by(inner, env, out),
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|(_, t)| self.implied_by(t, env, out)),
            _ => {}
        }
    }

    /// Adds what generic types require of the parameters that they are given: `[K: V]` makes `K` hashable.
    fn add_of_arguments(&mut self, ty: &TypeExpr, env: &mut Env, first: usize, scope: &TypeScope) {
        match &ty.kind {
            TypeExprKind::Dictionary(key, value) => {
                let dictionary = self.library_nominal("Dictionary");
                self.add_of_nominal(dictionary, &[key, value], env, first, ty.span);
            }
            TypeExprKind::Named(path) => {
                if let [(ident, given)] = path.as_slice()
                    && !given.is_empty()
                    && let Some(Named::Nominal(n)) = self.type_entry(&ident.name, scope.file)
                {
                    self.add_of_nominal(n, &given.iter().collect::<Vec<_>>(), env, first, ty.span);
                }
            }
            _ => {}
        }
        parts(ty).into_iter().for_each(|part| self.add_of_arguments(part, env, first, scope));
    }

    /// The same of one type and its arguments, as far as these are parameters.
    fn add_of_nominal(&mut self, n: NominalId, given: &[&TypeExpr], env: &mut Env, first: usize, at: Span) {
        let own = &env.params[first..];
        let arguments: Vec<Option<Type>> = given.iter().map(|ty| self.as_parameter(ty, own)).collect();
        let params = self.nominal_data(n).params.clone();
        if arguments.iter().all(Option::is_none) || params.len() != arguments.len() {
            return;
        }
        let by = |p| params.iter().position(|q| *q == p).and_then(|i| arguments[i].clone());
        for requirement in self.nominal_env(n).requirements.clone() {
            let Requirement::Conforms(of, p) = requirement else { continue };
            let requirement = Requirement::Conforms(of.substitute(&by), p);
            let is_about_others = matches!(&requirement, Requirement::Conforms(t, _)
                if t.any(&mut |t| matches!(t, Type::Param(p) if params.contains(p))));
            if !is_about_others {
                env.require(requirement, at);
            }
        }
    }

    /// The generic parameter that a type is written as.
    fn as_parameter(&self, ty: &TypeExpr, params: &[ParamId]) -> Option<Type> {
        let TypeExprKind::Named(path) = &ty.kind else { return None };
        let [(ident, _)] = path.as_slice() else { return None };
        self.param_named(params, &ident.name).map(Type::Param)
    }
}

/// The types that a type is written with.
fn parts(ty: &TypeExpr) -> Vec<&TypeExpr> {
    match &ty.kind {
        TypeExprKind::Array(of)
        | TypeExprKind::Optional(of)
        | TypeExprKind::Unwrapped(of)
        | TypeExprKind::Attributed(_, of)
        | TypeExprKind::Some(of)
        | TypeExprKind::Any(of)
        | TypeExprKind::Member(of, _)
        | TypeExprKind::Metatype(of) => vec![of],
        TypeExprKind::Dictionary(key, value) => vec![key, value],
        TypeExprKind::Named(path) => path.iter().flat_map(|(_, given)| given).collect(),
        TypeExprKind::Tuple(parts) => parts.iter().map(|(_, t)| t).collect(),
        TypeExprKind::Function { params, result, .. } => params.iter().map(|p| &p.ty).chain([&**result]).collect(),
        TypeExprKind::Composition(parts) => parts.iter().collect(),
        TypeExprKind::Inferred => vec![],
    }
}
