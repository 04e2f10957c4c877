//! Process guard: runs a command with a large stack, handles Ctrl-C, and reports a panic as an internal error.

use super::output::report;
use super::status;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The compiler walks trees by recursion, and the main thread's stack depends on the system's settings. Only what is
/// touched is taken from memory.
const STACK: usize = 256 << 20;

/// What is said when dscript itself is wrong.
pub(super) const PLEA: &str = concat!(
    "dscript: internal error: this is a bug in dscript ",
    env!("CARGO_PKG_VERSION"),
    ", not in your program.\nPlease report it with the program, the command line and the lines above.\n"
);

/// What the last panic said, for [`guarded`] to print.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the whole process's work on a large stack and gives its status; a panic gives 70 and says what to report.
pub(super) fn guarded(work: fn() -> i32) -> i32 {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no reason given");
        let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("dscript: {text}{place}\n"));
    }));
    let spawn = |size| std::thread::Builder::new().name("dscript".to_owned()).stack_size(size).spawn(work);
    // Where address space is limited, a smaller stack is better than none.
    let finished = match spawn(STACK).or_else(|_| spawn(STACK / 16)) {
        Ok(thread) => thread.join(),
        Err(_) => std::panic::catch_unwind(work),
    };
    finished.unwrap_or_else(|_| {
        let said = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        report(&said.unwrap_or_default());
        report(PLEA);
        status::INTERNAL
    })
}

/// A flag that Ctrl-C sets; a second Ctrl-C ends the process at once.
pub(super) fn interrupt() -> Arc<AtomicBool> {
    flagged(|| std::process::exit(status::INTERRUPTED))
}

/// A flag that Ctrl-C sets, however often: a kernel lives on.
pub(super) fn interrupt_only() -> Arc<AtomicBool> {
    flagged(|| ())
}

/// A flag that Ctrl-C sets; `again` is done when it is set already.
fn flagged(again: fn()) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let handler = move || {
        if set.swap(true, Ordering::Relaxed) {
            again();
        }
    };
    // Without a handler Ctrl-C ends the process, which is good enough.
    let _ = ctrlc::set_handler(handler);
    flag
}
