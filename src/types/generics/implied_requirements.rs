//! What a signature requires of generic parameters without saying so.

use crate::source::Span;
use crate::syntax::ast::{Ident, Param, TypeExpr, TypeExprKind};
use crate::types::model::tables::{Env, Named, Owner, Requirement, World};
use crate::types::model::ty::{NominalId, ParamId, Type};
use crate::types::names::type_expr::{TypeScope, differentiable_attribute};
use std::rc::Rc;

impl World {
    /// Adds what the types of a signature imply for generic parameters: those of `@differentiable` functions, and generic
    /// types that ask something of their arguments. The function's own parameters are those from `first` on.
    pub(crate) fn add_implied(
        &mut self,
        env: &mut Env,
        first: usize,
        params: &[Param],
        result: Option<&TypeExpr>,
        scope: &TypeScope,
    ) {
        let mut implied: Vec<(Requirement, Span)> = vec![];
        for ty in params.iter().filter_map(|p| p.ty.as_ref()).chain(result) {
            self.implied_by(ty, env, scope, &mut implied);
            if first < env.params.len() {
                self.add_of_arguments(ty, env, first, scope);
            }
        }
        for (requirement, at) in implied {
            env.require(requirement, at);
        }
    }

    /// What a name stands for: a type of a block, or one of the top level.
    fn type_in_scope(&mut self, name: &str, scope: &TypeScope) -> Option<Named> {
        scope.locals.get(name).copied().or_else(|| self.type_entry(name, scope.file))
    }

    /// The type that a path leads to, from one of the scope or of the types around it: `Layer`, `Model.Layer`.
    fn nominal_at(&mut self, path: &[(Ident, Vec<TypeExpr>)], scope: &TypeScope) -> Option<NominalId> {
        let ((first, _), rest) = path.split_first()?;
        let mut around = scope.owner;
        let mut found = None;
        while let (None, Owner::Nominal(n)) = (found, around) {
            found = self.nested_type(n, &first.name);
            around = self.nominal_data(n).parent;
        }
        let first = found.or_else(|| match self.type_in_scope(&first.name, scope) {
            Some(Named::Nominal(n)) => Some(n),
            _ => None,
        });
        rest.iter().try_fold(first?, |of, (name, _)| self.nested_type(of, &name.name))
    }

    /// A type that is declared in another one.
    fn nested_type(&mut self, of: NominalId, name: &str) -> Option<NominalId> {
        if !self.has_member_type(of, name) {
            return None;
        }
        match self.member_type(&self.declared_type(of), name) {
            Some(Type::Nominal(n, _)) => Some(n),
            _ => None,
        }
    }

    /// What `@differentiable` functions imply for the parameters that they name.
    fn implied_by(&mut self, ty: &TypeExpr, env: &Env, scope: &TypeScope, out: &mut Vec<(Requirement, Span)>) {
        match &ty.kind {
            TypeExprKind::Function { params, result, attributes, .. } => {
                if let Some(linear) = differentiable_attribute(attributes) {
                    let marked =
                        params.iter().filter(|p| !p.attributes.iter().any(|a| &*a.name.name == "noDerivative"));
                    for part in marked.map(|p| &p.ty).chain([&**result]) {
                        self.implied_by_differentiable(part, linear, env, scope, out);
                    }
                }
                self.implied_by(result, env, scope, out);
            }
            TypeExprKind::Attributed(_, inner) | TypeExprKind::Optional(inner) => {
                self.implied_by(inner, env, scope, out);
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|(_, t)| self.implied_by(t, env, scope, out)),
            _ => {}
        }
    }

    /// What the parameters in a type must conform to for the type to conform to 'Differentiable'.
    fn implied_by_differentiable(
        &mut self,
        ty: &TypeExpr,
        linear: bool,
        env: &Env,
        scope: &TypeScope,
        out: &mut Vec<(Requirement, Span)>,
    ) {
        match &ty.kind {
            TypeExprKind::Named(path) => {
                let Some((ident, given)) = path.last() else { return };
                if path.len() == 1
                    && let Some(param) = self.param_named(&env.params, &ident.name)
                {
                    self.differentiable_parameter(Type::Param(param), linear, ty.span, out);
                } else if !given.is_empty()
                    && let Some(n) = self.nominal_at(path, scope)
                {
                    let conditions = self.conditions_of_conformance(n, given, env);
                    out.extend(conditions.into_iter().map(|requirement| (requirement, ty.span)));
                }
            }
            TypeExprKind::Attributed(_, of)
            | TypeExprKind::Array(of)
            | TypeExprKind::Optional(of)
            | TypeExprKind::Unwrapped(of)
            | TypeExprKind::Dictionary(_, of) => self.implied_by_differentiable(of, linear, env, scope, out),
            TypeExprKind::Tuple(parts) => {
                parts.iter().for_each(|(_, part)| self.implied_by_differentiable(part, linear, env, scope, out));
            }
            _ => {}
        }
    }

    fn differentiable_parameter(&mut self, ty: Type, linear: bool, at: Span, out: &mut Vec<(Requirement, Span)>) {
        let differentiable = self.protocol("Differentiable");
        out.push((Requirement::Conforms(ty.clone(), differentiable), at));
        if linear {
            let additive = self.protocol("AdditiveArithmetic");
            out.push((Requirement::Conforms(ty.clone(), additive), at));
            let tangent = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
            out.push((Requirement::Same(tangent, ty), at));
        }
    }

    /// The conditions on which a generic type conforms to 'Differentiable', for arguments that are generic parameters.
    fn conditions_of_conformance(&mut self, n: NominalId, given: &[TypeExpr], env: &Env) -> Vec<Requirement> {
        let arguments: Vec<Option<Type>> = given.iter().map(|ty| self.as_parameter(ty, &env.params)).collect();
        let params = self.nominal_data(n).params.clone();
        let differentiable = self.protocol("Differentiable");
        if arguments.iter().all(Option::is_none) || params.len() != arguments.len() {
            return vec![];
        }
        let Some(conformance) = self.find_conformance(n, differentiable) else { return vec![] };
        let (group, _) = self.asks(n, conformance);
        let by = |p| params.iter().position(|q| *q == p).and_then(|i| arguments[i].clone());
        let conditions = self.group_env(group);
        let put = conditions.requirements.iter().map(|r| r.map(&mut |t| t.substitute(&by)));
        let is_about_others = |r: &Requirement| {
            let mut others = false;
            r.map(&mut |t| {
                others |= t.any(&mut |t| matches!(t, Type::Param(p) if params.contains(p)));
                t.clone()
            });
            others
        };
        put.filter(|r| !is_about_others(r)).collect()
    }

    /// Adds what generic types require of the parameters that they are given: `[K: V]` makes `K` hashable.
    fn add_of_arguments(&mut self, ty: &TypeExpr, env: &mut Env, first: usize, scope: &TypeScope) {
        match &ty.kind {
            TypeExprKind::Dictionary(key, value) => {
                let dictionary = self.library_nominal("Dictionary");
                self.add_of_nominal(dictionary, &[key, value], env, first, ty.span);
            }
            TypeExprKind::Named(path) => {
                if let Some((_, given)) = path.last()
                    && !given.is_empty()
                    && let Some(n) = self.nominal_at(path, scope)
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
        let mut arguments: Vec<Option<Type>> = given.iter().map(|ty| self.as_parameter(ty, own)).collect();
        let params = self.nominal_data(n).params.clone();
        // Those of the types around it come first.
        let outer = params.len().saturating_sub(arguments.len());
        arguments.splice(0..0, std::iter::repeat_n(None, outer));
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
