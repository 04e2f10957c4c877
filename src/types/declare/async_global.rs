//! Constants of a script that tasks compute and that may throw: `async let x = try f()` at the top level, or
//! `async let x = f()` with a function that throws.
//!
//! Such a constant has a hidden constant that holds the task, and a getter that waits for the task and throws its error.

use crate::syntax::ast::{Binding, Decl, DeclKind, Expr, ExprKind, File, Ident, Name, PatternKind, StmtKind, TryKind};
use crate::types::declare;
use crate::types::declare::property_observers;
use crate::types::model::declaration_tables::{Code, FunctionData, FunctionKind, Named, blank_function};
use crate::types::model::syntax_query::{closure_of, strip};
use crate::types::model::syntax_walk;
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// Returns the name of the hidden constant that holds the task.
pub(crate) fn task_name(name: &str) -> String {
    format!("task of {name}")
}

/// Notes the names of the functions that throw, if a file has an `async let` at the top level. A name is noted if all
/// functions with the name throw, because it is needed before calls are resolved.
pub(crate) fn note_throwing_functions(cx: &mut TypeContext, files: &[(u32, &File)]) {
    cx.module.throwing_functions.clear();
    let declarations = || {
        files.iter().flat_map(|(_, file)| &file.items).filter_map(|item| match &item.kind {
            StmtKind::Decl(decl) => Some(decl),
            _ => None,
        })
    };
    if !declarations().any(|decl| matches!(decl.kind, DeclKind::Variable { .. }) && decl.has("async")) {
        return;
    }
    declarations().for_each(|decl| note_throwing_function(cx, decl));
}

fn note_throwing_function(cx: &mut TypeContext, decl: &Decl) {
    let members = match &decl.kind {
        DeclKind::Function(function) => {
            let all_throw = cx.module.throwing_functions.entry(function.name.name.clone()).or_insert(true);
            *all_throw &= function.throws;
            return;
        }
        DeclKind::Nominal(nominal) => &nominal.members,
        DeclKind::Extension(extension) => &extension.members,
        DeclKind::Protocol(protocol) => &protocol.members,
        _ => return,
    };
    members.iter().for_each(|member| note_throwing_function(cx, member));
}

/// Whether a value is a call of a function that throws.
fn calls_throwing_function(cx: &TypeContext, value: &Expr) -> bool {
    let ExprKind::Call { callee, .. } = &value.kind else { return false };
    let name: &Name = match &callee.kind {
        ExprKind::Ident { name, .. } => name,
        ExprKind::Member { name, .. } => &name.name,
        _ => return false,
    };
    cx.module.throwing_functions.get(name).is_some_and(|throws| *throws)
}

/// Whether the value of an `async let` may throw, so that it is read by a getter.
pub(crate) fn throws_where_read(cx: &TypeContext, decl: &Decl, binding: &Binding) -> bool {
    let is_name = matches!(strip(&binding.pattern).kind, PatternKind::Bind { .. });
    // An input at the prompt waits for its tasks.
    decl.has("async")
        && is_name
        && binding.accessors.is_none()
        && !cx.module.is_interactive
        && binding.value.as_ref().is_some_and(|value| syntax_walk::tries(value) || calls_throwing_function(cx, value))
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
        let span = value.span;
        let value = match syntax_walk::tries(value) {
            true => value.clone(),
            false => Expr { kind: ExprKind::Try { kind: TryKind::Propagate, value: Rc::new(value.clone()) }, span },
        };
        operation.value = Rc::new(closure_of(&[], value, span));
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
