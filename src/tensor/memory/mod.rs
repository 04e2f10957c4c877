//! Memory that operations use again: scratch memory for intermediate results, and spare memory for results.

pub(super) mod scratch;
pub(super) mod spare;
