//! Fuzz target: any text becomes a result or diagnostics within limits, without a panic, a hang, or an internal error.
#![no_main]

use dscript::diagnostic::{Form, render};
use dscript::session::{Input, Session, Status};
use dscript_fuzz::{Worker, limits};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static WORKER: LazyLock<Worker> = LazyLock::new(|| Worker::start(|| run));

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut session = Session::new(limits(), Box::new(std::io::sink()));
    let outcome = session.run(&[Input { name: "fuzz.dscript", text }]);
    assert!(outcome.status != Status::Internal, "an internal error: {:?}", outcome.diagnostics);
    for form in [Form::Full, Form::Short, Form::Json] {
        render(&outcome.diagnostics, session.sources(), form, false, 100, false);
    }
}
