//! Machine tests: small graphs, built by hand, emitted and run.

mod arrays;
pub(super) mod build;
mod calls;
mod derivatives;
mod limits;
mod random;
mod threaded;
