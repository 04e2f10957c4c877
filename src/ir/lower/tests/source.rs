//! Graphs of whole programs, from their text.

use crate::ir::graph::Program;
use crate::ir::{listing, lower::Lowering, verify};
use crate::source::SourceMap;
use crate::syntax;
use crate::types::World;

/// The graphs of a program: all that is not of the standard library, the script first.
pub fn lower(text: &str) -> (Program, String) {
    let mut sources = SourceMap::default();
    let mut world = World::new(&mut sources);
    let id = sources.add("test", text, false).expect("the text fits");
    let start = sources.get(id).start;
    let parsed = syntax::parse(text, start);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = world.check_module(&[parsed.file], &[(start, text.into())], false);
    let messages: Vec<&str> = world.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(checked.ok && messages.is_empty(), "{messages:?}");
    let mut program = Program::default();
    let mut lowering = Lowering::new();
    lowering.script(&mut world, &mut program, checked.script);
    assert_eq!(lowering.unsupported, vec![]);
    for f in program.functions.iter().flatten() {
        let faults = verify::verify(&program, f);
        assert!(faults.is_empty(), "{faults:?}\n{}", listing::function(&program, f, None));
    }
    let own = program.functions.iter().flatten().filter(|f| !f.is_prelude);
    let shown = own.map(|f| listing::function(&program, f, None)).collect::<Vec<_>>().join("\n");
    (program, shown)
}

#[test]
fn try_it() {
    let Ok(path) = std::env::var("DSCRIPT_TRY") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let (program, shown) = lower(&text);
    eprintln!("{shown}");
    if std::env::var("DSCRIPT_ALL").is_ok() {
        for f in program.functions.iter().flatten().filter(|f| f.is_prelude) {
            eprintln!("{}", listing::function(&program, f, None));
        }
    }
}
