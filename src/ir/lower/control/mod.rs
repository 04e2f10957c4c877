//! Lowering of statements and control flow.

pub(crate) mod exits;
pub(crate) mod loops;
pub(crate) mod pattern;
pub(crate) mod statement;
pub(crate) mod switch;
