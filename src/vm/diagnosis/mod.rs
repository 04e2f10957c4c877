//! Diagnosis: the records of the machine to explain, check or reject derivatives, and to report the progress of a run.
//!
//! The execution of a program does not depend on these records, which `operators::check` and `state::progress` collect.

pub(crate) mod derivative_checks;
pub(crate) mod kink;
pub(crate) mod lost_tangent;
pub(crate) mod progress_reporter;
pub(crate) mod source_locations;
pub(crate) mod trace;

use crate::tape::step_observer::KinkOccurrence;
use derivative_checks::RuleChecks;
use kink::Kink;
use lost_tangent::LostTangentLog;
use progress_reporter::ProgressReporter;
use source_locations::Places;
use trace::Trace;

/// The state of the machine that is only needed to explain, check or reject derivatives, and to report progress.
#[derive(Default)]
pub struct Diagnosis {
    /// The listing of every recorded tape, if the session requests listings.
    pub tape_listings: Option<Vec<String>>,
    /// The trace of the last reverse sweep, if the tape observes steps.
    pub trace: Option<Trace>,
    /// The reporter that receives the progress of the loops of a script.
    pub progress: Option<ProgressReporter>,
    /// The source locations at which observed steps were executed.
    pub(crate) places: Places,
    /// The kinks that an observer found before it was removed.
    pub(crate) observed_kinks: Vec<KinkOccurrence>,
    /// The kinks at which a derivative was taken, if the session requests kinks.
    pub(crate) kinks: Vec<Kink>,
    /// The lost tangents of the run.
    pub(crate) lost_tangents: LostTangentLog,
    /// The number of checks of each registered derivative in the run, if the session requests checks.
    pub(crate) rule_checks: Option<RuleChecks>,
}

impl Diagnosis {
    /// Removes the state of a run that ends, except the parts that are read after the run: kinks, trace and listings.
    pub(crate) fn end_run(&mut self) {
        self.lost_tangents.clear();
        self.rule_checks = self.rule_checks.take().map(|_| RuleChecks::default());
        self.places.clear();
    }
}
