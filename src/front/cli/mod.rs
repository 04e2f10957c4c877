//! The command line.
//!
//! In: the words behind `dscript`, files, standard input. Out: results on standard output, diagnostics on standard
//! error, and an exit status that says how it went.
//!
//! Promises: what a program printed is on standard output before a diagnostic is written; a reader that goes away
//! ends the program quietly; whatever happens, a status of the table in `--help` is given.

mod args;
mod explain;
mod guard;
mod input;
mod output;
mod run;

use crate::session::{Outcome, Session, Status};
use args::{Color, Command, Settings, Words};
use clap::Parser;
use output::{Output, report};
use std::io::IsTerminal;

/// The statuses that the process ends with.
mod status {
    pub(super) const DONE: i32 = 0;
    pub(super) const FAILED: i32 = 1;
    pub(super) const USAGE: i32 = 2;
    pub(super) const REJECTED: i32 = 3;
    pub(super) const DENIED: i32 = 5;
    pub(super) const INTERNAL: i32 = 70;
    pub(super) const TIME_LIMIT: i32 = 124;
    pub(super) const INTERRUPTED: i32 = 130;
}

/// Does what the command line says, and gives the exit status.
pub fn main() -> i32 {
    guard::guarded(|| match Words::try_parse() {
        Ok(words) => dispatch(words),
        Err(error) => {
            // Nothing better can be done when the message cannot be written.
            let _ = error.print();
            error.exit_code()
        }
    })
}

fn dispatch(words: Words) -> i32 {
    let settings = words.settings;
    match words.command {
        None => run::run(words.program, &settings),
        Some(Command::Run { program }) => run::run(program, &settings),
        Some(Command::Check { files }) => run::check(&files.files, &settings),
        Some(Command::Build { files, output }) => run::build(&files.files, output, &settings),
        Some(Command::Explain { code }) => explain::explain(code),
        Some(Command::Show { stage, files }) => run::show(stage, &files.files, &settings),
    }
}

/// Writes what is to be said after a session did its work, and gives the exit status.
fn conclude(outcome: &Outcome, session: &Session, output: &Output, settings: &Settings) -> i32 {
    output.flush_or_end();
    if !outcome.diagnostics.is_empty() {
        let width = settings.width.map_or_else(terminal_width, usize::from);
        let color = is_colored(settings.color);
        let text = crate::diagnostic::render(&outcome.diagnostics, session.sources(), settings.form(), color, width);
        report(&text);
    }
    match outcome.status {
        Status::Done => status::DONE,
        Status::Exited(status) => status,
        Status::Failed => status::FAILED,
        Status::Rejected => status::REJECTED,
        Status::Denied => status::DENIED,
        Status::Internal => {
            report(guard::PLEA);
            status::INTERNAL
        }
        Status::TimeLimit => status::TIME_LIMIT,
        Status::Interrupted => status::INTERRUPTED,
    }
}

fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.filter(|c| (20..=1000).contains(c)).unwrap_or(100)
}

fn is_colored(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            !is_set("NO_COLOR")
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
                && std::io::stderr().is_terminal()
        }
    }
}
