//! Type expressions: resolves types in the syntax to types of the checker.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Attribute, AttributeArgs, Ident, Name, TypeExpr, TypeExprKind};
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::generic_env;
use crate::types::generics::opaque_type;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Named, Owner};
use crate::types::model::display;
use crate::types::model::display::{did_you_mean, without};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::function_type;
use crate::types::names::module_name;
use crate::types::names::name_lookup;
use crate::types::names::nested_access;
use crate::types::names::prelude;
use crate::types::names::type_alias;
use hashbrown::HashMap;
use std::rc::Rc;

/// The prefix of the names by which synthesized code refers to types.
const SYNTHESIZED: &str = "__t";

/// The scope of a type expression, which determines the visible names.
#[derive(Clone, Debug)]
pub(crate) struct TypeScope {
    pub(crate) owner: Owner,
    pub(crate) file: u32,
    /// The types declared in the enclosing function.
    pub(crate) locals: Rc<HashMap<Name, Named>>,
    /// Whether omitted generic arguments are to be inferred by the caller.
    pub(crate) open: bool,
}

impl TypeScope {
    pub(crate) fn of(owner: Owner, file: u32) -> TypeScope {
        TypeScope { owner, file, locals: Rc::default(), open: false }
    }
}

/// Returns the protocols that a bound or an inheritance clause names, with compositions and aliases expanded; other
/// types are returned as `Err`.
pub(crate) fn bounds(cx: &mut TypeContext, ty: &TypeExpr, scope: &TypeScope) -> Vec<(Result<ProtocolId, Type>, Span)> {
    match &ty.kind {
        TypeExprKind::Composition(parts) => return parts.iter().flat_map(|p| bounds(cx, p, scope)).collect(),
        TypeExprKind::Attributed(_, inner) => return bounds(cx, inner, scope),
        _ => {}
    }
    if let TypeExprKind::Named(path) = &ty.kind
        && let [(ident, _)] = path.as_slice()
        && let Some(Named::Protocol(p)) = name_lookup::type_entry(cx, &ident.name, scope.file)
    {
        return vec![(Ok(p), ty.span)];
    }
    match resolve_type(cx, ty, scope) {
        Type::Existential(e) => {
            let class = e.class.iter().map(|class| (Err(class.clone()), ty.span));
            e.protocols.iter().map(|p| (Ok(*p), ty.span)).chain(class).collect()
        }
        Type::Error => vec![],
        other => vec![(Err(other), ty.span)],
    }
}

/// Resolves a type expression in the current generic environment, and reports errors in the type expression.
pub(crate) fn resolve_type(cx: &mut TypeContext, ty: &TypeExpr, scope: &TypeScope) -> Type {
    match &ty.kind {
        TypeExprKind::Named(path) => resolve_path(cx, path, scope, ty.span),
        TypeExprKind::Array(of) => {
            let of = resolve_type(cx, of, scope);
            name_lookup::applied(cx, "Array", &[of])
        }
        TypeExprKind::Dictionary(key, value) => {
            let (key, value) = (resolve_type(cx, key, scope), resolve_type(cx, value, scope));
            name_lookup::applied(cx, "Dictionary", &[key, value])
        }
        TypeExprKind::Optional(of) | TypeExprKind::Unwrapped(of) => {
            let of = resolve_type(cx, of, scope);
            name_lookup::applied(cx, "Optional", &[of])
        }
        TypeExprKind::Tuple(parts) => {
            let parts = parts.iter().map(|(l, t)| (l.as_ref().map(|l| l.name.clone()), resolve_type(cx, t, scope)));
            Type::Tuple(parts.collect())
        }
        TypeExprKind::Function { params, result, throws, attributes } => {
            function_type::resolve_function_type(cx, params, result, *throws, attributes, scope)
        }
        TypeExprKind::Some(of) => {
            let bounds = resolve_type(cx, of, scope);
            opaque_type::opaque_type(cx, bounds, ty.span)
        }
        TypeExprKind::Any(of) => resolve_type(cx, of, scope),
        TypeExprKind::Composition(parts) => {
            let parts = parts.iter().map(|part| (resolve_type(cx, part, scope), part.span)).collect();
            existential::composed(cx, parts)
        }
        TypeExprKind::Member(of, name) => {
            let of = resolve_type(cx, of, scope);
            resolve_member(cx, &of, name, &[], scope, ty.span)
        }
        TypeExprKind::Metatype(of) => {
            let of = resolve_type(cx, of, scope);
            Type::Metatype(Rc::new(of))
        }
        TypeExprKind::Attributed(attributes, inner) => function_type::resolve_attributed(cx, attributes, inner, scope),
        TypeExprKind::Inferred if scope.open => cx.vars.fresh(),
        TypeExprKind::Inferred => {
            let message = "type placeholder not allowed here";
            cx.sink.report(Diagnostic::error(Code::CannotInfer, ty.span, message).help("write the type"));
            Type::Error
        }
    }
}

fn resolve_path(cx: &mut TypeContext, path: &[(Ident, Vec<TypeExpr>)], scope: &TypeScope, span: Span) -> Type {
    let Some(((first, generics), mut rest)) = path.split_first() else { return Type::Error };
    let mut found = resolve_name(cx, first, generics, scope);
    if let (None, [(second, generics), others @ ..]) = (&found, rest)
        && let Some(module) = module_name::module_named(cx, &first.name, scope.file)
    {
        found = Some(module_name::resolve_in_module(cx, (first, module), second, generics, scope));
        rest = others;
    }
    let Some(mut ty) = found else {
        let message = format!("cannot find type '{}' in scope", first.name);
        let diagnostic = without(Diagnostic::error(Code::UnknownType, first.span, message), &first.name);
        let diagnostic = match prelude::import_advice(cx, &first.name) {
            Some(advice) => diagnostic.help(advice),
            None => did_you_mean(diagnostic, first, &type_names(cx)),
        };
        cx.sink.report(diagnostic);
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
        ty = resolve_member(cx, &ty, ident, generics, scope, span);
    }
    ty
}

/// Resolves a member type expression `T.Name<A>`.
fn resolve_member(
    cx: &mut TypeContext,
    of: &Type,
    name: &Ident,
    generics: &[TypeExpr],
    scope: &TypeScope,
    span: Span,
) -> Type {
    let found = name_lookup::member_type(cx, of, &name.name);
    let of = &unification::shallow(cx, of);
    if let (Some(_), Some(level)) = (&found, nested_access::hidden_type(cx, of, &name.name, scope.owner, scope.file)) {
        let message = format!("'{}' is inaccessible due to '{level}' protection level", name.name);
        cx.sink.report(Diagnostic::error(Code::Inaccessible, name.span, message));
    }
    if let Some(member) = &found
        && let Some(applied) = type_alias::apply_member_alias(cx, of, name, member, generics, scope)
    {
        return applied;
    }
    match found {
        Some(Type::Nominal(n, args)) if !generics.is_empty() => {
            let given: Vec<Type> = generics.iter().map(|g| resolve_type(cx, g, scope)).collect();
            let outer = args.len().saturating_sub(given.len());
            Type::Nominal(n, args.iter().take(outer).cloned().chain(given).collect())
        }
        Some(member) => member,
        None if *of == Type::Error => Type::Error,
        None => {
            let message = format!("'{}' is not a member type of '{}'", name.name, display::show(cx, of));
            let diagnostic = Diagnostic::error(Code::UnknownType, span, message);
            cx.sink.report(match of {
                Type::Existential(_) => diagnostic
                    .help("member types of a protocol belong to a type that conforms to it, or to a generic parameter"),
                _ => diagnostic,
            });
            Type::Error
        }
    }
}

/// Returns a name by which synthesized code can refer to a type.
pub(crate) fn name_for(cx: &mut TypeContext, ty: Type) -> String {
    cx.memo.synthesized_types.push(ty);
    format!("{SYNTHESIZED}{}", cx.memo.synthesized_types.len() - 1)
}

/// Returns the type that a name in synthesized code refers to.
pub(crate) fn synthesized_type(cx: &TypeContext, name: &str) -> Option<Type> {
    let index = name.strip_prefix(SYNTHESIZED)?.parse::<usize>().ok()?;
    cx.memo.synthesized_types.get(index).cloned()
}

fn resolve_name(cx: &mut TypeContext, ident: &Ident, generics: &[TypeExpr], scope: &TypeScope) -> Option<Type> {
    let name = &*ident.name;
    if let Some(ty) = synthesized_type(cx, name) {
        return Some(ty);
    }
    match name {
        "Any" => return Some(Type::any_value()),
        "AnyClass" => {
            let object = Type::any_of(&[name_lookup::protocol(cx, "AnyObject")]);
            return Some(Type::Metatype(Rc::new(object)));
        }
        "Never" => return Some(Type::Never),
        "Self" => match scope.owner {
            Owner::Nominal(n) => return Some(cx.defs.declared_type(n)),
            Owner::Protocol(p) => return Some(Type::Param(cx.defs.protocol_data(p).self_param)),
            Owner::Module => {}
        },
        _ => {}
    }
    if let Some(param) = generic_env::param_named(cx, &cx.scope.env.params.clone(), name) {
        return Some(associated_type::normalize_type(cx, &Type::Param(param)));
    }
    let outer_type = match scope.owner {
        Owner::Nominal(n) => cx.defs.nominal_data(n).locals.get(name),
        Owner::Module | Owner::Protocol(_) => None,
    };
    let local = scope.locals.get(name).or(outer_type).copied();
    let mut owner = scope.owner;
    while local.is_none() {
        let found = match owner {
            Owner::Module => None,
            Owner::Nominal(n) if name_lookup::has_member_type(cx, n, name) => {
                name_lookup::member_type(cx, &cx.defs.declared_type(n), name)
            }
            Owner::Nominal(n) if &*cx.defs.nominal_data(n).name == name && generics.is_empty() => {
                Some(cx.defs.declared_type(n))
            }
            // The conformances of a type may depend on the requirements that are being resolved.
            Owner::Nominal(n) if generic_env::resolves_requirements(cx, n) => None,
            Owner::Nominal(n) => {
                let declared = cx.defs.declared_type(n);
                let args: Vec<Type> = cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect();
                let inherited = name_lookup::inherited_member_type(cx, n, &args, name);
                // The name of the associated type that is being inferred may denote a type in an enclosing scope.
                let known = associated_type::associated_type(cx, &declared, name).filter(|ty| *ty != Type::Error);
                inherited.or(known).or_else(|| name_lookup::protocol_alias(cx, &declared, name))
            }
            Owner::Protocol(p) => name_lookup::member_type(cx, &Type::Param(cx.defs.protocol_data(p).self_param), name),
        };
        if let Some(found) = found {
            let of = match owner {
                Owner::Nominal(n) => cx.defs.declared_type(n),
                Owner::Module | Owner::Protocol(_) => Type::Error,
            };
            return Some(match type_alias::apply_member_alias(cx, &of, ident, &found, generics, scope) {
                Some(applied) => applied,
                None => apply(cx, found, generics, scope, ident.span),
            });
        }
        owner = match owner {
            Owner::Nominal(n) => cx.defs.nominal_data(n).parent,
            Owner::Module | Owner::Protocol(_) => break,
        };
    }
    let found = match local.or_else(|| name_lookup::type_entry(cx, name, scope.file))? {
        Named::Nominal(n) => {
            let own = cx.defs.nominal_data(n).own_params;
            if generics.is_empty() && own > 0 {
                if encloses(cx, scope.owner, n) {
                    return Some(cx.defs.declared_type(n));
                }
                if scope.open {
                    let params = cx.defs.nominal_data(n).params.clone();
                    let outer = params.len() - own;
                    let args = params.iter().enumerate();
                    let args = args.map(|(i, p)| if i < outer { Type::Param(*p) } else { cx.vars.fresh() });
                    return Some(Type::Nominal(n, args.collect()));
                }
            }
            Type::Nominal(n, cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect())
        }
        Named::Protocol(p) => Type::any_of(&[p]),
        Named::Alias(a) => return Some(type_alias::apply_alias(cx, a, generics, scope, ident.span)),
        Named::Function(_) | Named::Global(_) => return None,
    };
    Some(apply(cx, found, generics, scope, ident.span))
}

pub(crate) fn encloses(cx: &TypeContext, owner: Owner, n: NominalId) -> bool {
    match owner {
        Owner::Nominal(o) => o == n || encloses(cx, cx.defs.nominal_data(o).parent, n),
        Owner::Module | Owner::Protocol(_) => false,
    }
}

/// Applies a generic type to generic arguments.
pub(crate) fn apply(cx: &mut TypeContext, ty: Type, generics: &[TypeExpr], scope: &TypeScope, span: Span) -> Type {
    if let (Type::Existential(e), false) = (&ty, generics.is_empty()) {
        let given = generics.iter().map(|g| resolve_type(cx, g, scope)).collect();
        return existential::with_primary(cx, e, given, span);
    }
    let Type::Nominal(n, args) = &ty else { return ty };
    let own = cx.defs.nominal_data(*n).own_params;
    if generics.is_empty() {
        let unapplied = own > 0
            && args
                .iter()
                .zip(&cx.defs.nominal_data(*n).params)
                .skip(args.len() - own)
                .all(|(a, p)| *a == Type::Param(*p))
            && !encloses(cx, scope.owner, *n);
        if unapplied && scope.open {
            let outer = args.len() - own;
            let args = args.iter().take(outer).cloned().chain((0..own).map(|_| cx.vars.fresh()).collect::<Vec<_>>());
            return Type::Nominal(*n, args.collect());
        }
        if unapplied {
            let message =
                format!("reference to generic type '{}' requires arguments in <...>", cx.defs.nominal_data(*n).name);
            cx.sink.report(Diagnostic::error(Code::CannotInfer, span, message));
            return Type::Error;
        }
        return ty;
    }
    if generics.len() != own {
        let message = format!(
            "generic type '{}' specialized with {} type parameters (expected {own})",
            cx.defs.nominal_data(*n).name,
            generics.len()
        );
        cx.sink.report(Diagnostic::error(Code::Types, span, message));
        return Type::Error;
    }
    let given: Vec<Type> = generics.iter().map(|g| resolve_type(cx, g, scope)).collect();
    let outer = args.len() - own;
    Type::Nominal(*n, args.iter().take(outer).cloned().chain(given).collect())
}

/// Returns the names of types for suggestions.
fn type_names(cx: &TypeContext) -> Vec<String> {
    if !cx.sink.still_suggests() {
        return vec![];
    }
    cx.defs
        .module
        .iter()
        .filter(|(_, e)| e.iter().any(|e| matches!(e.what, Named::Nominal(_) | Named::Alias(_))))
        .map(|(n, _)| n.to_string())
        .chain(["Double", "Float", "Int", "String", "Bool", "Array", "Dictionary", "Optional"].map(String::from))
        .collect()
}

/// Returns whether attributes make a function type linear; `None` if they do not make the type differentiable.
pub(crate) fn differentiable_attribute(attributes: &[Attribute]) -> Option<bool> {
    let attribute = attributes.iter().find(|a| &*a.name.name == "differentiable")?;
    Some(match &attribute.args {
        AttributeArgs::Differentiation(args) => args.kind.as_ref().is_some_and(|k| &*k.name == "linear"),
        AttributeArgs::Text(text) => text.contains("linear"),
        AttributeArgs::None => false,
    })
}
