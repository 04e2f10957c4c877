//! Synthesized members: tangent vectors, `move(along:)`, arithmetic, equality, coding and memberwise initializers.
//!
//! Most members are generated as source code and entered like an extension of the type, so that later stages do not
//! distinguish them from declared members.

pub(crate) mod coding;
mod componentwise;
pub(crate) mod custom_equality;
pub(crate) mod custom_tangent;
mod declared_member;
pub(crate) mod enum_tangent;
mod key_paths;
mod member_text;
mod pointwise_vector;
pub(crate) mod subclass_tangent;

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::declare::synthesized_declarations;
use crate::types::generics::associated_type;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::VECTOR;
use crate::types::model::declaration_tables::{
    Code, FunctionKind, Member, MemberKind, Owner, Signature, SignatureParam, blank_function,
};
use crate::types::model::display;
use crate::types::model::syntax_query::ownership;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::Ownership;
use crate::types::names::name_lookup;
use crate::types::names::nested_access;
use crate::types::names::prelude;
use crate::types::names::type_expr;
use crate::types::nominal::initializers;
use crate::types::nominal::stored_property;
use crate::types::nominal::wrapped_value;
use std::fmt::Write;
use std::rc::Rc;

/// A stored property with a member in the tangent vector.
pub(crate) struct TangentProperty {
    /// The name of the member of the tangent vector.
    pub(super) name: Name,
    pub(super) ty: Type,
    /// The property that `move(along:)` changes: the property itself, or the storage of a wrapped property.
    pub(super) place: Name,
}

/// Returns the stored properties that have tangents, with their types. `warn` reports properties that cannot have a
/// tangent and are not marked `@noDerivative`.
fn tangent_properties(cx: &mut TypeContext, n: NominalId, warn: bool) -> Vec<TangentProperty> {
    match cx.defs.declared_type(n) {
        Type::Nominal(n, args) => tangent_properties_of(cx, n, &args, warn),
        _ => vec![],
    }
}

/// Returns the stored properties that have tangents, for given generic arguments; inherited properties come first.
pub(super) fn tangent_properties_of(
    cx: &mut TypeContext,
    n: NominalId,
    args: &[Type],
    warn: bool,
) -> Vec<TangentProperty> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let owner = cx.defs.nominal_data(n).name.clone();
    let mut out = match superclass::superclass(cx, n).and_then(|_| superclass::base_type(cx, n, args)) {
        Some(Type::Nominal(base, args)) => tangent_properties_of(cx, base, &args, false),
        _ => vec![],
    };
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let ty = stored_property::stored_type(cx, n, i as u32);
        let mut ty = conformances::substitute_nominal(cx, n, args, &ty);
        let value = wrapped_value::wrapped_value(cx, n, i as u32);
        let data = &cx.defs.nominal_data(n).stored[i];
        let (mut place, is_let, ownership, span) = (data.name.clone(), data.is_let, ownership(&data.decl), data.span);
        let name = data.wrapped.as_ref().map_or(&place, |wrapped| &wrapped.name).clone();
        // Lazy properties are excluded: the fact that the value was computed has no derivative.
        if data.no_derivative || data.lazy.is_some() {
            continue;
        }
        if let Some(value) = value {
            // A wrapped property is moved through its wrapper.
            place = name.clone();
            ty = conformances::substitute_nominal(cx, n, args, &value.ty);
        }
        let is_differentiable = !matches!(ty, Type::Function(_)) && conformances::conforms_to(cx, &ty, differentiable);
        let obstacle = match ownership {
            // Derivatives do not pass through references that do not retain their instances.
            Ownership::Weak => Some("it is 'weak'".to_owned()),
            Ownership::Unowned => Some("it is 'unowned'".to_owned()),
            Ownership::Strong if is_differentiable => None,
            Ownership::Strong => Some(format!("'{}' does not conform to 'Differentiable'", display::show(cx, &ty))),
        };
        if let Some(obstacle) = obstacle {
            if warn {
                let message = format!("stored property '{name}' has no derivative because {obstacle}");
                let diagnostic = Diagnostic::warning(DiagnosticCode::NoDerivativeProperty, span, message)
                    .note("derivatives treat the property as a constant")
                    .fix("add a '@noDerivative' attribute to make it explicit", span.before(), "@noDerivative ");
                cx.sink.report(diagnostic);
            }
            continue;
        }
        if is_let && !moves_in_place(cx, &ty) {
            if warn {
                let message = format!(
                    "synthesis of the 'Differentiable.move(along:)' requirement for '{owner}' requires all stored properties not marked with `@noDerivative` to be mutable"
                );
                let diagnostic = Diagnostic::warning(DiagnosticCode::ImmutableProperty, span, message)
                    .note_at(span, "change 'let' to 'var' to make it mutable")
                    .note_at(span, "add a '@noDerivative' attribute to make it explicit");
                cx.sink.report(diagnostic);
            }
            continue;
        }
        out.push(TangentProperty { name, ty, place });
    }
    out
}

/// Whether varying a value does not mutate the variable that contains it: the value is an instance of a class, or the
/// `move` method of its type is not mutating.
fn moves_in_place(cx: &mut TypeContext, ty: &Type) -> bool {
    let Type::Nominal(n, _) = ty else { return conformances::is_object(cx, ty) };
    if superclass::is_class(cx, *n) {
        return true;
    }
    prelude::load_own_members(cx, *n, "move");
    let written = cx.defs.nominal_data(*n).members.get("move").cloned().unwrap_or_default();
    written.iter().any(|m| match m.kind {
        MemberKind::Method(f) => has_label(cx, f, &["by", "along"]) && !signature::signature(cx, f).self_inout,
        _ => false,
    })
}

fn has_label(cx: &mut TypeContext, f: crate::types::model::typed_tree::FunctionId, labels: &[&str]) -> bool {
    declared_member::label_of_first(cx, f).is_some_and(|label| labels.contains(&&*label))
}

/// Synthesizes `TangentVector` for a type that is declared differentiable and does not declare a tangent vector.
pub(crate) fn synthesize_tangent_vector(cx: &mut TypeContext, n: NominalId) -> Option<Type> {
    let data = cx.defs.nominal_data(n);
    if data.builtin.is_some() {
        return None;
    }
    if data.kind == NominalKind::Enum {
        return enum_tangent::synthesize_enum_vector(cx, n);
    }
    let is_prelude = data.is_prelude;
    let conformance = conformances::declares(cx, n, "Differentiable")?;
    let (group, place) = conformances::declaration_site(cx, n, conformance);
    cx.defs.nominal_data_mut(n).memo.synthesized.push(VECTOR);
    let varying = tangent_properties(cx, n, !is_prelude);
    let additive = name_lookup::protocol(cx, "AdditiveArithmetic");
    let all_additive = !superclass::is_class(cx, n)
        && conformances::declares(cx, n, "AdditiveArithmetic").is_some()
        && varying.len() == cx.defs.nominal_data(n).stored.len()
        && (0..varying.len() as u32).all(|i| {
            let ty = stored_property::stored_type(cx, n, i);
            conformances::conforms_to(cx, &ty, additive)
        });
    let name: Name = "TangentVector".into();
    if all_additive {
        // A special case in the documents that the language is based on: the type is its own tangent space.
        let own = cx.defs.declared_type(n);
        let text = format!("typealias TangentVector = {}", type_expr::name_for(cx, own.clone()));
        synthesized_declarations::declare_synthesized(cx, &text, group, place);
        let span = cx.defs.nominal_data(n).span;
        let scalable = name_lookup::protocol(cx, "ScalableVector");
        conformances::add_conformance(cx, n, scalable, group, span);
        return Some(own);
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let mut text = String::from("struct TangentVector: Differentiable, AdditiveArithmetic, ScalableVector, Equatable");
    let required = custom_tangent::required_of_vector(cx, n);
    for protocol in &required {
        let _ = write!(text, ", {protocol}");
    }
    let is_pointwise = pointwise_vector::is_pointwise(cx, group, &varying, &required);
    if is_pointwise {
        for protocol in pointwise_vector::PROTOCOLS {
            if !required.iter().any(|r| &**r == protocol) {
                let _ = write!(text, ", {protocol}");
            }
        }
    }
    text.push_str(" {\n    typealias TangentVector = Self\n");
    if is_pointwise {
        text.push_str("    typealias VectorSpaceScalar = Float\n");
    }
    for TangentProperty { name: field, ty, .. } in &varying {
        let vector = Type::Associated(Rc::new(ty.clone()), differentiable, name.clone());
        let vector = associated_type::normalize_type(cx, &vector);
        let level = nested_access::level_of_stored(cx, n, field);
        let _ = writeln!(text, "    {level}var {field}: {}", type_expr::name_for(cx, vector));
    }
    text.push_str("}\n");
    synthesized_declarations::declare_synthesized(cx, &text, group, place);
    let declared = cx.defs.declared_type(n);
    let Type::Nominal(_, args) = &declared else { return None };
    name_lookup::own_member_type(cx, n, args, &name)
}

/// Synthesizes a member with a given name if a conformance requires the member and the type does not declare it.
pub(crate) fn synthesize_member(cx: &mut TypeContext, n: NominalId, name: &str, is_static: bool) {
    coding::synthesize_coding(cx, n, name, is_static);
    let key = match (name, is_static) {
        ("move", false) => "move",
        ("zero", true) => "zero",
        ("+", true) => "+",
        ("-", true) => "-",
        ("scaled", false) => "scaled",
        ("_mapped", false) => "_mapped",
        ("_combined", false) => "_combined",
        ("one", true) => "one",
        ("differentiableVectorView", false) => "differentiableVectorView",
        ("allKeyPaths", false) => "allKeyPaths",
        ("recursivelyAllKeyPaths", false) => "recursivelyAllKeyPaths",
        ("==", true) => "==",
        ("hash", false) => "hash",
        ("<", true) => "<",
        ("allCases", true) => "allCases",
        ("rawValue", false) => "rawValue",
        ("init", true) => "init",
        ("TangentVector", true) => "TangentVector",
        _ => match componentwise::key(name, is_static) {
            Some(key) => key,
            None => return,
        },
    };
    if cx.defs.nominal_data(n).memo.synthesized.contains(&key) {
        return;
    }
    conformances::enter_conformances(cx, n);
    if key == "TangentVector" {
        if let Some(differentiable) =
            conformances::declares(cx, n, "Differentiable").map(|_| name_lookup::protocol(cx, "Differentiable"))
        {
            cx.defs.nominal_data_mut(n).memo.synthesized.push(key);
            let own = cx.defs.declared_type(n);
            let ty = Type::Associated(Rc::new(own), differentiable, "TangentVector".into());
            associated_type::normalize_type(cx, &ty);
        }
        return;
    }
    prelude::load_own_members(cx, n, name);
    let has_own = declared_member::declares_required(cx, n, key, is_static);
    if has_own && key != "init" && !declared_member::needs_move_by(cx, n, key) {
        return;
    }
    let (group, place) = match requiring_conformance(cx, n, key) {
        Some(conformance) => conformances::declaration_site(cx, n, conformance),
        // The member is the initializer of a class whose properties all have initial values.
        None if key == "init" => (cx.defs.nominal_data(n).group, cx.defs.nominal_data(n).span),
        // A later extension may require the member.
        None => return,
    };
    cx.defs.nominal_data_mut(n).memo.synthesized.push(key);
    // The conditions of the conformance hold in the member, independent of the code that requested it.
    let env = generic_env::group_env(cx, group);
    let text = type_context::with_env(cx, env, |cx| {
        let needs_move_by = declared_member::needs_move_by(cx, n, key);
        let mut text = if has_own && key != "init" { None } else { member_text::synthesized_text(cx, n, key) };
        if needs_move_by {
            // An instance of a class is moved in place.
            text.get_or_insert_default()
                .push_str("\nfunc move(by offset: TangentVector) { self.move(along: offset) }\n");
        }
        text
    });
    if let Some(text) = text {
        synthesized_declarations::declare_synthesized(cx, &text, group, place);
        if key == "init" {
            initializers::inherit_defaults(cx, n);
        }
    }
}

/// Returns the conformance that requires a member with the given name.
fn requiring_conformance(cx: &mut TypeContext, n: NominalId, key: &str) -> Option<usize> {
    match key {
        "scaled" => conformances::declares(cx, n, "Scalable")
            .or_else(|| conformances::declares(cx, n, "Differentiable"))
            .or_else(|| conformances::declares(cx, n, "VectorProtocol")),
        "one" => conformances::declares(cx, n, "_PointwiseVector")
            .or_else(|| conformances::declares(cx, n, "PointwiseMultiplicative")),
        _ => {
            let protocol = componentwise::requiring_protocol(key).unwrap_or_else(|| requiring_protocol(key));
            conformances::declares(cx, n, protocol)
        }
    }
}

/// Returns the stored properties and payloads whose types prevent the synthesis of a conformance.
pub(super) fn in_the_way(cx: &mut TypeContext, n: NominalId, protocol: &'static str) -> Vec<(String, Span)> {
    let p = name_lookup::protocol(cx, protocol);
    let name = cx.defs.nominal_data(n).name.clone();
    let mut parts: Vec<(&str, Type, Span)> = vec![];
    for i in 0..cx.defs.nominal_data(n).stored.len() as u32 {
        let ty = stored_property::stored_type(cx, n, i);
        parts.push(("stored property", ty, cx.defs.nominal_data(n).stored[i as usize].span));
    }
    for case in 0..cx.defs.nominal_data(n).cases.len() as u32 {
        let span = cx.defs.nominal_data(n).cases[case as usize].span;
        parts.extend(
            stored_property::case_payload(cx, n, case).into_iter().map(|(_, ty)| ("associated value", ty, span)),
        );
    }
    let mut out = vec![];
    for (what, ty, span) in parts {
        if !conformances::conforms_to(cx, &ty, p) {
            let ty = display::show(cx, &ty);
            let text = format!(
                "{what} type '{ty}' does not conform to protocol '{protocol}', preventing synthesized conformance of '{name}' to '{protocol}'"
            );
            out.push((text, span));
        }
    }
    out
}

/// Returns the memberwise initializer of a struct that declares no initializer.
pub(super) fn memberwise_init(cx: &mut TypeContext, n: NominalId) -> crate::types::model::typed_tree::FunctionId {
    if let Some(f) = cx.defs.nominal_data(n).memo.memberwise {
        return f;
    }
    let data = cx.defs.nominal_data(n);
    let (span, file, is_prelude, group) = (data.span, data.file, data.is_prelude, data.group);
    let mut function = blank_function(&"init".into(), span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.group = Some(group);
    function.kind = FunctionKind::Init { failable: false };
    function.code = Code::Memberwise(n);
    let id = cx.defs.add_function(function);
    cx.defs.nominal_data_mut(n).memo.memberwise = Some(id);
    let env = generic_env::nominal_env(cx, n);
    let mut params = vec![];
    for i in 0..cx.defs.nominal_data(n).stored.len() as u32 {
        let ty = stored_property::stored_type(cx, n, i);
        let stored = &cx.defs.nominal_data(n).stored[i as usize];
        if stored.is_let && stored.value.is_some() {
            continue;
        }
        let own = stored.lazy.as_ref().map(|(name, _)| name).or(stored.wrapped.as_ref().map(|w| &w.name));
        let name = own.unwrap_or(&stored.name).clone();
        let (is_let, span) = (stored.is_let, stored.span);
        if let Some((wrap, initial)) = stored_property::wrapping(stored) {
            // The argument of the memberwise initializer is the wrapped value.
            let wrapped = signature::signature(cx, wrap).params.first().cloned();
            params.extend(wrapped.map(|p| SignatureParam { label: Some(name.clone()), name, default: initial, ..p }));
            continue;
        }
        let mut default = stored_property::stored_initial(cx, n, i);
        if default.is_none() && !is_let && name_lookup::is_optional(cx, &ty) {
            default = Some(nil_default(cx, n, &ty, span));
        }
        params.push(SignatureParam {
            label: Some(name.clone()),
            name,
            ty,
            is_inout: false,
            variadic: false,
            autoclosure: false,
            default,
            span,
        });
    }
    let result = cx.defs.declared_type(n);
    let signature = Signature { env, params, self_type: None, self_inout: false, result, throws: false };
    cx.defs.functions[id.0 as usize].memo.signature = Some(Rc::new(signature));
    id
}

fn nil_default(
    cx: &mut TypeContext,
    n: NominalId,
    ty: &Type,
    span: crate::source::Span,
) -> crate::types::model::typed_tree::FunctionId {
    use crate::types::model::typed_tree::{Body, Expr, ExprKind, Stmt, StmtKind};
    let (file, is_prelude) = (cx.defs.nominal_data(n).file, cx.defs.nominal_data(n).is_prelude);
    let mut function = blank_function(&"nil".into(), span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.is_static = true;
    let env = generic_env::nominal_env(cx, n);
    function.outer = Some(env.clone());
    function.memo.signature = Some(Rc::new(crate::types::generics::signature::plain_signature(env, ty.clone())));
    let value = Expr { kind: ExprKind::Nil, ty: ty.clone(), span };
    let statements = vec![Stmt { kind: StmtKind::Return(Some(value)), span }];
    function.memo.body =
        crate::types::model::declaration_tables::BodyState::Checked(Rc::new(Body { statements, ..Body::default() }));
    cx.defs.add_function(function)
}

/// Returns the initializer without parameters of a struct that declares no initializer and whose properties all have
/// initial values. Calls use the memberwise initializer; the initializer without parameters is a witness of
/// requirements.
pub(crate) fn default_init(cx: &mut TypeContext, n: NominalId) -> Option<Member> {
    let data = cx.defs.nominal_data(n);
    if data.kind != NominalKind::Struct || data.builtin.is_some() || data.has_init {
        return None;
    }
    let (span, file, is_prelude, group) = (data.span, data.file, data.is_prelude, data.group);
    let memberwise = memberwise_init(cx, n);
    let signature = signature::signature(cx, memberwise);
    if signature.params.is_empty() || signature.params.iter().any(|p| p.default.is_none()) {
        return None;
    }
    let f = match cx.defs.nominal_data(n).memo.default_init {
        Some(f) => f,
        None => {
            let mut function = blank_function(&"init".into(), span, file, is_prelude);
            function.owner = Owner::Nominal(n);
            function.group = Some(group);
            function.kind = FunctionKind::Init { failable: false };
            function.code = Code::Block(Some(crate::syntax::ast::Block { items: vec![], span }.into()));
            cx.defs.add_function(function)
        }
    };
    cx.defs.nominal_data_mut(n).memo.default_init = Some(f);
    Some(Member { kind: MemberKind::Init(f), is_static: true, group, file, is_private: false })
}

pub(crate) fn initializers(cx: &mut TypeContext, n: NominalId) -> Vec<Member> {
    let data = cx.defs.nominal_data(n);
    let mut members = data.members.get("init").cloned().unwrap_or_default();
    let is_struct = data.kind == NominalKind::Struct && data.builtin.is_none();
    if is_struct && !data.has_init {
        let (group, file) = (data.group, data.file);
        let f = memberwise_init(cx, n);
        let member = Member { kind: MemberKind::Init(f), is_static: true, group, file, is_private: false };
        members.push(member);
    }
    members
}

/// Returns the protocol that requires a synthesized member.
fn requiring_protocol(key: &str) -> &'static str {
    match key {
        "zero" | "+" | "-" => "AdditiveArithmetic",
        "_mapped" | "_combined" | "one" => "_PointwiseVector",
        "differentiableVectorView" => "EuclideanDifferentiable",
        "allKeyPaths" | "recursivelyAllKeyPaths" => "KeyPathIterable",
        "==" => "Equatable",
        "hash" => "Hashable",
        "<" => "Comparable",
        "allCases" => "CaseIterable",
        "rawValue" | "init" => "RawRepresentable",
        _ => "Differentiable",
    }
}
