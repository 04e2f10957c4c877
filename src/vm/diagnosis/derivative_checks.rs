//! Derivative checks: counts the comparisons of each registered derivative with finite differences.

use hashbrown::HashMap;

/// The number of checks of each registered derivative in the run, by function.
#[derive(Default)]
pub struct RuleChecks(HashMap<u32, u32>);

impl RuleChecks {
    /// Counts a call of a registered derivative; returns the number of its calls so far, including this call.
    pub(crate) fn count(&mut self, function: u32) -> u32 {
        let calls = self.0.entry(function).or_default();
        *calls += 1;
        *calls
    }
}
