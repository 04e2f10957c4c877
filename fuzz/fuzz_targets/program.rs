//! Fuzz target: the random programs of `tests/suite/properties.rs`, by seed: all mechanisms of differentiation agree.
#![no_main]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/suite/generate/mod.rs"]
mod generate;
#[path = "../../tests/suite/sink.rs"]
mod sink;

use dscript::session::Options;
use dscript_fuzz::{Worker, limits};
use generate::agree::{Course, ONE_NUMBER, TWO_NUMBERS, Tally, script};
use libfuzzer_sys::fuzz_target;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::LazyLock;
use std::time::Duration;

static WORKER: LazyLock<Worker> = LazyLock::new(|| Worker::start(|| run));

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));

fn run(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    // The input is a seed and not the choices themselves, because these would run out: a uniform choice needs more bytes.
    let mut seed = [0; 32];
    seed.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let Ok(tree) = generate::program().new_tree(&mut runner) else { return };
    let questions = if first % 2 == 0 { &ONE_NUMBER } else { &TWO_NUMBERS };
    let text = script(&tree.current(), questions);
    // With the sanitizer on a busy machine, compilation alone can exceed the limit of the other targets.
    let timeout = Some(Duration::from_secs(60));
    let options = Options { max_steps: None, max_tape: 1 << 30, timeout, ..limits() };
    let course = Course::new(options);
    let answered = course.agree(&text, &Tally::default()).unwrap_or_else(|(_, why)| panic!("{why}\n\n{text}"));
    if let Err((_, (_, why))) = course.compiled(&[answered]) {
        panic!("{why}\n\n{text}");
    }
}
