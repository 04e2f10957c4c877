//! Types as written to types as known: names of types, generic surroundings, type aliases, member types.

use super::declare::inherited;
use super::prelude::PRELUDE_FILE;
use super::store::{AliasId, Entry, Env, GroupId, Named, Owner, Requirement, World};
use super::ty::{FunctionParam, FunctionType, NominalId, ParamId, ProtocolId, Strength, Type};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Attribute, AttributeArgs, Generics, Ident, Name, Param, Requirement as AstRequirement, TypeExpr, TypeExprKind,
};
use hashbrown::HashMap;
use std::rc::Rc;

/// Where a type is written: which names it can see.
#[derive(Clone, Debug)]
pub(super) struct TypeScope {
    pub(super) owner: Owner,
    pub(super) file: u32,
    /// Types declared in the function around it.
    pub(super) locals: Rc<HashMap<Name, Named>>,
    /// Whether generic arguments that are left out are to be inferred.
    pub(super) open: bool,
}

impl TypeScope {
    pub(super) fn of(owner: Owner, file: u32) -> TypeScope {
        TypeScope { owner, file, locals: Rc::default(), open: false }
    }
}

impl World {
    /// What a name of the top level stands for, seen from a file: a user's declarations first.
    pub(super) fn entries(&mut self, name: &str, file: u32) -> Vec<Entry> {
        let mut found: Vec<Entry> = if file == PRELUDE_FILE {
            vec![]
        } else {
            self.module.get(name).into_iter().flatten().filter(|e| !e.is_private || e.file == file).copied().collect()
        };
        found.extend(self.library_entries(name));
        found
    }

    fn type_entry(&mut self, name: &str, file: u32) -> Option<Named> {
        self.entries(name, file)
            .into_iter()
            .map(|e| e.what)
            .find(|what| matches!(what, Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_)))
    }

    /// A protocol of the prelude.
    pub(super) fn protocol(&mut self, name: &'static str) -> ProtocolId {
        if let Some(Entry { what: Named::Protocol(p), .. }) = self.known.get(name) {
            return *p;
        }
        let entry = self.library_entries(name).into_iter().find(|e| matches!(e.what, Named::Protocol(_)));
        match entry {
            Some(entry @ Entry { what: Named::Protocol(p), .. }) => {
                self.known.insert(name, entry);
                p
            }
            _ => unreachable!("the prelude declares the protocol {name}"),
        }
    }

    /// A nominal type of the prelude.
    pub(super) fn library_nominal(&mut self, name: &'static str) -> NominalId {
        if let Some(Entry { what: Named::Nominal(n), .. }) = self.known.get(name) {
            return *n;
        }
        let entry = self.library_entries(name).into_iter().find(|e| matches!(e.what, Named::Nominal(_)));
        match entry {
            Some(entry @ Entry { what: Named::Nominal(n), .. }) => {
                self.known.insert(name, entry);
                n
            }
            _ => unreachable!("the prelude declares the type {name}"),
        }
    }

    /// A built-in type without arguments.
    pub(super) fn simple(&mut self, name: &'static str) -> Type {
        Type::Nominal(self.library_nominal(name), Rc::from([]))
    }

    /// A built-in type with arguments.
    pub(super) fn applied(&mut self, name: &'static str, args: &[Type]) -> Type {
        Type::Nominal(self.library_nominal(name), args.into())
    }

    /// Whom an extension extends.
    pub(super) fn extended_owner(&mut self, target: &TypeExpr, file: u32) -> Option<Owner> {
        let TypeExprKind::Named(path) = &target.kind else {
            let name = match &target.kind {
                TypeExprKind::Array(_) => "Array",
                TypeExprKind::Dictionary(..) => "Dictionary",
                TypeExprKind::Optional(_) => "Optional",
                _ => return None,
            };
            return Some(Owner::Nominal(self.library_nominal(name)));
        };
        let mut owner = match self.type_entry(&path.first()?.0.name, file)? {
            Named::Nominal(n) => Owner::Nominal(n),
            Named::Protocol(p) => Owner::Protocol(p),
            Named::Alias(a) => match self.resolve_alias(a) {
                Type::Nominal(n, _) => Owner::Nominal(n),
                _ => return None,
            },
            Named::Function(_) | Named::Global(_) => return None,
        };
        for (ident, _) in &path[1..] {
            let Owner::Nominal(n) = owner else { return None };
            match self.member_type(&self.declared_type(n), &ident.name)? {
                Type::Nominal(inner, _) => owner = Owner::Nominal(inner),
                _ => return None,
            }
        }
        Some(owner)
    }

    pub(super) fn unknown_type_diagnostic(&self, ty: &TypeExpr) -> Diagnostic {
        Diagnostic::error(Code::UnknownType, ty.span, "cannot find the type to extend in scope")
    }

    /// The generic surroundings of the members of a group.
    pub(super) fn group_env(&mut self, group: GroupId) -> Rc<Env> {
        if let Some(env) = &self.groups[group.0 as usize].env {
            return env.clone();
        }
        let (owner, file) = (self.groups[group.0 as usize].owner, self.groups[group.0 as usize].file);
        let mut env = match owner {
            Owner::Module => Env::default(),
            Owner::Nominal(n) => (*self.nominal_env(n)).clone(),
            Owner::Protocol(p) => {
                let own = Type::Param(self.protocol_data(p).self_param);
                let params = vec![self.protocol_data(p).self_param];
                Env { params, requirements: vec![Requirement::Conforms(own, p)] }
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
    pub(super) fn nominal_env(&mut self, n: NominalId) -> Rc<Env> {
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
            Owner::Module | Owner::Protocol(_) => Env::default(),
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
    pub(super) fn add_generics(&mut self, env: &mut Env, generics: &Generics, scope: &TypeScope) {
        for (name, bound) in &generics.params {
            let Some(bound) = bound else { continue };
            let Some(param) = self.param_named(&env.params, &name.name) else { continue };
            self.add_bound(env, &Type::Param(param), bound, scope);
        }
        self.add_requirements(env, &generics.requirements, scope);
    }

    fn param_named(&self, params: &[ParamId], name: &str) -> Option<ParamId> {
        params.iter().rev().copied().find(|p| &*self.params[p.0 as usize].name == name)
    }

    fn add_bound(&mut self, env: &mut Env, of: &Type, bound: &TypeExpr, scope: &TypeScope) {
        match &inherited(bound).0.kind {
            TypeExprKind::Composition(parts) => {
                for part in parts {
                    self.add_bound(env, of, part, scope);
                }
            }
            TypeExprKind::Named(path) if path.len() == 1 && &*path[0].0.name == "AnyObject" => {}
            _ => match self.protocol_or_type(inherited(bound).0, scope) {
                Some(Ok(p)) => {
                    let requirement = Requirement::Conforms(of.clone(), p);
                    if !env.requirements.contains(&requirement) {
                        env.requirements.push(requirement);
                    }
                }
                Some(Err(ty)) => env.requirements.push(Requirement::Superclass(of.clone(), ty)),
                None => {}
            },
        }
    }

    fn add_requirements(&mut self, env: &mut Env, requirements: &[AstRequirement], scope: &TypeScope) {
        for requirement in requirements {
            let saved = std::mem::replace(&mut self.env, Rc::new(env.clone()));
            let left = self.resolve_type(&requirement.left, scope);
            let right = requirement.same.then(|| self.resolve_type(&requirement.right, scope));
            self.env = saved;
            match right {
                Some(right) => env.requirements.push(Requirement::Same(left, right)),
                None => self.add_bound(env, &left, &requirement.right, scope),
            }
        }
    }

    /// A protocol, or another type, by what is written.
    pub(super) fn protocol_or_type(&mut self, ty: &TypeExpr, scope: &TypeScope) -> Option<Result<ProtocolId, Type>> {
        if let TypeExprKind::Named(path) = &ty.kind
            && let [(ident, generics)] = path.as_slice()
            && generics.is_empty()
            && let Some(Named::Protocol(p)) = self.type_entry(&ident.name, scope.file)
        {
            return Some(Ok(p));
        }
        match self.resolve_type(ty, scope) {
            Type::Existential(protocols) if protocols.len() == 1 => Some(Ok(protocols[0])),
            Type::Error => None,
            other => Some(Err(other)),
        }
    }

    /// Adds what `@differentiable` function types of a signature imply for generic parameters.
    pub(super) fn add_implied(&mut self, env: &mut Env, params: &[Param], result: Option<&TypeExpr>) {
        let mut types: Vec<(Type, bool)> = vec![];
        for ty in params.iter().filter_map(|p| p.ty.as_ref()).chain(result) {
            self.implied_by(ty, env, &mut types);
        }
        let differentiable = self.protocol("Differentiable");
        for (ty, linear) in types {
            let requirement = Requirement::Conforms(ty.clone(), differentiable);
            if !env.requirements.contains(&requirement) {
                env.requirements.push(requirement);
            }
            if linear {
                let additive = self.protocol("AdditiveArithmetic");
                env.requirements.push(Requirement::Conforms(ty.clone(), additive));
                let tangent = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
                env.requirements.push(Requirement::Same(tangent, ty));
            }
        }
    }

    fn implied_by(&mut self, ty: &TypeExpr, env: &Env, out: &mut Vec<(Type, bool)>) {
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
                            out.push((Type::Param(param), linear));
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

    /// The type that is written, with the generic parameters of [`World::env`]. Reports what is wrong with it.
    pub(super) fn resolve_type(&mut self, ty: &TypeExpr, scope: &TypeScope) -> Type {
        match &ty.kind {
            TypeExprKind::Named(path) => self.resolve_path(path, scope, ty.span),
            TypeExprKind::Array(of) => {
                let of = self.resolve_type(of, scope);
                self.applied("Array", &[of])
            }
            TypeExprKind::Dictionary(key, value) => {
                let (key, value) = (self.resolve_type(key, scope), self.resolve_type(value, scope));
                self.applied("Dictionary", &[key, value])
            }
            TypeExprKind::Optional(of) | TypeExprKind::Unwrapped(of) => {
                let of = self.resolve_type(of, scope);
                self.applied("Optional", &[of])
            }
            TypeExprKind::Tuple(parts) => {
                let parts =
                    parts.iter().map(|(l, t)| (l.as_ref().map(|l| l.name.clone()), self.resolve_type(t, scope)));
                Type::Tuple(parts.collect())
            }
            TypeExprKind::Function { params, result, throws, attributes } => {
                let strength = match differentiable_attribute(attributes) {
                    None => Strength::Plain,
                    Some(false) => Strength::Differentiable,
                    Some(true) => Strength::Linear,
                };
                let params = params
                    .iter()
                    .map(|p| {
                        let has = |name: &str| p.attributes.iter().any(|a| &*a.name.name == name);
                        FunctionParam {
                            ty: self.resolve_type(&p.ty, scope),
                            is_inout: p.is_inout,
                            no_derivative: has("noDerivative"),
                            autoclosure: has("autoclosure"),
                        }
                    })
                    .collect();
                let result = self.resolve_type(result, scope);
                Type::Function(Rc::new(FunctionType { params, result, throws: *throws, strength }))
            }
            TypeExprKind::Some(of) => self.resolve_type(of, scope),
            TypeExprKind::Any(of) => self.resolve_type(of, scope),
            TypeExprKind::Composition(parts) => {
                let mut protocols = vec![];
                for part in parts {
                    match self.resolve_type(part, scope) {
                        Type::Existential(more) => protocols.extend(more.iter().copied()),
                        Type::Error => return Type::Error,
                        other => return other,
                    }
                }
                Type::Existential(protocols.into())
            }
            TypeExprKind::Metatype(of) => {
                let of = self.resolve_type(of, scope);
                Type::Metatype(Rc::new(of))
            }
            TypeExprKind::Attributed(_, inner) => self.resolve_type(inner, scope),
            TypeExprKind::Inferred => self.fresh(),
        }
    }

    fn resolve_path(&mut self, path: &[(Ident, Vec<TypeExpr>)], scope: &TypeScope, span: Span) -> Type {
        let Some(((first, generics), rest)) = path.split_first() else { return Type::Error };
        let Some(mut ty) = self.resolve_name(first, generics, scope) else {
            let mut diagnostic =
                Diagnostic::error(Code::UnknownType, first.span, format!("cannot find type '{}' in scope", first.name));
            if let Some(close) = self.similar_type(&first.name) {
                diagnostic = diagnostic.fix(format!("did you mean '{close}'?"), first.span, close);
            }
            self.report(diagnostic);
            return Type::Error;
        };
        for (ident, generics) in rest {
            if ty == Type::Error {
                return ty;
            }
            if matches!(&*ident.name, "Type" | "Protocol") {
                ty = Type::Metatype(Rc::new(ty));
                continue;
            }
            ty = match self.member_type(&ty, &ident.name) {
                Some(member) if generics.is_empty() => member,
                Some(Type::Nominal(n, args)) => {
                    let given: Vec<Type> = generics.iter().map(|g| self.resolve_type(g, scope)).collect();
                    let outer = args.len().saturating_sub(given.len());
                    Type::Nominal(n, args.iter().take(outer).cloned().chain(given).collect())
                }
                Some(member) => member,
                None => {
                    let message = format!("'{}' is not a member type of '{}'", ident.name, self.show(&ty));
                    self.report(Diagnostic::error(Code::UnknownType, span, message));
                    return Type::Error;
                }
            };
        }
        ty
    }

    fn resolve_name(&mut self, ident: &Ident, generics: &[TypeExpr], scope: &TypeScope) -> Option<Type> {
        let name = &*ident.name;
        if let Some(index) = name.strip_prefix("__t").and_then(|n| n.parse::<usize>().ok()) {
            return self.synthesized_types.get(index).cloned();
        }
        match name {
            "Any" | "AnyObject" => return Some(Type::Existential(Rc::from([]))),
            "Never" => return Some(Type::Never),
            "Self" => match scope.owner {
                Owner::Nominal(n) => return Some(self.declared_type(n)),
                Owner::Protocol(p) => return Some(Type::Param(self.protocol_data(p).self_param)),
                Owner::Module => {}
            },
            _ => {}
        }
        if let Some(param) = self.param_named(&self.env.params.clone(), name) {
            return Some(self.normalize_type(&Type::Param(param)));
        }
        let local = scope.locals.get(name).copied();
        let mut owner = scope.owner;
        while local.is_none() {
            let found = match owner {
                Owner::Module => None,
                Owner::Nominal(n) if self.has_member_type(n, name) => self.member_type(&self.declared_type(n), name),
                Owner::Nominal(n) if &*self.nominal_data(n).name == name && generics.is_empty() => {
                    Some(self.declared_type(n))
                }
                Owner::Nominal(n) => {
                    let declared = self.declared_type(n);
                    self.associated_type(&declared, name)
                }
                Owner::Protocol(p) => self.member_type(&Type::Param(self.protocol_data(p).self_param), name),
            };
            if let Some(found) = found {
                return Some(self.apply(found, generics, scope, ident.span));
            }
            owner = match owner {
                Owner::Nominal(n) => self.nominal_data(n).parent,
                Owner::Module | Owner::Protocol(_) => break,
            };
        }
        let found = match local.or_else(|| self.type_entry(name, scope.file))? {
            Named::Nominal(n) => {
                let own = self.nominal_data(n).own_params;
                if generics.is_empty() && own > 0 {
                    if self.encloses(scope.owner, n) {
                        return Some(self.declared_type(n));
                    }
                    if scope.open {
                        let args = self.nominal_data(n).params.clone();
                        return Some(Type::Nominal(n, args.iter().map(|_| self.fresh()).collect()));
                    }
                }
                Type::Nominal(n, self.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect())
            }
            Named::Protocol(p) => Type::Existential(Rc::from([p])),
            Named::Alias(a) => return Some(self.apply_alias(a, generics, scope, ident.span)),
            Named::Function(_) | Named::Global(_) => return None,
        };
        Some(self.apply(found, generics, scope, ident.span))
    }

    fn encloses(&self, owner: Owner, n: NominalId) -> bool {
        match owner {
            Owner::Nominal(o) => o == n || self.encloses(self.nominal_data(o).parent, n),
            Owner::Module | Owner::Protocol(_) => false,
        }
    }

    /// Gives a generic type its arguments.
    fn apply(&mut self, ty: Type, generics: &[TypeExpr], scope: &TypeScope, span: Span) -> Type {
        let Type::Nominal(n, args) = &ty else { return ty };
        let own = self.nominal_data(*n).own_params;
        if generics.is_empty() {
            let unapplied = own > 0
                && args
                    .iter()
                    .zip(&self.nominal_data(*n).params)
                    .skip(args.len() - own)
                    .all(|(a, p)| *a == Type::Param(*p))
                && !self.encloses(scope.owner, *n);
            if unapplied && scope.open {
                let kept = args.len() - own;
                let args = args.iter().take(kept).cloned().chain((0..own).map(|_| self.fresh()).collect::<Vec<_>>());
                return Type::Nominal(*n, args.collect());
            }
            if unapplied {
                let message =
                    format!("reference to generic type '{}' requires arguments in <...>", self.nominal_data(*n).name);
                self.report(Diagnostic::error(Code::CannotInfer, span, message));
                return Type::Error;
            }
            return ty;
        }
        if generics.len() != own {
            let message = format!(
                "generic type '{}' specialized with {} type parameters (expected {own})",
                self.nominal_data(*n).name,
                generics.len()
            );
            self.report(Diagnostic::error(Code::Types, span, message));
            return Type::Error;
        }
        let given: Vec<Type> = generics.iter().map(|g| self.resolve_type(g, scope)).collect();
        let kept = args.len() - own;
        Type::Nominal(*n, args.iter().take(kept).cloned().chain(given).collect())
    }

    pub(super) fn resolve_alias(&mut self, a: AliasId) -> Type {
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
        let (owner, file, target, generics) = (data.owner, data.file, data.target.clone(), data.generics.clone());
        let (group, params) = (data.group, data.params.clone());
        self.aliases[a.0 as usize].resolving = true;
        let mut env = group.map_or_else(Env::default, |g| (*self.group_env(g)).clone());
        env.params.extend(params);
        let scope = TypeScope::of(owner, file);
        self.add_generics(&mut env, &generics, &scope);
        let saved = std::mem::replace(&mut self.env, Rc::new(env));
        let resolved = self.resolve_type(&target, &scope);
        self.env = saved;
        let data = &mut self.aliases[a.0 as usize];
        data.resolving = false;
        data.resolved = Some(resolved.clone());
        resolved
    }

    fn apply_alias(&mut self, a: AliasId, generics: &[TypeExpr], scope: &TypeScope, span: Span) -> Type {
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
        target.substitute(&|p| params.iter().position(|q| *q == p).map(|i| args[i].clone()))
    }

    /// `T.Name`
    pub(super) fn member_type(&mut self, of: &Type, name: &str) -> Option<Type> {
        let of = self.shallow(of);
        if let Type::Nominal(n, args) = &of {
            if let Some(found) = self.own_member_type(*n, args, name) {
                return Some(found);
            }
            let data = self.nominal_data(*n);
            let own = data.params.len() - data.own_params;
            if let Some(i) = (own..data.params.len()).find(|i| &*self.params[data.params[*i].0 as usize].name == name) {
                return args.get(i).cloned();
            }
        }
        self.associated_type(&of, name)
    }

    /// A nested type or type alias that is declared in a nominal type.
    pub(super) fn own_member_type(&mut self, n: NominalId, args: &[Type], name: &str) -> Option<Type> {
        use super::store::MemberKind;
        let short = self.nominal_data(n).name.clone();
        if self.nominal_data(n).is_prelude || self.nominal_data(n).parent == Owner::Module {
            self.load_extensions(&short);
        }
        let members = self.nominal_data(n).members.get(name)?;
        let kind = members
            .iter()
            .map(|m| m.kind.clone())
            .find(|k| matches!(k, MemberKind::Nominal(_) | MemberKind::Alias(_)))?;
        let found = match kind {
            MemberKind::Nominal(inner) => self.declared_type(inner),
            MemberKind::Alias(a) => self.resolve_alias(a),
            _ => return None,
        };
        let params = self.nominal_data(n).params.clone();
        let args: Vec<Type> = args.to_vec();
        let found = found.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()));
        Some(self.normalize_type(&found))
    }

    fn has_member_type(&mut self, n: NominalId, name: &str) -> bool {
        use super::store::MemberKind;
        if self.nominal_data(n).is_prelude {
            let short = self.nominal_data(n).name.clone();
            self.load_extensions(&short);
        }
        self.nominal_data(n)
            .members
            .get(name)
            .is_some_and(|m| m.iter().any(|m| matches!(m.kind, MemberKind::Nominal(_) | MemberKind::Alias(_))))
    }

    fn similar_type(&mut self, name: &str) -> Option<String> {
        let candidates: Vec<String> = self
            .module
            .iter()
            .filter(|(_, e)| e.iter().any(|e| matches!(e.what, Named::Nominal(_) | Named::Alias(_))))
            .map(|(n, _)| n.to_string())
            .chain(["Double", "Float", "Int", "String", "Bool", "Array", "Dictionary", "Optional"].map(String::from))
            .collect();
        super::names::closest(name, candidates.iter().map(String::as_str))
    }
}

/// Whether attributes make a function type differentiable, and if so whether linear.
pub(super) fn differentiable_attribute(attributes: &[Attribute]) -> Option<bool> {
    let attribute = attributes.iter().find(|a| &*a.name.name == "differentiable")?;
    Some(match &attribute.args {
        AttributeArgs::Differentiation(args) => {
            args.kind.as_ref().is_some_and(|k| matches!(&*k.name, "linear" | "_linear"))
        }
        AttributeArgs::Text(text) => text.contains("linear"),
        AttributeArgs::None => false,
    })
}
