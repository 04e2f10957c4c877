//! Tests with random programs: forward mode, reverse mode and central differences agree, to third order, both when a program
//! runs from source and when it is compiled first; and machine code computes the same numbers as the interpreter.
//!
//! `DSCRIPT_CASES` sets the number of programs with one and with two parameters (160 each), `DSCRIPT_SEED` the seed, where
//! `random` selects a new one each time; the seed is printed, and a failing program is reduced as far as possible before it is
//! printed. `DSCRIPT_SHOW` prints all programs.

use crate::generate::agree::{Course, Failure, ONE_NUMBER, Questions, TOGETHER, TWO_NUMBERS, Tally, own, script};
use crate::generate::{self, Program};
use dscript::session::{CompileMode, Options};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[test]
fn functions_of_one_number() {
    check("functions_of_one_number", &ONE_NUMBER);
}

#[test]
fn functions_of_two_numbers() {
    check("functions_of_two_numbers", &TWO_NUMBERS);
}

/// The constructs that random programs contain, and the strings by which they are recognized.
const CONSTRUCTS: &[(&str, &str)] = &[
    ("loops over ranges", "for i"),
    ("loops over arrays", ".prefix("),
    ("'while'", "while n"),
    ("'repeat'", "repeat {"),
    ("loops that are left", "break\n"),
    ("early returns", " { return "),
    ("recursion", ", n - 1)"),
    ("changed variables", " += "),
    ("'inout'", ": inout "),
    ("changed elements", "] = "),
    ("copies of arrays", "var a"),
    ("structs", "Pair(a: "),
    ("mutating methods", ".push("),
    ("enums", "Figure"),
    ("pattern matching", "if case .line(let "),
    ("optionals", ": Double? ="),
    ("optional chaining", "?.bump("),
    ("dictionaries", "[\"a\""),
    ("classes", "Cell("),
    ("subclasses", "Twice("),
    ("closures", "Double) -> Double in"),
    ("closures that change what they captured", "let g"),
    ("functions as values", "composed("),
    ("generic functions", "pick("),
    ("existentials", "any Measured"),
    ("errors", "try attempt("),
    ("checkpoints", "checkpoint {"),
    ("derivatives inside", "gradient(at: 0.25, in:"),
    ("defer", "defer {"),
    ("tuples", "both("),
    ("structs in arrays in dictionaries", "[\"a\"]![0].a = "),
    ("'inout' through several calls", "nudgeDeep(&"),
    ("'inout' of elements and fields", "&p"),
    ("functions that pass their 'inout' parameter on", "    h0(&a"),
    ("derivatives of statements inside", "= tanh(gradient(at: "),
    ("closures with statements", "return sin("),
    ("closures that share what they change", "let shared"),
    ("recursion through closures", "fixed { ["),
    ("local functions that call one another", "Double = c"),
    ("instances that several names share", "= pool("),
    ("generic code with witnesses", "rolled("),
    ("generic types", "Gear<Pair>"),
    ("generic enums", "Tree<Double>"),
    ("opaque types", "hidden("),
    ("arrays of existentials", "[any Measured]"),
    ("existentials that change", "any Turning"),
    ("enums with payloads", ".slab("),
    ("'guard case'", "guard case"),
    ("optional chains of structs", "?.pair.push("),
    ("optional chains of instances", "?.next?.value"),
    ("blocks that throw", "throw Refusal.refused("),
    ("errors with payloads", "try risky("),
    ("rethrowing functions", "try? passed("),
    ("results", "outcome("),
    ("functions that throw", "throws -> Double"),
    ("labeled exits of loops", "{ break l"),
    ("labeled continuations", "{ continue l"),
    ("labeled blocks", ": do {"),
    ("observers of members", "Gauge("),
    ("observers of variables", "didSet { "),
    ("observers of inherited members", "FineDial("),
    ("property wrappers", "@Damped var"),
    ("lazy variables", "lazy var"),
    ("slices", "[1...]"),
    ("'swapAt'", ".swapAt("),
    ("'sort(by:)'", ".sort(by: "),
    ("sorting by a closure", ".sort { "),
    ("'reduce(into:)'", ".reduce(into: "),
    ("derivatives registered for some parameters", "blend("),
    ("registered derivatives of 'inout'", "stretch(&"),
    ("registered derivatives of methods", ".warp("),
    ("registered derivatives of properties", ".norm"),
    ("registered derivatives of generic functions", "kept("),
    ("registered transposes", "product("),
    ("transposes", "transpose(of: "),
    ("'withDerivative'", ".withDerivative"),
    ("edited adjoints of variables", "replaceGradient(of: "),
    ("blocks that are checkpoints", "checkpoint {\n"),
    ("errors thrown out of checkpoints", "try checkpoint {"),
    ("instances that end", "Farewell {"),
    ("gradients by one instance given twice", "Knob("),
    ("loops with checkpoints", "checkpoint for"),
    ("recomputation", ".withRecomputationInPullbacks"),
    ("pullbacks that are kept", "Double = pullback(at: "),
    ("differentials that are kept", "Double = differential(at: "),
    ("pullbacks by several values", "valueWithPullback(at: "),
    ("pullbacks inside of other levels", "in: { t in pullback"),
    ("forward over reverse over forward", "gradient(at: t, in: { u in derivative("),
    ("global variables", "memo = "),
    ("static variables", "Store.level"),
    ("operators of one's own", "Pair(along: "),
    ("initializers that fail", "Pair(below: "),
    ("initializers that throw", "Pair(trying: "),
    ("result builders", "built {"),
    ("members that are looked up", "Veil("),
    ("key paths", "[keyPath: "),
    ("overridden properties", "Bird("),
    ("weak captures", "[weak "),
    ("dictionaries of functions", "(Double) -> Double]"),
    ("sorted tuples", "p.0 < q.0"),
    ("gradients by tuples", "gradient(at: ("),
    ("gradients by optionals", "gradient(at: Optional("),
    ("arrays of pullbacks", "[pullback(at: "),
    ("linear functions", "@differentiable(linear)"),
    ("reverse over forward over reverse", "derivative(at: t, in: { u in gradient("),
];

/// The number of programs in a run of continuous integration.
const MANY: usize = 20_000;

#[test]
fn every_construct_occurs() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let strategy = generate::program();
    let mut missing = CONSTRUCTS.to_vec();
    for _ in 0..MANY {
        match strategy.new_tree(&mut runner) {
            Ok(tree) => {
                let text = script(&tree.current(), &ONE_NUMBER);
                missing.retain(|(_, word)| !own(&text).contains(word));
            }
            Err(why) => panic!("{why}"),
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("in none of {MANY} programs: {missing:?}");
}

fn check(name: &str, questions: &Questions) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    // The programs are the same each time, so that a failure is due to a change and not to a new program.
    let seed = match std::env::var("DSCRIPT_SEED") {
        Ok(text) if text == "random" => now(),
        _ => number("DSCRIPT_SEED").unwrap_or(2026),
    };
    let cases = number("DSCRIPT_CASES").unwrap_or(160) as u32;
    eprintln!("{name}: DSCRIPT_SEED={seed} DSCRIPT_CASES={cases}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = generate::program();
    let tally = Tally::default();
    let course = Course::new(Options {
        timeout: Some(Duration::from_secs(20)),
        compiled: CompileMode::Never,
        ..Options::default()
    });
    let shows = std::env::var_os("DSCRIPT_SHOW").is_some();
    // Returns how a program fails from source or, if requested, compiled.
    let fails = |program: &Program, compiles: bool| {
        let text = script(program, questions);
        let answered = match course.agree(&text, &Tally::default()) {
            Ok(answered) => answered,
            Err(why) => return Some(why),
        };
        if compiles { course.compiled(&[answered]).err().map(|(_, why)| why) } else { None }
    };
    let report = |tree, (failure, why): (Failure, String)| {
        let (program, why) = smallest(tree, why, |program| {
            fails(program, failure == Failure::Compiled).filter(|(kind, _)| *kind == failure).map(|(_, why)| why)
        });
        panic!("{why}\nDSCRIPT_SEED={seed}\n\n{}", script(&program, questions));
    };
    let (mut trees, mut answers) = (vec![], vec![]);
    for case in 1..=cases {
        let tree = strategy.new_tree(&mut runner).unwrap_or_else(|why| panic!("{why}"));
        let text = script(&tree.current(), questions);
        if shows {
            eprintln!("{text}");
        }
        match course.agree(&text, &tally) {
            Ok(answered) => answers.push(answered),
            Err(why) => {
                eprintln!("before the search for a smaller program: {}\n\n{text}", why.1);
                return report(tree, why);
            }
        }
        trees.push(tree);
        if case == cases || answers.len() == TOGETHER {
            if let Err((k, why)) = course.compiled(&answers) {
                return report(trees.swap_remove(k), why);
            }
            trees.clear();
            answers.clear();
        }
    }
    let (compared, skipped) = (tally.compared.get(), tally.skipped.get());
    eprintln!("{name}: {compared} derivatives compared with differences, {skipped} too close to a kink");
    assert!(compared > skipped, "most points lie at kinks: {skipped} skipped, {compared} compared");
}

/// Returns the smallest program that still fails, and the reason.
fn smallest<T: ValueTree<Value = Program>>(
    mut tree: T,
    mut why: String,
    fails: impl Fn(&Program) -> Option<String>,
) -> (Program, String) {
    let mut program = tree.current();
    let mut goes_on = tree.simplify();
    for _ in 0..4000 {
        if !goes_on {
            break;
        }
        goes_on = match fails(&tree.current()) {
            Some(reason) => {
                (program, why) = (tree.current(), reason);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    (program, why)
}
