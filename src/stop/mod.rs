//! The wish of somebody outside that long work stops: Ctrl-C at a prompt, the button of a notebook.
//!
//! In: a flag that another thread sets. Out: the work is left where it [looks](look) next.
//!
//! Promises: a look costs about a nanosecond; whoever works need not hand anything through, and drops what it has on its
//! way out; outside of [`caught`] a look does nothing, so that nobody is left in the middle unawares.
//! Not here: the machine's own loops, which count their steps (`vm/limits.rs`).

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
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

/// Does work whose long parts heed a flag.
pub fn under<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let mut flag = FLAG.replace(Some(Arc::clone(flag)));
    let caught = IS_CAUGHT.replace(false);
    let _before = Before(|| {
        FLAG.set(flag.take());
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
    let is_asked = FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if is_asked {
        resume_unwind(Box::new(Stopped));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_left_at_a_look() {
        let flag = Arc::new(AtomicBool::new(false));
        under(&flag, || {
            assert_eq!(caught(|| looking(0..3).sum::<i32>()), Some(3));
            flag.store(true, Ordering::Relaxed);
            // Nobody catches.
            look();
            assert_eq!(caught(|| in_pieces(1, |_| unreachable!())), None);
        });
        // Nobody asks.
        assert_eq!(caught(look), Some(()));
    }

    #[test]
    fn a_panic_stays_one() {
        let panic = catch_unwind(|| caught(|| resume_unwind(Box::new("a bug"))));
        assert!(panic.is_err());
        assert!(!IS_CAUGHT.get());
    }
}
