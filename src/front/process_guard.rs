//! Process guard: executes a command with a large stack, and handles Ctrl-C and panics.

use super::exit_status;
use super::output::report;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// The stack size of the thread that executes the command. The compiler walks trees by recursion, and the size of the
/// main thread's stack depends on the system's settings. Only pages that are touched use memory.
const STACK: usize = 256 << 20;

/// The number of the last standard stream, that for errors.
#[cfg(unix)]
const LAST_STREAM: i32 = 2;

/// The message for an internal error.
pub(super) const BUG_REPORT_REQUEST: &str = concat!(
    "dscript: internal error: this is a bug in dscript ",
    env!("CARGO_PKG_VERSION"),
    ", not in your program.\nPlease report it with the program, the command line and the lines above.\n"
);

/// The message of the last panic, for [`guarded`] to print.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the work of the process on a large stack, and ends the process with the status that it returns. A panic
/// requests a bug report and returns 70.
pub(super) fn guarded(work: fn() -> i32) -> i32 {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no reason given");
        let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("dscript: {text}{place}\n"));
    }));
    #[cfg(unix)]
    prepare_streams();
    // The process ends on the thread of the work, because ending the thread first would free its memory piece by piece.
    let exit = move || std::process::exit(work());
    let spawn = |size| std::thread::Builder::new().name("dscript".to_owned()).stack_size(size).spawn(exit);
    // Where address space is limited, a smaller stack is used.
    let finished = match spawn(STACK).or_else(|_| spawn(STACK / 16)) {
        Ok(thread) => thread.join(),
        Err(_) => std::panic::catch_unwind(work).map(|status| std::process::exit(status)),
    };
    let Err(_) = finished;
    let message = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    report(&message.unwrap_or_default());
    report(BUG_REPORT_REQUEST);
    exit_status::INTERNAL
}

/// Prepares the standard streams, as the entry point of Rust does, which the command has not: see `main.rs`.
#[cfg(unix)]
fn prepare_streams() {
    use std::os::fd::{AsRawFd, IntoRawFd};
    // Writing to a closed pipe fails instead of ending the process, once the signal has a handler.
    let _ = flag::register(signal_hook::consts::SIGPIPE, Arc::default());
    // A stream that is closed becomes the null device, so that no file of the program takes its number.
    let null = || std::fs::File::options().read(true).write(true).open("/dev/null");
    while let Some(file) = null().ok().filter(|file| file.as_raw_fd() <= LAST_STREAM) {
        let _ = file.into_raw_fd();
    }
}

/// Returns a flag that Ctrl-C sets; a second Ctrl-C ends the process immediately.
pub(super) fn interrupt() -> Arc<AtomicBool> {
    let flag = Arc::default();
    // Registered first, so that it sees whether the flag was set before.
    let _ = flag::register_conditional_shutdown(SIGINT, exit_status::INTERRUPTED, Arc::clone(&flag));
    set_by_interrupt(flag)
}

/// Returns a flag that Ctrl-C sets; further Ctrl-C have no effect, because a kernel keeps running.
pub(super) fn interrupt_only() -> Arc<AtomicBool> {
    set_by_interrupt(Arc::default())
}

/// Registers a flag that Ctrl-C sets.
fn set_by_interrupt(flag: Arc<AtomicBool>) -> Arc<AtomicBool> {
    // Without a handler Ctrl-C ends the process, which is acceptable.
    let _ = flag::register(SIGINT, Arc::clone(&flag));
    flag
}
