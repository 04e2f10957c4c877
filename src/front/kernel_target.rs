//! Kernel target: the folder in which the kernel is registered.

use std::path::PathBuf;

/// Where the entry is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// For the person who is logged in.
    User,
    /// Below a folder such as `/usr/local`, or that of a virtual environment.
    Prefix(PathBuf),
}
