//! Tests of modified code objects: either the verifier rejects them, or they run without harm.
//!
//! `DSCRIPT_CASES` sets the number of cases (400). `fuzz/` does the same under AddressSanitizer.

use crate::tamper::{Subject, WORDS};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

#[test]
fn modified_code_is_rejected_or_harmless() {
    let subject = Subject::new();
    let cases = std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let changes = prop::collection::vec(any::<[u16; WORDS]>(), 1..4);
    let result = runner.run(&changes, |changes| {
        // A fault is acceptable; a panic or an invalid memory access is not.
        let _ = subject.run_with(&changes.concat());
        Ok(())
    });
    result.unwrap();
}
