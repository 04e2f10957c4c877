//! Inspection commands: `plot`, `doc`, `lesson` and `completions`, which do not run a program file.

use crate::front::cli::args::{Settings, Words};
use crate::front::cli::{is_colored, program_commands, render_style};
use crate::front::list_syntax::listed;
use crate::front::output::{Output, report};
use crate::front::plot_request::bounds;
use crate::front::render_style::RenderStyle;
use crate::front::{exit_status, help_pages, lessons, picture_file, process_guard, prompt};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Plots functions, as text or to a file. The last word may be the bounds.
pub(crate) fn plot(words: &[String], file: Option<PathBuf>, settings: &Settings) -> i32 {
    let (mut session, output) = program_commands::open_for_questions(settings);
    let (subjects, range) = match words {
        [subjects @ .., last] if !subjects.is_empty() && bounds(last).is_some() => (subjects, bounds(last)),
        _ => (words, None),
    };
    let subjects: Vec<String> =
        subjects.iter().flat_map(|word| listed(word)).filter(|subject| !subject.is_empty()).collect();
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    let range = range.as_ref().map(|(from, to)| (from.as_str(), to.as_str()));
    let display = match session.plot(&subjects, range) {
        Ok(display) => display,
        Err(diagnostics) => {
            report(&render_style(settings).text(&diagnostics, &session));
            return exit_status::REJECTED;
        }
    };
    let Some(file) = file else {
        output.write_or_end(&format!("{}\n", display.terminal_text()));
        output.flush_or_end();
        return exit_status::DONE;
    };
    match picture_file::save(&display, &file) {
        Ok(()) => exit_status::DONE,
        Err(error) => {
            report(&format!("dscript: {error}\n"));
            exit_status::USAGE
        }
    }
}

/// Prints the documentation of a name in the library, the declarations that contain some words, or the list of topics.
pub(crate) fn doc(words: &[String], settings: &Settings) -> i32 {
    let (mut session, output) = program_commands::open_for_questions(settings);
    let words = words.join(" ");
    let Some(lines) = help_pages::documentation(&mut session, &words) else {
        let similar = help_pages::suggestion(session.similar_name(&words));
        report(&format!("dscript: the library has nothing about '{words}'{similar}'dscript doc' lists its topics\n"));
        return exit_status::USAGE;
    };
    lines.iter().for_each(|line| output.write_or_end(&format!("{line}\n")));
    output.flush_or_end();
    exit_status::DONE
}

/// Runs a lesson, writes it as a notebook, or lists all lessons.
pub(crate) fn lesson(word: Option<String>, is_notebook: bool, file: Option<PathBuf>, settings: &Settings) -> i32 {
    let output = Output::stdout();
    let Some(word) = word else {
        lessons::list().iter().for_each(|line| output.write_or_end(&format!("{line}\n")));
        output.flush_or_end();
        return exit_status::DONE;
    };
    let Some(lesson) = lessons::find(&word) else {
        report(&format!("dscript: there is no lesson '{word}'; 'dscript lesson' lists all lessons\n"));
        return exit_status::USAGE;
    };
    if !is_notebook && settings.json {
        return program_commands::text(lesson.name, lesson.text, settings);
    }
    if !is_notebook {
        let options = settings.options(vec![String::new()], process_guard::interrupt());
        let is_colored = is_colored(settings.color, std::io::stdout().is_terminal());
        return prompt::lesson(lesson.name, options, RenderStyle { is_colored, ..render_style(settings) });
    }
    let notebook = format!("{:#}\n", lesson.notebook());
    let Some(file) = file else {
        output.write_or_end(&notebook);
        output.flush_or_end();
        return exit_status::DONE;
    };
    match std::fs::write(&file, notebook) {
        Ok(()) => exit_status::DONE,
        Err(error) => {
            report(&format!("dscript: cannot write '{}': {error}\n", file.display()));
            exit_status::USAGE
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
    exit_status::DONE
}
