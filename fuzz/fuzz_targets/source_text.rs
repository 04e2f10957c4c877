//! Any text becomes a result or diagnostics, within limits: no panic, no hang, no report of a bug.
#![no_main]

use dscript::diagnostic::{Form, render};
use dscript::session::{Input, Options, Session, Status};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

/// As in the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

fuzz_target!(|text: &str| {
    std::thread::scope(|scope| {
        let run = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || run(text));
        run.expect("a thread can be started").join().expect("no panic");
    });
});

fn run(text: &str) {
    let options = Options {
        max_depth: 500,
        max_tape: 8 << 20,
        max_steps: Some(100_000),
        max_memory: Some(2 << 30),
        timeout: Some(Duration::from_secs(5)),
        ..Options::default()
    };
    let mut session = Session::new(options, Box::new(std::io::sink()));
    let outcome = session.run(&[Input { name: "fuzz.dscript", text }]);
    assert!(outcome.status != Status::Internal, "an internal error");
    for form in [Form::Full, Form::Short, Form::Json] {
        render(&outcome.diagnostics, session.sources(), form, false, 100);
    }
}
