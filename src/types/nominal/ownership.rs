//! Ownership: checks `deinit`, and variables that do not retain their instance (`weak`, `unowned`).

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionRef, Ownership};
use crate::types::names::name_lookup;

/// Checks that a variable of the given type may be `weak` or `unowned`.
pub(crate) fn check_ownership(cx: &mut TypeContext, ownership: Ownership, is_let: bool, ty: &Type, span: Span) -> bool {
    if ownership == Ownership::Strong || *ty == Type::Error {
        return true;
    }
    cx.defs.sees_ends = true;
    let word = if ownership == Ownership::Weak { "weak" } else { "unowned" };
    if ownership == Ownership::Weak && is_let {
        let message = "'weak' must be a mutable variable, because it may change at runtime";
        let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        cx.sink.report(diagnostic.help("write 'var' instead of 'let'"));
        return false;
    }
    let payload = name_lookup::optional_payload(cx, ty);
    if ownership == Ownership::Weak && payload.is_none() {
        let message = format!("'weak' variable should have optional type '{}?'", display::show(cx, ty));
        let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        cx.sink.report(diagnostic.note("it becomes 'nil' when the instance is deallocated"));
        return false;
    }
    let object = payload.unwrap_or_else(|| ty.clone());
    if !conformances::is_object(cx, &object) {
        let shown = display::show(cx, &object);
        let message = format!("'{word}' may only be applied to class and class-bound protocol types, not '{shown}'");
        let mut diagnostic = Diagnostic::error(Code::WrongContext, span, message);
        if let Type::Existential(_) = object {
            let name = shown.trim_start_matches("any ");
            diagnostic = diagnostic.help(format!("write 'protocol {name}: AnyObject' where it is declared"));
        }
        cx.sink.report(diagnostic);
        return false;
    }
    true
}

/// Returns the `deinit` of a class, followed by the `deinit`s of its superclasses.
pub(crate) fn deinits(cx: &mut TypeContext, ty: &Type) -> Vec<FunctionRef> {
    let mut all = vec![];
    let mut class = Some(ty.clone());
    while let Some(Type::Nominal(n, args)) = class {
        if !superclass::is_class(cx, n) {
            break;
        }
        if let Some(function) = cx.defs.nominal_data(n).deinit {
            all.push(FunctionRef { function, generics: args.to_vec() });
        }
        class = superclass::base_type(cx, n, &args);
    }
    all
}
