//! Source tests: graphs of whole programs, lowered from source text.

use crate::ir::Program;
use crate::ir::{listing, lower::Lowering, verifier};
use crate::syntax;
use crate::types::context_with_prelude;
use crate::types::module_check;

/// Returns the graphs of a program without those of the standard library, the script first.
fn lower(text: &str) -> String {
    let (mut context, mut sources) = context_with_prelude();
    let id = sources.add("test", text.to_owned()).expect("the text fits");
    let start = sources.get(id).start;
    let mut parsed = syntax::parse(text, start);
    parsed.diagnostics.extend(syntax::fold_file(&mut parsed.file, &syntax::OperatorTable::standard()));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = module_check::check_module(&mut context, &[parsed.file], &[(start, text.into())], false);
    let messages: Vec<&str> = context.sink.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(checked.ok && messages.is_empty(), "{messages:?}");
    let mut program = Program::default();
    let mut lowering = Lowering::new();
    lowering.script(&mut context, &mut program, checked.script);
    assert_eq!(lowering.unsupported, vec![]);
    for f in program.functions.iter().flatten() {
        let faults = verifier::verify(&program, f);
        assert!(faults.is_empty(), "{faults:?}\n{}", listing::function(&program, f, None));
    }
    let own = program.functions.iter().flatten().filter(|f| !f.is_prelude);
    own.map(|f| listing::function(&program, f, None)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_program_becomes_graphs() {
    let text =
        "struct Point { var x: Double; var y: Double }\nvar p = Point(x: 1, y: 2)\np.y = 3\nlet q = p\nprint(q)\n";
    let shown = lower(text);
    assert!(shown.starts_with("func ‹script›()\nb0:\n"), "{shown}");
    // The components of the struct are in registers, and the variable is in a register as well.
    assert!(shown.contains("·p = 3.0"), "{shown}");
    assert!(!shown.contains("global"), "{shown}");
}

#[test]
fn a_loop_over_numbers_is_a_handful_of_steps() {
    let text = "func logistic(_ r: Double, _ n: Int) -> Double {\n    var x = 0.5\n    for _ in 0..<n { x = r * x * (1 - x) }\n    return x\n}\nprint(logistic(3.7, 10))\n";
    let shown = lower(text);
    let round = "b1:
  %6 = double.mul %0, %2
  %7 = 1.0
  %8 = double.sub %7, %2
  %2·x = double.mul %6, %8
  %3 = int.add %3, %4
  %9 = int.lt %3, %1
  branch %9 b1, b3
";
    assert!(shown.contains(round), "{shown}");
}

#[test]
fn elements_and_entries_are_changed_in_place() {
    let text = "struct Body { var p: (Double, Double); var m: Double }\nfunc move(_ bs: inout [Body]) { bs[0].p.1 -= 1 }\nvar d = [\"a\": 1]\nd[\"a\"]! += 5\nprint(d)\n";
    let shown = lower(text);
    assert!(shown.contains("trap unexpected nil") && shown.contains("native dictionary.set"), "{shown}");
}
