//! Fuzz target: any modification of a code object is rejected by the verifier, or runs without harm.
#![no_main]

#[path = "../../tests/suite/tamper/mod.rs"]
mod tamper;

use dscript_fuzz::Worker;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tamper::Subject;

static WORKER: LazyLock<Worker> = LazyLock::new(|| {
    Worker::start(|| {
        let subject = Subject::new();
        move |bytes: &[u8]| {
            let words: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            // A fault is acceptable.
            let _ = subject.run_with(&words);
        }
    })
});

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));
