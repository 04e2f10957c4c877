//! Diagnosis: what the machine records to explain, check or reject derivatives, and to report the progress of a run.
//!
//! Running a program does not depend on any of it. The code that fills it is in `operators::check` and `state::progress`.

pub(crate) mod kink;
pub(crate) mod lost_tangent;
pub(crate) mod places;
pub(crate) mod progress;
pub(crate) mod rule_checks;
pub(crate) mod trace;

use crate::tape::watch::Met;
use kink::Kink;
use lost_tangent::LostTangentLog;
use places::Places;
use progress::ProgressReporter;
use rule_checks::RuleChecks;
use trace::Trace;

/// The diagnostic state of a machine.
#[derive(Default)]
pub struct Diagnosis {
    /// The listing of every tape that is recorded, when listings are wanted.
    pub tape_listings: Option<Vec<String>>,
    /// The last reverse sweep, when the tape watches steps.
    pub trace: Option<Trace>,
    /// Receives the progress of the loops of a script.
    pub progress: Option<ProgressReporter>,
    /// Positions in the program's text at which watched steps were executed.
    pub(crate) places: Places,
    /// The kinks that an observer met that has ended.
    pub(crate) kinks_met: Vec<Met>,
    /// Kinks at which something was differentiated, when kinks are wanted.
    pub(crate) kinks: Vec<Kink>,
    /// Where tangents were lost in this run.
    pub(crate) lost_tangents: LostTangentLog,
    /// How often each registered derivative was compared with differences in this run, when that is wanted.
    pub(crate) rule_checks: Option<RuleChecks>,
}

impl Diagnosis {
    /// Removes the state of a run that ends, except what is handed over after it: kinks, trace and listings.
    pub(crate) fn end_run(&mut self) {
        self.lost_tangents.clear();
        self.rule_checks = self.rule_checks.take().map(|_| RuleChecks::default());
        self.places.clear();
    }
}
