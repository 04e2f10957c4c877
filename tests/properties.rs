//! Random programs: forward mode, reverse mode and central differences agree, to the third order.
//!
//! `DSCRIPT_CASES` says how many programs (160), `DSCRIPT_SEED` which ones; the seed is printed, and a failing program is
//! made as small as it gets before it is shown. `DSCRIPT_SHOW` writes down all of them.

mod generate;

use dscript::session::Options;
use generate::agree::{Course, ONE_NUMBER, Questions, TWO_NUMBERS, Tally, agree, own, script};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[test]
fn functions_of_one_number() {
    check("functions_of_one_number", &ONE_NUMBER);
}

#[test]
fn functions_of_two_numbers() {
    check("functions_of_two_numbers", &TWO_NUMBERS);
}

/// What random programs have in them, and how it is recognised.
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
];

/// Programs of one run of the continuous integration.
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
    let seed = number("DSCRIPT_SEED").unwrap_or_else(now);
    let cases = number("DSCRIPT_CASES").unwrap_or(160) as u32;
    eprintln!("{name}: DSCRIPT_SEED={seed} DSCRIPT_CASES={cases}");
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let tally = Tally::default();
    let course = Course::new(Options { timeout: Some(Duration::from_secs(20)), ..Options::default() });
    let shows = std::env::var_os("DSCRIPT_SHOW").is_some();
    let result = runner.run(&generate::program(), |program| {
        let text = script(&program, questions);
        if shows {
            eprintln!("{text}");
        }
        agree(&text, &course, &tally).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {
            let (compared, skipped) = (tally.compared.get(), tally.skipped.get());
            eprintln!("{name}: {compared} derivatives compared with differences, {skipped} too close to a kink");
            assert!(compared > skipped, "most points lie at kinks: {skipped} skipped, {compared} compared");
        }
        Err(TestError::Fail(why, program)) => {
            panic!("{why}\nDSCRIPT_SEED={seed}\n\n{}", script(&program, questions));
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
