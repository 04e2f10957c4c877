//! Type checker tests: whole programs, their diagnostics, and the throwing versions of library functions.

use crate::syntax;
use crate::types::conform::rethrowing_function;
use crate::types::infer::stmt::function_body;
use crate::types::module_check;
use crate::types::names::prelude;
use std::rc::Rc;

/// Returns the diagnostics of a program, one line each: `line:column: message`.
fn check(text: &str) -> Vec<String> {
    let (mut cx, mut sources) = module_check::context_with_prelude();
    let id = sources.add("test", text.to_owned()).unwrap();
    let start = sources.get(id).start;
    let mut parsed = syntax::parse(text, start);
    let mut operators = syntax::OperatorTable::standard();
    let mut diagnostics = parsed.diagnostics;
    diagnostics.extend(operators.declare(&parsed.file));
    diagnostics.extend(syntax::fold_file(&mut parsed.file, &operators));
    if diagnostics.is_empty() {
        module_check::check_module(&mut cx, &[parsed.file], &[(start, Rc::from(text))], false);
        diagnostics = std::mem::take(&mut cx.sink.diagnostics);
    }
    let place = |span: crate::source::Span| {
        sources.place(span.start).map_or_else(String::new, |p| format!("{}:{}:{}", p.name, p.line, p.column))
    };
    diagnostics.iter().map(|d| format!("{}: {}", place(d.primary.span), d.message)).collect()
}

#[test]
fn programs_without_errors() {
    for text in [
        "let x = 1 + 2.5",
        "let f = { x in x * sin(x) }\nprint(f(2))",
        "var xs = [1, 2, 3]\nxs.append(4)\nfor x in xs { print(x) }",
        "print(gradient(at: 3.0) { x in x * x })",
    ] {
        assert_eq!(check(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
#[ignore = "a tool: DSCRIPT_FILES=… prints what the checker says"]
fn files() {
    let Ok(files) = std::env::var("DSCRIPT_FILES") else { return };
    for file in files.split_whitespace() {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.strip_prefix("#!").map_or(text.clone(), |t| format!("//{t}"));
        let diagnostics = std::panic::catch_unwind(|| check(&text)).unwrap_or_else(|_| vec!["PANIC".into()]);
        eprintln!("== {file}");
        for line in diagnostics {
            eprintln!("   {line}");
        }
    }
}

/// A call that passes a throwing function to a library function uses the throwing version of the library function,
/// which must have no errors.
#[test]
fn every_function_of_the_library_may_be_given_functions_that_throw() {
    let (mut cx, _) = module_check::context_with_prelude();
    module_check::check_module(&mut cx, &[], &[], false);
    for name in prelude::library_names(&cx) {
        prelude::library_entries(&mut cx, &name);
        prelude::load_all_members(&mut cx, &name);
    }
    let all: Vec<_> = (0..cx.defs.functions.len() as u32).map(crate::types::model::typed_tree::FunctionId).collect();
    let (mut count, mut wrong) = (0, vec![]);
    for function in all {
        let Some(version) = rethrowing_function::throwing_version(&mut cx, function) else { continue };
        count += 1;
        function_body::check_body(&mut cx, version);
        let name = cx.defs.full_name(version);
        wrong.extend(std::mem::take(&mut cx.sink.diagnostics).into_iter().map(|d| format!("{name}: {}", d.message)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 50, "{count} functions");
}
