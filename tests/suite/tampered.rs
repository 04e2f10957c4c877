//! Code objects that somebody tampered with: either the verifier refuses them, or they run without harm.
//!
//! `DSCRIPT_CASES` says how many (400). `fuzz/` does the same under AddressSanitizer.

use crate::tamper::{Subject, WORDS};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

#[test]
fn tampered_code_is_refused_or_harmless() {
    let subject = Subject::new();
    let cases = std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let changes = prop::collection::vec(any::<[u16; WORDS]>(), 1..4);
    let result = runner.run(&changes, |changes| {
        // A fault is fine; what is not is a panic, or memory that is not the machine's.
        let _ = subject.run_with(&changes.concat());
        Ok(())
    });
    result.unwrap();
}
