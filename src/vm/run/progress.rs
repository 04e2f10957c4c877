//! Progress: reports which iteration the loop of a long-running script is in.

use crate::source::Span;
use crate::vm::run::loop_position;
use crate::vm::state::machine::Machine;
use std::time::{Duration, Instant};

/// The time between two reports.
const EVERY: Duration = Duration::from_millis(200);

/// Reports the progress of a run that takes long.
pub struct ProgressReporter {
    report: Box<dyn FnMut(LoopProgress)>,
    next: Instant,
}

/// The progress of the outermost loop of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopProgress {
    /// The statement of the loop that is executed now.
    pub span: Span,
    /// The number of completed iterations.
    pub rounds: u64,
    /// The number of all iterations, when it is fixed.
    pub total: Option<u64>,
}

impl ProgressReporter {
    /// One that reports for the first time after `patience`.
    pub fn new(patience: Duration, report: Box<dyn FnMut(LoopProgress)>) -> ProgressReporter {
        ProgressReporter { report, next: Instant::now() + patience }
    }
}

impl Machine {
    /// Reports the progress of the run, if a report is due; called when the limits are checked.
    pub(crate) fn report_progress(&mut self) {
        let now = Instant::now();
        if self.diagnosis.progress.as_ref().is_none_or(|reporter| now < reporter.next) {
            return;
        }
        let progress = self.frames.iter().find_map(|frame| {
            let (code, at) = self.executed(frame)?;
            if code.is_prelude {
                return None;
            }
            let (head, back) = loop_position::around(code, at).max_by_key(|(head, back)| back - head)?;
            let counted = self.counted(frame, code, (head, back))?;
            let rounds = u64::try_from(counted.now.checked_sub(counted.from)?).ok()?;
            let total = counted.to.and_then(|to| u64::try_from(to.checked_sub(counted.from)?).ok());
            Some(LoopProgress { span: code.spans.get(at).copied()?, rounds, total })
        });
        if let Some(reporter) = &mut self.diagnosis.progress {
            reporter.next = now + EVERY;
            if let Some(progress) = progress {
                (reporter.report)(progress);
            }
        }
    }
}
