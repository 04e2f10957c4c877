//! Progress: reports the current iteration of the loop of a long-running script.

use crate::vm::diagnosis::progress_reporter::LoopProgress;
use crate::vm::state::current_loop;
use crate::vm::state::machine::Machine;
use std::time::{Duration, Instant};

/// The time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

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
            let (head, back) = current_loop::around(code, at).max_by_key(|(head, back)| back - head)?;
            let counted = self.counted(frame, code, (head, back))?;
            let iterations = u64::try_from(counted.now.checked_sub(counted.from)?).ok()?;
            let total = counted.to.and_then(|to| u64::try_from(to.checked_sub(counted.from)?).ok());
            Some(LoopProgress { span: code.spans.get(at).copied()?, iterations, total })
        });
        if let Some(reporter) = &mut self.diagnosis.progress {
            reporter.next = now + REPORT_INTERVAL;
            if let Some(progress) = progress {
                (reporter.report)(progress);
            }
        }
    }
}
