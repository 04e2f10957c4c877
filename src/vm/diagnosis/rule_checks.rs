//! Rule checks: how often registered derivatives were compared with differences.

use hashbrown::HashMap;

/// How often registered derivatives were checked in this run, by function.
#[derive(Default)]
pub struct RuleChecks(HashMap<u32, u32>);

impl RuleChecks {
    /// Counts a call of a registered derivative; how many there were, with this one.
    pub(crate) fn count(&mut self, function: u32) -> u32 {
        let calls = self.0.entry(function).or_default();
        *calls += 1;
        *calls
    }
}
