//! Front ends: command line, prompt and Jupyter kernel.
//!
//! In: input of a user or of another program. Out: results and diagnostics as text.
//!
//! Promises: a front end uses only [`crate::session`], and displays its plain data (values as strings, diagnostics,
//! sources); no other part of the crate reads or writes a terminal.

pub mod cli;
mod guard;
mod help_pages;
pub(crate) mod kernel;
mod kernel_target;
mod lessons;
pub(crate) mod list_syntax;
pub(crate) mod loop_progress;
mod output;
mod picture;
mod plot_request;
mod progress;
pub(crate) mod prompt;
pub(crate) mod render_style;
mod status;
pub(crate) mod stdout_state;
mod units;

pub use kernel::Detached;
