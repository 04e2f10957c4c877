//! Members: enters the declarations inside types and extensions: methods, properties, subscripts and accessors.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::syntax::ast::{
    Accessors, Binding, CasePart, Decl, DeclKind, FunctionDecl, Ident, NominalKind, Param, TypeExpr,
};
use crate::types::declare;
use crate::types::declare::attributes;
use crate::types::declare::deinit;
use crate::types::declare::lazy_property;
use crate::types::declare::modifiers;
use crate::types::declare::property_observers;
use crate::types::declare::property_wrapper;
use crate::types::declare::protocol;
use crate::types::declare::redeclaration;
use crate::types::declare::tuple_property;
use crate::types::model::declaration_tables::GlobalMemo;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{
    CaseData, Code, FunctionKind, GlobalData, Group, GroupId, Member, MemberKind, Owner, StoredData, blank_function,
};
use crate::types::model::syntax_query::{is_operator, property_name};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

/// A property declaration that is being entered.
#[derive(Clone, Copy)]
pub(crate) struct Property<'d> {
    pub(crate) decl: &'d Rc<Decl>,
    pub(crate) is_let: bool,
    pub(crate) binding: &'d Binding,
    pub(crate) name: &'d Ident,
    pub(crate) ty: Option<&'d TypeExpr>,
    /// The common attributes of the members to which the property expands: group, file, access level and `static`.
    pub(crate) like: &'d Member,
}

/// Enters a member of a type, protocol or extension.
pub(crate) fn declare_member(cx: &mut TypeContext, decl: &Rc<Decl>, group: GroupId) {
    let Group { owner, file, is_prelude, is_private, .. } = cx.defs.groups[group.0 as usize];
    if !is_prelude {
        let scope = modifiers::scope(cx, group);
        attributes::check_attributes(cx, decl, scope);
        modifiers::check_modifiers(cx, decl, scope);
    }
    let is_private = is_private || decl.has("private") || decl.has("fileprivate");
    let is_static = decl.has("static") || decl.has("class");
    let is_protocol_body = match owner {
        Owner::Protocol(p) => cx.defs.protocol_data(p).group == group,
        Owner::Nominal(_) | Owner::Module => false,
    };
    if is_protocol_body {
        protocol::declare_requirement(cx, decl, owner, group);
        return;
    }
    let member = |kind| Member { kind, is_static, group, file, is_private };
    // The derivatives of the library's functions are separate functions, and the bodies of the library are not parsed
    // before they are used.
    let adjoint = if is_prelude { None } else { crate::types::declare::inline_adjoint::take_apart(decl) };
    if let Some((plain, derivative)) = adjoint {
        declare_member(cx, &Rc::new(plain), group);
        declare_member(cx, &Rc::new(derivative), group);
        return;
    }
    match &decl.kind {
        DeclKind::Function(function) => {
            let id = declare::declare_function(cx, decl, function, owner, Some(group), file, is_prelude);
            cx.defs.functions[id.0 as usize].is_static |= is_operator(&function.name.name);
            if &*function.name.name != "_" {
                let is_static = is_static || is_operator(&function.name.name);
                add_member(cx, owner, &function.name.name, Member { is_static, ..member(MemberKind::Method(id)) });
            }
        }
        DeclKind::Formula { name, .. } => cx.sink.report(Diagnostic::error(
            DiagnosticCode::WrongContext,
            name.span,
            "a formula can only be defined at the top level",
        )),
        DeclKind::Init { failable, function } => {
            let id = declare::declare_function(cx, decl, function, owner, Some(group), file, is_prelude);
            let data = &mut cx.defs.functions[id.0 as usize];
            data.kind = FunctionKind::Init { failable: *failable };
            data.base_name = "init".into();
            add_member(cx, owner, "init", Member { is_static: true, ..member(MemberKind::Init(id)) });
            if let Owner::Nominal(n) = owner {
                let data = cx.defs.nominal_data_mut(n);
                data.has_init |= data.group == group;
            }
        }
        DeclKind::Subscript { function, accessors } => {
            let (get, set) = declare_subscript(cx, decl, function, accessors, group);
            add_member(cx, owner, "subscript", member(MemberKind::Subscript(get, set)));
        }
        DeclKind::Variable { is_let, bindings } => {
            for binding in bindings {
                declare_property(cx, decl, *is_let, binding, owner, &member(MemberKind::AssociatedType));
            }
        }
        DeclKind::Nominal(nominal) => {
            let id = declare::declare_nominal(cx, decl, nominal, owner, Some(group), file, is_prelude);
            add_member(cx, owner, &nominal.name.name, Member { is_static: true, ..member(MemberKind::Nominal(id)) });
        }
        DeclKind::TypeAlias { name, generics, target } => {
            let id = declare::declare_alias(cx, name, generics, target, owner, Some(group), file);
            cx.defs.aliases[id.0 as usize].is_private = decl.has("private");
            add_member(cx, owner, &name.name, Member { is_static: true, ..member(MemberKind::Alias(id)) });
        }
        DeclKind::Cases(cases) => {
            let Owner::Nominal(n) = owner else { return };
            for case in cases {
                let index = cx.defs.nominal_data(n).cases.len() as u32;
                let payload = case.payload.iter().flatten();
                let label = |part: &CasePart| part.label.as_ref().map(|l| l.name.clone());
                let data = CaseData {
                    name: case.name.name.clone(),
                    defaults: payload.clone().map(|part| part.default.clone().map(Rc::new)).collect(),
                    payload: payload.map(|part| (label(part), Rc::new(part.ty.clone()))).collect(),
                    span: case.name.span,
                    has_payload: case.payload.is_some(),
                    raw: case.raw.clone().map(Rc::new),
                };
                let data_of = cx.defs.nominal_data_mut(n);
                data_of.cases.push(data);
                data_of.is_indirect |= decl.has("indirect");
                add_member(cx, owner, &case.name.name, Member { is_static: true, ..member(MemberKind::Case(index)) });
            }
        }
        DeclKind::Deinit(body) => deinit::declare_deinit(cx, decl, body, group),
        DeclKind::Import { .. } | DeclKind::Operator { .. } | DeclKind::PrecedenceGroup { .. } => {}
        DeclKind::Protocol(_) | DeclKind::Extension(_) | DeclKind::AssociatedType { .. } | DeclKind::Test { .. } => {
            cx.sink.report(Diagnostic::error(
                DiagnosticCode::WrongContext,
                decl.span,
                "this declaration is not allowed inside a type",
            ));
        }
    }
}

pub(crate) fn add_member(cx: &mut TypeContext, owner: Owner, name: &str, member: Member) {
    redeclaration::check_member(cx, owner, name, &member);
    let members = match owner {
        Owner::Nominal(n) => &mut cx.defs.nominal_data_mut(n).members,
        Owner::Protocol(p) => &mut cx.defs.protocols[p.0 as usize].members,
        Owner::Module => return,
    };
    members.entry(name.into()).or_default().push(member);
}

pub(crate) fn declare_property(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    is_let: bool,
    binding: &Binding,
    owner: Owner,
    like: &Member,
) {
    if let Some(components) = tuple_property::components(binding) {
        components.iter().for_each(|component| declare_property(cx, decl, is_let, component, owner, like));
        return;
    }
    let Some((ident, ty)) = property_name(binding) else {
        cx.sink.report(Diagnostic::error(
            DiagnosticCode::WrongContext,
            binding.pattern.span,
            "a property must be declared with a name",
        ));
        return;
    };
    declare::check_has_getter(cx, binding, &ident);
    let (name, group) = (&ident.name, like.group);
    let Group { file, is_prelude, .. } = cx.defs.groups[group.0 as usize];
    let is_observed = property_observers::observes(cx, binding.accessors.as_ref(), &ident, is_let);
    let computed = binding.accessors.as_ref().filter(|a| a.get.is_some() || a.is_requirement);
    let property = Property { decl, is_let, binding, name: &ident, ty: ty.as_ref(), like };
    if property_wrapper::declare_wrapped(cx, &property)
        || decl.has("lazy") && lazy_property::declare_lazy(cx, &property)
    {
        return;
    }
    if let (true, true, false, Some(accessors)) =
        (is_observed, decl.has("override"), like.is_static, &binding.accessors)
    {
        let overriding = property_observers::overriding_observers(cx, accessors, &ident, ty.as_ref(), group);
        let (get, set) =
            declare_accessors(cx, decl, &ident, &overriding, ty.as_ref(), &[], owner, Some(group), file, is_prelude);
        add_member(cx, owner, name, Member { kind: MemberKind::Computed(get, set), ..like.clone() });
    } else if let Some(accessors) = computed {
        declare::check_computed(cx, decl, is_let, binding);
        let (get, set) =
            declare_accessors(cx, decl, &ident, accessors, ty.as_ref(), &[], owner, Some(group), file, is_prelude);
        add_member(cx, owner, name, Member { kind: MemberKind::Computed(get, set), ..like.clone() });
    } else if like.is_static {
        let id = declare::add_global(
            cx,
            GlobalData {
                name: name.clone(),
                span: ident.span,
                is_let,
                ty_expr: ty.map(Rc::new),
                value: binding.value.clone().map(Rc::new),
                has_value: binding.value.is_some(),
                group: Some(group),
                owner,
                file,
                is_lazy: true,
                is_shared: true,
                is_prelude,
                decl: Some(decl.clone()),
                getter: None,
                setter: None,
                memo: GlobalMemo::default(),
            },
        );
        property_observers::observe_global(cx, id, binding, &ident);
        add_member(cx, owner, name, Member { kind: MemberKind::Global(id), ..like.clone() });
    } else if let Owner::Nominal(n) = owner {
        let data = cx.defs.nominal_data(n);
        if !holds_stored(cx, n, group) {
            let message = if data.kind == NominalKind::Enum {
                "enums must not contain stored properties"
            } else {
                "extensions must not contain stored properties"
            };
            cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, ident.span, message));
            return;
        }
        let stored = StoredData {
            ty: ty.clone().map(Rc::new),
            value: binding.value.clone().map(Rc::new),
            is_let,
            no_derivative: decl.attribute("noDerivative").is_some(),
            overrides: decl.has("override"),
            is_final: decl.has("final"),
            ..StoredData::of(name.clone(), decl.clone())
        };
        let index = cx.defs.nominal_data(n).stored.len() as u32;
        cx.defs.nominal_data_mut(n).stored.push(stored);
        if let (true, Some(accessors)) = (is_observed, &binding.accessors) {
            let at = property_observers::observed_in(cx, group, false, Some(Observed::Stored(n, index)));
            let set = property_observers::declare_observers(cx, accessors, &ident, ty.as_ref(), at);
            cx.defs.nominal_data_mut(n).stored[index as usize].setter = Some(set);
        }
        add_member(cx, owner, name, Member { kind: MemberKind::Stored(index), ..like.clone() });
    }
}

/// Whether a group of members may contain stored properties.
pub(crate) fn holds_stored(cx: &TypeContext, n: NominalId, group: GroupId) -> bool {
    let data = cx.defs.nominal_data(n);
    data.group == group && data.kind != NominalKind::Enum
}

/// Enters the getter and the setter of a subscript.
pub(crate) fn declare_subscript(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    function: &FunctionDecl,
    accessors: &Accessors,
    group: GroupId,
) -> (FunctionId, Option<FunctionId>) {
    let Group { owner, file, is_prelude, .. } = cx.defs.groups[group.0 as usize];
    let name = Ident { name: "subscript".into(), span: function.name.span };
    let (result, params) = (function.result.as_ref(), &function.params);
    let (get, set) =
        declare_accessors(cx, decl, &name, accessors, result, params, owner, Some(group), file, is_prelude);
    for accessor in std::iter::once(get).chain(set) {
        cx.defs.functions[accessor.0 as usize].generics = function.generics.clone();
    }
    (get, set)
}

/// Enters the getter and the setter of a computed property or subscript.
#[expect(clippy::too_many_arguments, reason = "the parts of one declaration")]
pub(crate) fn declare_accessors(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    name: &Ident,
    accessors: &Accessors,
    ty: Option<&TypeExpr>,
    params: &[Param],
    owner: Owner,
    group: Option<GroupId>,
    file: u32,
    is_prelude: bool,
) -> (FunctionId, Option<FunctionId>) {
    let is_static = decl.has("static") || decl.has("class");
    let primitive = declare::primitive_name(cx, decl, &name.name, is_prelude);
    let mut get = blank_function(&name.name, name.span, file, is_prelude);
    get.kind = FunctionKind::Getter;
    get.is_static = is_static;
    get.is_mutating = accessors.mutating_get;
    get.throws = accessors.get_throws;
    get.owner = owner;
    get.group = group;
    // Attributes before `get` and attributes before the declaration both apply to the getter.
    get.decl = Some(match accessors.get_attributes.as_slice() {
        [] => decl.clone(),
        further => {
            let attributes = decl.attributes.iter().chain(further).cloned().collect();
            Rc::new(Decl { attributes, ..(**decl).clone() })
        }
    });
    get.ast_params = params.into();
    get.ast_result = ty.cloned().map(Rc::new);
    get.code = Code::Block(accessors.get.clone().filter(|_| !accessors.is_requirement));
    get.primitive = primitive.as_ref().map(|p| match accessors.set {
        Some(_) => format!("{p}.get").into(),
        None => p.clone(),
    });
    let get = cx.defs.add_function(get);
    attributes::note_registration(cx, decl, get);
    let set = accessors.set.as_ref().map(|(new_value, body)| {
        let mut set = blank_function(&name.name, name.span, file, is_prelude);
        set.kind = FunctionKind::Setter;
        set.is_static = is_static;
        set.is_mutating = !accessors.nonmutating_set && !is_static;
        set.owner = owner;
        set.group = group;
        set.decl = Some(decl.clone());
        let value_name = new_value.clone().unwrap_or(Ident { name: "newValue".into(), span: name.span });
        set.ast_params = std::iter::once(value_param(value_name, ty))
            .chain(params.iter().map(|p| Param { label: None, ..p.clone() }))
            .collect();
        set.code = Code::Block(Some(body.clone()).filter(|_| !accessors.is_requirement));
        set.primitive = primitive.map(|p| format!("{p}.set").into());
        cx.defs.add_function(set)
    });
    cx.defs.functions[get.0 as usize].setter = set;
    (get, set)
}

pub(crate) fn value_param(name: Ident, ty: Option<&TypeExpr>) -> Param {
    Param {
        label: None,
        name,
        ty: ty.cloned(),
        is_inout: false,
        is_consuming: false,
        variadic: false,
        default: None,
        attributes: vec![],
    }
}
