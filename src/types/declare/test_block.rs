//! Test blocks: enters `test "name" { … }` as functions that `dscript test` calls.

use crate::source::Span;
use crate::syntax::ast::{Ident, Name};
use crate::types::declare::redeclaration::redeclared;
use crate::types::model::declaration_tables::{Entry, FunctionData, FunctionKind, Named};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// Enters a test under a name that is not an identifier, so that no code can refer to the test.
pub(crate) fn declare_test(cx: &mut TypeContext, name: &Ident, data: FunctionData) {
    let file = data.file;
    let same = cx.defs.module.get(&name.name).and_then(|all| all.iter().find(|entry| entry.file == file).copied());
    if let Some(Entry { what: Named::Function(before), .. }) = same {
        let before = cx.defs.function_data(before).span;
        cx.sink.report(redeclared(&name.name, name.span, before));
        return;
    }
    let entry = Entry { what: Named::Function(cx.defs.add_function(data)), file, is_private: true };
    cx.defs.module.entry(name.name.clone()).or_default().push(entry);
}

/// Returns the tests among some functions in source order, with their names and the source locations of the names.
pub fn tests(cx: &TypeContext, functions: &[FunctionId]) -> Vec<(FunctionId, Name, Span)> {
    let is_test = |f: &&FunctionId| cx.defs.function_data(**f).kind == FunctionKind::Test;
    let named = |f: &FunctionId| (*f, cx.defs.function_data(*f).base_name.clone(), cx.defs.function_data(*f).span);
    let mut tests: Vec<_> = functions.iter().filter(is_test).map(named).collect();
    tests.sort_by_key(|(_, _, span)| span.start);
    tests
}
