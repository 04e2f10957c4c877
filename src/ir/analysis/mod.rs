//! Analyses: facts about a graph, computed without changing it.

pub(crate) mod global_reads;
pub(crate) mod known_functions;
pub mod liveness;
