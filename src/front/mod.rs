//! Front ends: command line, prompt and Jupyter kernel.
//!
//! In: input of a user or of another program. Out: results and diagnostics as text.
//!
//! Promises: a front end uses only [`crate::session`], and displays its plain data (values as strings, diagnostics,
//! sources); no other part of the crate reads or writes a terminal.

pub mod cli;
mod exit_status;
mod help_pages;
pub(crate) mod kernel;
mod kernelspec_location;
mod language_pages;
mod lessons;
pub(crate) mod list_syntax;
pub(crate) mod loop_progress;
mod output;
mod picture_file;
mod plot_request;
mod process_guard;
mod progress_bar;
pub(crate) mod prompt;
pub(crate) mod render_style;
pub(crate) mod stdout_state;
mod units;

pub use kernel::InProcessKernel;
