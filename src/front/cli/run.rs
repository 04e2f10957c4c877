//! The commands: run, check, show.

use super::args::{Program, Settings};
use super::output::{Output, report};
use super::{conclude, guard, input, status};
use crate::session::{Input, Outcome, Session, Stage, Status};
use std::io::Write;
use std::path::PathBuf;

/// What a text that was given with `-e` is called.
const CODE: &str = "<code>";

/// Runs a program.
pub(super) fn run(program: Program, settings: &Settings) -> i32 {
    if let Some(code) = &program.code {
        let (mut session, output) = open(CODE, program.arguments, settings);
        let outcome = session.eval(CODE, code);
        if let (Status::Done, Some(value)) = (outcome.status, &outcome.value) {
            output.write_or_end(value);
            output.write_or_end("\n");
        }
        return conclude(&outcome, &session, &output, settings);
    }
    let name = program.files.first().map_or_else(String::new, |file| file.display().to_string());
    with_inputs(&program.files, |inputs| {
        let (mut session, output) = open(&name, program.arguments, settings);
        let outcome = session.run(inputs);
        conclude(&outcome, &session, &output, settings)
    })
}

/// Looks for errors.
pub(super) fn check(files: &[PathBuf], settings: &Settings) -> i32 {
    with_inputs(files, |inputs| {
        let (mut session, output) = open("", Vec::new(), settings);
        let outcome = session.check(inputs);
        conclude(&outcome, &session, &output, settings)
    })
}

/// Shows one stage.
pub(super) fn show(stage: Stage, files: &[PathBuf], settings: &Settings) -> i32 {
    with_inputs(files, |inputs| {
        let (mut session, output) = open("", Vec::new(), settings);
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

/// A session that prints to standard output and stops at Ctrl-C.
fn open(name: &str, arguments: Vec<String>, settings: &Settings) -> (Session, Output) {
    let output = Output::stdout();
    let arguments = std::iter::once(name.to_owned()).chain(arguments).collect();
    let options = settings.options(arguments, guard::interrupt());
    let sink: Box<dyn Write> = Box::new(output.clone());
    (Session::new(options, sink), output)
}

/// Reads the files and goes on with their texts, or says which of them cannot be read.
fn with_inputs(files: &[PathBuf], then: impl FnOnce(&[Input]) -> i32) -> i32 {
    let mut texts = Vec::new();
    let mut missing = false;
    for file in files {
        match input::read(file) {
            Ok(text) => texts.push(text),
            Err(reason) => {
                report(&reason);
                missing = true;
            }
        }
    }
    if missing {
        return status::USAGE;
    }
    let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input { name, text }).collect();
    then(&inputs)
}
