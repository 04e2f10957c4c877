//! Who looks on at a long run: which loop of the script is in which round.

use crate::source::Span;
use crate::vm::run::loop_position;
use crate::vm::state::machine::Machine;
use std::time::{Duration, Instant};

/// How often somebody is told.
const EVERY: Duration = Duration::from_millis(200);

/// Somebody who wants to know where a run is that takes long.
pub struct ProgressReporter {
    tell: Box<dyn FnMut(LoopProgress)>,
    next: Instant,
}

/// Where a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopProgress {
    /// What the outermost loop of the script does now.
    pub span: Span,
    /// How many rounds are through.
    pub rounds: u64,
    /// How many there will be, when the loop counts to a fixed number.
    pub total: Option<u64>,
}

impl ProgressReporter {
    /// One who is told for the first time after `patience`.
    pub fn new(patience: Duration, tell: Box<dyn FnMut(LoopProgress)>) -> ProgressReporter {
        ProgressReporter { tell, next: Instant::now() + patience }
    }
}

impl Machine {
    /// Tells who looks on, if it is time; called where limits are looked at.
    pub(crate) fn report_progress(&mut self) {
        let now = Instant::now();
        if self.diagnosis.progress.as_ref().is_none_or(|onlooker| now < onlooker.next) {
            return;
        }
        let passage = self.frames.iter().find_map(|frame| {
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
        if let Some(onlooker) = &mut self.diagnosis.progress {
            onlooker.next = now + EVERY;
            if let Some(passage) = passage {
                (onlooker.tell)(passage);
            }
        }
    }
}
