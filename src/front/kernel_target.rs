//! Kernel target: the folder in which the kernel is registered.

use std::path::PathBuf;

/// The location of the kernel's entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The data folder of the current user.
    User,
    /// A prefix such as `/usr/local`, or that of a virtual environment.
    Prefix(PathBuf),
}
