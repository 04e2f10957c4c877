//! Why long work stops before its end: somebody outside wants it to (Ctrl-C at a prompt, the button of a notebook), or its
//! time is up.
//!
//! In: a flag that another thread sets, and a deadline. Out: the work is left where it [looks](look) next.
//!
//! Promises: a look costs about a nanosecond; whoever works need not hand anything through, and drops what it has on its
//! way out; outside of [`caught`] a look does nothing, so that nobody is left in the middle unawares.
//! Not here: the machine's own loops, which count their steps (`vm/state/limits.rs`).

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Why work stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Somebody outside wants it.
    Interrupted,
    /// It took longer than it may take.
    Late(Duration),
}

/// Until when work may take, and how long that was when it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    at: Instant,
    allowed: Duration,
}

impl Deadline {
    /// For work that may take so long, some of which has passed; none when the clock does not reach that far.
    pub fn new(allowed: Duration, passed: Duration) -> Option<Deadline> {
        let at = Instant::now().checked_add(allowed.saturating_sub(passed))?;
        Some(Deadline { at, allowed })
    }

    /// Whether it has passed.
    pub fn has_passed(&self) -> bool {
        Instant::now() >= self.at
    }

    /// How long the work may take.
    pub fn allowed(&self) -> Duration {
        self.allowed
    }
}

/// What work heeds.
struct Limits {
    flag: Arc<AtomicBool>,
    deadline: Option<Deadline>,
}

thread_local! {
    static LIMITS: RefCell<Option<Limits>> = const { RefCell::new(None) };
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What flies from a look to where it is caught; no panic, so nobody is told of one.
struct Stopped;

/// Puts back what was there before, however a scope is left.
struct Before<F: FnMut()>(F);

impl<F: FnMut()> Drop for Before<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Does work whose long parts heed a flag and a deadline.
pub fn under<T>(flag: &Arc<AtomicBool>, deadline: Option<Deadline>, work: impl FnOnce() -> T) -> T {
    let mut limits = LIMITS.replace(Some(Limits { flag: Arc::clone(flag), deadline }));
    let caught = IS_CAUGHT.replace(false);
    let _before = Before(|| {
        LIMITS.set(limits.take());
        IS_CAUGHT.set(caught);
    });
    work()
}

/// Does work that may be left at any look; nothing when it was. What it changed stays as it was at that moment.
#[inline]
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outside = IS_CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(outside);
    match done {
        Ok(done) => Some(done),
        Err(why) if why.is::<Stopped>() => None,
        Err(why) => resume_unwind(why),
    }
}

/// Leaves the work when somebody wants it to stop.
#[inline]
pub fn look() {
    if IS_CAUGHT.get() {
        leave_if_asked();
    }
}

#[inline(never)]
fn leave_if_asked() {
    if reason().is_some() {
        resume_unwind(Box::new(Stopped));
    }
}

/// Why the work of this thread must stop now, if it must.
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

/// How many things are done between two looks where each is small.
pub const EVERY: usize = 1 << 14;

/// Goes through `0..count` in pieces, with a look before each.
pub fn in_pieces(count: usize, mut work: impl FnMut(std::ops::Range<usize>)) {
    for from in (0..count).step_by(EVERY) {
        look();
        work(from..count.min(from + EVERY));
    }
}

/// The same things, with a look now and then.
pub fn looking<I: Iterator>(things: I) -> impl Iterator<Item = I::Item> {
    things.enumerate().map(|(k, thing)| {
        if k % EVERY == 0 {
            look();
        }
        thing
    })
}

/// The same things, with a look at each: for those that may take long.
pub fn looking_at_each<I: IntoIterator>(things: I) -> impl Iterator<Item = I::Item> {
    things.into_iter().inspect(|_| look())
}

/// How long is waited for the system between two looks.
const MOMENT: Duration = Duration::from_millis(5);

/// Does work of the system that may wait for another process, as opening a pipe does: on a thread of its own, which stays
/// behind when this one is left.
///
/// # Errors
/// Whatever the system reports.
pub fn waiting<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    loop {
        look();
        match receiver.recv_timeout(MOMENT) {
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
    fn work_is_left_at_a_look() {
        let flag = Arc::new(AtomicBool::new(false));
        under(&flag, None, || {
            assert_eq!(caught(|| looking(0..3).sum::<i32>()), Some(3));
            flag.store(true, Ordering::Relaxed);
            // Nobody catches.
            look();
            assert_eq!(caught(|| in_pieces(1, |_| unreachable!())), None);
            assert_eq!(reason(), Some(Reason::Interrupted));
        });
        // Nobody asks.
        assert_eq!(caught(look), Some(()));
    }

    #[test]
    fn work_is_left_when_its_time_is_up() {
        let flag = Arc::new(AtomicBool::new(false));
        let second = Duration::from_secs(1);
        under(&flag, Deadline::new(second, second), || {
            assert_eq!(caught(look), None);
            assert_eq!(reason(), Some(Reason::Late(second)));
        });
        under(&flag, Deadline::new(Duration::from_secs(1000), second), || assert_eq!(caught(look), Some(())));
        assert_eq!(Deadline::new(Duration::MAX, Duration::ZERO), None);
    }

    #[test]
    fn what_waits_for_others_is_left() {
        let flag = Arc::new(AtomicBool::new(false));
        under(&flag, None, || {
            assert_eq!(caught(|| waiting(|| Ok(3)).ok()), Some(Some(3)));
            let interrupt = Arc::clone(&flag);
            let forever = move || {
                interrupt.store(true, Ordering::Relaxed);
                std::thread::park();
                Ok(())
            };
            assert_eq!(caught(|| waiting(forever).is_ok()), None);
        });
    }

    #[test]
    fn a_panic_stays_one() {
        let panic = catch_unwind(|| caught(|| resume_unwind(Box::new("a bug"))));
        assert!(panic.is_err());
        assert!(!IS_CAUGHT.get());
    }
}
