//! Stored properties: determines the types, initial values and accessors of stored properties, globals and payloads of
//! cases.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{NominalKind, TypeExpr};
use crate::types::conform::superclass;
use crate::types::declare::lazy_property;
use crate::types::declare::member;
use crate::types::generics::generic_env;
use crate::types::generics::omitted_arguments;
use crate::types::generics::opaque_type;
use crate::types::generics::signature;
use crate::types::generics::signature::plain_signature;
use crate::types::model::declaration_tables::{
    BodyState, Code, Env, FunctionKind, Member, MemberKind, Owner, Signature, SignatureParam, StoredData,
    blank_function,
};
use crate::types::model::queries;
use crate::types::model::syntax_query::is_opaque;
use crate::types::model::syntax_query::ownership;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use crate::types::nominal::ownership;
use std::rc::Rc;

/// Returns the function that creates the property wrapper of a stored property from the argument of the memberwise
/// initializer, and the function of the default argument. If the wrapper is created without a value, the argument is the wrapper itself.
pub(crate) fn wrapping(stored: &StoredData) -> Option<(FunctionId, Option<FunctionId>)> {
    let wrapped = stored.wrapped.as_ref().filter(|w| w.initial.is_some() || stored.value.is_none())?;
    Some((wrapped.wrap?, wrapped.default))
}

/// Returns the type of a stored property, in terms of the generic parameters of its nominal type.
pub(crate) fn stored_type(cx: &mut TypeContext, n: NominalId, index: u32) -> Type {
    let data = &cx.defs.nominal_data(n).stored[index as usize];
    if let Some(ty) = &data.memo.resolved {
        return ty.clone();
    }
    let lazy = data.lazy.as_ref().map(|(_, initial)| *initial);
    let wrap = data.wrapped.as_ref().and_then(|w| w.wrap);
    let (ty, value, span, resolving) = (data.ty.clone(), data.value.clone(), data.span, data.memo.resolving);
    let file = cx.defs.nominal_data(n).file;
    if resolving {
        return Type::Error;
    }
    cx.defs.nominal_data_mut(n).stored[index as usize].memo.resolving = true;
    let env = generic_env::nominal_env(cx, n);
    let own_env = env.clone();
    let resolved = match (&ty, &value) {
        _ if wrap.is_some() => wrap.map_or(Type::Error, |wrap| signature::signature(cx, wrap).result.clone()),
        (Some(ty), Some(_)) if is_open(cx, env.clone(), ty, &TypeScope::of(Owner::Nominal(n), file)) => {
            let initial = stored_initial(cx, n, index);
            initial.and_then(|f| completed_type(cx, f, ty)).unwrap_or(Type::Error)
        }
        (Some(ty), _) => {
            let (initial, resolved) = type_context::with_env(cx, env, |cx| {
                let initial = if is_opaque(ty) { stored_initial(cx, n, index) } else { None };
                let resolved = property_type(cx, initial, value.is_some(), ty, &TypeScope::of(Owner::Nominal(n), file));
                (initial, resolved)
            });
            if let Some(f) = initial {
                let signature = plain_signature(own_env.clone(), resolved.clone());
                cx.defs.functions[f.0 as usize].memo.signature = Some(Rc::new(signature));
            }
            resolved
        }
        (None, Some(_)) => {
            let initial = stored_initial(cx, n, index).map(|f| queries::check_expression_type(cx, f));
            initial.flatten().unwrap_or(Type::Error)
        }
        (None, None) if lazy.is_some() => lazy.map_or(Type::Error, |initial| lazy_property::lazy_type(cx, initial)),
        (None, None) => {
            let data = &cx.defs.nominal_data(n).stored[index as usize];
            let wrapped = data.wrapped.as_ref();
            // A wrapper that cannot take the initial value of the property was reported.
            if wrapped.is_none_or(|w| w.initial.is_none()) {
                let name = wrapped.map_or(&data.name, |w| &w.name);
                let message = format!("type annotation missing for '{name}'");
                cx.sink.report(Diagnostic::error(DiagnosticCode::CannotInfer, span, message));
            }
            Type::Error
        }
    };
    let ownership = ownership(&cx.defs.nominal_data(n).stored[index as usize].decl);
    let is_let = cx.defs.nominal_data(n).stored[index as usize].is_let;
    // The requirements on a generic parameter determine whether it represents a class.
    type_context::with_env(cx, own_env, |cx| {
        ownership::check_ownership(cx, ownership, is_let, &resolved, span);
    });
    // The error was reported, so the check continues with a valid type.
    let resolved = match ownership {
        Ownership::Weak if resolved != Type::Error && !name_lookup::is_optional(cx, &resolved) => {
            name_lookup::applied(cx, "Optional", &[resolved])
        }
        _ => resolved,
    };
    let data = &mut cx.defs.nominal_data_mut(n).stored[index as usize];
    data.memo.resolving = false;
    data.memo.resolved = Some(resolved.clone());
    if let Some(initial) = data.memo.initial
        && let Some(signature) = cx.defs.functions[initial.0 as usize].memo.signature.clone()
    {
        cx.defs.functions[initial.0 as usize].memo.signature =
            Some(Rc::new(Signature { result: resolved.clone(), ..(*signature).clone() }));
    }
    resolved
}

/// Enters the functions that compute the initial values of the stored properties of a type, so that they are checked even
/// if the type is never used.
pub(crate) fn enter_initial_values(cx: &mut TypeContext, n: NominalId) {
    for index in 0..cx.defs.nominal_data(n).stored.len() as u32 {
        if cx.defs.nominal_data(n).stored[index as usize].value.is_some() {
            stored_type(cx, n, index);
            stored_initial(cx, n, index);
        }
    }
}

/// Returns the function that computes the initial value of a stored property.
pub(crate) fn stored_initial(cx: &mut TypeContext, n: NominalId, index: u32) -> Option<FunctionId> {
    let data = &cx.defs.nominal_data(n).stored[index as usize];
    if let Some(initial) = data.memo.initial {
        return Some(initial);
    }
    let value = data.value.clone()?;
    let (name, span, ty) = (data.name.clone(), data.span, data.memo.resolved.clone());
    let (file, is_prelude, group) =
        (cx.defs.nominal_data(n).file, cx.defs.nominal_data(n).is_prelude, cx.defs.nominal_data(n).group);
    let env = generic_env::nominal_env(cx, n);
    let mut function = blank_function(&format!("initial value of {name}").into(), span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.group = Some(group);
    function.is_static = true;
    function.code = Code::Expression(value);
    function.outer = Some(env.clone());
    function.memo.signature = Some(Rc::new(plain_signature(env, ty.unwrap_or(Type::Error))));
    let id = cx.defs.add_function(function);
    cx.defs.nominal_data_mut(n).stored[index as usize].memo.initial = Some(id);
    Some(id)
}

/// Whether the initial value of a property determines generic arguments that its declared type omits.
fn is_open(cx: &mut TypeContext, env: Rc<Env>, ty: &TypeExpr, scope: &TypeScope) -> bool {
    type_context::with_env(cx, env, |cx| omitted_arguments::omits_arguments(cx, ty, scope))
}

/// Returns the declared type of a property with the generic arguments that the initial value determines.
fn completed_type(cx: &mut TypeContext, initial: FunctionId, ty: &TypeExpr) -> Option<Type> {
    cx.defs.functions[initial.0 as usize].ast_result = Some(Rc::new(ty.clone()));
    queries::check_expression_type(cx, initial)
}

/// Resolves the declared type of a property; the underlying type of `some P` is the type of the initial value.
fn property_type(
    cx: &mut TypeContext,
    initial: Option<FunctionId>,
    has_value: bool,
    ty: &TypeExpr,
    scope: &TypeScope,
) -> Type {
    match initial {
        Some(f) => opaque_type::resolve_result(cx, f, ty, scope),
        None if is_opaque(ty) && !has_value => {
            let message = "property declares an opaque return type, but has no initializer expression from which to infer an underlying type";
            let diagnostic = Diagnostic::error(DiagnosticCode::CannotInfer, ty.span, message);
            cx.sink.report(diagnostic.help("add an initial value, or write 'any' to allow a value of any such type"));
            Type::Error
        }
        None => type_expr::resolve_type(cx, ty, scope),
    }
}

/// Returns the type of a global variable.
pub(crate) fn global_type(cx: &mut TypeContext, g: GlobalId) -> Type {
    let data = &cx.defs.globals[g.0 as usize];
    if let Some(ty) = &data.memo.ty {
        return ty.clone();
    }
    if data.memo.resolving {
        let message = format!("the type of '{}' depends on itself", data.name);
        let span = data.span;
        cx.sink.report(Diagnostic::error(DiagnosticCode::CannotInfer, span, message));
        return Type::Error;
    }
    let (ty_expr, owner, file, group) = (data.ty_expr.clone(), data.owner, data.file, data.group);
    let (has_value, is_lazy) = (data.has_value, data.is_lazy && data.value.is_some());
    cx.defs.globals[g.0 as usize].memo.resolving = true;
    let env = group.map_or_else(Rc::default, |group| generic_env::group_env(cx, group));
    let ty = match ty_expr {
        Some(ty) if is_lazy && is_open(cx, env.clone(), &ty, &TypeScope::of(owner, file)) => {
            let initial = global_initial(cx, g);
            initial.and_then(|f| completed_type(cx, f, &ty))
        }
        Some(ty) => Some(type_context::with_env(cx, env, |cx| {
            let initial = if is_opaque(&ty) { global_initial(cx, g) } else { None };
            property_type(cx, initial, has_value, &ty, &TypeScope::of(owner, file))
        })),
        None => {
            let initial = global_initial(cx, g);
            initial.and_then(|f| queries::check_expression_type(cx, f))
        }
    };
    let data = &mut cx.defs.globals[g.0 as usize];
    data.memo.resolving = false;
    match ty {
        Some(ty) => {
            data.memo.ty = Some(ty.clone());
            if let Some(f) = data.memo.lazy {
                let signature = signature::signature(cx, f);
                cx.defs.functions[f.0 as usize].memo.signature =
                    Some(Rc::new(Signature { result: ty.clone(), ..(*signature).clone() }));
            }
            ty
        }
        None => Type::Error,
    }
}

/// Returns the function that computes the initial value of a lazy global.
pub(crate) fn global_initial(cx: &mut TypeContext, g: GlobalId) -> Option<FunctionId> {
    let data = &cx.defs.globals[g.0 as usize];
    if data.memo.lazy.is_some() || !data.is_lazy {
        return data.memo.lazy;
    }
    let value = data.value.clone()?;
    let (name, span, owner, file, group) = (data.name.clone(), data.span, data.owner, data.file, data.group);
    let (ty, is_prelude) = (data.memo.ty.clone(), data.is_prelude);
    let env = group.map_or_else(Rc::default, |group| generic_env::group_env(cx, group));
    let mut function = blank_function(&format!("initial value of {name}").into(), span, file, is_prelude);
    function.owner = owner;
    function.group = group;
    function.is_static = true;
    function.code = Code::Expression(value);
    function.outer = Some(env.clone());
    function.memo.signature = Some(Rc::new(plain_signature(env, ty.unwrap_or(Type::Error))));
    let id = cx.defs.add_function(function);
    cx.defs.globals[g.0 as usize].memo.lazy = Some(id);
    Some(id)
}

/// Returns the getter of a stored property, if the getter was created.
pub(crate) fn known_accessor(cx: &TypeContext, n: NominalId, index: u32) -> Option<FunctionId> {
    let found = cx.defs.nominal_data(n).members.get(&*format!("get stored {index}"))?;
    match found.first()?.kind {
        MemberKind::Method(f) => Some(f),
        _ => None,
    }
}

/// Returns a getter or setter for a stored property that is a witness, or that a subclass overrides.
pub(crate) fn stored_accessor(cx: &mut TypeContext, n: NominalId, index: u32, is_setter: bool) -> FunctionId {
    let stored = &cx.defs.nominal_data(n).stored[index as usize];
    let (name, span) = (stored.name.clone(), stored.span);
    if let (true, Some(setter)) = (is_setter, stored.setter) {
        return setter;
    }
    let is_observed = stored.setter.is_some();
    let key = format!("{}{index}", if is_setter { "set stored " } else { "get stored " });
    if let Some(found) = cx.defs.nominal_data(n).members.get(&*key)
        && let MemberKind::Method(f) = found[0].kind
    {
        return f;
    }
    let data = cx.defs.nominal_data(n);
    let (file, is_prelude, group, is_class) = (data.file, data.is_prelude, data.group, data.kind == NominalKind::Class);
    let field = superclass::inherited_count(cx, n) + index;
    let (own, ty, env) = (cx.defs.declared_type(n), stored_type(cx, n, index), generic_env::nominal_env(cx, n));
    let mut function = blank_function(&name, span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.group = Some(group);
    function.kind = if is_setter { FunctionKind::Setter } else { FunctionKind::Getter };
    function.reads = (!is_setter && !is_observed).then_some(field);
    let mut signature = plain_signature(env, if is_setter { Type::unit() } else { ty.clone() });
    signature.self_type = Some(own.clone());
    signature.self_inout = is_setter && !is_class;
    let local = |name: &str, ty: &Type, is_inout| typed_tree::Local {
        is_inout,
        ..typed_tree::Local::new(name, ty.clone(), is_inout, span)
    };
    let mut locals = vec![local("self", &own, signature.self_inout)];
    let own_expr = typed_tree::Expr { kind: typed_tree::ExprKind::Local(typed_tree::LocalId(0)), ty: own, span };
    let statement = if is_setter {
        signature.params.push(SignatureParam {
            label: None,
            name: "newValue".into(),
            ty: ty.clone(),
            is_inout: false,
            variadic: false,
            autoclosure: false,
            default: None,
            span,
        });
        locals.push(local("newValue", &ty, false));
        let value =
            typed_tree::Expr { kind: typed_tree::ExprKind::Local(typed_tree::LocalId(1)), ty: ty.clone(), span };
        let path =
            vec![typed_tree::Projection { kind: typed_tree::ProjectionKind::Field(field), ty: ty.clone(), span }];
        let root = if is_class {
            typed_tree::Root::Value(Box::new(own_expr))
        } else {
            typed_tree::Root::Local(typed_tree::LocalId(0))
        };
        typed_tree::StmtKind::Assign { place: typed_tree::Place { root, path, ty, span }, value }
    } else {
        let value = typed_tree::ExprKind::Field { base: Box::new(own_expr), index: field };
        typed_tree::StmtKind::Return(Some(typed_tree::Expr { kind: value, ty, span }))
    };
    let params = locals.len();
    let body = typed_tree::Body {
        locals,
        params,
        captures: vec![],
        statements: vec![typed_tree::Stmt { kind: statement, span }],
    };
    function.memo.signature = Some(Rc::new(signature));
    function.memo.body = BodyState::Checked(Rc::new(body));
    let id = cx.defs.add_function(function);
    let member = Member { kind: MemberKind::Method(id), is_static: false, group, file, is_private: false };
    member::add_member(cx, Owner::Nominal(n), &key, member);
    id
}

/// Returns a getter for a static stored property that is a witness.
pub(crate) fn global_accessor(cx: &mut TypeContext, g: GlobalId) -> FunctionId {
    if let Some(getter) = cx.defs.globals[g.0 as usize].getter {
        return getter;
    }
    let (ty, span) = (global_type(cx, g), cx.defs.globals[g.0 as usize].span);
    let value = typed_tree::Expr { kind: typed_tree::ExprKind::Global(g), ty: ty.clone(), span };
    let id = add_global_accessor(cx, g, FunctionKind::Getter, ty, typed_tree::StmtKind::Return(Some(value)));
    cx.defs.globals[g.0 as usize].getter = Some(id);
    id
}

/// Returns a setter for a static stored property; if the property has observers, the setter that calls the observers.
pub(crate) fn global_setter(cx: &mut TypeContext, g: GlobalId) -> FunctionId {
    let getter = global_accessor(cx, g);
    if let Some(setter) = cx.defs.globals[g.0 as usize].setter.or(cx.defs.function_data(getter).setter) {
        return setter;
    }
    let (ty, span) = (global_type(cx, g), cx.defs.globals[g.0 as usize].span);
    let value = typed_tree::Expr { kind: typed_tree::ExprKind::Local(typed_tree::LocalId(0)), ty: ty.clone(), span };
    let place = typed_tree::Place { root: typed_tree::Root::Global(g), path: vec![], ty: ty.clone(), span };
    let statement = typed_tree::StmtKind::Assign { place, value };
    let id = add_global_accessor(cx, g, FunctionKind::Setter, ty, statement);
    cx.defs.functions[getter.0 as usize].setter = Some(id);
    id
}

fn add_global_accessor(
    cx: &mut TypeContext,
    g: GlobalId,
    kind: FunctionKind,
    ty: Type,
    statement: typed_tree::StmtKind,
) -> FunctionId {
    let data = &cx.defs.globals[g.0 as usize];
    let (name, span, owner, file, group) = (data.name.clone(), data.span, data.owner, data.file, data.group);
    let env = group.map_or_else(Rc::default, |group| generic_env::group_env(cx, group));
    let mut function = blank_function(&name, span, file, data_is_prelude(cx, g));
    function.owner = owner;
    function.group = group;
    function.is_static = true;
    function.kind = kind;
    let mut body = typed_tree::Body {
        statements: vec![typed_tree::Stmt { kind: statement, span }],
        ..typed_tree::Body::default()
    };
    let mut signature = plain_signature(env, ty.clone());
    if kind == FunctionKind::Setter {
        signature.result = Type::unit();
        body.params = 1;
        body.locals.push(typed_tree::Local::new("newValue", ty.clone(), false, span));
        signature.params.push(SignatureParam {
            label: None,
            name: "newValue".into(),
            ty,
            is_inout: false,
            variadic: false,
            autoclosure: false,
            default: None,
            span,
        });
    }
    function.memo.signature = Some(Rc::new(signature));
    function.memo.body = BodyState::Checked(Rc::new(body));
    cx.defs.add_function(function)
}

/// Returns the function that satisfies a requirement with a case: a getter, or a function of the payload.
pub(crate) fn case_accessor(cx: &mut TypeContext, n: NominalId, case: u32) -> FunctionId {
    if let Some(known) = cx.memo.case_accessors.get(&(n, case)) {
        return *known;
    }
    let ty = cx.defs.declared_type(n);
    let data = cx.defs.nominal_data(n);
    let (name, span) = (data.cases[case as usize].name.clone(), data.cases[case as usize].span);
    let (file, group, is_prelude) = (data.file, data.group, data.is_prelude);
    let env = generic_env::nominal_env(cx, n);
    let mut function = blank_function(&name, span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.group = Some(group);
    function.is_static = true;
    let has_payload = cx.defs.nominal_data(n).cases[case as usize].has_payload;
    function.kind = if has_payload { FunctionKind::Function } else { FunctionKind::Getter };
    let mut signature = plain_signature(env, ty.clone());
    signature.params = case_params(cx, n, case);
    let locals: Vec<typed_tree::Local> =
        signature.params.iter().map(|p| typed_tree::Local::new(p.name.clone(), p.ty.clone(), false, span)).collect();
    let payload = locals.iter().enumerate().map(|(at, local)| {
        let kind = typed_tree::ExprKind::Local(typed_tree::LocalId(at as u32));
        typed_tree::Expr { kind, ty: local.ty.clone(), span }
    });
    let kind = typed_tree::ExprKind::Case { case, payload: payload.collect() };
    let value = typed_tree::Expr { kind, ty, span };
    let statement = typed_tree::Stmt { kind: typed_tree::StmtKind::Return(Some(value)), span };
    let body =
        typed_tree::Body { params: locals.len(), locals, statements: vec![statement], ..typed_tree::Body::default() };
    function.memo.signature = Some(Rc::new(signature));
    function.memo.body = BodyState::Checked(Rc::new(body));
    let accessor = cx.defs.add_function(function);
    cx.memo.case_accessors.insert((n, case), accessor);
    accessor
}

/// Returns the parameters of a case as a function, in terms of the generic parameters of its enum.
pub(crate) fn case_params(cx: &mut TypeContext, n: NominalId, case: u32) -> Vec<SignatureParam> {
    let payload = case_payload(cx, n, case);
    let params = payload.into_iter().enumerate().map(|(part, (label, ty))| SignatureParam {
        name: label.clone().unwrap_or_else(|| "_".into()),
        label,
        ty,
        is_inout: false,
        variadic: false,
        autoclosure: false,
        default: case_default(cx, n, case, part),
        span: Span::default(),
    });
    params.collect()
}

/// Returns the payload of a case, in terms of the generic parameters of its enum.
pub(crate) fn case_payload(
    cx: &mut TypeContext,
    n: NominalId,
    case: u32,
) -> Vec<(Option<crate::syntax::ast::Name>, Type)> {
    let env = generic_env::nominal_env(cx, n);
    let file = cx.defs.nominal_data(n).file;
    let payload = cx.defs.nominal_data(n).cases[case as usize].payload.clone();

    type_context::with_env(cx, env, |cx| {
        let scope = TypeScope::of(Owner::Nominal(n), file);

        payload.iter().map(|(l, t)| (l.clone(), type_expr::resolve_type(cx, t, &scope))).collect()
    })
}

/// Returns the function that computes the default value of a component of a case's payload.
pub(crate) fn case_default(cx: &mut TypeContext, n: NominalId, case: u32, part: usize) -> Option<FunctionId> {
    if let Some(known) = cx.defs.case_defaults.get(&(n, case, part)) {
        return Some(*known);
    }
    let data = &cx.defs.nominal_data(n).cases[case as usize];
    let (value, name) = (data.defaults.get(part)?.clone()?, data.name.clone());
    let ty = case_payload(cx, n, case).get(part).map_or(Type::Error, |(_, ty)| ty.clone());
    let (file, is_prelude) = (cx.defs.nominal_data(n).file, cx.defs.nominal_data(n).is_prelude);
    let env = generic_env::nominal_env(cx, n);
    let mut function = blank_function(&format!("default value of {name}").into(), value.span, file, is_prelude);
    function.owner = Owner::Nominal(n);
    function.is_static = true;
    function.code = Code::Expression(value);
    function.outer = Some(env.clone());
    function.memo.signature = Some(Rc::new(plain_signature(env, ty)));
    let id = cx.defs.add_function(function);
    cx.defs.case_defaults.insert((n, case, part), id);
    Some(id)
}

/// Enters the default values of all cases of an enum, so that the default values are checked.
pub(crate) fn enter_case_defaults(cx: &mut TypeContext, n: NominalId) {
    for case in 0..cx.defs.nominal_data(n).cases.len() {
        for part in 0..cx.defs.nominal_data(n).cases[case].defaults.len() {
            case_default(cx, n, case as u32, part);
        }
    }
}

fn data_is_prelude(cx: &TypeContext, g: GlobalId) -> bool {
    cx.defs.globals[g.0 as usize].is_prelude
}
