//! The end of long operations on request.

/// Unwinds if the current work is cancelled.
pub(super) fn check() {
    crate::cancel::check();
}

/// Runs work that cannot be cancelled.
pub(super) fn without_checks<T>(work: impl FnOnce() -> T) -> T {
    crate::cancel::without_checks(work)
}
