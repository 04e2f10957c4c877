//! Aliases of types: what they stand for, and what generic ones require of their arguments.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{TypeExpr, TypeExprKind};
use crate::types::model::tables::{AliasId, Env, Named, Requirement, World};
use crate::types::model::ty::{ParamId, Type};
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// A generic alias with its arguments, and the generic surroundings in which it is written. Whether the arguments conform
/// cannot be asked while types are resolved: that takes the types.
#[derive(Clone)]
pub(crate) struct AliasUse {
    alias: AliasId,
    args: Vec<Type>,
    /// What it stands for.
    whole: Type,
    env: Rc<Env>,
    span: Span,
}

impl World {
    pub(crate) fn resolve_alias(&mut self, a: AliasId) -> Type {
        let data = &self.aliases[a.0 as usize];
        if let Some(resolved) = &data.resolved {
            return resolved.clone();
        }
        let span = data.span;
        if data.resolving {
            let message = format!("type alias '{}' references itself", data.name);
            self.report(Diagnostic::error(Code::Types, span, message));
            return Type::Error;
        }
        let (target, generics, params) = (data.target.clone(), data.generics.clone(), data.params.clone());
        let (group, around) = (data.group, data.around.clone());
        let scope = TypeScope { locals: data.locals.clone(), ..TypeScope::of(data.owner, data.file) };
        self.aliases[a.0 as usize].resolving = true;
        let around = group.map(|g| self.group_env(g)).or(around).unwrap_or_default();
        let mut env = (*around).clone();
        env.params.extend(params);
        self.add_generics(&mut env, &generics, &scope);
        let env = Rc::new(env);
        let saved = std::mem::replace(&mut self.env, env.clone());
        let resolved = match self.unapplied_generic(&target, &scope).filter(|_| generics.params.is_empty()) {
            Some((params, generic)) => {
                self.aliases[a.0 as usize].params = params;
                generic
            }
            None => self.resolve_type(&target, &scope),
        };
        // What is wrong with a part was said; aliases of aliases of it would say it again.
        let is_wrong = self.refuse_large(&resolved, span) || resolved.any(&mut |t| *t == Type::Error);
        let resolved = if is_wrong { Type::Error } else { resolved };
        self.env = saved;
        let data = &mut self.aliases[a.0 as usize];
        data.resolving = false;
        data.env = Some(env);
        data.resolved = Some(resolved.clone());
        resolved
    }

    /// The parameters of the generic type that is named without arguments, and the type applied to them: an alias of it takes
    /// the same arguments.
    fn unapplied_generic(&mut self, target: &TypeExpr, scope: &TypeScope) -> Option<(Vec<ParamId>, Type)> {
        let TypeExprKind::Named(path) = &target.kind else { return None };
        let [(ident, given)] = path.as_slice() else { return None };
        if !given.is_empty() || self.param_named(&self.env.params, &ident.name).is_some() {
            return None;
        }
        let found = scope.locals.get(&ident.name).copied();
        match found.or_else(|| self.type_entry(&ident.name, scope.file))? {
            Named::Nominal(n) if !self.encloses(scope.owner, n) => {
                let data = self.nominal_data(n);
                let first = data.params.len() - data.own_params;
                let params = data.params.get(first..).filter(|own| !own.is_empty())?.to_vec();
                Some((params, self.declared_type(n)))
            }
            Named::Alias(other) => {
                let generic = self.resolve_alias(other);
                let params = self.aliases[other.0 as usize].params.clone();
                (!params.is_empty()).then_some((params, generic))
            }
            _ => None,
        }
    }

    /// What an alias with these arguments stands for.
    pub(crate) fn apply_alias(&mut self, a: AliasId, generics: &[TypeExpr], scope: &TypeScope, span: Span) -> Type {
        let target = self.resolve_alias(a);
        let params = self.aliases[a.0 as usize].params.clone();
        if params.is_empty() && !generics.is_empty() {
            return self.apply(target, generics, scope, span);
        }
        let args: Vec<Type> = if generics.is_empty() && scope.open {
            params.iter().map(|_| self.fresh()).collect()
        } else {
            generics.iter().map(|g| self.resolve_type(g, scope)).collect()
        };
        if args.len() != params.len() {
            let message =
                format!("reference to generic type '{}' requires arguments in <...>", self.aliases[a.0 as usize].name);
            self.report(Diagnostic::error(Code::CannotInfer, span, message));
            return Type::Error;
        }
        let whole = |args: &[Type]| {
            target.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()))
        };
        let generics = &self.aliases[a.0 as usize].generics;
        if generics.params.iter().any(|(_, bound)| bound.is_some()) || !generics.requirements.is_empty() {
            let whole = whole(&args);
            self.alias_uses.push(AliasUse { alias: a, args, whole: whole.clone(), env: self.env.clone(), span });
            return whole;
        }
        whole(&args)
    }

    /// Reports the uses of aliases whose arguments do not do what the alias requires of them, each once.
    pub(crate) fn check_alias_uses(&mut self) {
        let mut said: Vec<Span> = vec![];
        for AliasUse { alias, args, whole, env, span } in std::mem::take(&mut self.alias_uses) {
            let saved = std::mem::replace(&mut self.env, env);
            if !said.contains(&span) && self.check_alias_use(alias, &args, span) {
                said.push(span);
                let whole = self.resolved(&whole);
                self.refused_by_alias.push(whole);
            }
            self.env = saved;
        }
    }

    /// Whether something was said.
    fn check_alias_use(&mut self, a: AliasId, args: &[Type], span: Span) -> bool {
        let data = &self.aliases[a.0 as usize];
        let (params, name) = (data.params.clone(), data.name.clone());
        let Some(env) = data.env.clone() else { return false };
        let by = |p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned());
        for (index, requirement) in env.requirements.iter().enumerate() {
            let put = requirement.map(&mut |t| t.substitute(&by));
            let put = put.map(&mut |t| self.resolved(t));
            if self.is_open(&put) || self.is_met(&put) {
                continue;
            }
            let shown: Vec<String> = args.iter().map(|arg| self.show(arg)).collect();
            let message = format!("'{name}<{}>' requires {}", shown.join(", "), self.condition(&put));
            let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
            let diagnostic = self.with_clause(diagnostic, &env, index, &put, true);
            let diagnostic = self.with_way_out(diagnostic, &put);
            self.report(diagnostic);
            return true;
        }
        false
    }

    /// Whether a type in a requirement is not known, or known to be wrong.
    fn is_open(&mut self, put: &Requirement) -> bool {
        let mut open = false;
        put.map(&mut |t| {
            open |= t.any(&mut |t| matches!(t, Type::Error | Type::Var(_)));
            t.clone()
        });
        open
    }
}
