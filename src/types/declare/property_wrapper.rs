//! Property wrappers (`@propertyWrapper`): properties whose values are stored inside a value of another type.
//!
//! `@Clamped(0...9) var x = 5` becomes a stored property `_x` with the initial value `Clamped(wrappedValue: 5, 0...9)`,
//! and two computed properties: `x`, which is its `wrappedValue`, and `$x`, which is its `projectedValue`.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax;
use crate::syntax::ast::{
    Accessors, Arg, Attribute, AttributeArgs, Binding, Decl, DeclKind, Expr, ExprKind, File, Ident, Name, NominalDecl,
    NominalKind, Param, Pattern, PatternKind, StmtKind, TypeExpr, TypeExprKind,
};
use crate::types::declare::member;
use crate::types::declare::member::{Property, value_param};
use crate::types::declare::property_observers;
use crate::types::model::declaration_tables::Accessible;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::Wrapped;
use crate::types::model::declaration_tables::Wrapper;
use crate::types::model::declaration_tables::{
    Code, FunctionData, FunctionKind, Group, Member, MemberKind, Owner, StoredData, blank_function,
};
use crate::types::model::syntax_query::{coerced, strip};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::prelude;
use std::rc::Rc;

/// The properties of a wrapped local variable: its storage, and whether the value and the projected value can be set.
pub(crate) struct WrappedLocal {
    pub(crate) storage: Binding,
    pub(crate) value: bool,
    pub(crate) projected: Option<bool>,
}

/// A wrapped property that is being entered.
struct WrappedDeclaration<'d> {
    n: NominalId,
    like: &'d Member,
    decl: &'d Rc<Decl>,
    name: &'d Ident,
    ty: Option<&'d TypeExpr>,
    attribute: &'d Attribute,
    wrapper: Wrapper,
    /// The inner wrappers of the property, from the outermost one inward.
    inner: Vec<(&'d Attribute, Wrapper)>,
    observers: Option<&'d Accessors>,
}

impl WrappedDeclaration<'_> {
    /// Whether the innermost wrapper, which takes the value, evaluates the value when it is needed.
    fn defers_value(&self) -> bool {
        self.inner.last().map_or(&self.wrapper, |(_, wrapper)| wrapper).defers_value
    }

    /// Returns the type of the value that the outermost wrapper wraps, if the property has a type annotation.
    fn inner_type(&self) -> Option<TypeExpr> {
        let own = self.ty.cloned();
        self.inner.iter().rev().fold(own, |ty, (attribute, wrapper)| wrapper_type(attribute, wrapper, ty.as_ref()))
    }
}

/// Registers the property wrappers that a file declares, including nested ones.
pub(crate) fn note_wrappers(cx: &mut TypeContext, file: &File) {
    for item in &file.items {
        if let StmtKind::Decl(decl) = &item.kind {
            note_wrapper(cx, decl);
        }
    }
}

/// Registers a declared property wrapper, result builder or global actor, and those that are nested in a declared type.
pub(crate) fn note_wrapper(cx: &mut TypeContext, decl: &Decl) {
    let members = match &decl.kind {
        DeclKind::Nominal(nominal) => {
            if let Some(attribute) = decl.attribute("propertyWrapper") {
                if !declares_value(nominal) {
                    let name = &nominal.name.name;
                    let message = format!(
                        "property wrapper type '{name}' does not contain a non-static property named 'wrappedValue'"
                    );
                    let diagnostic = Diagnostic::error(DiagnosticCode::WrongContext, nominal.name.span, message);
                    cx.sink.report(diagnostic.also(attribute.span, "required by this attribute"));
                }
                cx.defs.wrappers.insert(nominal.name.name.clone(), wrapper(nominal));
            }
            if decl.attribute("resultBuilder").is_some() {
                cx.defs.builders.insert(nominal.name.name.clone());
            }
            if decl.attribute("globalActor").is_some() {
                cx.defs.global_actors.insert(nominal.name.name.clone());
            }
            &nominal.members
        }
        DeclKind::Extension(extension) => &extension.members,
        _ => return,
    };
    for member in members {
        note_wrapper(cx, member);
    }
}

/// Returns the attribute that applies a wrapper to a declaration; the outermost one if there are several.
fn wrapping<'d>(cx: &mut TypeContext, decl: &'d Decl) -> Option<(&'d Attribute, Wrapper)> {
    all_wrapping(cx, decl).into_iter().next()
}

fn all_wrapping<'d>(cx: &mut TypeContext, decl: &'d Decl) -> Vec<(&'d Attribute, Wrapper)> {
    let wrapping = decl.attributes.iter().filter_map(|attribute| {
        let name = attribute.name.name.rsplit('.').next()?;
        enter_library_wrapper(cx, name);
        cx.defs.wrappers.get(name).map(|wrapper| (attribute, wrapper.clone()))
    });
    wrapping.collect()
}

/// Registers the property wrapper of the library with the name of an attribute, if there is one.
pub(crate) fn enter_library_wrapper(cx: &mut TypeContext, name: &str) {
    if !cx.defs.wrappers.contains_key(name) && is_type_name(name) {
        // Entering a wrapper of the library registers it.
        prelude::library_types(cx, name);
    }
}

/// Whether an attribute is named like a type, and not like an attribute of the language.
fn is_type_name(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase())
}

/// Reports a wrapper on a variable at the top level.
pub(crate) fn refuse_wrapped(cx: &mut TypeContext, decl: &Decl) {
    if let Some((attribute, _)) = wrapping(cx, decl) {
        let message = "property wrappers are not yet supported in top-level code";
        let diagnostic = Diagnostic::error(DiagnosticCode::WrongContext, attribute.span, message);
        cx.sink.report(diagnostic.help("use it on a local variable or on a property of a type"));
    }
}

/// Returns the storage and accessors of a wrapped local variable; `Some(None)` after reporting an error.
pub(crate) fn wrapped_local(
    cx: &mut TypeContext,
    decl: &Decl,
    is_let: bool,
    binding: &Binding,
    name: &Ident,
    ty: Option<&TypeExpr>,
) -> Option<Option<WrappedLocal>> {
    let (attribute, wrapper) = wrapping(cx, decl)?;
    let problem = match &binding.accessors {
        _ if is_let => "property wrapper can only be applied to a 'var'",
        Some(accessors) if accessors.get.is_some() => "property wrapper cannot be applied to a computed property",
        Some(_) => "observers of a wrapped local variable are not supported",
        None => "",
    };
    if !problem.is_empty() {
        cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, name.span, problem));
        return Some(None);
    }
    let value = binding.value.as_ref().map(|value| coerced(value, ty));
    let value = wrapper_call(cx, attribute, value);
    let storage = storage_binding(attribute, &wrapper, name, ty, value);
    let projected = wrapper.projected.map(|p| p.settable);
    Some(Some(WrappedLocal { storage, value: wrapper.value.settable, projected }))
}

/// Enters a property with a wrapper; returns `false` if the property has no wrapper.
pub(crate) fn declare_wrapped(cx: &mut TypeContext, property: &Property) -> bool {
    let Property { decl, is_let, binding, name, ty, like } = *property;
    let mut all = all_wrapping(cx, decl);
    if all.is_empty() {
        return false;
    }
    let inner = all.split_off(1);
    let Some((attribute, wrapper)) = all.pop() else { return false };
    let Owner::Nominal(n) = cx.defs.groups[like.group.0 as usize].owner else { return false };
    let problem = if is_let {
        "property wrapper can only be applied to a 'var'"
    } else if binding.accessors.as_ref().is_some_and(|a| a.get.is_some()) {
        "property wrapper cannot be applied to a computed property"
    } else if !like.is_static && !member::holds_stored(cx, n, like.group) {
        return false;
    } else {
        let observers = binding.accessors.as_ref();
        let wrapping = WrappedDeclaration { n, like, decl, name, ty, attribute, wrapper, inner, observers };
        match like.is_static {
            true => wrap_static(cx, &wrapping, binding.value.as_ref()),
            false => wrap_property(cx, &wrapping, binding.value.as_ref()),
        }
        return true;
    };
    cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, name.span, problem));
    true
}

/// Enters a static property with a wrapper; the storage of the wrapper is static, too.
fn wrap_static(cx: &mut TypeContext, w: &WrappedDeclaration, value: Option<&Expr>) {
    let value = value.map(|value| coerced(value, w.ty));
    let mut decl = (**w.decl).clone();
    decl.attributes.retain(|a| a.span != w.attribute.span && w.inner.iter().all(|(inner, _)| a.span != inner.span));
    decl.modifiers.push(Ident { name: "private".into(), span: w.name.span });
    let value = value.map(|value| inner_call(cx, w, value));
    let value = wrapper_call(cx, w.attribute, value);
    let storage = storage_binding(w.attribute, &w.wrapper, w.name, w.inner_type().as_ref(), value);
    member::declare_property(cx, &Rc::new(decl), false, &storage, Owner::Nominal(w.n), w.like);
    forwardings(cx, w, &format!("_{}", w.name.name).into());
}

fn wrap_property(cx: &mut TypeContext, w: &WrappedDeclaration, value: Option<&Expr>) {
    let span = w.name.span;
    let value = match (value, w.ty.map(|t| &t.kind)) {
        (None, Some(TypeExprKind::Optional(_))) if w.wrapper.takes_value => Some(Expr { kind: ExprKind::Nil, span }),
        (value, _) => value.cloned(),
    };
    let initial = value.map(|value| {
        let mut initial = part(cx, w, &format!("initial value of {}", w.name.name), true);
        initial.code = Code::Expression(Rc::new(value));
        initial.ast_result = w.ty.cloned().map(Rc::new);
        add_part(cx, w, initial)
    });
    let knows = w.ty.is_some() || initial.is_some();
    let names_value =
        matches!(&w.attribute.args, AttributeArgs::Text(text) if text.trim_start().starts_with("wrappedValue:"));
    let wrap = (w.wrapper.takes_value && knows && !names_value).then(|| wrapping_function(cx, w, initial));
    let stored = match (initial, wrap, &w.attribute.args) {
        (Some(_), Some(_), _) => {
            let name = &w.name.name;
            let initial = format!("Self.`initial value of {name}`()");
            match w.wrapper.defers_value {
                // The function that wraps a value would evaluate the value.
                true => written_expression(cx, &initial, span).map(|value| {
                    let value = inner_call(cx, w, value);
                    wrapper_call(cx, w.attribute, Some(value))
                }),
                false => written_expression(cx, &format!("Self.`wrapped {name}`({initial})"), span),
            }
        }
        (None, _, AttributeArgs::Text(_)) if names_value || w.wrapper.takes_other => {
            Some(wrapper_call(cx, w.attribute, None))
        }
        (None, _, _) if w.wrapper.takes_nothing => Some(wrapper_call(cx, w.attribute, None)),
        (None, _, _) => None,
        (Some(_), None, _) => {
            let message = "cannot use an initial value: the property wrapper has no 'init(wrappedValue:)'";
            cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, span, message));
            None
        }
    };
    let default = initial.map(|initial| if w.defers_value() { deferred_initial(cx, w) } else { initial });
    let wrapped = Wrapped { name: w.name.name.clone(), wrap, initial, default, depth: 1 + w.inner.len() };
    let storage = wrapper_storage(cx, w, stored, wrapped);
    forwardings(cx, w, &storage);
}

/// Enters the computed properties that forward to the properties of a wrapper.
fn forwardings(cx: &mut TypeContext, w: &WrappedDeclaration, storage: &Name) {
    let (mut path, mut value) = (String::from("wrappedValue"), w.wrapper.value);
    for (_, wrapper) in &w.inner {
        path.push_str(".wrappedValue");
        value.settable &= wrapper.value.settable && (value.settable || !wrapper.value.writing_mutates);
        value.reading_mutates |= wrapper.value.reading_mutates;
    }
    forwarding(cx, w, (&w.name.name, w.ty), storage, (&path, value));
    if let Some(projected) = w.wrapper.projected {
        let name: Name = format!("${}", w.name.name).into();
        forwarding(cx, w, (&name, None), storage, ("projectedValue", projected));
    }
}

/// Enters the function that returns a function which computes the initial value.
fn deferred_initial(cx: &mut TypeContext, w: &WrappedDeclaration) -> FunctionId {
    let mut deferred = part(cx, w, &format!("deferred initial value of {}", w.name.name), true);
    let text = format!("{{ () in Self.`initial value of {}`() }}", w.name.name);
    let value = written_expression(cx, &text, w.name.span);
    let value = value.unwrap_or(Expr { kind: ExprKind::Error, span: w.name.span });
    deferred.code = Code::Expression(Rc::new(value));
    add_part(cx, w, deferred)
}

/// Enters the function that creates a wrapper from the wrapped value.
fn wrapping_function(cx: &mut TypeContext, w: &WrappedDeclaration, initial: Option<FunctionId>) -> FunctionId {
    const VALUE: &str = "wrapped value";
    let span = w.name.span;
    let mut wrap = part(cx, w, &format!("wrapped {}", w.name.name), true);
    let mut param = value_param(Ident { name: VALUE.into(), span }, w.ty);
    let mut value = Expr { kind: ExprKind::Ident { name: VALUE.into(), generics: vec![] }, span };
    if w.defers_value() {
        let name = |name: &str| Ident { name: name.into(), span };
        let attribute = |word: &str| Attribute { name: name(word), generics: vec![], args: AttributeArgs::None, span };
        param.attributes = vec![attribute("autoclosure"), attribute("escaping")];
        param.ty = param.ty.map(|ty| {
            let kind =
                TypeExprKind::Function { params: vec![], result: Box::new(ty), throws: false, attributes: vec![] };
            TypeExpr { kind, span }
        });
        value = Expr { kind: ExprKind::Call { callee: Rc::new(value), args: vec![] }, span };
    }
    wrap.ast_params = Rc::from([param]);
    wrap.observed = initial.map(Observed::Result);
    wrap.ast_result = wrapper_type(w.attribute, &w.wrapper, w.inner_type().as_ref()).map(Rc::new);
    let value = inner_call(cx, w, value);
    wrap.code = Code::Expression(Rc::new(wrapper_call(cx, w.attribute, Some(value))));
    add_part(cx, w, wrap)
}

/// Returns the value of the outermost wrapper of a property: the given value, wrapped in the inner wrappers.
fn inner_call(cx: &mut TypeContext, w: &WrappedDeclaration, value: Expr) -> Expr {
    w.inner.iter().rev().fold(value, |value, (attribute, _)| wrapper_call(cx, attribute, Some(value)))
}

/// Creates the call `Wrapper(wrappedValue: value, …)`, which ends with the arguments of the wrapper's attribute.
fn wrapper_call(cx: &mut TypeContext, attribute: &Attribute, value: Option<Expr>) -> Expr {
    let at = attribute.span;
    let written = Span::new(at.start + 1, at.end);
    let brackets = if matches!(attribute.args, AttributeArgs::None) { "()" } else { "" };
    let mut parsed = syntax::parse(&format!("{}{brackets}", cx.sink.source_text(written)), written.start);
    cx.sink.diagnostics.append(&mut parsed.diagnostics);
    let mut problems = syntax::fold_file(&mut parsed.file, &cx.defs.operators);
    cx.sink.diagnostics.append(&mut problems);
    let call = match parsed.file.items.pop().map(|item| item.kind) {
        Some(StmtKind::Expr(call)) => call,
        _ => return Expr { kind: ExprKind::Error, span: at },
    };
    let (ExprKind::Call { callee, mut args }, span) = (call.kind, call.span) else {
        return Expr { kind: ExprKind::Error, span: at };
    };
    if let Some(value) = value {
        let label = Some(Ident { name: "wrappedValue".into(), span: value.span });
        args.insert(0, Arg { label, value: Rc::new(value), trailing: false });
    }
    Expr { kind: ExprKind::Call { callee, args }, span: Span::new(span.start, span.end.min(at.end)) }
}

fn written_expression(cx: &mut TypeContext, text: &str, place: Span) -> Option<Expr> {
    match property_observers::written_block(cx, text, place).items.pop().map(|item| item.kind) {
        Some(StmtKind::Expr(e)) => Some(e),
        _ => None,
    }
}

/// Enters the stored property that contains a wrapper; returns the name of the property.
fn wrapper_storage(cx: &mut TypeContext, w: &WrappedDeclaration, value: Option<Expr>, wrapped: Wrapped) -> Name {
    let storage: Name = format!("_{}", w.name.name).into();
    let mut decl = (**w.decl).clone();
    decl.modifiers.push(Ident { name: "private".into(), span: w.name.span });
    // `@differentiable` applies to the property, not to its storage.
    decl.attributes.retain(|a| &*a.name.name != "differentiable");
    let ty = wrapper_type(w.attribute, &w.wrapper, w.inner_type().as_ref()).filter(|_| wrapped.wrap.is_none());
    let stored = StoredData {
        ty: ty.map(Rc::new),
        value: value.map(Rc::new),
        no_derivative: w.decl.attribute("noDerivative").is_some(),
        wrapped: Some(wrapped),
        ..StoredData::of(storage.clone(), Rc::new(decl))
    };
    let index = cx.defs.nominal_data(w.n).stored.len() as u32;
    cx.defs.nominal_data_mut(w.n).stored.push(stored);
    let member = Member { kind: MemberKind::Stored(index), ..w.like.clone() };
    member::add_member(cx, Owner::Nominal(w.n), &storage, member);
    storage
}

/// Enters a computed property that forwards to a property of a wrapper.
fn forwarding(
    cx: &mut TypeContext,
    w: &WrappedDeclaration,
    (name, ty): (&Name, Option<&TypeExpr>),
    storage: &Name,
    (of, accessible): (&str, Accessible),
) {
    const NEW: &str = "new value";
    let span = w.name.span;
    let own = if w.like.is_static { "Self" } else { "self" };
    let place = format!("{own}.`{storage}`.{of}");
    let mut get = part(cx, w, name, false);
    get.is_static = w.like.is_static;
    get.kind = FunctionKind::Getter;
    get.decl = Some(w.decl.clone());
    get.is_mutating = accessible.reading_mutates && !w.like.is_static;
    get.ast_result = ty.cloned().map(Rc::new);
    if let Some(value) = written_expression(cx, &place, span) {
        get.code = Code::Expression(Rc::new(value));
    }
    let get = cx.defs.add_function(get);
    let set = accessible.settable.then(|| {
        let mut set = part(cx, w, name, false);
        set.is_static = w.like.is_static;
        set.kind = FunctionKind::Setter;
        set.decl = Some(w.decl.clone());
        set.is_mutating = accessible.writing_mutates && !w.like.is_static;
        set.observed = Some(Observed::Result(get));
        set.ast_params = Rc::from([value_param(Ident { name: NEW.into(), span }, ty)]);
        let observers = w.observers.filter(|_| *name == w.name.name);
        let body = match observers {
            Some(observers) => {
                let observed =
                    property_observers::observed_in(cx, w.like.group, w.like.is_static, Some(Observed::Result(get)));
                property_observers::observing_block_at(cx, observers, w.name, ty, observed, (&place, &place))
            }
            None => property_observers::written_block(cx, &format!("{place} = `{NEW}`\n"), span),
        };
        set.code = Code::Block(Some(body.into()));
        cx.defs.add_function(set)
    });
    cx.defs.functions[get.0 as usize].setter = set;
    member::add_member(
        cx,
        Owner::Nominal(w.n),
        name,
        Member { kind: MemberKind::Computed(get, set), ..w.like.clone() },
    );
}

fn part(cx: &TypeContext, w: &WrappedDeclaration, name: &str, is_static: bool) -> FunctionData {
    let Group { owner, file, is_prelude, .. } = cx.defs.groups[w.like.group.0 as usize];
    FunctionData {
        owner,
        group: Some(w.like.group),
        is_static,
        ..blank_function(&name.into(), w.name.span, file, is_prelude || !is_static)
    }
}

fn add_part(cx: &mut TypeContext, w: &WrappedDeclaration, part: FunctionData) -> FunctionId {
    let name = part.base_name.clone();
    let f = cx.defs.add_function(part);
    let member = Member { kind: MemberKind::Method(f), is_static: true, ..w.like.clone() };
    member::add_member(cx, Owner::Nominal(w.n), &name, member);
    f
}

/// Returns the storage of a wrapped property without an initial value, and the function that creates the wrapper from
/// the wrapped value.
pub(crate) fn unfilled_wrapper(cx: &TypeContext, n: NominalId, name: &str) -> Option<(u32, FunctionId)> {
    let stored = &cx.defs.nominal_data(n).stored;
    let index = stored.iter().position(|s| s.wrapped.as_ref().is_some_and(|w| &*w.name == name))?;
    let wrap = stored[index].wrapped.as_ref().and_then(|w| w.wrap)?;
    stored[index].value.is_none().then_some((index as u32, wrap))
}

/// Creates the declaration of a wrapper that is not stored in a property of an instance.
fn storage_binding(
    attribute: &Attribute,
    wrapper: &Wrapper,
    name: &Ident,
    ty: Option<&TypeExpr>,
    value: Expr,
) -> Binding {
    let (span, name) = (name.span, format!("_{}", name.name).into());
    Binding {
        pattern: Pattern { kind: PatternKind::Bind { name, mutable: false }, span },
        ty: wrapper_type(attribute, wrapper, ty),
        value: Some(value),
        accessors: None,
    }
}

/// Returns the type of a wrapper, if the wrapped property has a type annotation.
fn wrapper_type(attribute: &Attribute, wrapper: &Wrapper, ty: Option<&TypeExpr>) -> Option<TypeExpr> {
    let span = attribute.name.span;
    let ty = ty?;
    let arguments = match wrapper.params {
        0 => vec![],
        1 => vec![ty.clone()],
        _ => return None,
    };
    let mut parts: Vec<(Ident, Vec<TypeExpr>)> =
        attribute.name.name.split('.').map(|part| (Ident { name: part.into(), span }, vec![])).collect();
    if let Some(last) = parts.last_mut() {
        last.1 = arguments;
    }
    Some(TypeExpr { kind: TypeExprKind::Named(parts), span })
}

/// Determines the properties of a wrapper from its declaration.
fn wrapper(nominal: &NominalDecl) -> Wrapper {
    let is_class = nominal.kind == NominalKind::Class;
    let property = |wanted: &str| {
        nominal.members.iter().find_map(|member| match &member.kind {
            DeclKind::Variable { is_let, bindings } => {
                let binding = bindings.iter().find(|b| is_named(b, wanted))?;
                Some(accessible(*is_let, binding, is_class))
            }
            _ => None,
        })
    };
    let inits: Vec<_> = nominal
        .members
        .iter()
        .filter_map(|member| match &member.kind {
            DeclKind::Init { function, .. } => Some(&function.params),
            _ => None,
        })
        .collect();
    // The parameters of the memberwise initializer of the wrapper, and whether they have default values.
    let stored = stored_properties(nominal);
    let memberwise = inits.is_empty();
    let value = stored.iter().find(|(is_value, _)| *is_value);
    let stores_value = value.is_some();
    let needs_value = value.is_some_and(|(_, has_value)| !has_value);
    let is_value = |p: &Param| p.label.as_ref().is_some_and(|l| &*l.name == "wrappedValue");
    Wrapper {
        params: nominal.generics.params.len(),
        defers_value: inits.iter().any(|params| params.first().is_some_and(|p| is_value(p) && is_autoclosure(p))),
        takes_value: inits.iter().any(|params| params.first().is_some_and(is_value)) || memberwise && stores_value,
        takes_other: inits.iter().any(|params| params.first().is_some_and(|p| !is_value(p)))
            || memberwise && !needs_value && stored.iter().any(|(is_value, _)| !is_value),
        takes_nothing: inits.iter().any(|params| params.iter().all(|p| p.default.is_some()))
            || memberwise && stored.iter().all(|(_, has_value)| *has_value),
        value: property("wrappedValue").unwrap_or_default(),
        projected: property("projectedValue"),
    }
}

fn is_autoclosure(param: &Param) -> bool {
    let marks = |attributes: &[Attribute]| attributes.iter().any(|a| &*a.name.name == "autoclosure");
    marks(&param.attributes)
        || matches!(param.ty.as_ref().map(|ty| &ty.kind), Some(TypeExprKind::Attributed(attributes, _)) if marks(attributes))
}

/// Whether the declaration of a wrapper has the required `wrappedValue`. A class may inherit `wrappedValue`.
fn declares_value(nominal: &NominalDecl) -> bool {
    let is_value = |member: &Decl| {
        let DeclKind::Variable { bindings, .. } = &member.kind else { return false };
        !member.has("static") && !member.has("class") && bindings.iter().any(|b| is_named(b, "wrappedValue"))
    };
    nominal.kind == NominalKind::Class && !nominal.inherits.is_empty() || nominal.members.iter().any(|m| is_value(m))
}

/// Returns for each stored property of a wrapper whether it is `wrappedValue`, and whether it has an initial value.
fn stored_properties(nominal: &NominalDecl) -> Vec<(bool, bool)> {
    let mut stored = vec![];
    for member in &nominal.members {
        let DeclKind::Variable { bindings, .. } = &member.kind else { continue };
        if member.modifiers.iter().any(|m| &*m.name == "static") {
            continue;
        }
        let plain = bindings.iter().filter(|b| b.accessors.as_ref().is_none_or(|a| a.get.is_none()));
        stored.extend(plain.map(|b| (is_named(b, "wrappedValue"), b.value.is_some())));
    }
    stored
}

fn is_named(binding: &Binding, wanted: &str) -> bool {
    matches!(&strip(&binding.pattern).kind, PatternKind::Bind { name, .. } if &**name == wanted)
}

fn accessible(is_let: bool, binding: &Binding, is_class: bool) -> Accessible {
    match binding.accessors.as_ref().filter(|a| a.get.is_some()) {
        Some(accessors) => Accessible {
            settable: accessors.set.is_some(),
            reading_mutates: accessors.mutating_get && !is_class,
            writing_mutates: !accessors.nonmutating_set && !is_class,
        },
        None => Accessible { settable: !is_let, reading_mutates: false, writing_mutates: !is_class },
    }
}
