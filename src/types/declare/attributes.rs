//! Attributes: determines which attributes exist, and which declarations each attribute may precede.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{Attribute, AttributeArgs, Decl, DeclKind, PatternKind};
use crate::types::declare::Rc;
use crate::types::declare::modifiers::{DeclarationScope, is_stored};
use crate::types::declare::property_wrapper;
use crate::types::model::display::did_you_mean;
use crate::types::model::syntax_query::differentiation;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::prelude;

/// The names allowed after `@`, besides property wrappers, result builders and global actors. Many have no effect in a script.
const KNOWN: &[&str] = &[
    "MainActor",
    "Observable",
    "ObservationIgnored",
    "Sendable",
    "autoclosure",
    "available",
    "concurrent",
    "convention",
    "derivative",
    "differentiable",
    "discardableResult",
    "dynamicCallable",
    "dynamicMemberLookup",
    "escaping",
    "frozen",
    "globalActor",
    "inlinable",
    "inline",
    "isolated",
    "main",
    "memberwise",
    "noDerivative",
    "nonobjc",
    "objc",
    "preconcurrency",
    "primitive",
    "propertyWrapper",
    "resultBuilder",
    "testable",
    "transpose",
    "unchecked",
    "usableFromInline",
];

/// The attributes of the module `Testing`.
const OF_TESTING: &[&str] = &["Suite", "Tag", "Test"];

/// Reports unknown attributes and attributes of declarations that cannot have them.
pub(crate) fn check_attributes(cx: &mut TypeContext, decl: &Decl, scope: DeclarationScope) {
    for attribute in &decl.attributes {
        check_known(cx, attribute);
        let fits = match (&*attribute.name.name, &decl.kind) {
            ("discardableResult", kind) => matches!(kind, DeclKind::Function(_) | DeclKind::Init { .. }),
            ("propertyWrapper" | "resultBuilder" | "main" | "dynamicCallable", kind) => {
                matches!(kind, DeclKind::Nominal(_))
            }
            ("dynamicMemberLookup", kind) => matches!(kind, DeclKind::Nominal(_) | DeclKind::Protocol(_)),
            ("noDerivative", kind @ DeclKind::Variable { .. }) if is_stored(kind) => {
                !matches!(scope, DeclarationScope::Module | DeclarationScope::Function)
            }
            ("noDerivative", kind) => !matches!(kind, DeclKind::Nominal(_) | DeclKind::Protocol(_)),
            ("escaping" | "autoclosure" | "convention" | "memberwise" | "unchecked", _) => false,
            ("differentiable", kind @ DeclKind::Variable { .. }) if is_stored(kind) => {
                !matches!(scope, DeclarationScope::Module | DeclarationScope::Function) && !decl.has("static")
            }
            ("differentiable", DeclKind::Variable { .. } | DeclKind::Subscript { .. }) => true,
            ("derivative" | "transpose", DeclKind::Function(_)) => true,
            ("differentiable", DeclKind::Function(_) | DeclKind::Init { .. } | DeclKind::Formula { .. }) => true,
            ("differentiable" | "derivative" | "transpose", _) => false,
            _ => true,
        };
        if fits && scope == DeclarationScope::Function && registers_derivative(attribute) {
            let message = match &*attribute.name.name {
                "differentiable" => "a derivative can only be registered in a non-local scope".to_owned(),
                name => format!("attribute '@{name}' can only be used in a non-local scope"),
            };
            let diagnostic = Diagnostic::error(Code::Registration, attribute.span, message);
            cx.sink.report(diagnostic.help("declare it, and its original, at the top level or in a type"));
        }
        let is_outside = matches!(scope, DeclarationScope::Module | DeclarationScope::Function);
        if fits && is_outside && &*attribute.name.name == "differentiable" {
            check_variable_differentiability(cx, decl, attribute);
        }
        if !fits {
            let message = format!("'@{}' attribute cannot be applied to this declaration", attribute.name.name);
            let of_differentiation = matches!(&*attribute.name.name, "differentiable" | "derivative" | "transpose");
            let code = if of_differentiation { Code::WithRespectTo } else { Code::WrongContext };
            cx.sink.report(Diagnostic::error(code, attribute.span, message));
        }
    }
}

/// Whether an attribute registers a derivative: `@derivative`, `@transpose`, or `@differentiable` with the name of a function.
fn registers_derivative(attribute: &Attribute) -> bool {
    match (&*attribute.name.name, &attribute.args) {
        ("derivative" | "transpose", _) => true,
        ("differentiable", AttributeArgs::Differentiation(arguments)) => {
            [&arguments.vjp, &arguments.jvp, &arguments.adjoint, &arguments.primal].into_iter().any(Option::is_some)
        }
        _ => false,
    }
}

/// Reports `@differentiable` on a computed variable outside a type, which has no parameters to differentiate with
/// respect to.
fn check_variable_differentiability(cx: &mut TypeContext, decl: &Decl, attribute: &Attribute) {
    let DeclKind::Variable { bindings, .. } = &decl.kind else { return };
    let Some(PatternKind::Bind { name, .. }) = bindings.first().map(|binding| &binding.pattern.kind) else {
        return;
    };
    let message = format!("'{name}' has no parameters to differentiate with respect to");
    cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
}

/// Reports an attribute that is not declared: it would have no effect, and a misspelled property wrapper would wrap
/// nothing.
fn check_known(cx: &mut TypeContext, attribute: &Attribute) {
    let name = &attribute.name;
    let last = name.name.rsplit('.').next().unwrap_or(&name.name);
    property_wrapper::enter_library_wrapper(cx, last);
    let is_known = last.starts_with('_')
        || KNOWN.contains(&last)
        || cx.defs.wrappers.contains_key(last)
        || cx.defs.builders.contains(last)
        || cx.defs.global_actors.contains(last);
    if is_known {
        return;
    }
    if OF_TESTING.contains(&last) {
        // A function of the module stands for the module.
        if prelude::library_entries(cx, "_expectTrue").is_empty() {
            let message = format!("'@{last}' belongs to the module 'Testing', which is not imported");
            let diagnostic = Diagnostic::error(Code::UnknownName, name.span, message);
            cx.sink.report(diagnostic.help("write 'import Testing' at the beginning of the file"));
        }
        return;
    }
    if last == "differentiating" {
        let diagnostic = Diagnostic::error(Code::UnknownName, name.span, format!("unknown attribute '{last}'"));
        cx.sink.report(diagnostic.help("derivatives are registered with '@derivative(of: f)'"));
        return;
    }
    let mut known: Vec<String> = KNOWN.iter().map(ToString::to_string).collect();
    known.extend(cx.defs.wrappers.keys().chain(&cx.defs.builders).map(ToString::to_string));
    let message = format!("unknown attribute '{}'", name.name);
    cx.sink.report(did_you_mean(Diagnostic::error(Code::UnknownName, name.span, message), name, &known));
}

/// Queues a declaration that registers a function. The original is resolved after all names have been entered.
pub(crate) fn note_registration(cx: &mut TypeContext, decl: &Rc<Decl>, f: FunctionId) {
    let registers = |a: &crate::syntax::ast::Attribute| match &*a.name.name {
        "derivative" | "transpose" => true,
        "differentiable" => {
            let args = differentiation(a);
            args.adjoint.is_some() || args.vjp.is_some() || args.jvp.is_some()
        }
        _ => false,
    };
    if decl.attributes.iter().any(registers) {
        cx.module.registrations.push((decl.clone(), f));
    }
}
