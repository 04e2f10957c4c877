//! Exit statuses: defines the exit statuses of the process.

use crate::session::Status;

pub(super) const DONE: i32 = 0;
pub(super) const FAILED: i32 = 1;
pub(super) const USAGE: i32 = 2;
pub(super) const REJECTED: i32 = 3;
pub(super) const TESTS_FAILED: i32 = 4;
pub(super) const DENIED: i32 = 5;
pub(super) const INTERNAL: i32 = 70;
pub(super) const TIME_LIMIT: i32 = 124;
pub(super) const INTERRUPTED: i32 = 130;

/// Returns the exit status for the status of a request.
pub(super) fn of(status: Status) -> i32 {
    match status {
        Status::Done => DONE,
        Status::Exited(status) => status,
        Status::Failed => FAILED,
        Status::Rejected => REJECTED,
        Status::Denied => DENIED,
        Status::Internal => INTERNAL,
        Status::TimeLimit => TIME_LIMIT,
        Status::Interrupted => INTERRUPTED,
    }
}
