//! Progress reporter: reports the progress of the loops of a long-running script.

use crate::source::Span;
use std::time::{Duration, Instant};

/// A reporter of the progress of long runs.
pub struct ProgressReporter {
    pub(crate) report: Box<dyn FnMut(LoopProgress)>,
    /// The time at which the next report is due.
    pub(crate) next: Instant,
}

/// The progress of the outermost loop of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopProgress {
    /// The statement of the loop that is being executed.
    pub span: Span,
    /// The number of completed iterations of the loop.
    pub iterations: u64,
    /// The number of all iterations of the loop, when this number is fixed.
    pub total: Option<u64>,
}

impl ProgressReporter {
    /// Creates a reporter whose first report is due after the duration `patience`.
    pub fn new(patience: Duration, report: Box<dyn FnMut(LoopProgress)>) -> ProgressReporter {
        ProgressReporter { report, next: Instant::now() + patience }
    }
}
