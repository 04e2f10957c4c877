//! Machine state: defines registers, stacks, frames, tasks and limits.

pub(crate) mod coroutines;
pub(crate) mod current_location;
pub(crate) mod current_loop;
pub(crate) mod limits;
pub(crate) mod machine;
pub(crate) mod modification;
pub(crate) mod progress;
pub(crate) mod registers;
pub(crate) mod running_derivative;
pub(crate) mod sparse_matrices;
pub(crate) mod stacks;
pub mod task;
pub(crate) mod tier;
pub(crate) mod window;
