//! Generic surroundings: the parameters that are in scope, and what is required of them.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Generics, Requirement as AstRequirement, TypeExpr, TypeExprKind};
use crate::types::model::tables::{Env, GroupId, Named, Owner, Requirement, World};
use crate::types::model::ty::{NominalId, ParamId, Type};
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

impl World {
    /// The generic surroundings of the members of a group.
    pub(crate) fn group_env(&mut self, group: GroupId) -> Rc<Env> {
        if let Some(env) = &self.groups[group.0 as usize].env {
            return env.clone();
        }
        let (owner, file) = (self.groups[group.0 as usize].owner, self.groups[group.0 as usize].file);
        let mut env = match owner {
            Owner::Module => Env::default(),
            Owner::Nominal(n) => (*self.nominal_env(n)).clone(),
            Owner::Protocol(p) => {
                let own = Type::Param(self.protocol_data(p).self_param);
                let mut env = Env { params: vec![self.protocol_data(p).self_param], ..Env::default() };
                env.require(Requirement::Conforms(own, p), Span::default());
                env
            }
        };
        // Set first: a requirement may mention a type whose lookup comes back here.
        self.groups[group.0 as usize].env = Some(Rc::new(env.clone()));
        let requirements = self.groups[group.0 as usize].requirements.clone();
        self.add_requirements(&mut env, &requirements, &TypeScope::of(owner, file));
        let env = Rc::new(env);
        self.groups[group.0 as usize].env = Some(env.clone());
        env
    }

    /// The generic surroundings inside a nominal type.
    pub(crate) fn nominal_env(&mut self, n: NominalId) -> Rc<Env> {
        let own_group = self.nominal_data(n).group;
        if let Some(env) = &self.groups[own_group.0 as usize].env {
            return env.clone();
        }
        let data = self.nominal_data(n);
        let (parent, generics, file) = (data.parent, data.generics.clone(), data.file);
        let params = data.params.clone();
        let mut env = match parent {
            Owner::Nominal(_) => match self.nominal_data(n).outer {
                Some(outer) => (*self.group_env(outer)).clone(),
                None => Env::default(),
            },
            Owner::Module => self.nominal_data(n).around.as_deref().cloned().unwrap_or_default(),
            Owner::Protocol(_) => Env::default(),
        };
        env.params = params;
        self.groups[own_group.0 as usize].env = Some(Rc::new(env.clone()));
        let scope = TypeScope::of(Owner::Nominal(n), file);
        self.add_generics(&mut env, &generics, &scope);
        let env = Rc::new(env);
        self.groups[own_group.0 as usize].env = Some(env.clone());
        env
    }

    /// Adds what the bounds and the `where` clause of generic parameters require. The parameters are in `env` already.
    pub(crate) fn add_generics(&mut self, env: &mut Env, generics: &Generics, scope: &TypeScope) {
        for (name, bound) in &generics.params {
            let Some(bound) = bound else { continue };
            let Some(param) = self.param_named(&env.params, &name.name) else { continue };
            self.add_bound(env, &Type::Param(param), bound, scope, name.span.to(bound.span));
        }
        self.add_requirements(env, &generics.requirements, scope);
    }

    pub(crate) fn param_named(&self, params: &[ParamId], name: &str) -> Option<ParamId> {
        params.iter().rev().copied().find(|p| &*self.params[p.0 as usize].name == name)
    }

    fn add_bound(&mut self, env: &mut Env, of: &Type, bound: &TypeExpr, scope: &TypeScope, at: Span) {
        for (bound, _) in self.bounds(bound, scope) {
            let requirement = match bound {
                Ok(p) => Requirement::Conforms(of.clone(), p),
                Err(ty) if self.is_no_bound(&ty) => {
                    let (of, ty) = (self.show(of), self.show(&ty));
                    let message = format!("type '{of}' constrained to non-protocol, non-class type '{ty}'");
                    self.report(
                        Diagnostic::error(Code::Types, at, message)
                            .help(format!("to require exactly this type, write '{of} == {ty}' in a 'where' clause")),
                    );
                    continue;
                }
                Err(ty) => Requirement::Superclass(of.clone(), ty),
            };
            env.require(requirement, at);
        }
        self.add_primary(env, of, bound, scope);
    }

    /// Whether nothing can be a kind of that type: it is no class.
    fn is_no_bound(&self, ty: &Type) -> bool {
        match ty {
            Type::Nominal(n, _) => !self.is_class(*n),
            Type::Tuple(_) | Type::Function(_) | Type::Metatype(_) | Type::Param(_) => true,
            _ => false,
        }
    }

    /// What `T: P<A>` says of the associated types of `T`.
    fn add_primary(&mut self, env: &mut Env, of: &Type, bound: &TypeExpr, scope: &TypeScope) {
        match &bound.kind {
            TypeExprKind::Composition(parts) => parts.iter().for_each(|part| self.add_primary(env, of, part, scope)),
            TypeExprKind::Named(path) => {
                let [(ident, given)] = path.as_slice() else { return };
                let Some(Named::Protocol(p)) = self.type_entry(&ident.name, scope.file) else { return };
                let primary = self.protocol_data(p).primary.clone();
                if self.too_many_primary(&ident.name, primary.len(), given.len(), bound.span) {
                    return;
                }
                let saved = std::mem::replace(&mut self.env, Rc::new(env.clone()));
                for (name, given) in primary.iter().zip(given) {
                    let given = self.resolve_type(given, scope);
                    if let Some(associated) = self.associated_type(of, name) {
                        env.require(Requirement::Same(associated, given), bound.span);
                    }
                }
                self.env = saved;
            }
            _ => {}
        }
    }

    pub(crate) fn add_requirements(&mut self, env: &mut Env, requirements: &[AstRequirement], scope: &TypeScope) {
        for requirement in requirements {
            let saved = std::mem::replace(&mut self.env, Rc::new(env.clone()));
            let left = self.resolve_type(&requirement.left, scope);
            let right = requirement.same.then(|| self.resolve_type(&requirement.right, scope));
            self.env = saved;
            let at = requirement.left.span.to(requirement.right.span);
            match right {
                Some(right) => env.require(Requirement::Same(left, right), at),
                None => self.add_bound(env, &left, &requirement.right, scope, at),
            }
        }
    }
}
