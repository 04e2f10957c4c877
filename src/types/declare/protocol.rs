//! Protocols: enters protocol declarations and their requirements.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, DeclKind, ProtocolDecl};
use crate::types::declare;
use crate::types::declare::member;
use crate::types::model::declaration_tables::{
    AssociatedData, AssociatedMemo, FunctionKind, Group, GroupId, Member, MemberKind, Owner, ProtocolData,
    ProtocolMemo, RequirementData, RequirementKind,
};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::syntax_query::{is_operator, property_name};
use crate::types::model::ty::ProtocolId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use hashbrown::HashMap;
use std::rc::Rc;

pub(crate) fn declare_protocol(
    cx: &mut TypeContext,
    protocol: &ProtocolDecl,
    file: u32,
    is_prelude: bool,
) -> ProtocolId {
    let id = ProtocolId(cx.defs.protocols.len() as u32);
    let self_param = cx.defs.new_param(&"Self".into());
    let data = ProtocolData {
        name: protocol.name.name.clone(),
        self_param,
        primary: protocol.primary.iter().map(|p| p.name.clone()).collect(),
        inherits: protocol.inherits.clone(),
        requirement_clauses: protocol.requirements.clone(),
        group: GroupId(cx.defs.groups.len() as u32),
        groups: vec![],
        requirements: vec![],
        associated: vec![],
        members: HashMap::new(),
        file,
        is_prelude,
        span: protocol.name.span,
        memo: ProtocolMemo::default(),
    };
    cx.defs.protocols.push(data.into());
    let group = declare::new_group(cx, Owner::Protocol(id), vec![], vec![], file, is_prelude);
    for member in &protocol.members {
        member::declare_member(cx, member, group);
    }
    id
}

pub(crate) fn declare_requirement(cx: &mut TypeContext, decl: &Rc<Decl>, owner: Owner, group: GroupId) {
    let Owner::Protocol(p) = owner else { return };
    let Group { file, is_prelude, .. } = cx.defs.groups[group.0 as usize];
    let is_static = decl.has("static") || decl.has("class");
    check_requirement(cx, decl);
    match &decl.kind {
        DeclKind::Function(function) => {
            let id = declare::declare_function(cx, decl, function, owner, Some(group), file, is_prelude);
            let is_static = is_static || is_operator(&function.name.name);
            cx.defs.functions[id.0 as usize].is_static = is_static;
            add_requirement(cx, p, &function.name.name, RequirementKind::Method, id, is_static, group);
        }
        DeclKind::Init { failable, function } => {
            let id = declare::declare_function(cx, decl, function, owner, Some(group), file, is_prelude);
            let data = &mut cx.defs.functions[id.0 as usize];
            data.kind = FunctionKind::Init { failable: *failable };
            data.base_name = "init".into();
            add_requirement(cx, p, "init", RequirementKind::Init, id, true, group);
        }
        DeclKind::Variable { bindings, .. } => {
            for binding in bindings {
                let Some((ident, ty)) = property_name(binding) else { continue };
                let accessors = binding.accessors.clone().unwrap_or_default();
                let (get, set) = member::declare_accessors(
                    cx,
                    decl,
                    &ident,
                    &accessors,
                    ty.as_ref(),
                    &[],
                    owner,
                    Some(group),
                    file,
                    is_prelude,
                );
                let kinds = (RequirementKind::Getter, RequirementKind::Setter);
                add_accessors(cx, p, &ident.name, kinds, (get, set), is_static, group);
            }
        }
        DeclKind::Subscript { function, accessors } => {
            let accessors = member::declare_subscript(cx, decl, function, accessors, group);
            let kinds = (RequirementKind::SubscriptGetter, RequirementKind::SubscriptSetter);
            add_accessors(cx, p, "subscript", kinds, accessors, is_static, group);
        }
        DeclKind::AssociatedType { name, bound, default, requirements } => {
            cx.defs.protocols[p.0 as usize].associated.push(AssociatedData {
                name: name.name.clone(),
                bound: bound.clone(),
                default: default.clone(),
                requirements: requirements.clone(),
                memo: AssociatedMemo::default(),
            });
            let member = Member { kind: MemberKind::AssociatedType, is_static: true, group, file, is_private: false };
            member::add_member(cx, owner, &name.name, member);
        }
        DeclKind::TypeAlias { name, generics, target } => {
            let id = declare::declare_alias(cx, name, generics, target, owner, Some(group), file);
            let member = Member { kind: MemberKind::Alias(id), is_static: true, group, file, is_private: false };
            member::add_member(cx, owner, &name.name, member);
        }
        _ => cx.sink.report(Diagnostic::error(
            DiagnosticCode::WrongContext,
            decl.span,
            "only requirements are allowed in a protocol",
        )),
    }
}

/// Checks that a requirement has no default arguments and no body, and that a property requirement has accessors.
fn check_requirement(cx: &mut TypeContext, decl: &Decl) {
    let wrong = |span: Span, message: &str| Diagnostic::error(DiagnosticCode::WrongContext, span, message);
    match &decl.kind {
        DeclKind::Function(function) | DeclKind::Init { function, .. } => {
            for value in function.params.iter().filter_map(|param| param.default.as_ref()) {
                let diagnostic = wrong(value.span, "default argument not permitted in a protocol method");
                cx.sink.report(diagnostic.help("add a method without the parameter in an extension of the protocol"));
            }
            if let Some(body) = &function.body {
                let diagnostic = wrong(body.span, "a protocol requirement cannot have a body");
                cx.sink.report(diagnostic.help("write a default implementation in an extension of the protocol"));
            }
        }
        DeclKind::Variable { bindings, .. } => {
            for binding in bindings.iter().filter(|b| b.accessors.is_none()) {
                let span = binding.pattern.span;
                let diagnostic = wrong(span, "a property in a protocol must have '{ get }' or '{ get set }'");
                cx.sink.report(diagnostic.fix("declare it as read-only", decl.span.after(), " { get }"));
            }
        }
        _ => {}
    }
}

/// Adds the requirements of a property or subscript: a getter, and a setter that is reached only through the getter.
fn add_accessors(
    cx: &mut TypeContext,
    p: ProtocolId,
    name: &str,
    kinds: (RequirementKind, RequirementKind),
    (get, set): (FunctionId, Option<FunctionId>),
    is_static: bool,
    group: GroupId,
) {
    let setter = set.map(|set| add_requirement(cx, p, "", kinds.1, set, is_static, group));
    let index = add_requirement(cx, p, name, kinds.0, get, is_static, group);
    let requirements = &mut cx.defs.protocols[p.0 as usize].requirements;
    requirements[index as usize].setter = setter;
    if let Some(setter) = setter {
        requirements[setter as usize].name = name.into();
    }
}

fn add_requirement(
    cx: &mut TypeContext,
    p: ProtocolId,
    name: &str,
    kind: RequirementKind,
    function: FunctionId,
    is_static: bool,
    group: GroupId,
) -> u32 {
    let protocol = &mut cx.defs.protocols[p.0 as usize];
    let index = protocol.requirements.len() as u32;
    let (file, is_prelude) = (protocol.file, protocol.is_prelude);
    protocol.requirements.push(RequirementData { name: name.into(), kind, function, is_static, setter: None });
    cx.defs.functions[function.0 as usize].requirement = Some((p, index));
    debug_assert!(!is_prelude || file == PRELUDE_FILE);
    if !name.is_empty() {
        let member = Member { kind: MemberKind::Requirement(index), is_static, group, file, is_private: false };
        member::add_member(cx, Owner::Protocol(p), name, member);
    }
    index
}
