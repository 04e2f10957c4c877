//! Test attributes: the arguments of `@Test` and `@Suite`.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Expr, ExprKind, StmtKind, StringPart};
use crate::syntax::parse;
use std::rc::Rc;

/// The arguments of an attribute `@Test` or `@Suite`.
#[derive(Clone, Default)]
pub(super) struct TestAttribute {
    /// The name that is displayed.
    pub(super) title: Option<String>,
    /// The conditions under which the test runs, and other traits.
    pub(super) traits: Vec<Expr>,
    /// The collections of arguments with which the test is called.
    pub(super) collections: Vec<Expr>,
}

/// Reads the arguments of an attribute, which have the offset `start`.
pub(super) fn read(arguments: &str, start: u32, diagnostics: &mut Vec<Diagnostic>) -> TestAttribute {
    // The text is read as the arguments of a call, whose name takes the place of the name of the attribute.
    const CALLEE: &str = "t(";
    let parsed = parse(&format!("{CALLEE}{arguments})"), start.saturating_sub(CALLEE.len() as u32));
    diagnostics.extend(parsed.diagnostics);
    let Some(StmtKind::Expr(Expr { kind: ExprKind::Call { args, .. }, .. })) =
        parsed.file.items.into_iter().next().map(|item| item.kind)
    else {
        return TestAttribute::default();
    };
    let mut attribute = TestAttribute::default();
    let mut in_arguments = false;
    for (number, arg) in args.into_iter().enumerate() {
        in_arguments |= arg.label.as_ref().is_some_and(|label| &*label.name == "arguments");
        let value = Rc::unwrap_or_clone(arg.value);
        match &value.kind {
            _ if in_arguments => attribute.collections.push(value),
            ExprKind::String(parts) if number == 0 => attribute.title = Some(written(parts)),
            _ => attribute.traits.push(value),
        }
    }
    attribute
}

/// Returns the text of a string literal without interpolations.
fn written(parts: &[StringPart]) -> String {
    let text = |part: &StringPart| match part {
        StringPart::Text(text) => text.to_string(),
        StringPart::Interpolation(_) => String::new(),
    };
    parts.iter().map(text).collect()
}
