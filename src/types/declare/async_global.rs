//! Constants of a script that tasks compute and that may throw: `async let x = try f()` at the top level.
//!
//! Such a constant has a hidden constant that holds the task, and a getter that waits for the task and throws its error.

use crate::syntax::ast::{Binding, Decl, ExprKind, Ident, PatternKind, StmtKind, TryKind};
use crate::types::declare;
use crate::types::declare::property_observers;
use crate::types::model::declaration_tables::{Code, FunctionData, FunctionKind, Named, blank_function};
use crate::types::model::syntax_query::{closure_of, strip};
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// Returns the name of the hidden constant that holds the task.
pub(crate) fn task_name(name: &str) -> String {
    format!("task of {name}")
}

/// Whether an `async let` is marked with `try`, so that its value is read by a getter.
pub(crate) fn throws_where_read(cx: &TypeContext, decl: &Decl, binding: &Binding) -> bool {
    let is_tried =
        matches!(&binding.value, Some(e) if matches!(e.kind, ExprKind::Try { kind: TryKind::Propagate, .. }));
    let is_name = matches!(strip(&binding.pattern).kind, PatternKind::Bind { .. });
    // An input at the prompt waits for its tasks.
    decl.has("async") && is_tried && is_name && binding.accessors.is_none() && !cx.module.is_interactive
}

/// Enters an `async let` that may throw. Returns `false` if it is entered as a constant with the value.
pub(crate) fn declare_async_global(cx: &mut TypeContext, decl: &Rc<Decl>, binding: &Binding, file: u32) -> bool {
    if !throws_where_read(cx, decl, binding) {
        return false;
    }
    let (PatternKind::Bind { name, .. }, Some(value)) = (&strip(&binding.pattern).kind, &binding.value) else {
        return false;
    };
    let ident = Ident { name: name.clone(), span: strip(&binding.pattern).span };
    let mut expression = |text: &str| match property_observers::written_block(cx, text, ident.span).items.pop()?.kind {
        StmtKind::Expr(expression) => Some(expression),
        _ => None,
    };
    let task = task_name(name);
    let begun = expression(&format!("_beginThrowingChild(`{task}`)"));
    let read = expression(&format!("try _throwingChildValue(`{task}`)"));
    let (Some(mut begun), Some(read)) = (begun, read) else { return false };
    if let ExprKind::Call { args, .. } = &mut begun.kind
        && let Some(operation) = args.first_mut()
    {
        operation.value = Rc::new(closure_of(&[], value.clone(), value.span));
    }
    declare::add_hidden_global(cx, &task.as_str().into(), begun, decl, ident.span, file);
    let get = FunctionData {
        kind: FunctionKind::Getter,
        decl: Some(decl.clone()),
        throws: true,
        ast_result: binding.ty.clone().map(Rc::new),
        code: Code::Expression(Rc::new(read)),
        ..blank_function(name, ident.span, file, false)
    };
    let get = cx.defs.add_function(get);
    declare::enter(cx, &ident, Named::Function(get), file, decl.has("private") || decl.has("fileprivate"), false);
    true
}
