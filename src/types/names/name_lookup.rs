//! Name lookup: finds the declarations of names at the top level and in types.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{TypeExpr, TypeExprKind};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{Entry, MemberKind, Named, Owner};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::module_name;
use crate::types::names::prelude;
use crate::types::names::type_alias;
use std::rc::Rc;

/// Returns the declarations of a name at the top level that are visible in a file, the program's declarations first.
pub(crate) fn entries(cx: &mut TypeContext, name: &str, file: u32) -> Vec<Entry> {
    let own = own_entries(cx, name, file);
    let library = prelude::library_entries(cx, name);
    with_library(cx, own, library)
}

/// Returns the declarations of a name at the top level that a call with the given argument labels may denote, the
/// program's declarations first.
pub(crate) fn called_entries(cx: &mut TypeContext, name: &str, labels: &[Option<&str>], file: u32) -> Vec<Entry> {
    let own = own_entries(cx, name, file);
    let library = prelude::library_functions(cx, name, labels);
    with_library(cx, own, library)
}

/// Adds the declarations of the library that those of the program do not hide.
fn with_library(cx: &TypeContext, mut own: Vec<Entry>, mut library: Vec<Entry>) -> Vec<Entry> {
    if own.iter().any(|entry| matches!(entry.what, Named::Function(_))) {
        library.retain(|entry| !is_hidden_by_program(cx, entry.what));
    }
    own.extend(library);
    own
}

/// Whether a declaration of the library is hidden if the program declares a function of the same name. The attribute
/// `@_hiddenByProgram` marks such declarations, whose short names are likely to occur in programs.
fn is_hidden_by_program(cx: &TypeContext, what: Named) -> bool {
    let Named::Function(f) = what else { return false };
    cx.defs.function_data(f).decl.as_ref().is_some_and(|decl| decl.attribute("_hiddenByProgram").is_some())
}

/// Returns the program's declarations of a name that are visible in a file.
pub(crate) fn own_entries(cx: &TypeContext, name: &str, file: u32) -> Vec<Entry> {
    if file == PRELUDE_FILE {
        return vec![];
    }
    let of_module = cx.defs.module.get(name).into_iter().flatten();
    let of_module = of_module.chain(cx.module.earlier.get(name).into_iter().flatten());
    of_module.filter(|e| !e.is_private || e.file == file).copied().collect()
}

pub(crate) fn type_entry(cx: &mut TypeContext, name: &str, file: u32) -> Option<Named> {
    let mut found = own_entries(cx, name, file);
    found.extend(prelude::library_types(cx, name));
    found
        .into_iter()
        .map(|e| e.what)
        .find(|what| matches!(what, Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_)))
}

/// Returns the protocol of the prelude with the given name, which is visible in every program.
pub(crate) fn protocol(cx: &mut TypeContext, name: &'static str) -> ProtocolId {
    match visible_protocol(cx, name) {
        Some(p) => p,
        None => unreachable!("the prelude declares the protocol {name}"),
    }
}

/// Returns the protocol of the library with the given name, unless it belongs to a module that is not imported.
pub(crate) fn visible_protocol(cx: &mut TypeContext, name: &'static str) -> Option<ProtocolId> {
    if let Some(Entry { what: Named::Protocol(p), .. }) = cx.defs.known.get(name) {
        return Some(*p);
    }
    let entry = prelude::library_entries(cx, name).into_iter().find(|e| matches!(e.what, Named::Protocol(_)))?;
    let Named::Protocol(p) = entry.what else { return None };
    cx.defs.known.insert(name, entry);
    Some(p)
}

/// Returns the nominal type of the prelude with the given name.
pub(crate) fn library_nominal(cx: &mut TypeContext, name: &'static str) -> NominalId {
    if let Some(Entry { what: Named::Nominal(n), .. }) = cx.defs.known.get(name) {
        return *n;
    }
    let entry = prelude::library_entries(cx, name).into_iter().find(|e| matches!(e.what, Named::Nominal(_)));
    match entry {
        Some(entry @ Entry { what: Named::Nominal(n), .. }) => {
            cx.defs.known.insert(name, entry);
            n
        }
        _ => unreachable!("the prelude declares the type {name}"),
    }
}

/// Returns a built-in type without generic arguments.
pub(crate) fn simple(cx: &mut TypeContext, name: &'static str) -> Type {
    Type::Nominal(library_nominal(cx, name), Rc::from([]))
}

/// Returns a built-in type with generic arguments.
pub(crate) fn applied(cx: &mut TypeContext, name: &'static str, args: &[Type]) -> Type {
    Type::Nominal(library_nominal(cx, name), args.into())
}

/// Returns the type or protocol that an extension extends.
pub(crate) fn extended_owner(cx: &mut TypeContext, target: &TypeExpr, file: u32) -> Option<Owner> {
    let TypeExprKind::Named(path) = &target.kind else {
        let name = match &target.kind {
            TypeExprKind::Array(_) => "Array",
            TypeExprKind::Dictionary(..) => "Dictionary",
            TypeExprKind::Optional(_) => "Optional",
            _ => return None,
        };
        return Some(Owner::Nominal(library_nominal(cx, name)));
    };
    let (first, rest) = path.split_first()?;
    let (entry, rest) = match (type_entry(cx, &first.0.name, file), rest) {
        (None, [second, rest @ ..]) => {
            let module = module_name::module_named(cx, &first.0.name, file)?;
            (module_name::type_in(cx, module, &second.0.name, file)?, rest)
        }
        (entry, rest) => (entry?, rest),
    };
    let mut owner = match entry {
        Named::Nominal(n) => Owner::Nominal(n),
        Named::Protocol(p) => Owner::Protocol(p),
        Named::Alias(a) => match type_alias::resolve_alias(cx, a) {
            Type::Nominal(n, _) => Owner::Nominal(n),
            _ => return None,
        },
        Named::Function(_) | Named::Global(_) => return None,
    };
    for (ident, _) in rest {
        let Owner::Nominal(n) = owner else { return None };
        match member_type(cx, &cx.defs.declared_type(n), &ident.name)? {
            Type::Nominal(inner, _) => owner = Owner::Nominal(inner),
            _ => return None,
        }
    }
    Some(owner)
}

/// Whether a type is written as `Never` and no declared type has this name.
pub(crate) fn resolves_to_never(cx: &mut TypeContext, target: &TypeExpr, file: u32) -> bool {
    let TypeExprKind::Named(path) = &target.kind else { return false };
    matches!(path.as_slice(), [(ident, _)] if &*ident.name == "Never") && type_entry(cx, "Never", file).is_none()
}

pub(crate) fn unknown_type_diagnostic(cx: &TypeContext, ty: &TypeExpr) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::UnknownType, ty.span, "cannot find the type to extend in scope");
    let advice = match &ty.kind {
        TypeExprKind::Named(path) if path.len() == 1 => prelude::import_advice(cx, &path[0].0.name),
        _ => None,
    };
    match advice {
        Some(advice) => diagnostic.help(advice),
        None => diagnostic,
    }
}

/// Returns the type `T.Name`, a member of the type `T`.
pub(crate) fn member_type(cx: &mut TypeContext, of: &Type, name: &str) -> Option<Type> {
    let of = unification::shallow(cx, of);
    if let Type::Nominal(n, args) = &of {
        if let Some(found) = own_member_type(cx, *n, args, name) {
            return Some(found);
        }
        if let Some(found) = inherited_member_type(cx, *n, args, name) {
            return Some(found);
        }
        let data = cx.defs.nominal_data(*n);
        let own = data.params.len() - data.own_params;
        if let Some(i) = (own..data.params.len()).find(|i| &*cx.defs.params[data.params[*i].0 as usize].name == name) {
            return args.get(i).cloned();
        }
    }
    associated_type::associated_type(cx, &of, name).or_else(|| protocol_alias(cx, &of, name))
}

/// Returns the type alias with a name in an extension of a protocol to which a type conforms, applied to this type. An
/// alias that depends on the conforming type is not a member of an existential.
pub(crate) fn protocol_alias(cx: &mut TypeContext, of: &Type, name: &str) -> Option<Type> {
    let protocols = conformances::protocols_of(cx, of);
    let (p, alias) = protocols.iter().find_map(|p| {
        let protocol_name = cx.defs.protocol_data(*p).name.clone();
        prelude::load_members(cx, &protocol_name, name);
        let members = cx.defs.protocol_data(*p).members.get(name)?;
        members.iter().find_map(|m| match m.kind {
            MemberKind::Alias(alias) => Some((*p, alias)),
            _ => None,
        })
    })?;
    let own = cx.defs.protocol_data(p).self_param;
    let target = type_alias::resolve_alias(cx, alias);
    if matches!(of, Type::Existential(_)) && target.any(&mut |t| *t == Type::Param(own)) {
        return None;
    }
    let target = target.substitute(&|q| (q == own).then(|| of.clone()));
    Some(associated_type::normalize_type(cx, &target))
}

/// Returns a nested type or type alias that is declared in a superclass of a class.
pub(crate) fn inherited_member_type(cx: &mut TypeContext, n: NominalId, args: &[Type], name: &str) -> Option<Type> {
    let (mut class, mut args) = (n, args.to_vec());
    while superclass::superclass(cx, class).is_some()
        && let Some(Type::Nominal(base, base_args)) = superclass::base_type(cx, class, &args)
    {
        if let Some(found) = own_member_type(cx, base, &base_args, name) {
            return Some(found);
        }
        (class, args) = (base, base_args.to_vec());
    }
    None
}

/// Returns a nested type or type alias that is declared in a nominal type.
pub(crate) fn own_member_type(cx: &mut TypeContext, n: NominalId, args: &[Type], name: &str) -> Option<Type> {
    if cx.defs.nominal_data(n).is_prelude || cx.defs.nominal_data(n).parent == Owner::Module {
        let short = cx.defs.nominal_data(n).name.clone();
        prelude::load_extensions(cx, &short);
        prelude::load_own_members(cx, n, name);
    }
    let members = cx.defs.nominal_data(n).members.get(name)?;
    let kind =
        members.iter().map(|m| m.kind.clone()).find(|k| matches!(k, MemberKind::Nominal(_) | MemberKind::Alias(_)))?;
    let found = match kind {
        MemberKind::Nominal(inner) => cx.defs.declared_type(inner),
        MemberKind::Alias(a) => type_alias::resolve_alias(cx, a),
        _ => return None,
    };
    let params = cx.defs.nominal_data(n).params.clone();
    let args: Vec<Type> = args.to_vec();
    let found = found.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()));
    Some(associated_type::normalize_type(cx, &found))
}

pub(crate) fn has_member_type(cx: &mut TypeContext, n: NominalId, name: &str) -> bool {
    if cx.defs.nominal_data(n).is_prelude {
        let short = cx.defs.nominal_data(n).name.clone();
        prelude::load_extensions(cx, &short);
        prelude::load_own_members(cx, n, name);
    }
    cx.defs
        .nominal_data(n)
        .members
        .get(name)
        .is_some_and(|m| m.iter().any(|m| matches!(m.kind, MemberKind::Nominal(_) | MemberKind::Alias(_))))
}

pub(crate) fn is_optional(cx: &mut TypeContext, ty: &Type) -> bool {
    optional_payload(cx, ty).is_some()
}

/// Returns the payload type `T` of an optional type `T?`.
pub(crate) fn optional_payload(cx: &mut TypeContext, ty: &Type) -> Option<Type> {
    match unification::shallow(cx, ty) {
        Type::Nominal(n, args)
            if cx.defs.nominal_data(n).builtin == Some(crate::types::model::declaration_info::Builtin::Optional) =>
        {
            args.first().cloned()
        }
        _ => None,
    }
}
