//! Limits: the depth, steps, time and memory that a run may use, and cancellation.

use crate::cancel::Deadline;
use crate::diagnostic::Code as Number;
use crate::vm::fault::{Fault, bytes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many jumps back and calls there are between two checks of the clock and of cancellation. A check costs some
/// 30 ns; a turn of a loop at least 2.
pub const INTERVAL: i64 = 10_000;

/// How long one need not ask the system for the memory of the process, which takes microseconds.
const MEMORY_INTERVAL: Duration = Duration::from_millis(2);

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
    deadline: Option<Deadline>,
    memory_looked_at: Option<Instant>,
    granted: i64,
}

impl Meter {
    /// A new run begins, of whose time some has passed.
    pub fn start(limits: &Limits, passed: Duration) -> Meter {
        let deadline = limits.time.and_then(|time| Deadline::new(time, passed));
        Meter { steps_left: limits.steps, deadline, memory_looked_at: None, granted: 0 }
    }

    /// Until when the run may take.
    pub fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// Looks at everything, after `owed` steps more than were granted; returns for how many steps one need not look again.
    pub fn look(&mut self, limits: &Limits, owed: u64) -> Result<i64, Box<Fault>> {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Err(Fault::interrupted());
        }
        if let Some(deadline) = self.deadline.filter(Deadline::has_passed) {
            return Err(Fault::late(deadline.allowed()));
        }
        if let Some(limit) = limits.memory {
            self.look_at_memory(limit)?;
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

    fn look_at_memory(&mut self, limit: u64) -> Result<(), Box<Fault>> {
        let now = Instant::now();
        if self.memory_looked_at.is_some_and(|before| now - before < MEMORY_INTERVAL) {
            return Ok(());
        }
        self.memory_looked_at = Some(now);
        if resident().is_some_and(|used| used > limit) {
            let message = format!("the program needs more memory than allowed ({})", bytes(limit));
            return Err(Fault::new(Number::MemoryLimit, message));
        }
        Ok(())
    }
}

/// Three quarters of the memory that the machine has, or that this process may take of it; where the system tells. Beyond
/// it the system would end the process, without a word.
pub fn share_of_machine() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let total = meminfo.as_deref().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = group.and_then(|text| text.trim().parse::<u64>().ok());
    let most = total.into_iter().chain(allowed).min()?;
    Some(most / 4 * 3)
}

/// Bytes of memory that the process has, where the system tells.
fn resident() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}
