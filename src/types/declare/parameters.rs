//! Parameters: checks the syntax of parameters at the declaration of a function.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{FunctionDecl, Generics, Param, TypeExprKind};
use crate::types::conform::rethrowing_function::is_throwing;
use crate::types::declare::redeclaration::redeclared;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::type_context::TypeContext;

/// Reports default values, labels and `...` that no call could use.
pub(crate) fn check_written_params(cx: &mut TypeContext, params: &[Param]) {
    let mut after_variadic = false;
    for param in params {
        let (name, at) = (&param.name.name, param.name.span);
        let wrong = |span: Span, message: String| Diagnostic::error(Code::WrongContext, span, message);
        if let (true, Some(value)) = (param.is_inout, &param.default) {
            let message = format!("cannot provide default value to inout parameter '{name}'");
            cx.sink.report(wrong(value.span, message).help("the caller must pass a variable with '&'"));
        }
        if param.is_inout && param.variadic {
            cx.sink.report(wrong(at, "'inout' must not be used on variadic parameters".into()));
        }
        if param.variadic && param.default.is_some() {
            let message = format!("variadic parameter '{name}' cannot have a default value");
            cx.sink.report(wrong(at, message).help("remove the default value: without arguments it is empty"));
        }
        if after_variadic && param.label.is_none() {
            let message = "a parameter following a variadic parameter requires a label";
            cx.sink.report(wrong(at, message.into()).help("remove '_', or write a label before the name"));
        }
        after_variadic = param.variadic;
    }
}

/// Checks that the names of generic parameters are distinct.
pub(crate) fn check_written_generics(cx: &mut TypeContext, generics: &Generics) {
    for (i, (name, _)) in generics.params.iter().enumerate() {
        if let Some((before, _)) = generics.params[..i].iter().find(|(other, _)| other.name == name.name) {
            cx.sink.report(redeclared(&name.name, name.span, before.span));
        }
    }
}

/// Checks that a `rethrows` function has a parameter whose errors it could rethrow. A method of asynchronous sequences
/// may also rethrow the errors of the sequence.
pub(crate) fn check_rethrows(cx: &mut TypeContext, owner: Owner, function: &FunctionDecl) {
    if let Owner::Protocol(p) = owner
        && &*cx.defs.protocol_data(p).name == "_SafeAsyncSequence"
    {
        return;
    }
    // At this stage a type name is not resolved yet, so it may refer to a function type.
    let may_throw = |p: &Param| match p.ty.as_ref().map(|ty| &ty.kind) {
        Some(TypeExprKind::Named(path)) => path.len() > 1 || !is_plain(&path[0].0.name),
        Some(TypeExprKind::Optional(_) | TypeExprKind::Attributed(..)) => true,
        _ => is_throwing(p),
    };
    if function.rethrows && !function.params.iter().any(may_throw) {
        let message = "'rethrows' function must take a throwing function argument";
        let diagnostic = Diagnostic::error(Code::Unhandled, function.name.span, message);
        cx.sink.report(diagnostic.help("declare it with 'throws' if it throws errors of its own"));
    }
}

fn is_plain(name: &str) -> bool {
    matches!(name, "Int" | "Double" | "Float" | "String" | "Bool" | "Character")
}
