//! Analyses: facts about a graph, computed without changing it.

pub mod constants;
pub mod control_flow;
pub mod data_flow;
pub mod effects;
pub mod flow_graph;
pub(crate) mod global_reads;
pub(crate) mod known_functions;
pub mod liveness;
