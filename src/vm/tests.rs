//! Machine tests: small graphs, built by hand, emitted and run.

mod arrays;
mod calls;
mod derivatives;
pub(super) mod graph_builder;
mod limits;
mod random_programs;
mod threaded;
