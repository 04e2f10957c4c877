//! Limits: the depth, steps, time and memory that a run may use, and cancellation.

use crate::cancel::Deadline;
use crate::diagnostic::Code as Number;
use crate::value::number_format::in_bytes;
use crate::vm::fault::Fault;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The number of backward jumps and calls between two checks of the clock and of cancellation. A check costs some 30
/// ns; an iteration of a loop takes at least 2 ns. One step more, which finds none left, is a prime number of steps, so
/// that in a loop with calls the checks find each call and the backward jump in turn: what they find is compiled.
pub const INTERVAL: i64 = 9972;

/// The time between two queries of the memory of the process, which take microseconds.
const MEMORY_INTERVAL: Duration = Duration::from_millis(2);

/// The resources that a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum number of nested calls.
    pub depth: usize,
    /// The maximum number of backward jumps and calls.
    pub steps: Option<u64>,
    /// The maximum duration of the run.
    pub time: Option<Duration>,
    /// The maximum number of bytes of memory that the process uses.
    pub memory: Option<u64>,
    /// A flag that is set from outside to stop the run.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 100_000, steps: None, time: None, memory: None, interrupt: Arc::default() }
    }
}

/// The resources that a run has used so far.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    steps_left: Option<u64>,
    deadline: Option<Deadline>,
    memory_checked: Option<Instant>,
    granted: i64,
}

impl Meter {
    /// Starts the meter of a new run, of whose time limit the duration `passed` has elapsed.
    pub fn start(limits: &Limits, passed: Duration) -> Meter {
        let deadline = limits.time.and_then(|time| Deadline::new(time, passed));
        Meter { steps_left: limits.steps, deadline, memory_checked: None, granted: 0 }
    }

    /// Returns the deadline of the run.
    pub fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// Checks all limits, after `owed` steps more than were granted; returns the number of steps until the next check.
    pub fn check(&mut self, limits: &Limits, owed: u64) -> Result<i64, Box<Fault>> {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Err(Fault::interrupted());
        }
        if let Some(deadline) = self.deadline.filter(Deadline::has_passed) {
            return Err(Fault::late(deadline.allowed()));
        }
        if let Some(limit) = limits.memory {
            self.check_memory(limit)?;
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

    fn check_memory(&mut self, limit: u64) -> Result<(), Box<Fault>> {
        let now = Instant::now();
        if self.memory_checked.is_some_and(|before| now - before < MEMORY_INTERVAL) {
            return Ok(());
        }
        self.memory_checked = Some(now);
        if resident().is_some_and(|used| used > limit) {
            let message = format!("the program needs more memory than allowed ({})", in_bytes(limit));
            return Err(Fault::new(Number::MemoryLimit, message));
        }
        Ok(())
    }
}

/// Returns three quarters of the memory of the computer, or of the limit of the process; `None` where the system does
/// not report it. If the process used more, the system would end the process without a message.
pub fn share_of_machine() -> Option<u64> {
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = group.and_then(|text| text.trim().parse::<u64>().ok());
    let most = memory_of_machine().into_iter().chain(allowed).min()?;
    Some(most / 4 * 3)
}

/// Returns the number of bytes of memory of the computer; `None` where the system does not report it.
#[cfg(target_os = "linux")]
fn memory_of_machine() -> Option<u64> {
    let info = rustix::system::sysinfo();
    info.totalram.checked_mul(u64::from(info.mem_unit))
}

/// Returns the number of bytes of memory of the computer; `None` where the system does not report it.
#[cfg(not(target_os = "linux"))]
fn memory_of_machine() -> Option<u64> {
    None
}

/// Returns the number of bytes of memory that the process uses; `None` where the system does not report it. A read with one
/// system call is enough for the short line, and takes a fraction of the time of the longer status of the process.
#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    let mut line = [0; 128];
    let length = std::fs::File::open("/proc/self/statm").ok()?.read(&mut line).ok()?;
    let pages = std::str::from_utf8(line.get(..length)?).ok()?.split(' ').nth(1)?.parse::<u64>().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Returns the number of bytes of memory that the process uses; `None` where the system does not report it.
#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}
