//! Program commands: runs the commands `run`, `check`, `build` and `show`.

use super::super::output::{Output, report};
use super::super::{exit_status, process_guard, progress_bar};
use super::args::{Program, Settings, Words};
use super::compilation_cache::Entry;
use super::json_record::{Printed, Record};
use super::program_input::Content;
use super::{conclude, program_input};
use crate::session::{Input, Options, Outcome, Session, Stage, Status, closest};
use clap::CommandFactory;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

/// The displayed name of a text that was given with `-e`.
const CODE: &str = "<code>";

/// Runs a program that is given as files or as source text.
pub(super) fn run(program: Program, settings: &Settings) -> i32 {
    if program.is_empty() {
        report(
            "dscript: expected a file, or code with -e; 'dscript' alone starts an interactive session, see also \
                '--help'\n",
        );
        return exit_status::USAGE;
    }
    if let Some(code) = &program.code {
        let (mut session, output) = open(CODE, program.arguments, settings);
        let outcome = session.eval(CODE, code);
        if let (Status::Done, Some(value)) = (outcome.status, &outcome.value) {
            match session.value_type() {
                Some(ty) if settings.json => Record::Value { ty, text: value }.write(&output),
                _ => output.write_or_end(&format!("{value}\n")),
            }
        }
        return conclude(&outcome, &session, &output, settings);
    }
    let name = program.files.first().map_or_else(String::new, |file| file.display().to_string());
    if let Some(command) = misspelled_command(&program.files) {
        report(&format!("dscript: there is no command or file '{name}'; did you mean 'dscript {command}'?\n"));
        return exit_status::USAGE;
    }
    let programs = match read(&program.files) {
        Ok(programs) => programs,
        Err(status) => return status,
    };
    if let [program_input::Program { name: file, content: Content::Compiled(bytes) }] = programs.as_slice() {
        let (mut session, output) = open(&name, program.arguments, settings);
        let outcome = session.run_compiled(file, bytes);
        return conclude(&outcome, &session, &output, settings);
    }
    if let [program_input::Program { name: file, content: Content::Text(text) }] = programs.as_slice()
        && let Some(entry) = settings.uses_cache().then(|| Entry::of(file, text)).flatten()
    {
        return run_cached(&Input { name: file, text }, program.arguments, &entry, settings);
    }
    with_texts(&programs, |inputs| {
        let (session, output) = open(&name, program.arguments, settings);
        // The process ends after the program: the system returns the memory at once.
        let mut session = ManuallyDrop::new(session);
        let outcome = session.run(inputs);
        conclude(&outcome, &session, &output, settings)
    })
}

/// Runs a program by its compiled form in the cache; if it has none, the program is compiled, and stored there.
fn run_cached(input: &Input, arguments: Vec<String>, entry: &Entry, settings: &Settings) -> i32 {
    let (session, output) = open(input.name, arguments, settings);
    // The process ends after the program: the system returns the memory at once.
    let mut session = ManuallyDrop::new(session);
    if let Some(outcome) = entry.read().and_then(|bytes| session.run_stored(input, &bytes)) {
        return conclude(&outcome, &session, &output, settings);
    }
    let (outcome, compiled) = session.run_and_store(input);
    let status = conclude(&outcome, &session, &output, settings);
    if let Some(bytes) = compiled {
        entry.store(&bytes);
    }
    status
}

/// Returns the command that the first argument probably means, if it is neither a command nor a file.
fn misspelled_command(files: &[PathBuf]) -> Option<String> {
    let first = files.first().filter(|file| !file.exists())?.to_str()?;
    let words = Words::command();
    let names: Vec<&str> = words.get_subcommands().map(|command| command.get_name()).collect();
    // The commands are short words, which `closest` does not correct.
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let swapped = names.iter().find(|name| letters(name) == letters(first)).map(|name| (*name).to_owned());
    swapped.or_else(|| closest(first, names.into_iter()))
}

/// Runs a source text.
pub(super) fn text(name: &str, text: &str, settings: &Settings) -> i32 {
    let (mut session, output) = open(name, vec![], settings);
    let outcome = session.run(&[Input { name, text }]);
    conclude(&outcome, &session, &output, settings)
}

/// Compiles a program to a file.
pub(super) fn build(files: &[PathBuf], target: Option<PathBuf>, settings: &Settings) -> i32 {
    let target =
        target.or_else(|| files.first().map(|file| file.with_extension(program_input::COMPILED))).unwrap_or_default();
    if files.contains(&target) {
        report(&format!("dscript: '{}' would be overwritten; choose another file with -o\n", target.display()));
        return exit_status::USAGE;
    }
    with_inputs(files, |inputs| {
        let (mut session, output) = open(inputs.first().map_or("", |input| input.name), Vec::new(), settings);
        let outcome = match session.build(inputs) {
            Ok((bytes, diagnostics)) => {
                if let Err(error) = std::fs::write(&target, bytes) {
                    report(&format!("dscript: cannot write '{}': {error}\n", target.display()));
                    return exit_status::USAGE;
                }
                Outcome { diagnostics, status: Status::Done, value: None }
            }
            Err(outcome) => outcome,
        };
        conclude(&outcome, &session, &output, settings)
    })
}

/// Checks a program for errors.
pub(super) fn check(files: &[PathBuf], settings: &Settings) -> i32 {
    with_inputs(files, |inputs| {
        let (mut session, output) = open(inputs.first().map_or("", |input| input.name), Vec::new(), settings);
        let outcome = session.check(inputs);
        conclude(&outcome, &session, &output, settings)
    })
}

/// Prints the listing of a stage.
pub(super) fn show(stage: Stage, files: &[PathBuf], settings: &Settings) -> i32 {
    with_inputs(files, |inputs| {
        let (mut session, output) = open(inputs.first().map_or("", |input| input.name), Vec::new(), settings);
        let outcome = match session.show(stage, inputs) {
            Ok(text) => {
                output.write_or_end(&text);
                Outcome { diagnostics: Vec::new(), status: Status::Done, value: None }
            }
            Err(outcome) => outcome,
        };
        conclude(&outcome, &session, &output, settings)
    })
}

/// Creates a session that prints to standard output and is interrupted by Ctrl-C.
fn open(name: &str, arguments: Vec<String>, settings: &Settings) -> (Session, Output) {
    let arguments = std::iter::once(name.to_owned()).chain(arguments).collect();
    opened(settings.options(arguments, process_guard::interrupt()), settings)
}

/// Creates an interactive session that prints to standard output and is interrupted by Ctrl-C.
pub(super) fn open_for_questions(settings: &Settings) -> (Session, Output) {
    opened(Options { interactive: true, ..settings.options(vec![String::new()], process_guard::interrupt()) }, settings)
}

fn opened(options: Options, settings: &Settings) -> (Session, Output) {
    let output = Output::stdout();
    if !settings.json {
        return (Session::new(options, Box::new(output.clone())), output);
    }
    progress_bar::write_lines(output.clone());
    let printed = Printed(output.clone());
    (Session::showing(options, Box::new(printed.clone()), Box::new(printed)), output)
}

/// Reads program files, or reports the files that cannot be read.
fn read(files: &[PathBuf]) -> Result<Vec<program_input::Program>, i32> {
    let mut programs = Vec::new();
    let mut missing = false;
    for file in files {
        match program_input::read(file) {
            Ok(program) => programs.push(program),
            Err(reason) => {
                report(&reason);
                missing = true;
            }
        }
    }
    if missing { Err(exit_status::USAGE) } else { Ok(programs) }
}

/// Reads program files and passes their texts to `then`, or reports a file that cannot be read or is not text.
fn with_inputs(files: &[PathBuf], then: impl FnOnce(&[Input]) -> i32) -> i32 {
    match read(files) {
        Ok(programs) => with_texts(&programs, then),
        Err(status) => status,
    }
}

fn with_texts(programs: &[program_input::Program], then: impl FnOnce(&[Input]) -> i32) -> i32 {
    let mut inputs = Vec::new();
    for program_input::Program { name, content } in programs {
        match content {
            Content::Text(text) => inputs.push(Input { name, text }),
            Content::Compiled(_) => {
                report(&format!(
                    "dscript: '{name}' is a compiled program, which can only be run on its own; this command needs its \
                     source\n"
                ));
                return exit_status::USAGE;
            }
        }
    }
    then(&inputs)
}
