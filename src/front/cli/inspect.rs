//! Inspection commands: `plot`, `doc`, `lesson` and `completions`, which do not run a program file.

use crate::front::cli::args::{Settings, Words};
use crate::front::cli::{render_style, run};
use crate::front::list_syntax::listed;
use crate::front::output::{Output, report};
use crate::front::{help_pages, lessons, picture, status};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::PathBuf;

/// Plots functions, as text to standard output or as a picture to a file.
pub(crate) fn plot(functions: &str, (from, to): &(String, String), file: Option<PathBuf>, settings: &Settings) -> i32 {
    let (mut session, output) = run::open_for_questions(settings);
    let functions = listed(functions);
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let chart = match session.curves(&functions, from, to) {
        Ok(chart) => chart,
        Err(diagnostics) => {
            report(&render_style(settings).text(&diagnostics, &session));
            return status::REJECTED;
        }
    };
    let Some(file) = file else {
        chart.text().iter().for_each(|line| output.write_or_end(&format!("{line}\n")));
        output.flush_or_end();
        return status::DONE;
    };
    match picture::save(&chart, &file) {
        Ok(()) => status::DONE,
        Err(error) => {
            report(&format!("dscript: {error}\n"));
            status::USAGE
        }
    }
}

/// Prints the documentation of a name in the library.
pub(crate) fn doc(name: &str, settings: &Settings) -> i32 {
    let (mut session, output) = run::open_for_questions(settings);
    let topics = session.topics(name);
    if topics.is_empty() {
        report(&format!("dscript: the library has no declaration named '{name}'\n"));
        return status::USAGE;
    }
    help_pages::of_topics(&topics).iter().for_each(|line| output.write_or_end(&format!("{line}\n")));
    output.flush_or_end();
    status::DONE
}

/// Runs a lesson, writes it as a notebook, or lists all lessons.
pub(crate) fn lesson(word: Option<String>, is_notebook: bool, file: Option<PathBuf>, settings: &Settings) -> i32 {
    let output = Output::stdout();
    let Some(word) = word else {
        lessons::list().iter().for_each(|line| output.write_or_end(&format!("{line}\n")));
        output.flush_or_end();
        return status::DONE;
    };
    let Some(lesson) = lessons::find(&word) else {
        report(&format!("dscript: there is no lesson '{word}'; 'dscript lesson' lists all lessons\n"));
        return status::USAGE;
    };
    if !is_notebook {
        return run::text(lesson.name, lesson.text, settings);
    }
    let notebook = format!("{:#}\n", lesson.notebook());
    let Some(file) = file else {
        output.write_or_end(&notebook);
        output.flush_or_end();
        return status::DONE;
    };
    match std::fs::write(&file, notebook) {
        Ok(()) => status::DONE,
        Err(error) => {
            report(&format!("dscript: cannot write '{}': {error}\n", file.display()));
            status::USAGE
        }
    }
}

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: Shell) -> i32 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Words::command(), "dscript", &mut script);
    let output = Output::stdout();
    output.write_or_end(&String::from_utf8_lossy(&script));
    output.flush_or_end();
    status::DONE
}
