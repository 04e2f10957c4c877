//! Standard output state: whether standard output was closed when the process started.
//!
//! The runtime of Rust replaces a closed standard stream by `/dev/null`, so that writes to it are lost without an
//! error. The runtime does so before `main`, so this module checks even earlier.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

// The code is sound before `main`: it duplicates a descriptor and stores a flag, and needs no initialization by the
// runtime.
#[cfg(unix)]
ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn look() {
        use std::os::fd::AsFd;
        // A closed descriptor cannot be duplicated.
        let is_closed = std::io::stdout().as_fd().try_clone_to_owned().is_err();
        IS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
}

/// Whether standard output was closed when the process started.
pub(crate) fn stdout_was_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}
