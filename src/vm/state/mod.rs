//! Machine state: registers, stacks, frames, tasks and limits.

pub(crate) mod limits;
pub(crate) mod machine;
pub(crate) mod registers;
pub(crate) mod stacks;
pub mod task;
pub(crate) mod window;
