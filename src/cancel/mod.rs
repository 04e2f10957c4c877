//! Cancellation: the early end of long work after an interrupt (Ctrl-C at a prompt, the button of a notebook) or at a
//! deadline.
//!
//! In: a flag that another thread sets, and a deadline. Out: the work ends at its next [check].
//!
//! Promises: a check costs about a nanosecond; functions need no extra parameter and unwind when they are cancelled;
//! outside of [`catch_cancelled`] a check does nothing, so code that cannot be cancelled never unwinds.
//! Not here: the machine's own loops, which count their steps (`vm/state/limits.rs`).

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The reason for a cancellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The user interrupted the work.
    Interrupted,
    /// The work exceeded its time limit.
    Late(Duration),
}

/// The time at which work is cancelled, together with the original time limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    at: Instant,
    allowed: Duration,
}

impl Deadline {
    /// Creates a deadline for work of which the duration `passed` has elapsed; `None` when the clock overflows.
    pub fn new(allowed: Duration, passed: Duration) -> Option<Deadline> {
        let at = Instant::now().checked_add(allowed.saturating_sub(passed))?;
        Some(Deadline { at, allowed })
    }

    /// Whether the time of the deadline has passed.
    pub fn has_passed(&self) -> bool {
        Instant::now() >= self.at
    }

    /// Returns the original time limit of the work.
    pub fn allowed(&self) -> Duration {
        self.allowed
    }
}

/// The flag and the deadline of the current work.
struct Limits {
    flag: Arc<AtomicBool>,
    deadline: Option<Deadline>,
}

thread_local! {
    static LIMITS: RefCell<Option<Limits>> = const { RefCell::new(None) };
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The payload of the unwinding from a check to [`catch_cancelled`]; it is not a panic, so no panic hook runs.
struct Cancelled;

/// A guard that restores the previous state when a scope is left.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Runs work that the flag or the deadline cancels.
pub fn under<T>(flag: &Arc<AtomicBool>, deadline: Option<Deadline>, work: impl FnOnce() -> T) -> T {
    let mut limits = LIMITS.replace(Some(Limits { flag: Arc::clone(flag), deadline }));
    let caught = IS_CAUGHT.replace(false);
    let _restore = OnDrop(|| {
        LIMITS.set(limits.take());
        IS_CAUGHT.set(caught);
    });
    work()
}

/// Runs work that may be cancelled at any check; returns `None` when it was cancelled. The side effects of the work up
/// to that check remain.
#[inline]
pub fn catch_cancelled<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outside = IS_CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(outside);
    match done {
        Ok(done) => Some(done),
        Err(why) if why.is::<Cancelled>() => None,
        Err(why) => resume_unwind(why),
    }
}

/// Runs work of which the checks do nothing, because it must not end early.
pub fn without_checks<T>(work: impl FnOnce() -> T) -> T {
    let caught = IS_CAUGHT.replace(false);
    let _restore = OnDrop(|| IS_CAUGHT.set(caught));
    work()
}

/// Unwinds to [`catch_cancelled`] if the current work is cancelled.
#[inline]
pub fn check() {
    if IS_CAUGHT.get() {
        unwind_if_cancelled();
    }
}

#[inline(never)]
fn unwind_if_cancelled() {
    if reason().is_some() {
        resume_unwind(Box::new(Cancelled));
    }
}

/// Returns the reason why the work of this thread is cancelled, if it is.
pub fn reason() -> Option<Reason> {
    LIMITS.with_borrow(|limits| {
        let limits = limits.as_ref()?;
        if limits.flag.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        let deadline = limits.deadline.filter(Deadline::has_passed)?;
        Some(Reason::Late(deadline.allowed))
    })
}

/// The number of small steps between two checks.
pub const CHECK_INTERVAL: usize = 1 << 14;

/// Divides `0..count` into pieces and runs `work` on each, after a check.
pub fn in_pieces(count: usize, mut work: impl FnMut(std::ops::Range<usize>)) {
    for from in (0..count).step_by(CHECK_INTERVAL) {
        check();
        work(from..count.min(from + CHECK_INTERVAL));
    }
}

/// Returns an iterator over `things` with a check every [`CHECK_INTERVAL`] items.
pub fn checking<I: Iterator>(things: I) -> impl Iterator<Item = I::Item> {
    things.enumerate().map(|(k, thing)| {
        if k % CHECK_INTERVAL == 0 {
            check();
        }
        thing
    })
}

/// Returns an iterator over `things` with a check before each item, for items that may take long.
pub fn checking_each<I: IntoIterator>(things: I) -> impl Iterator<Item = I::Item> {
    things.into_iter().inspect(|_| check())
}

/// The time between two checks while waiting for a blocking operation.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs a blocking operation, such as opening a pipe, on a separate thread, which is abandoned on cancellation.
///
/// # Errors
/// Returns the error of the operation, or of starting the thread.
pub fn waiting<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    loop {
        check();
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(std::io::Error::other("the operation was abandoned")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_at_a_check() {
        let flag = Arc::new(AtomicBool::new(false));
        under(&flag, None, || {
            assert_eq!(catch_cancelled(|| checking(0..3).sum::<i32>()), Some(3));
            flag.store(true, Ordering::Relaxed);
            // Outside of `catch_cancelled`, a check does nothing.
            check();
            assert_eq!(catch_cancelled(|| in_pieces(1, |_| unreachable!())), None);
            assert_eq!(reason(), Some(Reason::Interrupted));
        });
        // The work is not cancelled.
        assert_eq!(catch_cancelled(check), Some(()));
    }

    #[test]
    fn work_ends_at_its_deadline() {
        let flag = Arc::new(AtomicBool::new(false));
        let second = Duration::from_secs(1);
        under(&flag, Deadline::new(second, second), || {
            assert_eq!(catch_cancelled(check), None);
            assert_eq!(reason(), Some(Reason::Late(second)));
        });
        under(&flag, Deadline::new(Duration::from_secs(1000), second), || assert_eq!(catch_cancelled(check), Some(())));
        assert_eq!(Deadline::new(Duration::MAX, Duration::ZERO), None);
    }

    #[test]
    fn blocking_work_is_cancelled() {
        let flag = Arc::new(AtomicBool::new(false));
        under(&flag, None, || {
            assert_eq!(catch_cancelled(|| waiting(|| Ok(3)).ok()), Some(Some(3)));
            let interrupt = Arc::clone(&flag);
            let forever = move || {
                interrupt.store(true, Ordering::Relaxed);
                std::thread::park();
                Ok(())
            };
            assert_eq!(catch_cancelled(|| waiting(forever).is_ok()), None);
        });
    }

    #[test]
    fn a_panic_stays_one() {
        let panic = catch_unwind(|| catch_cancelled(|| resume_unwind(Box::new("a bug"))));
        assert!(panic.is_err());
        assert!(!IS_CAUGHT.get());
    }
}
