//! Fuzz target: the random programs of `tests/suite/statements.rs` behave the same in machine code and interpreted.
#![no_main]

#[path = "../../tests/suite/sink.rs"]
mod sink;
#[path = "../../tests/suite/statements.rs"]
mod statements;

use dscript::session::{CompileMode, Options};
use dscript_fuzz::{Worker, limits};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::Duration;

static WORKER: LazyLock<Worker> = LazyLock::new(|| Worker::start(|| run));

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));

fn run(bytes: &[u8]) {
    let text = statements::program(bytes);
    // Nothing is compiled in a run with a limit of steps.
    let options = Options { max_steps: None, timeout: Some(Duration::from_secs(60)), ..limits() };
    let interpreted = statements::run(&text, CompileMode::Never, options.clone());
    let compiled = statements::run(&text, CompileMode::Always, options);
    assert_eq!(compiled, interpreted, "{text}");
}
