//! Front ends: command line, prompt and Jupyter kernel.
//!
//! In: what a person or a program types. Out: results and diagnostics as text.
//!
//! Promises: a front end speaks to [`crate::session`] alone, and shows the plain data that it hands out (values as
//! text, diagnostics, sources); nothing else in the crate reads a terminal or writes to one.

pub mod cli;
mod guard;
pub(crate) mod kernel;
mod kernel_target;
mod lessons;
pub(crate) mod list_format;
pub(crate) mod loop_progress;
mod output;
mod pages;
mod picture;
mod progress;
pub(crate) mod prompt;
pub(crate) mod render_style;
mod status;
pub(crate) mod stdout_state;
mod units;

pub use kernel::Detached;
