//! Slice diagnostics: creates the errors for slices whose second execution could differ from the first.

use super::Use;
use super::class_references::Instances;
use super::slice::{self, Slice};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Name;

/// Reports the reasons why the statements of a slice cannot run a second time.
pub(super) fn refusals(used: &Use, slice: &Slice, far: Option<&Name>, instances: &Instances) -> Vec<Diagnostic> {
    let (x, y) = (&used.wrt[0].name, &used.of.name);
    let is_ours = |name: &Name| slice.declared.contains(name);
    let before = slice.changed.iter().filter(|(name, _)| !is_ours(name));
    let mut found: Vec<Diagnostic> = before.map(|(name, span)| changed_before(used, name, *span)).collect();
    if !found.is_empty() {
        return found;
    }
    let is_read = |name: &Name| slice.needed.contains(name) || used.wrt.iter().any(|x| x.name == *name);
    if let Some((name, span)) = slice.later.iter().rev().find(|(name, _)| is_read(name) && !is_ours(name)) {
        let message = format!("'{name}' is modified after '{y}' is computed from it and before the gradient is taken");
        let help = format!(
            "take the gradient before '{name}' is modified, or differentiate a function: 'gradient(at: {x}) {{ {x} in \
             … }}'"
        );
        found.push(error(*span, message).help(help));
    } else if let Some((name, span)) = slice.from_rounds.first() {
        let message = format!(
            "'{name}' depends on earlier iterations of a loop, and '{x}' is declared before the \
                               loop"
        );
        let help = format!("take the gradient after the loop, or declare '{name}' inside the loop");
        found.push(error(*span, message).help(help));
    } else if let Some(span) = slice::random(&slice.statements) {
        let message = format!("'{y}' depends on a random number, which would be drawn again");
        found.push(error(span, message).help(format!("draw it before '{x}' is declared, and store it in a constant")));
    } else if let Some(name) = far {
        let message = format!("'{name}' is declared outside the function that computes '{y}'");
        found.push(error(used.of.span, message).help(outside(name)));
    } else if let Some((name, span)) = instances.written(slice, used) {
        let message = format!(
            "'{y}' is computed from '{name}', and this statement may modify an instance that is reachable from '{name}'"
        );
        let help = format!(
            "modify it through '{name}' after its declaration, or differentiate a function: 'gradient(at: {x}) {{ {x} \
             in … }}'"
        );
        found.push(error(span, message).help(help));
    }
    found
}

fn outside(name: &Name) -> String {
    format!(
        "make '{name}' a parameter of the function, or differentiate a function: 'gradient(at: {name}) {{ {name} in … }}'"
    )
}

fn error(span: Span, message: String) -> Diagnostic {
    Diagnostic::error(Code::WithRespectTo, span, message)
}

/// Reports a slice that changes a variable that existed before the slice.
fn changed_before(used: &Use, name: &Name, span: Span) -> Diagnostic {
    let (x, y) = (&used.wrt[0].name, &used.of.name);
    if used.wrt.iter().any(|x| x.name == *name) {
        let message = format!("'{name}' is modified before '{y}' is computed from it");
        let help = format!(
            "store the new value of '{name}' in another variable, and differentiate with respect to \
                            that"
        );
        return Diagnostic::error(Code::WithRespectTo, span, message).help(help);
    }
    let message = format!("'{name}' is modified between '{x}' and '{y}', but declared before them");
    Diagnostic::error(Code::WithRespectTo, span, message).help(format!("declare '{name}' after '{x}'"))
}
