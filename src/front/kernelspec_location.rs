//! Kernelspec location: the folder of Jupyter in which the kernel is registered.

use std::path::PathBuf;

/// The location of the kernel's entry in Jupyter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The entry is in the data folder of the current user.
    User,
    /// The entry is under a prefix such as `/usr/local`, such as the root of a virtual environment.
    Prefix(PathBuf),
}
