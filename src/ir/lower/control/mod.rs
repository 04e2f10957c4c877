//! Control flow: lowering of statements, loops, `switch`, patterns and exits.

pub(crate) mod exits;
pub(crate) mod loops;
pub(crate) mod pattern;
pub(crate) mod statement;
pub(crate) mod switch;
