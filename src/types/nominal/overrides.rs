//! Overrides: determines which inherited members a class overrides, and checks the overrides.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, Name};
use crate::types::conform::conformances;
use crate::types::conform::rethrowing_function;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{BodyState, FunctionKind, Member, MemberKind, Owner};
use crate::types::model::display;
use crate::types::model::queries;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::dynamic_self;
use crate::types::names::name_lookup;
use crate::types::names::subclass_access;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// Returns the implementation of a method for instances of a class, which is the nearest override.
pub(crate) fn nearest_override(cx: &mut TypeContext, method: &FunctionRef, of: &Type) -> FunctionRef {
    let Owner::Nominal(home) = cx.defs.function_data(method.function).owner else { return method.clone() };
    let outer = cx.defs.nominal_data(home).params.len();
    let mut at = of.clone();
    while let Type::Nominal(n, args) = &at {
        if let Some(function) = cx.defs.overrides.get(&(method.function, *n)) {
            let own = method.generics.get(outer..).unwrap_or_default();
            return FunctionRef { function: *function, generics: args.iter().chain(own).cloned().collect() };
        }
        let (n, args) = (*n, args.clone());
        if n == home {
            break;
        }
        let Some(base) = superclass::base_type(cx, n, &args) else { break };
        at = base;
    }
    method.clone()
}

/// Whether a function is declared with `override`.
pub(crate) fn overrides_something(cx: &TypeContext, f: FunctionId) -> bool {
    cx.defs.function_data(f).decl.as_ref().is_some_and(|d| d.has("override"))
}

/// Returns the methods with registered derivatives that a method overrides, and their generic arguments: the methods of
/// the nearest superclass with such methods.
pub(crate) fn overridden_by(cx: &mut TypeContext, of: &FunctionRef) -> Vec<(FunctionId, Rc<[Type]>)> {
    let Owner::Nominal(n) = cx.defs.function_data(of.function).owner else { return vec![] };
    let mut overridden: Vec<FunctionId> =
        cx.defs.overrides.iter().filter(|((_, c), by)| *c == n && **by == of.function).map(|((g, _), _)| *g).collect();
    overridden.retain(|g| !cx.defs.function_data(*g).registered.is_empty() && gives_the_same(cx, *g, of.function));
    overridden.sort_unstable();
    let own = cx.defs.nominal_data(n).params.len().min(of.generics.len());
    let (args, further) = of.generics.split_at(own);
    let mut at = Some(Type::Nominal(n, args.into()));
    while let Some(Type::Nominal(class, args)) = at {
        let here = overridden.iter().filter(|old| cx.defs.function_data(**old).owner == Owner::Nominal(class));
        let found: Vec<_> = here.map(|old| (*old, args.iter().chain(further).cloned().collect())).collect();
        if !found.is_empty() {
            return found;
        }
        at = superclass::base_type(cx, class, &args);
    }
    vec![]
}

/// Whether a derivative registered for a method applies to an override: the results of both must have the same type,
/// which the override does not specialize.
fn gives_the_same(cx: &mut TypeContext, old: FunctionId, new: FunctionId) -> bool {
    let results = [old, new].map(|f| signature::signature(cx, f).result.clone());
    let is_open = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
    let is_init = matches!(cx.defs.function_data(new).kind, FunctionKind::Init { .. });
    !is_init
        && (results.iter().any(is_open)
            || associated_type::normalize_type(cx, &results[0]) == associated_type::normalize_type(cx, &results[1]))
}

/// Determines the overrides of a class, and reports errors in the overrides.
pub(crate) fn link_class(cx: &mut TypeContext, n: NominalId) {
    if !superclass::is_class(cx, n) || std::mem::replace(&mut cx.defs.nominal_data_mut(n).memo.linked, true) {
        return;
    }
    if let Some((base, _)) = superclass::superclass(cx, n) {
        link_class(cx, base);
    }
    queries::synthesize_member(cx, n, "init", true);
    let mut members: Vec<(Name, Member)> = vec![];
    for (name, all) in &cx.defs.nominal_data(n).members {
        members.extend(all.iter().map(|m| (name.clone(), m.clone())));
    }
    members.sort_by_key(|(name, m)| (member_span(cx, n, &m.kind), name.clone()));
    for (name, member) in members {
        crate::cancel::check();
        link_member(cx, n, &name, &member);
    }
}

fn member_span(cx: &TypeContext, n: NominalId, kind: &MemberKind) -> Span {
    match kind {
        MemberKind::Stored(i) => cx.defs.nominal_data(n).stored[*i as usize].span,
        MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            cx.defs.function_data(*f).span
        }
        _ => Span::default(),
    }
}

fn link_member(cx: &mut TypeContext, n: NominalId, name: &Name, member: &Member) {
    let has = |cx: &TypeContext, word| match &member.kind {
        MemberKind::Stored(i) => word == "override" && cx.defs.nominal_data(n).stored[*i as usize].overrides,
        MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            cx.defs.function_data(*f).decl.as_ref().is_some_and(|d| d.has(word))
        }
        _ => false,
    };
    let (has_override, is_required) = (has(cx, "override"), has(cx, "required"));
    let span = member_span(cx, n, &member.kind);
    let (what, whats) = match member.kind {
        MemberKind::Method(f) if cx.defs.function_data(f).decl.is_some() => ("method", "method"),
        MemberKind::Init(_) => ("initializer", "designated initializer"),
        MemberKind::Computed(..) | MemberKind::Stored(_) => ("property", "property"),
        MemberKind::Subscript(..) => ("subscript", "subscript"),
        _ => return,
    };
    let Some((class, inherited)) = inherited_member(cx, n, name, member) else {
        if has_override {
            let message = format!("{what} does not override any {whats} from its superclass");
            cx.sink.report(Diagnostic::error(Code::Inheritance, span, message));
            if let MemberKind::Computed(get, set) = member.kind {
                pass_over(cx, get, set);
            }
        }
        return;
    };
    let declared = member_span(cx, class, &inherited.kind);
    let problem = if matches!(member.kind, MemberKind::Stored(_)) {
        Some(format!("cannot override with a stored property '{name}'"))
    } else if is_final_member(cx, class, &inherited) {
        Some(if inherited.is_static {
            format!("cannot override static {what}")
        } else {
            format!("{what} overrides a 'final' {what}")
        })
    } else if is_failable(cx, &member.kind) && !is_failable(cx, &inherited.kind) {
        Some("failable initializer cannot override a non-failable initializer".to_owned())
    } else {
        other_result(cx, n, name, &member.kind, class, &inherited.kind)
    };
    if let Some(problem) = problem {
        cx.sink.report(Diagnostic::error(Code::Inheritance, span, problem).also(declared, "declared here"));
        return;
    }
    let needs_override = what != "initializer" || !is_required;
    if needs_override && !has_override {
        let message = "overriding declaration requires an 'override' keyword";
        let diagnostic = Diagnostic::error(Code::Inheritance, span, message).also(declared, "overridden here");
        cx.sink.report(diagnostic.help("write 'override' before it"));
    }
    record_overrides(cx, n, name, (&member.kind, span), class, &inherited.kind);
}

fn is_failable(cx: &TypeContext, member: &MemberKind) -> bool {
    matches!(member, MemberKind::Init(f) if cx.defs.function_data(*f).kind == FunctionKind::Init { failable: true })
}

/// Describes how an override's result type or `throws` conflicts with the overridden member, if there is a conflict.
fn other_result(
    cx: &mut TypeContext,
    n: NominalId,
    name: &str,
    member: &MemberKind,
    class: NominalId,
    inherited: &MemberKind,
) -> Option<String> {
    let (MemberKind::Method(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _)) = *member else {
        return None;
    };
    let mine = signature::signature(cx, f);
    let (theirs, throws) = match *inherited {
        MemberKind::Method(g) | MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => {
            let theirs = signature::signature(cx, g);
            (theirs.result.clone(), theirs.throws)
        }
        MemberKind::Stored(i) => (stored_property::stored_type(cx, class, i), false),
        _ => return None,
    };
    let propagates = |cx: &TypeContext, kind: &MemberKind| matches!(kind, MemberKind::Method(f) if cx.defs.function_data(*f).rethrows);
    if propagates(cx, inherited) && !propagates(cx, member) && mine.throws {
        return Some(format!(
            "'{name}' throws errors of its own, but the overridden method is declared with \
                                 'rethrows'"
        ));
    }
    if mine.throws && !throws {
        return Some(format!("cannot override non-throwing method '{name}' with a throwing method"));
    }
    let old = match *inherited {
        MemberKind::Method(g) | MemberKind::Computed(g, _) | MemberKind::Subscript(g, _) => Some(g),
        _ => None,
    };
    if old.is_some_and(|old| !dynamic_self::keeps_self(cx, old, f)) {
        return Some(format!("'{name}' must return 'Self', like the overridden declaration"));
    }
    let own = cx.defs.declared_type(n);
    let mut at = Some(own);
    while let Some(Type::Nominal(m, args)) = at.clone().filter(|t| !matches!(t, Type::Nominal(m, _) if *m == class)) {
        at = superclass::base_type(cx, m, &args);
    }
    let Some(Type::Nominal(_, args)) = at else { return None };
    let theirs = conformances::substitute_nominal(cx, class, &args, &theirs);
    let (mine, theirs) =
        (associated_type::normalize_type(cx, &mine.result), associated_type::normalize_type(cx, &theirs));
    // Generic methods are compared when they are called.
    let is_generic = mine.any(&mut |t| matches!(t, Type::Param(_)));
    if is_generic || mine == theirs || is_class_of(cx, &mine, &theirs) {
        return None;
    }
    Some(format!(
        "'{name}' returns '{}', but the overridden declaration returns '{}'",
        display::show(cx, &mine),
        display::show(cx, &theirs)
    ))
}

/// Whether a type is a subclass of another type, or an optional of such a class.
fn is_class_of(cx: &mut TypeContext, ty: &Type, of: &Type) -> bool {
    if let Some(of) = name_lookup::optional_payload(cx, of) {
        let ty = name_lookup::optional_payload(cx, ty).unwrap_or_else(|| ty.clone());
        return ty == of || is_class_of(cx, &ty, &of);
    }
    let mut at = Some(ty.clone());
    while let Some(Type::Nominal(n, args)) = at {
        at = superclass::base_type(cx, n, &args);
        if at.as_ref() == Some(of) {
            return true;
        }
    }
    false
}

fn record_overrides(
    cx: &mut TypeContext,
    n: NominalId,
    name: &str,
    (by, span): (&MemberKind, Span),
    class: NominalId,
    inherited: &MemberKind,
) {
    match (by, inherited) {
        (MemberKind::Method(f), MemberKind::Method(g)) | (MemberKind::Init(f), MemberKind::Init(g)) => {
            record_override(cx, n, *g, *f);
            check_attribute(cx, *g, *f);
        }
        (MemberKind::Computed(get, set) | MemberKind::Subscript(get, set), _) => {
            let (old_get, old_set) = match inherited {
                MemberKind::Computed(get, set) | MemberKind::Subscript(get, set) => (*get, *set),
                MemberKind::Stored(i) => {
                    let is_let = cx.defs.nominal_data(class).stored[*i as usize].is_let;
                    let get = stored_property::stored_accessor(cx, class, *i, false);
                    let set = (!is_let).then(|| stored_property::stored_accessor(cx, class, *i, true));
                    cx.defs.functions[get.0 as usize].setter = set;
                    (get, set)
                }
                _ => return,
            };
            record_override(cx, n, old_get, *get);
            check_attribute(cx, old_get, *get);
            match (old_set, set) {
                (None, Some(_)) if is_observing(cx, *get) => {
                    let message = format!("cannot observe read-only property '{name}'; it can't change");
                    cx.sink.report(Diagnostic::error(Code::Inheritance, span, message));
                    pass_over(cx, *get, *set);
                }
                (Some(old), Some(new)) => record_override(cx, n, old, *new),
                (Some(_), None) => {
                    let message = format!("cannot override mutable property with read-only property '{name}'");
                    cx.sink.report(Diagnostic::error(Code::Inheritance, span, message));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Whether an accessor belongs to a property that a subclass observes.
fn is_observing(cx: &TypeContext, accessor: FunctionId) -> bool {
    let Some(DeclKind::Variable { bindings, .. }) = cx.defs.function_data(accessor).decl.as_ref().map(|d| &d.kind)
    else {
        return false;
    };
    let mut all = bindings.iter().filter_map(|b| b.accessors.as_ref());
    all.any(|a| a.will_set.is_some() || a.did_set.is_some())
}

/// Marks accessors that override nothing as failed, because errors in their uses of `super` would only repeat the first
/// error.
fn pass_over(cx: &mut TypeContext, get: FunctionId, set: Option<FunctionId>) {
    for f in std::iter::once(get).chain(set) {
        cx.defs.functions[f.0 as usize].memo.body = BodyState::Failed;
    }
}

/// Reports an override without the `@differentiable` attribute of the overridden function.
pub(crate) fn check_attribute(cx: &mut TypeContext, old: FunctionId, new: FunctionId) {
    let given = queries::declared_wrt(cx, new);
    let covers = |given: &[bool], wanted: &[bool]| wanted.iter().zip(given).all(|(wanted, given)| given | !wanted);
    let mut wanted = queries::declared_wrt(cx, old).into_iter();
    let missing = wanted.find(|(_, wanted)| !given.iter().any(|(_, given)| covers(given, wanted)));
    let Some((declared, _)) = missing else { return };
    let data = cx.defs.function_data(new);
    // An inherited initializer is not written in the program.
    let Some(decl) = data.decl.clone().filter(|_| !matches!(data.kind, FunctionKind::Init { .. })) else { return };
    let text = cx.sink.source_text(declared).to_string();
    let message = format!("overriding declaration is missing attribute '{text}'");
    let diagnostic = Diagnostic::error(Code::Inheritance, cx.defs.function_data(new).span, message)
        .also(declared, "the overridden declaration has the attribute")
        .fix("add the attribute", decl.span.before(), format!("{text} "));
    cx.sink.report(diagnostic);
}

fn record_override(cx: &mut TypeContext, n: NominalId, old: FunctionId, new: FunctionId) {
    let mut all: Vec<FunctionId> =
        cx.defs.overrides.iter().filter(|(_, by)| **by == old).map(|((method, _), _)| *method).collect();
    all.push(old);
    for method in all {
        cx.defs.overrides.insert((method, n), new);
        cx.defs.overridden.insert(method);
        rethrowing_function::override_throwing(cx, n, method, new);
    }
}

fn is_final_member(cx: &TypeContext, class: NominalId, member: &Member) -> bool {
    match member.kind {
        MemberKind::Stored(i) => cx.defs.nominal_data(class).stored[i as usize].is_final,
        MemberKind::Method(f) | MemberKind::Computed(f, _) | MemberKind::Subscript(f, _) => {
            let decl = cx.defs.function_data(f).decl.clone();
            decl.is_some_and(|d| d.has("final") || d.has("static"))
        }
        _ => false,
    }
}

/// Returns the inherited member that a member overrides, and the class that declares it.
fn inherited_member(cx: &mut TypeContext, n: NominalId, name: &str, member: &Member) -> Option<(NominalId, Member)> {
    let mut at = superclass::superclass(cx, n);
    while let Some((class, args)) = at {
        queries::synthesize_member(cx, class, name, member.is_static);
        for candidate in cx.defs.nominal_data(class).members.get(name).cloned().unwrap_or_default() {
            let is_hidden = candidate.is_private && candidate.file != member.file
                || subclass_access::keeps_to_itself(cx, class, &candidate)
                    && !subclass_access::is_nested_in(cx, n, class);
            if !is_hidden && candidate.is_static == member.is_static && replaces(cx, n, member, &candidate, &args) {
                return Some((class, candidate));
            }
        }
        at = superclass::superclass(cx, class).map(|(base, of)| {
            let of = of.iter().map(|t| conformances::substitute_nominal(cx, class, &args, t)).collect();
            (base, of)
        });
    }
    None
}

/// Whether a member corresponds to an inherited member of a superclass with the generic arguments `args`.
fn replaces(cx: &mut TypeContext, n: NominalId, member: &Member, inherited: &Member, args: &[Type]) -> bool {
    use MemberKind::{Computed, Init, Method, Stored, Subscript};
    match (&member.kind, &inherited.kind) {
        (Computed(..) | Stored(_), Computed(..) | Stored(_)) => true,
        (Init(f), Init(g)) => {
            let is_convenience = cx.defs.function_data(*g).decl.as_ref().is_some_and(|d| d.has("convenience"));
            !is_convenience && same_parameters(cx, n, *f, *g, args)
        }
        (Method(f), Method(g)) | (Subscript(f, _), Subscript(g, _)) => same_parameters(cx, n, *f, *g, args),
        _ => false,
    }
}

pub(crate) fn same_parameters(cx: &mut TypeContext, n: NominalId, f: FunctionId, g: FunctionId, args: &[Type]) -> bool {
    let (mine, theirs) = (signature::signature(cx, f), signature::signature(cx, g));
    let outer = cx.defs.nominal_data(n).params.len().min(mine.env.params.len());
    let own: Vec<Type> = mine.env.params[outer..].iter().map(|p| Type::Param(*p)).collect();
    let params = theirs.env.params.clone();
    if params.len() != args.len() + own.len() || mine.params.len() != theirs.params.len() {
        return false;
    }
    let all: Vec<Type> = args.iter().cloned().chain(own).collect();
    mine.params.iter().zip(&theirs.params).all(|(a, b)| {
        let ty = b.ty.substitute(&|p| params.iter().position(|q| *q == p).map(|i| all[i].clone()));
        a.label == b.label
            && a.is_inout == b.is_inout
            && associated_type::normalize_type(cx, &ty) == associated_type::normalize_type(cx, &a.ty)
    })
}
