//! Syntax tests: source text is converted to trees or messages.

mod declarations;
mod expressions;
mod hostile_input;
mod messages;
mod statements;

use super::*;

/// The programs of the original design documents, each after a line with its name.
const PROGRAMS: &str = include_str!("programs.txt");

fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.split("=== ").skip(1).filter_map(|p| p.split_once('\n'))
}

/// Runs a test on a stack as large as that of a session, because the stacks of test threads are small.
pub(in crate::syntax) fn roomy<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 20).spawn(test).unwrap().join().unwrap()
}

/// Parses a text and folds its operators.
fn read(text: &str) -> Parsed {
    let mut parsed = parse(text, 0);
    let mut table = OperatorTable::standard();
    parsed.diagnostics.extend(table.declare(&parsed.file));
    parsed.diagnostics.extend(fold_file(&mut parsed.file, &table));
    parsed
}

/// Returns the tree of a text without errors, on one line.
fn tree(text: &str) -> String {
    let parsed = read(text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    dump(&parsed.file).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn all(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, tree(text)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_of_the_documents_are_read() {
    roomy(|| {
        for (name, text) in programs() {
            let parsed = read(text);
            assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics);
            assert!(!parsed.incomplete && !parsed.file.items.is_empty(), "{name}");
        }
    });
}

#[test]
fn spans_lie_in_the_shared_space() {
    let parsed = parse("let x = \"ŷ\" // é\nlet ŷ = x", 100);
    let spans: Vec<_> = parsed.file.items.iter().map(|i| (i.span.start, i.span.end)).collect();
    assert_eq!(spans, [(100, 112), (119, 129)]);
}
