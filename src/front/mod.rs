//! Front ends: words in and out.
//!
//! In: what a person or a program types. Out: results and diagnostics as text.
//!
//! Promises: a front end speaks to [`crate::session`] alone, and shows the plain data that it hands out (values as
//! text, diagnostics, sources); nothing else in the crate reads a terminal or writes to one.

pub mod cli;
mod closed;
mod guard;
mod kernel;
mod lessons;
mod listed;
mod manner;
mod output;
mod pages;
mod picture;
mod progress;
mod prompt;
mod rounds;
mod status;

pub use kernel::Detached;
