//! Types as written to types as known.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Attribute, AttributeArgs, Ident, Name, TypeExpr, TypeExprKind};
use crate::types::model::display::{did_you_mean, without};
use crate::types::model::tables::{Named, Owner, World};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use hashbrown::HashMap;
use std::rc::Rc;

/// How the names begin that synthesized code has for types.
const SYNTHESIZED: &str = "__t";

/// Where a type is written: which names it can see.
#[derive(Clone, Debug)]
pub(crate) struct TypeScope {
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    /// Types declared in the function around it.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    /// Whether generic arguments that are left out are to be inferred.
    pub(crate) open: bool,
}

impl TypeScope {
    pub(crate) fn of(owner: Owner, file: u32) -> TypeScope {
        TypeScope { owner, file, locals: Rc::default(), open: false }
    }
}

impl World {
    /// The protocols that a bound or an inheritance clause names, through compositions and aliases; or another type.
    pub(crate) fn bounds(&mut self, ty: &TypeExpr, scope: &TypeScope) -> Vec<(Result<ProtocolId, Type>, Span)> {
        match &ty.kind {
            TypeExprKind::Composition(parts) => return parts.iter().flat_map(|p| self.bounds(p, scope)).collect(),
            TypeExprKind::Attributed(_, inner) => return self.bounds(inner, scope),
            _ => {}
        }
        if let TypeExprKind::Named(path) = &ty.kind
            && let [(ident, _)] = path.as_slice()
            && let Some(Named::Protocol(p)) = self.type_entry(&ident.name, scope.file)
        {
            return vec![(Ok(p), ty.span)];
        }
        match self.resolve_type(ty, scope) {
            Type::Existential(e) => {
                let class = e.class.iter().map(|class| (Err(class.clone()), ty.span));
                e.protocols.iter().map(|p| (Ok(*p), ty.span)).chain(class).collect()
            }
            Type::Error => vec![],
            other => vec![(Err(other), ty.span)],
        }
    }

    /// The type that is written, with the generic parameters of [`World::env`]. Reports what is wrong with it.
    pub(crate) fn resolve_type(&mut self, ty: &TypeExpr, scope: &TypeScope) -> Type {
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
                self.resolve_function_type(params, result, *throws, attributes, scope)
            }
            TypeExprKind::Some(of) => {
                let bounds = self.resolve_type(of, scope);
                self.opaque_type(bounds, ty.span)
            }
            TypeExprKind::Any(of) => self.resolve_type(of, scope),
            TypeExprKind::Composition(parts) => {
                let parts = parts.iter().map(|part| (self.resolve_type(part, scope), part.span)).collect();
                self.composed(parts)
            }
            TypeExprKind::Member(of, name) => {
                let of = self.resolve_type(of, scope);
                self.resolve_member(&of, name, &[], scope, ty.span)
            }
            TypeExprKind::Metatype(of) => {
                let of = self.resolve_type(of, scope);
                Type::Metatype(Rc::new(of))
            }
            TypeExprKind::Attributed(attributes, inner) => self.resolve_attributed(attributes, inner, scope),
            TypeExprKind::Inferred => self.fresh(),
        }
    }

    fn resolve_path(&mut self, path: &[(Ident, Vec<TypeExpr>)], scope: &TypeScope, span: Span) -> Type {
        let Some(((first, generics), mut rest)) = path.split_first() else { return Type::Error };
        let mut found = self.resolve_name(first, generics, scope);
        if let (None, [(second, generics), others @ ..]) = (&found, rest)
            && let Some(module) = self.module_named(&first.name, scope.file)
        {
            found = Some(self.resolve_in_module((first, module), second, generics, scope));
            rest = others;
        }
        let Some(mut ty) = found else {
            let message = format!("cannot find type '{}' in scope", first.name);
            let known = self.type_names();
            let diagnostic = without(Diagnostic::error(Code::UnknownType, first.span, message), &first.name);
            self.report(did_you_mean(diagnostic, first, &known));
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
            ty = self.resolve_member(&ty, ident, generics, scope, span);
        }
        ty
    }

    /// `T.Name<A>`
    fn resolve_member(
        &mut self,
        of: &Type,
        name: &Ident,
        generics: &[TypeExpr],
        scope: &TypeScope,
        span: Span,
    ) -> Type {
        let found = self.member_type(of, &name.name);
        let of = &self.shallow(of);
        if let (Some(_), Some(level)) = (&found, self.hidden_type(of, &name.name, scope.owner, scope.file)) {
            let message = format!("'{}' is inaccessible due to '{level}' protection level", name.name);
            self.report(Diagnostic::error(Code::Inaccessible, name.span, message));
        }
        match found {
            Some(Type::Nominal(n, args)) if !generics.is_empty() => {
                let given: Vec<Type> = generics.iter().map(|g| self.resolve_type(g, scope)).collect();
                let outer = args.len().saturating_sub(given.len());
                Type::Nominal(n, args.iter().take(outer).cloned().chain(given).collect())
            }
            Some(member) => member,
            None if *of == Type::Error => Type::Error,
            None => {
                let message = format!("'{}' is not a member type of '{}'", name.name, self.show(of));
                self.report(Diagnostic::error(Code::UnknownType, span, message));
                Type::Error
            }
        }
    }

    /// A name by which synthesized code can ask for a type.
    pub(crate) fn name_for(&mut self, ty: Type) -> String {
        self.synthesized_types.push(ty);
        format!("{SYNTHESIZED}{}", self.synthesized_types.len() - 1)
    }

    fn resolve_name(&mut self, ident: &Ident, generics: &[TypeExpr], scope: &TypeScope) -> Option<Type> {
        let name = &*ident.name;
        if let Some(index) = name.strip_prefix(SYNTHESIZED).and_then(|n| n.parse::<usize>().ok()) {
            return self.synthesized_types.get(index).cloned();
        }
        match name {
            "Any" => return Some(Type::any_value()),
            "AnyClass" => {
                let object = Type::any_of(&[self.protocol("AnyObject")]);
                return Some(Type::Metatype(Rc::new(object)));
            }
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
        let around = match scope.owner {
            Owner::Nominal(n) => self.nominal_data(n).locals.get(name),
            Owner::Module | Owner::Protocol(_) => None,
        };
        let local = scope.locals.get(name).or(around).copied();
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
                    // What is being worked out may be meant to have the type that is called so outside.
                    let known = self.associated_type(&declared, name).filter(|ty| *ty != Type::Error);
                    known.or_else(|| self.protocol_alias(&declared, name))
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
                        let params = self.nominal_data(n).params.clone();
                        let outer = params.len() - own;
                        let args = params.iter().enumerate();
                        let args = args.map(|(i, p)| if i < outer { Type::Param(*p) } else { self.fresh() });
                        return Some(Type::Nominal(n, args.collect()));
                    }
                }
                Type::Nominal(n, self.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect())
            }
            Named::Protocol(p) => Type::any_of(&[p]),
            Named::Alias(a) => return Some(self.apply_alias(a, generics, scope, ident.span)),
            Named::Function(_) | Named::Global(_) => return None,
        };
        Some(self.apply(found, generics, scope, ident.span))
    }

    pub(crate) fn encloses(&self, owner: Owner, n: NominalId) -> bool {
        match owner {
            Owner::Nominal(o) => o == n || self.encloses(self.nominal_data(o).parent, n),
            Owner::Module | Owner::Protocol(_) => false,
        }
    }

    /// Gives a generic type its arguments.
    pub(crate) fn apply(&mut self, ty: Type, generics: &[TypeExpr], scope: &TypeScope, span: Span) -> Type {
        if let (Type::Existential(e), false) = (&ty, generics.is_empty()) {
            let given = generics.iter().map(|g| self.resolve_type(g, scope)).collect();
            return self.with_primary(e, given, span);
        }
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

    /// The names of the types that a script may have meant.
    fn type_names(&self) -> Vec<String> {
        if !self.still_suggests() {
            return vec![];
        }
        self.module
            .iter()
            .filter(|(_, e)| e.iter().any(|e| matches!(e.what, Named::Nominal(_) | Named::Alias(_))))
            .map(|(n, _)| n.to_string())
            .chain(["Double", "Float", "Int", "String", "Bool", "Array", "Dictionary", "Optional"].map(String::from))
            .collect()
    }
}

/// Whether attributes make a function type differentiable, and if so whether linear.
pub(crate) fn differentiable_attribute(attributes: &[Attribute]) -> Option<bool> {
    let attribute = attributes.iter().find(|a| &*a.name.name == "differentiable")?;
    Some(match &attribute.args {
        AttributeArgs::Differentiation(args) => {
            args.kind.as_ref().is_some_and(|k| matches!(&*k.name, "linear" | "_linear"))
        }
        AttributeArgs::Text(text) => text.contains("linear"),
        AttributeArgs::None => false,
    })
}
