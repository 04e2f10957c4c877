//! Limits of a run: depth, steps, time, memory, and the wish of somebody outside to stop it.

use super::fault::{Fault, bytes};
use crate::diagnostic::Code as Number;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many jumps back and calls there are between two looks at the clock and at the wish to stop. A look costs some
/// 30 ns; a turn of a loop at least 2.
pub const INTERVAL: i64 = 10_000;

/// What a run may use up.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Calls in each other.
    pub depth: usize,
    /// Jumps back and calls.
    pub steps: Option<u64>,
    /// From now until when.
    pub time: Option<Duration>,
    /// Bytes of the process.
    pub memory: Option<u64>,
    /// Set from outside to stop the run.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 100_000, steps: None, time: None, memory: None, interrupt: Arc::default() }
    }
}

/// How much of the limits is used up.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    steps_left: Option<u64>,
    deadline: Option<Instant>,
    granted: i64,
}

impl Meter {
    /// A new run begins.
    pub fn start(limits: &Limits) -> Meter {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Meter { steps_left: limits.steps, deadline, granted: 0 }
    }

    /// Looks at everything, after `owed` steps more than were granted; returns for how many steps one need not look again.
    pub fn look(&mut self, limits: &Limits, owed: u64) -> Result<i64, Box<Fault>> {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Err(Fault::new(Number::Interrupted, "interrupted"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let seconds = limits.time.unwrap_or_default().as_secs_f64();
            return Err(Fault::new(Number::TimeLimit, format!("the program ran longer than {seconds} s")));
        }
        if let Some(limit) = limits.memory
            && resident().is_some_and(|used| used > limit)
        {
            let message = format!("the program needs more memory than allowed ({})", bytes(limit));
            return Err(Fault::new(Number::MemoryLimit, message));
        }
        self.steps_left = self.steps_left.map(|left| left.saturating_sub(owed));
        self.granted = match &mut self.steps_left {
            None => INTERVAL,
            Some(0) => {
                let steps = limits.steps.unwrap_or_default();
                return Err(Fault::new(Number::StepLimit, format!("the program took more than {steps} steps")));
            }
            Some(left) => {
                let now = (*left).min(INTERVAL as u64);
                *left -= now;
                now as i64
            }
        };
        Ok(self.granted)
    }
}

/// Bytes of memory that the process has, where the system tells.
fn resident() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}
