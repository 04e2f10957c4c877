//! Original function: resolves the function that an attribute names, such as `foo`, `foo(x:_:)`, `Float.+`, `init`,
//! `subscript`.

use crate::syntax::ast::{FunctionName, Name, Param, TypeExpr, TypeExprKind};
use crate::types::conform::conformances;
use crate::types::model::declaration_tables::{Entry, FunctionKind, Member, MemberKind, Named, Owner, Signature};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::module_name;
use crate::types::names::module_name::Module;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;

/// Returns the candidates for the original that an attribute of the function `f` names.
pub(crate) fn originals(cx: &mut TypeContext, f: FunctionId, of: &FunctionName) -> Vec<FunctionId> {
    let (owner, file) = (cx.defs.function_data(f).owner, cx.defs.function_data(f).file);
    let name = &of.name.name;
    let base = match &of.base {
        Some(base) if let Some(module) = named_module(cx, base, file) => {
            let found = module_name::entries_in(cx, module, name, file);
            return matching_functions(cx, f, of, found.into_iter().filter_map(function_of_entry).collect());
        }
        Some(base) if names_self(base) => owner,
        Some(base) => {
            let scope = TypeScope { open: true, ..TypeScope::of(owner, file) };
            match type_expr::resolve_type(cx, base, &scope) {
                Type::Nominal(n, _) => Owner::Nominal(n),
                Type::Existential(e) if e.protocols.len() == 1 => Owner::Protocol(e.protocols[0]),
                _ => Owner::Module,
            }
        }
        None => owner,
    };
    let found = match base {
        Owner::Nominal(n) => originals_in_type(cx, n, name),
        Owner::Protocol(p) => originals_in_protocol(cx, p, name),
        Owner::Module => name_lookup::entries(cx, name, file).into_iter().filter_map(function_of_entry).collect(),
    };
    matching_functions(cx, f, of, found)
}

/// Returns the module that the base of a function name names: `Swift` in `Swift.max`.
fn named_module(cx: &mut TypeContext, base: &TypeExpr, file: u32) -> Option<Module> {
    match &base.kind {
        TypeExprKind::Named(path) if path.len() == 1 => module_name::module_named(cx, &path[0].0.name, file),
        _ => None,
    }
}

/// Whether a type expression is `Self`, which stands for the type or the protocol that contains the attribute.
fn names_self(ty: &TypeExpr) -> bool {
    matches!(&ty.kind, TypeExprKind::Named(path) if path.len() == 1 && &*path[0].0.name == "Self")
}

/// Returns the functions that an attribute of `f` means, among those with the name that it gives.
fn matching_functions(
    cx: &TypeContext,
    f: FunctionId,
    of: &FunctionName,
    mut found: Vec<FunctionId>,
) -> Vec<FunctionId> {
    found.retain(|g| *g != f && !matches!(cx.defs.function_data(*g).kind, FunctionKind::Setter));
    if let Some(labels) = &of.labels {
        let wanted: Vec<Option<&str>> = labels.iter().map(|l| l.as_ref().map(|l| &*l.name)).collect();
        let is_meant = |g: &FunctionId, word: fn(&Param) -> Option<&str>| {
            let params = &cx.defs.function_data(*g).ast_params;
            params.iter().map(word).collect::<Vec<_>>() == wanted
        };
        let by_label: fn(&Param) -> Option<&str> = |p| p.label.as_ref().map(|l| &*l.name);
        // The differentiable programming manifesto also names parameters without labels: `foo(x:)` for `foo(_ x:)`.
        let by_name: fn(&Param) -> Option<&str> = |p| Some(&*p.name.name);
        let word = if found.iter().any(|g| is_meant(g, by_label)) { by_label } else { by_name };
        found.retain(|g| is_meant(g, word));
    }
    if of.accessor.is_some() {
        found.retain(|g| cx.defs.function_data(*g).kind == FunctionKind::Getter);
    }
    if of.accessor.as_ref().is_some_and(|a| &*a.name == "set") {
        found = found.into_iter().filter_map(|g| cx.defs.function_data(g).setter).collect();
    }
    found
}

fn originals_in_type(cx: &mut TypeContext, n: NominalId, name: &Name) -> Vec<FunctionId> {
    conformances::enter_conformances(cx, n);
    prelude::load_own_members(cx, n, name);
    let members = cx.defs.nominal_data(n).members.get(name).cloned().unwrap_or_default();
    let mut found: Vec<FunctionId> = members.iter().filter_map(function_of).collect();
    // The members that extensions of the type's protocols supply are candidates, too.
    let own = cx.defs.declared_type(n);
    for p in conformances::protocols_of(cx, &own).iter().copied() {
        found.extend(own_originals_of_protocol(cx, p, name));
    }
    found
}

/// Returns the members of a protocol and of the protocols that it refines, by name.
fn originals_in_protocol(cx: &mut TypeContext, p: ProtocolId, name: &Name) -> Vec<FunctionId> {
    let refined = conformances::refined(cx, p);
    refined.iter().flat_map(|q| own_originals_of_protocol(cx, *q, name)).collect()
}

fn own_originals_of_protocol(cx: &mut TypeContext, p: ProtocolId, name: &Name) -> Vec<FunctionId> {
    let short = cx.defs.protocol_data(p).name.clone();
    prelude::load_extensions(cx, &short);
    prelude::load_members(cx, &short, name);
    let members = cx.defs.protocol_data(p).members.get(name).cloned().unwrap_or_default();
    let requirement = |member: &Member| match member.kind {
        MemberKind::Requirement(r) => Some(cx.defs.protocol_data(p).requirements[r as usize].function),
        _ => function_of(member),
    };
    members.iter().filter_map(requirement).collect()
}

fn function_of_entry(entry: Entry) -> Option<FunctionId> {
    match entry.what {
        Named::Function(g) => Some(g),
        _ => None,
    }
}

fn function_of(member: &Member) -> Option<FunctionId> {
    match member.kind {
        MemberKind::Method(g) | MemberKind::Init(g) | MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => {
            Some(g)
        }
        _ => None,
    }
}

/// Returns the argument labels of a function.
pub(crate) fn parameter_labels(signature: &Signature) -> Vec<Option<Name>> {
    signature.params.iter().map(|p| p.label.clone()).collect()
}
