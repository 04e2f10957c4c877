//! Tests of the session: redeclarations, failures, warnings and reported kinks.

use crate::tape::step_observer::KinkPartials;

use super::{Answer, DisplayItem, Input, Kinks, Options, Point, Session, Status};

/// A tape that is too small for the results of a checkpoint must not destroy variables of the program.
#[test]
fn variables_survive_a_checkpoint_that_fails() {
    let options = Options { max_tape: 16 << 10, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    assert_eq!(session.eval("first", "var kept = [1.0, 2.0]\nfunc look() -> Double { kept[1] }").status, Status::Done);
    let failing = "
        func f(_ x: Double) -> Double {
            var many = [Double](repeating: 0, count: 1000)
            checkpoint { for i in 0..<1000 { many[i] = x * Double(i) } }
            return many[999]
        }
        gradient(at: 1.0, in: f)";
    assert_eq!(session.eval("second", failing).status, Status::Failed);
    let third = session.eval("third", "look()");
    assert_eq!((third.value.as_deref(), third.diagnostics), (Some("2.0"), vec![]));
}

/// Creates an interactive session.
fn prompt() -> Session {
    Session::new(Options { interactive: true, ..Options::default() }, Box::new(std::io::sink()))
}

/// Returns the output for an entered text: `name : type = value`, or the diagnostics.
fn answer(session: &mut Session, text: &str) -> String {
    let Answer { diagnostics, shown, .. } = session.enter("‹1›", text);
    let shown_diagnostics = diagnostics.iter().map(|d| format!("{}: {}", d.code.number(), d.message));
    let shown = shown.iter().map(|DisplayItem { name, ty, value }| {
        let value = value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
        format!("{} : {ty}{value}", name.as_deref().unwrap_or("_"))
    });
    shown_diagnostics.chain(shown).collect::<Vec<_>>().join("; ")
}

/// Enters texts one after the other, and compares the output of each with the expected output.
fn dialogue(steps: &[(&str, &str)]) {
    let mut session = prompt();
    for (text, expected) in steps {
        assert_eq!(answer(&mut session, text), *expected, "{text}");
    }
}

#[test]
fn texts_use_what_earlier_ones_declared() {
    dialogue(&[
        ("f(x) = x * sin(x)", "f : (Double) -> Double"),
        ("f'(2)", "_ : Double = 0.0770037537313969"),
        ("let g = { (x, y) in x * x * y + sin(y) }", "g : (x: Double, y: Double) -> Double"),
        ("∇g(1, 2)", "_ : (Double, Double) = (4.0, 0.5838531634528576)"),
        ("var kept = [1.0, 2.0]", "kept : [Double] = [1.0, 2.0]"),
        ("kept.append(3)", ""),
        ("kept[2]", "_ : Double = 3.0"),
        ("let (a, b) = (1, \"two\")", "a : Int = 1; b : String = \"two\""),
        (
            "struct Point { var x = 0.0, y = 0.0 }\nvar p = Point(x: 1)",
            "Point : struct; p : Point = Point(x: 1.0, y: 0.0)",
        ),
        ("extension Point { var norm: Double { sqrt(x * x + y * y) } }", ""),
        ("p.y = 1; p.norm", "_ : Double = 1.4142135623730951"),
        ("func scaled(_ x: Double, by k: Double) -> Double { k * x }", "scaled(_:by:) : (Double, Double) -> Double"),
    ]);
}

#[test]
fn names_may_be_declared_again() {
    dialogue(&[
        ("let a = 1", "a : Int = 1"),
        ("let a = Double(a) + 1.5", "a : Double = 2.5"),
        ("f(x) = x", "f : (Double) -> Double"),
        ("g(x) = f(x) + 1", "g : (Double) -> Double"),
        ("f(x) = x^2", "f : (Double) -> Double"),
        ("(f(3), g(3))", "_ : (Double, Double) = (9.0, 4.0)"),
        ("let f = 3.0", "f : Double = 3.0"),
        ("f", "_ : Double = 3.0"),
        ("struct S { var n = 1 }", "S : struct"),
        ("struct S { var m = 2.0 }; S()", "S : struct; _ : S = S(m: 2.0)"),
        ("let z = 1; let z = 2", "E0213: invalid redeclaration of 'z'"),
        ("enum sin { case one }", "sin : enum"),
    ]);
}

#[test]
fn derivatives_may_be_registered_later() {
    let cubed = "@derivative(of: f) func _(_ x: Double) -> (value: Double, pullback: (Double) -> Double) {
        (f(x), { v in 100 * v })
    }";
    dialogue(&[
        ("func f(_ x: Double) -> Double { x * x }", "f : (Double) -> Double"),
        ("g(x) = f(x) + 1", "g : (Double) -> Double"),
        ("(f'(2), g'(2))", "_ : (Double, Double) = (4.0, 4.0)"),
        (cubed, ""),
        ("(f'(2), g'(2), f(2))", "_ : (Double, Double, Double) = (100.0, 100.0, 4.0)"),
    ]);
}

#[test]
fn a_fresh_session_knows_types_and_members() {
    assert_eq!(prompt().type_of("[1, 2]"), Ok(Some("[Int]".to_owned())));
    assert_eq!(prompt().complete("[1, 2].isEm", 11).words, ["isEmpty"]);
}

/// A program that requests an explanation of one derivative must not change the checks of the others.
#[test]
fn kinks_are_noted_after_an_explanation() {
    let options = Options { kinks: Kinks::Noted, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    let text = "_ = explain({ x in x * x }, at: 1)\nprint(gradient(at: 0.0) { x in abs(x) })";
    assert_eq!(session.eval("kinks", text).status, Status::Done);
    assert_eq!(session.take_kinks().len(), 1);
}

#[test]
fn a_warning_is_reported_once() {
    dialogue(&[
        (
            "h(x) = withoutDerivative(at: x); let r = gradient(at: 1.0) { x in Double(3).squareRoot() }",
            "W0701: result does not depend on differentiation arguments and will always have a zero derivative; do you want to add 'withoutDerivative(at:)' to make it explicit?; h : (Double) -> Double; r : Double = 0.0",
        ),
        ("1", "_ : Int = 1"),
    ]);
}

#[test]
fn a_text_that_does_not_compile_leaves_no_trace() {
    dialogue(&[
        ("let a = 1", "a : Int = 1"),
        (
            "let a = 2.0; struct T {}; extension Double { func twice() -> Double { nonsense } }",
            "E0202: cannot find 'nonsense' in scope",
        ),
        ("a", "_ : Int = 1"),
        ("let T = 5", "T : Int = 5"),
        ("1.0.twice()", "E0203: value of type 'Double' has no member 'twice'"),
        ("h(x) = Double(Int(x))", "h : (Double) -> Double"),
        ("h'(1.5)", "E0301: function is not differentiable"),
        ("h(1.5)", "_ : Double = 1.0"),
    ]);
}

#[test]
fn a_text_that_stops_leaves_what_had_its_value() {
    dialogue(&[
        (
            "let early = [1, 2]; let late = early[5]; let later = 3",
            "E0601: index 5 is out of range for an array of 2 elements (valid: 0 to 1); early : [Int] = [1, 2]",
        ),
        ("early", "_ : [Int] = [1, 2]"),
        ("late", "E0202: cannot find 'late' in scope"),
        ("later", "E0202: cannot find 'later' in scope"),
        ("let n = 1", "n : Int = 1"),
        (
            "let n = [0][3]; func m() -> Int { n }",
            "E0601: index 3 is out of range for an array of 1 element (valid: 0)",
        ),
        ("n", "_ : Int = 1"),
        ("m()", "E0202: cannot find 'm' in scope"),
    ]);
}

/// A prompt can report the kinks that were found in addition to the value.
#[test]
fn kinks_are_reported_once() {
    let options = Options { kinks: Kinks::Noted, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    let outcome = session.eval("first", "gradient(at: 0) { x in abs(x) + 2 * abs(3 * x) + max(x, -1) }");
    assert_eq!(outcome.value.as_deref(), Some("1.0"));
    let kinks = session.take_kinks();
    let found: Vec<_> = kinks.iter().map(|k| (&*k.step, k.partials)).collect();
    assert_eq!(found, [("abs(0)", Some(KinkPartials { left: -1.0, right: 1.0, taken: 0.0 })); 2]);
    assert_ne!(kinks[0].span, kinks[1].span);
    assert_eq!(session.eval("second", "gradient(at: 1) { x in abs(x) }").status, Status::Done);
    assert_eq!(session.take_kinks(), []);
}

/// An explanation lists the kinks of the explained derivative, and not those of earlier runs.
#[test]
fn explanations_list_their_own_kinks() {
    let options = Options { kinks: Kinks::Noted, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    assert_eq!(session.eval("first", "gradient(at: 0) { x in abs(x) }").status, Status::Done);
    let explanation = session.explain(&Point::parse("{ (x: Double) in x * x } at 2.0").unwrap()).unwrap();
    assert_eq!(explanation.kinks, []);
    let explanation = session.explain(&Point::parse("{ (x: Double) in abs(x) } at 0.0").unwrap()).unwrap();
    assert_eq!(explanation.kinks.len(), 1);
}

/// Checking a program includes its tests; a program that runs afterwards in the same session does not include them.
#[test]
fn tests_are_kept_only_for_the_check() {
    let mut session = Session::new(Options::default(), Box::new(std::io::sink()));
    let text = "test \"fails to compile\" { missing() }";
    let inputs = [Input { name: "first", text }];
    assert_eq!(session.check(&inputs).status, Status::Rejected);
    assert_eq!(session.run(&inputs).status, Status::Done);
}

/// A branch exactly at its threshold is reported like a kink, regardless of the form of the branch.
#[test]
fn branches_at_their_thresholds_are_reported() {
    let cases = [
        ("{ x in x > 0 ? x : -x }", 1),
        ("{ x in var y = x; if x >= 0 { y = 2 * x }; return y }", 1),
        ("{ x -> Double in guard x != 0 else { return x }; return sin(x) / x }", 1),
        ("{ x -> Double in switch x { case let y where y < 0: return -x; default: return x } }", 1),
        ("{ x -> Double in switch x { case 0..<1: return -x; default: return x } }", 1),
        ("{ x in (0...1).contains(x) ? x : 2 * x }", 1),
        ("{ x in x > -1 && x < 0 ? 1 : x }", 1),
        ("{ x in x > 1 || x > 0 ? 1 : x }", 1),
        ("{ x in var y = x; while y < 0 { y += 1 }; return y }", 1),
        ("{ x in let isLarge = x > 0; return isLarge ? x : -x }", 1),
        ("{ x in [x, 1 + x].filter { $0 > 0 }.reduce(0, +) }", 1),
        ("{ x in var sum = x; for y in [x, 2 * x + 1] where y > 0 { sum += y }; return sum }", 1),
        ("{ x in Float(x) > 0 ? x : -x }", 1),
        ("{ x in x > 1 ? x : -x }", 0),
        ("{ x in x > x ? x : -x }", 0),
        ("{ x in withoutDerivative(at: x) > 0 ? x : -x }", 0),
        ("{ x in var y = x; for i in 0..<3 { if i == 0 { y += x } }; return y }", 0),
        ("{ x in precondition(x >= 0); return x }", 0),
        ("{ x in print(x > 0); return x }", 0),
    ];
    let options = Options { kinks: Kinks::Noted, ..Options::default() };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    for (f, count) in cases {
        for operator in ["gradient", "derivative"] {
            let text = format!("{operator}(at: 0.0, in: {f})");
            let outcome = session.eval("branch", &text);
            assert_eq!(outcome.status, Status::Done, "{text}: {:?}", outcome.diagnostics);
            let found = session.take_kinks();
            assert_eq!(found.len(), count, "{text}: {found:?}");
            assert!(found.iter().all(|kink| kink.partials.is_none()), "{text}: {found:?}");
        }
    }
}
