//! Command line: dispatches the commands of `dscript`.
//!
//! In: the arguments of `dscript`, files, standard input. Out: results on standard output, diagnostics on standard
//! error, and an exit status.
//!
//! Promises: the output of a program is on standard output before a diagnostic is written; a closed pipe ends the
//! program silently; every exit status is in the table in `--help`.

pub(super) mod args;
mod compilation_cache;
mod explain_command;
mod fmt_command;
pub(crate) mod inspection_commands;
mod json_record;
mod new_command;
mod plot_words;
mod program_commands;
mod program_input;
mod program_search;
mod shebang;
mod test_command;
mod watch_option;

use super::output::{Output, report};
use super::{exit_status, kernel, process_guard, progress_bar, prompt};
use crate::diagnostic::Diagnostic;
use crate::front::render_style::RenderStyle;
use crate::session::{Outcome, Session, Status};
use args::{Color, Command, KernelAction, Settings, Words};
use clap::Parser;
use clap::builder::StyledStr;
use json_record::Record;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Runs the command line, and returns the exit status.
pub fn main() -> i32 {
    process_guard::guarded(|| {
        let given: Vec<OsString> = std::env::args_os().collect();
        if let Some(words) = Words::of_script(&given) {
            return dispatch(words);
        }
        match Words::try_parse_from(plot_words::words(shebang::words(given.into_iter()).into_iter())) {
            Ok(words) => dispatch(words),
            Err(error) => usage(&error),
        }
    })
}

/// Writes the output of `--help` and `--version` to standard output, and usage errors to standard error.
fn usage(error: &clap::Error) -> i32 {
    let text = error.render();
    if error.use_stderr() {
        let is_colored = is_colored(Color::Auto, std::io::stderr().is_terminal());
        report(&styled(&text, is_colored));
    } else {
        let output = Output::stdout();
        output.write_or_end(&styled(&text, is_colored(Color::Auto, std::io::stdout().is_terminal())));
        output.flush_or_end();
    }
    error.exit_code()
}

fn styled(text: &StyledStr, is_colored: bool) -> String {
    if is_colored { text.ansi().to_string() } else { text.to_string() }
}

fn dispatch(words: Words) -> i32 {
    if let Some(status) = watched(&words) {
        return status;
    }
    if !words.settings.json {
        return command(words);
    }
    let output = Output::stdout();
    Record::start().write(&output);
    output.flush_or_end();
    let code = command(words);
    Record::Exit { code }.write(&output);
    output.flush_or_end();
    code
}

/// Runs a command with `--watch`; returns `None` for a command without this option.
fn watched(words: &Words) -> Option<i32> {
    let is_json = words.settings.json;
    let run = |program: &args::Program| {
        let is_given = program.files.iter().any(|file| file.as_os_str() == "-");
        if program.files.is_empty() || is_given {
            report("dscript: --watch needs a file\n");
            return Some(exit_status::USAGE);
        }
        Some(watch_option::watch(|| watch_option::with_imports(&program.files, &words.settings), is_json))
    };
    match &words.command {
        None if words.program.watch.watch => run(&words.program),
        Some(Command::Run { program }) if program.watch.watch => run(program),
        Some(Command::Check { watch: again, files }) if again.watch => {
            Some(watch_option::watch(|| watch_option::with_imports(&files.files, &words.settings), is_json))
        }
        Some(Command::Test { watch: again, paths, .. }) if again.watch => Some(watch_option::watch(
            || watch_option::with_imports(&program_search::found(paths).unwrap_or_default(), &words.settings),
            is_json,
        )),
        _ => None,
    }
}

fn command(words: Words) -> i32 {
    let settings = words.settings;
    match words.command {
        None if words.program.is_empty() => {
            let options = settings.options(vec![String::new()], process_guard::interrupt());
            let is_colored = is_colored(settings.color, std::io::stdout().is_terminal());
            prompt::run(options, RenderStyle { is_colored, ..render_style(&settings) })
        }
        None => program_commands::run(words.program, &settings),
        Some(Command::Run { program }) => program_commands::run(program, &settings),
        Some(Command::Check { files, .. }) => program_commands::check(&files.files, &settings),
        Some(Command::Test { paths, filter, .. }) => test_command::test(&paths, filter.as_deref(), &settings),
        Some(Command::Fmt { paths, check }) => fmt_command::fmt(&paths, check, &settings),
        Some(Command::Build { files, output }) => program_commands::build(&files.files, output, &settings),
        Some(Command::Plot { words, output }) => {
            crate::front::cli::inspection_commands::plot(&words, output, &settings)
        }
        Some(Command::New { name }) => new_command::new(&name),
        Some(Command::Doc { words }) => crate::front::cli::inspection_commands::doc(&words, &settings),
        Some(Command::Lesson { lesson, notebook, output }) => {
            crate::front::cli::inspection_commands::lesson(lesson, notebook, output, &settings)
        }
        Some(Command::Kernel { action }) => kernel(action, &settings),
        Some(Command::Completions { shell }) => crate::front::cli::inspection_commands::completions(shell),
        Some(Command::Explain { code }) => explain_command::explain(code),
        Some(Command::Show { stage, files }) => program_commands::show(stage, &files.files, &settings),
    }
}

fn kernel(action: KernelAction, settings: &Settings) -> i32 {
    let done = match action {
        KernelAction::Run { connection } => {
            let options = settings.options(vec![String::new()], process_guard::interrupt_only());
            return kernel::run(&connection, options, render_style(settings));
        }
        KernelAction::Install { place } => kernel::install(&place.target()).map(|folder| ("was installed in", folder)),
        KernelAction::Remove { place } => kernel::remove(&place.target()).map(|folder| ("was removed from", folder)),
    };
    match done {
        Ok((what, folder)) => {
            let output = Output::stdout();
            output.write_or_end(&format!("the kernel {what} '{}'\n", folder.display()));
            output.flush_or_end();
            exit_status::DONE
        }
        Err(why) => {
            report(&format!("dscript: {why}\n"));
            exit_status::FAILED
        }
    }
}

/// Writes the diagnostics of an outcome, and returns the exit status.
fn conclude(outcome: &Outcome, session: &Session, output: &Output, settings: &Settings) -> i32 {
    print_diagnostics(&outcome.diagnostics, session, output, settings);
    if outcome.status == Status::Internal {
        report(process_guard::BUG_REPORT_REQUEST);
    }
    exit_status::of(outcome.status)
}

/// Writes diagnostics after all printed output.
fn print_diagnostics(diagnostics: &[Diagnostic], session: &Session, output: &Output, settings: &Settings) {
    progress_bar::end();
    let first = diagnostics.iter().find(|d| d.is_error()).filter(|_| settings.first_error);
    let text = render_style(settings).text(first.map_or(diagnostics, std::slice::from_ref), session);
    if settings.json {
        output.write_or_end(&text);
    }
    output.flush_or_end();
    if !settings.json {
        report(&text);
    }
}

/// Returns the number of columns of the terminal to which diagnostics are written, if there is one.
fn terminal_width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || console::Term::stderr().size_checked().map(|(_, columns)| usize::from(columns));
    let is_terminal = std::io::stderr().is_terminal();
    given.or_else(|| own().filter(|_| is_terminal)).filter(|columns| (20..=1000).contains(columns))
}

/// Returns the style of diagnostics on standard error.
fn render_style(settings: &Settings) -> RenderStyle {
    let is_terminal = std::io::stderr().is_terminal();
    let width = settings.width.map(usize::from).or_else(terminal_width).unwrap_or(100);
    let is_colored = is_colored(settings.color, is_terminal);
    RenderStyle { form: settings.form(), is_colored, width, wraps: is_terminal }
}

fn is_colored(color: Color, is_terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb") && is_terminal
        }
    }
}
