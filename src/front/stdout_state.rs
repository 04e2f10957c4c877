//! Standard output state: whether standard output was closed when the process started.
//!
//! The runtime of Rust opens `/dev/null` in the place of a standard stream that is closed, so that whatever is written
//! there is lost without an error. It does so before `main`; this looks before that.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

// Sound before `main`: it duplicates a descriptor and stores a flag, which needs nothing that the runtime prepares.
#[cfg(unix)]
ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn look() {
        use std::os::fd::AsFd;
        // A descriptor that is closed cannot be duplicated.
        let is_closed = std::io::stdout().as_fd().try_clone_to_owned().is_err();
        IS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
}

/// Whether there was no standard output.
pub(crate) fn stdout_was_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}
