//! Conformance checks: every requirement has a witness, and the members to synthesize can be synthesized.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::derivative::derivative_constraints;
use crate::types::generics::associated_type;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::{
    Conformance, FunctionKind, GroupId, MemberKind, Named, Owner, RequirementKind,
};
use crate::types::model::display;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::dynamic_self;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use crate::types::synthesize;
use crate::types::synthesize::coding;
use crate::types::synthesize::custom_tangent;
use std::rc::Rc;

/// Checks that every requirement of a conformance has a witness.
pub(crate) fn check_conformance(cx: &mut TypeContext, n: NominalId, i: usize) {
    let conformance = &cx.defs.nominal_data(n).conformances[i];
    let (p, group, span) = (conformance.protocol, conformance.group, conformance.span);
    if std::mem::replace(&mut cx.defs.nominal_data_mut(n).conformances[i].memo.checked, true) {
        return;
    }
    let env = generic_env::group_env(cx, group);
    let (type_name, missing, near, elsewhere, in_the_way) = type_context::with_env(cx, env, |cx| {
        let own = cx.defs.declared_type(n);
        let type_name = display::show(cx, &own);
        let object = name_lookup::protocol(cx, "AnyObject");
        if !superclass::is_class(cx, n) && conformances::refined(cx, p).contains(&object) {
            let name = cx.defs.protocol_data(p).name.clone();
            let message = format!("non-class type '{type_name}' cannot conform to class protocol '{name}'");
            cx.sink.report(Diagnostic::error(DiagnosticCode::MissingRequirement, span, message));
        }
        let (mut missing, mut is_closed): (Vec<String>, bool) = (vec![], false);
        let mut near: Vec<(String, Span)> = vec![];
        let (mut made, mut elsewhere): (Vec<ProtocolId>, Vec<String>) = (vec![], vec![]);
        for q in conformances::refined(cx, p).iter().copied().collect::<Vec<_>>() {
            let unknown = missing_types(cx, q, &own);
            for name in &unknown {
                let from = determining_requirement(cx, q, name);
                let from = from.map_or(String::new(), |from| format!(", which follows from '{from}'"));
                missing.push(format!("the associated type '{name}'{from}"));
            }
            if unknown.is_empty() {
                missing.extend(custom_tangent::broken_clauses(cx, q, &own));
            }
            for r in 0..cx.defs.protocol_data(q).requirements.len() as u32 {
                let generics = witness::own_generics(cx, q, r);
                let data = &cx.defs.protocol_data(q).requirements[r as usize];
                let (function, setter) = (data.function, data.setter);
                if matches!(data.kind, RequirementKind::Setter | RequirementKind::SubscriptSetter) || is_supplied(cx, q)
                {
                    continue;
                }
                // A requirement that mentions an unknown associated type is not reported separately.
                if mentions(cx, function, q, &unknown) {
                    continue;
                }
                let Some(witness) = witness::find_witness(cx, q, r, &own, &generics) else {
                    let required = cx.defs.function_data(function);
                    is_closed |= required.is_prelude && required.base_name.starts_with('_');
                    missing.push(requirement_text(cx, function, q, &own));
                    near.extend(near_members(cx, n, function));
                    continue;
                };
                check_required_init(cx, n, q, witness.function);
                check_open_enough(cx, n, q, witness.function);
                dynamic_self::check_gives_self(cx, n, q, function, witness.function);
                derivative_constraints::check_witness_differentiability(cx, function, &witness, span);
                if is_made(cx, n, witness.function) {
                    made.push(q);
                    elsewhere.extend(made_elsewhere(cx, n, q, group, witness.function));
                }
                if let Some(setter) = setter
                    && witness::find_witness(cx, q, setter, &own, &generics).is_none()
                {
                    let text = requirement_text(cx, function, q, &own);
                    missing.push(format!("{text} that can be set"));
                }
            }
        }
        if &*cx.defs.protocol_data(p).name == "Differentiable" {
            missing.extend(
                custom_tangent::unreachable_vector(cx, n, &own).or_else(|| custom_tangent::hidden_in_vector(cx, &own)),
            );
        }
        let in_the_way = unsynthesized(cx, n, p, &made);
        let is_number = is_closed && conformances::refined(cx, p).contains(&name_lookup::protocol(cx, "Numeric"));
        if is_closed {
            report_internal_requirements(cx, p, &type_name, is_number, span);
            missing.clear();
            near.clear();
        }
        (type_name, missing, near, elsewhere, in_the_way)
    });
    if !missing.is_empty() || !in_the_way.is_empty() || !elsewhere.is_empty() {
        let protocol = cx.defs.protocol_data(p).name.clone();
        let message = format!("type '{type_name}' does not conform to protocol '{protocol}'");
        let mut diagnostic = Diagnostic::error(DiagnosticCode::MissingRequirement, span, message);
        if !elsewhere.is_empty() {
            diagnostic =
                diagnostic.help("declare the conformance in the file that declares the type, or write the member");
        }
        for text in elsewhere {
            diagnostic = diagnostic.note(text);
        }
        for requirement in missing {
            diagnostic = diagnostic.note(format!("protocol '{protocol}' requires {requirement}"));
        }
        for (text, span) in near.into_iter().chain(in_the_way) {
            diagnostic = diagnostic.note_at(span, text);
        }
        cx.sink.report(diagnostic);
    }
}

/// Reports a conformance to a protocol of the library with internal requirements, which a program cannot meet.
fn report_internal_requirements(cx: &mut TypeContext, p: ProtocolId, type_name: &str, is_number: bool, span: Span) {
    let protocol = cx.defs.protocol_data(p).name.clone();
    let message = format!("only types of the library conform to '{protocol}', not '{type_name}'");
    let mut diagnostic = Diagnostic::error(DiagnosticCode::MissingRequirement, span, message);
    if is_number {
        diagnostic = diagnostic.help("a number type of one's own conforms to 'Numeric' and 'Comparable'");
    }
    cx.sink.report(diagnostic);
}

/// Returns the associated types of a protocol that cannot be resolved for a conforming type.
fn missing_types(cx: &mut TypeContext, p: ProtocolId, own: &Type) -> Vec<Name> {
    let names: Vec<Name> = cx.defs.protocol_data(p).associated.iter().map(|a| a.name.clone()).collect();
    let is_unknown = |name: &Name| {
        let ty = Type::Associated(Rc::new(own.clone()), p, name.clone());
        associated_type::normalize_type(cx, &ty) == ty
    };
    names.into_iter().filter(is_unknown).collect()
}

/// Returns the name of the first requirement whose signature mentions an associated type, from which the type is inferred.
fn determining_requirement(cx: &mut TypeContext, p: ProtocolId, associated: &Name) -> Option<String> {
    let all: Vec<FunctionId> = cx.defs.protocol_data(p).requirements.iter().map(|r| r.function).collect();
    let found = all.into_iter().find(|function| mentions(cx, *function, p, std::slice::from_ref(associated)))?;
    Some(cx.defs.full_name(found))
}

/// Whether the signature of a requirement mentions one of the associated types of its protocol.
fn mentions(cx: &mut TypeContext, requirement: FunctionId, p: ProtocolId, names: &[Name]) -> bool {
    let signature = signature::signature(cx, requirement);
    let mut is_one = |ty: &Type| matches!(ty, Type::Associated(_, q, name) if *q == p && names.contains(name));
    !names.is_empty()
        && (signature.result.any(&mut is_one) || signature.params.iter().any(|param| param.ty.any(&mut is_one)))
}

/// Checks that a class initializer that is a witness is `required`: subclasses conform, too, and must have the
/// initializer.
fn check_required_init(cx: &mut TypeContext, n: NominalId, p: ProtocolId, f: FunctionId) {
    if !superclass::fills_instance(cx, f) || cx.defs.nominal_data(n).is_final || superclass::is_required(cx, f) {
        return;
    }
    let (name, class) = (cx.defs.full_name(f), cx.defs.nominal_data(n).name.clone());
    let message = format!(
        "initializer requirement '{name}' can only be satisfied by a 'required' initializer in non-final class '{class}'"
    );
    let span = cx.defs.function_data(f).span;
    let diagnostic = Diagnostic::error(DiagnosticCode::Inheritance, span, message);
    let protocol = cx.defs.protocol_data(p).name.clone();
    cx.sink.report(
        diagnostic.note(format!("it is required by protocol '{protocol}'")).help("write 'required' before 'init'"),
    );
}

/// Whether a member of a type is synthesized by the checker.
fn is_made(cx: &TypeContext, n: NominalId, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    data.is_prelude && data.owner == Owner::Nominal(n)
}

/// Returns the reason why a witness cannot be synthesized: synthesis requires a conformance to the protocol, or to one
/// that refines it, in the file that declares the type.
fn made_elsewhere(cx: &mut TypeContext, n: NominalId, p: ProtocolId, group: GroupId, by: FunctionId) -> Option<String> {
    let data = cx.defs.nominal_data(n);
    if cx.defs.groups[group.0 as usize].file == data.file || cx.module.is_interactive || data.is_prelude {
        return None;
    }
    let near = |c: &&Conformance| cx.defs.groups[c.group.0 as usize].file == data.file;
    let declared: Vec<ProtocolId> = data.conformances.iter().filter(near).map(|c| c.protocol).collect();
    if declared.into_iter().any(|q| conformances::refined(cx, q).contains(&p)) {
        return None;
    }
    let data = cx.defs.nominal_data(n);
    let (kind, owner, member) = (kind_name(data.kind), &data.name, &cx.defs.function_data(by).base_name);
    let protocol = &cx.defs.protocol_data(p).name;
    Some(format!(
        "extension outside of file declaring {kind} '{owner}' prevents automatic synthesis of '{member}' for protocol '{protocol}'"
    ))
}

/// Checks that a witness is not private, unless the type or the protocol is private.
fn check_open_enough(cx: &mut TypeContext, n: NominalId, p: ProtocolId, f: FunctionId) {
    let data = cx.defs.function_data(f);
    let is_private = |decl: &Rc<Decl>| decl.has("private") || decl.has("fileprivate");
    let hidden = data.decl.as_ref().is_some_and(is_private) && data.owner == Owner::Nominal(n);
    if !hidden || is_nested_or_private(cx, Named::Nominal(n)) || is_nested_or_private(cx, Named::Protocol(p)) {
        return;
    }
    let (what, span) = (cx.defs.full_name(f), data.span);
    let protocol = cx.defs.protocol_data(p).name.clone();
    let message = format!(
        "'{what}' must be as accessible as its enclosing type because it matches a requirement in protocol '{protocol}'"
    );
    let diagnostic = Diagnostic::error(DiagnosticCode::Inaccessible, span, message);
    cx.sink.report(diagnostic.help("remove 'private' or 'fileprivate'"));
}

/// Whether a declaration is nested, or is private to its file.
fn is_nested_or_private(cx: &TypeContext, what: Named) -> bool {
    let nested = matches!(what, Named::Nominal(n) if cx.defs.nominal_data(n).parent != Owner::Module);
    nested || cx.defs.module.values().flatten().any(|e| e.what == what && e.is_private)
}

/// Returns the members of a type that have the name of a requirement and are not its witness, with a description.
fn near_members(cx: &mut TypeContext, n: NominalId, requirement: FunctionId) -> Vec<(String, Span)> {
    let base = cx.defs.function_data(requirement).base_name.clone();
    let members = cx.defs.nominal_data(n).members.get(&base).cloned().unwrap_or_default();
    let mut near = vec![];
    for member in members {
        let (ty, span) = match member.kind {
            MemberKind::Method(f) | MemberKind::Init(f) => {
                let signature = signature::signature(cx, f);
                (signature::function_type(&signature), cx.defs.function_data(f).span)
            }
            MemberKind::Computed(f, _) => (signature::signature(cx, f).result.clone(), cx.defs.function_data(f).span),
            MemberKind::Stored(i) => {
                (stored_property::stored_type(cx, n, i), cx.defs.nominal_data(n).stored[i as usize].span)
            }
            _ => continue,
        };
        let name = match member.kind {
            MemberKind::Method(f) | MemberKind::Init(f) => cx.defs.full_name(f),
            _ => base.to_string(),
        };
        if let MemberKind::Method(f) | MemberKind::Init(f) = member.kind {
            let args: Vec<Type> = cx.defs.nominal_data(n).params.iter().map(|p| Type::Param(*p)).collect();
            if let Some(unmet) = witness::unmet_own_condition(cx, f, &args) {
                let condition = unmet_requirement::condition(cx, &unmet);
                near.push((format!("candidate '{name}' requires {condition}"), span));
                continue;
            }
        }
        near.push(match member.kind {
            MemberKind::Method(f) if witness::throws_beyond(cx, f, requirement) => {
                let text =
                    format!("'{name}' throws errors of its own, but the requirement is declared with 'rethrows'");
                (text, span)
            }
            _ => (format!("candidate '{name}' has type '{}'", display::show(cx, &ty)), span),
        });
    }
    near
}

/// Returns the reason why equality, hashing or arithmetic that a conformance requires cannot be synthesized from the
/// parts of the type.
fn unsynthesized(cx: &mut TypeContext, n: NominalId, p: ProtocolId, made: &[ProtocolId]) -> Vec<(String, Span)> {
    let data = cx.defs.nominal_data(n);
    if data.kind == NominalKind::Class || data.builtin.is_some() || data.is_prelude {
        return vec![];
    }
    let refined = conformances::refined(cx, p);
    let mut out = vec![];
    for (protocol, member) in [("Equatable", "=="), ("Hashable", "hash")] {
        let written = cx.defs.nominal_data(n).members.contains_key(member);
        let p = name_lookup::protocol(cx, protocol);
        if refined.contains(&p) && !written {
            out.extend(synthesize::in_the_way(cx, n, protocol));
        }
    }
    for (protocol, member, label) in [("Encodable", "encode", "to"), ("Decodable", "init", "from")] {
        let is_refined = refined.iter().any(|p| *cx.defs.protocol_data(*p).name == *protocol);
        if is_refined && !coding::is_declared(cx, n, member, label) {
            out.extend(synthesize::in_the_way(cx, n, protocol));
        }
    }
    let additive = name_lookup::protocol(cx, "AdditiveArithmetic");
    if made.contains(&additive) {
        out.extend(synthesize::in_the_way(cx, n, "AdditiveArithmetic"));
    }
    out
}

/// Formats a requirement with the types that a type must supply.
fn requirement_text(cx: &mut TypeContext, f: FunctionId, p: ProtocolId, of: &Type) -> String {
    let wanted = witness::requirement_for(cx, f, p, of);
    let data = cx.defs.function_data(f);
    let what = match data.kind {
        FunctionKind::Getter if data.base_name.starts_with("subscript") => "subscript",
        FunctionKind::Getter => {
            return format!("property '{}' with type '{}'", cx.defs.full_name(f), display::show(cx, &wanted.result));
        }
        FunctionKind::Init { .. } => "initializer",
        _ => "function",
    };
    let ty = signature::function_type(&wanted);
    format!("{what} '{}' with type '{}'", cx.defs.full_name(f), display::show(cx, &ty))
}

/// Whether the requirements of a protocol are satisfied by the machine or the checker for every type.
fn is_supplied(cx: &TypeContext, p: ProtocolId) -> bool {
    matches!(&*cx.defs.protocol_data(p).name, "Hashable" | "Error")
}

fn kind_name(kind: NominalKind) -> &'static str {
    match kind {
        NominalKind::Struct => "struct",
        NominalKind::Enum => "enum",
        NominalKind::Class => "class",
    }
}
