//! The end of long operations on request.

/// Unwinds if the current work is cancelled.
pub(super) fn check() {
    crate::cancel::check();
}
