//! Machine state: defines registers, stacks, frames, tasks and limits.

pub(crate) mod active_rule;
pub(crate) mod limits;
pub(crate) mod loop_position;
pub(crate) mod machine;
pub(crate) mod modification;
pub(crate) mod position;
pub(crate) mod progress;
pub(crate) mod registers;
pub(crate) mod stacks;
pub mod task;
pub(crate) mod window;
