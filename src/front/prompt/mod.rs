//! Prompt: an interactive session.
//!
//! In: lines of a terminal, or of standard input. Out: values with their types, diagnostics, what commands answer.
//!
//! Promises: an input that fails leaves the session as it was; Ctrl-C stops what runs and gives the prompt back; only the
//! history is written unasked.
//! Not here: what an input means (`session`), which commands there are (`commands`).

mod answer;
mod check;
mod commands;
mod editor;
pub(crate) mod function_commands;
mod paths;
mod settings;
mod show;
mod symbols;

use super::output::Output;
use super::status;
use crate::front::render_style::RenderStyle;
use crate::session::explain::derivation;
use crate::session::{Answer, Completion, Kinks, Options, Reading, Session, Status};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// An expression that is longer than this is not repeated in front of its type.
const LONGEST_NAME: usize = 40;

/// What goes on behind an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// The next input is asked for.
    Next,
    /// The session ends with a status.
    Leave(i32),
}

/// A session, and how it is shown.
pub(crate) struct Prompt {
    pub(super) session: Session,
    options: Options,
    /// Where answers are written.
    pub(super) output: Output,
    /// Where diagnostics and complaints are written.
    pub(super) errors: Output,
    /// What makes a fresh session.
    make: Box<dyn Fn(&Options) -> Session>,
    render_style: RenderStyle,
    /// How many digits of a number are shown that count; without it all of them.
    digits: Option<usize>,
    /// How many inputs there were.
    count: usize,
    /// The inputs that did what they were to do, for `:save`.
    kept: Vec<String>,
    /// The status of the first input that failed.
    pub(super) failed: Option<i32>,
}

/// Holds a session with a person, or with what comes on standard input.
pub(super) fn run(options: Options, render_style: RenderStyle) -> i32 {
    let prompt = Rc::new(RefCell::new(Prompt::on_terminal(options, render_style)));
    if std::io::stdin().is_terminal() {
        return editor::run(&prompt);
    }
    let mut prompt = prompt.borrow_mut();
    match prompt.read(std::io::stdin().lock().lines_lossy()) {
        Flow::Leave(status) => status,
        Flow::Next => prompt.failed.unwrap_or(status::DONE),
    }
}

impl Prompt {
    /// A prompt that answers on `output` and complains on `errors`; `make` gives its sessions.
    pub(super) fn new(
        options: Options,
        render_style: RenderStyle,
        [output, errors]: [Output; 2],
        make: Box<dyn Fn(&Options) -> Session>,
    ) -> Prompt {
        // What is met at a kink is said beside the value.
        let kinks = if options.kinks == Kinks::Ignored { Kinks::Noted } else { options.kinks };
        let options = Options { interactive: true, kinks, ..options };
        let session = make(&options);
        Prompt {
            session,
            options,
            output,
            errors,
            make,
            render_style,
            digits: None,
            count: 0,
            kept: vec![],
            failed: None,
        }
    }

    fn on_terminal(options: Options, render_style: RenderStyle) -> Prompt {
        let output = Output::stdout();
        let prints = output.clone();
        let make = move |options: &Options| Session::new(options.clone(), Box::new(prints.clone()));
        Prompt::new(options, render_style, [output, Output::stderr()], Box::new(make))
    }

    /// Lines that belong together are one input.
    fn read(&mut self, lines: impl Iterator<Item = String>) -> Flow {
        let mut input = String::new();
        for line in lines {
            input.push_str(&line);
            // Whoever writes to a pipe cannot end an input by an empty line, and may have one in a function.
            if is_unfinished(&input) {
                input.push('\n');
                continue;
            }
            if let Flow::Leave(status) = self.enter(&std::mem::take(&mut input)) {
                return Flow::Leave(status);
            }
        }
        if input.trim().is_empty() { Flow::Next } else { self.enter(&input) }
    }

    /// How the word before a place of an input may go on: a symbol by its name, a file, a command, a name.
    pub(super) fn complete(&mut self, input: &str, at: usize) -> Completion {
        let before = &input[..at];
        if let Some((start, found)) = symbols::complete(before) {
            return Completion { start, words: found.into_iter().map(|(_, symbol)| symbol.to_owned()).collect() };
        }
        match paths::complete(before).or_else(|| commands::complete(before)) {
            Some((start, words)) => Completion { start, words },
            None => self.session.complete(input, at),
        }
    }

    /// Does what an input says.
    pub(super) fn enter(&mut self, input: &str) -> Flow {
        let trimmed = input.trim();
        if trimmed.is_empty() {
            return Flow::Next;
        }
        // An interruption that came too late belongs to no input.
        self.options.interrupt.store(false, Ordering::Relaxed);
        let flow = match trimmed.strip_prefix('?') {
            Some(topic) => commands::help(self, topic.trim()),
            None if trimmed.starts_with(':') => commands::run(self, trimmed),
            None => self.evaluate(input),
        };
        // An interruption belongs to the input that it stopped.
        self.options.interrupt.store(false, Ordering::Relaxed);
        // A loop that was left may still have a bar.
        super::progress::end();
        self.output.flush_or_end();
        flow
    }

    fn evaluate(&mut self, input: &str) -> Flow {
        self.count += 1;
        let name = format!("‹{}›", self.count);
        let mut answer = self.session.enter(&name, input);
        for shown in answer.shown.iter_mut().filter(|shown| shown.name.is_none() && shown.value.is_none()) {
            // A function has no text of its own.
            shown.name = Some(input.trim().to_owned()).filter(|text| text.chars().count() <= LONGEST_NAME);
        }
        if answer.status == Status::Done {
            self.kept.push(input.trim_end().to_owned());
        }
        let flow = self.show(&answer);
        if let Some(note) = derivation::kinks_met(&self.session.take_kinks()) {
            self.say(&show::dimmed(&note, self.render_style.is_colored));
        }
        flow
    }

    fn show(&mut self, answer: &Answer) -> Flow {
        for shown in &answer.shown {
            self.say(&show::line(&show::rounded(shown, self.digits), self.render_style.is_colored));
        }
        self.output.flush_or_end();
        self.errors.write_or_end(&self.render_style.text(&answer.diagnostics, &self.session));
        let failed = match answer.status {
            Status::Done => None,
            Status::Exited(status) => return Flow::Leave(status),
            other => Some(status::of(other)),
        };
        self.failed = self.failed.or(failed);
        Flow::Next
    }

    /// Writes a line.
    fn say(&self, line: &str) {
        self.output.write_or_end(line);
        self.output.write_or_end("\n");
    }

    /// Writes a line about a command that cannot be done.
    fn complain(&mut self, line: &str) -> Flow {
        self.output.flush_or_end();
        self.errors.write_or_end(&format!("{line}\n"));
        self.failed = self.failed.or(Some(status::FAILED));
        Flow::Next
    }
}

/// Whether an input that is typed goes on in the next line. An empty line ends every input.
fn needs_more(input: &str) -> bool {
    !input.ends_with("\n") && is_unfinished(input)
}

/// Whether an input is the beginning of a longer one.
fn is_unfinished(input: &str) -> bool {
    let trimmed = input.trim_start();
    let is_command = trimmed.starts_with(':') || trimmed.starts_with('?');
    !is_command && !trimmed.is_empty() && Session::reading(input) == Reading::Beginning
}

/// Lines of an input that may contain anything.
trait LinesLossy {
    /// Its lines; what is no UTF-8 is replaced.
    fn lines_lossy(self) -> impl Iterator<Item = String>;
}

impl<R: std::io::BufRead> LinesLossy for R {
    fn lines_lossy(self) -> impl Iterator<Item = String> {
        self.split(b'\n').map_while(Result::ok).map(|line| {
            let line = String::from_utf8_lossy(&line);
            line.strip_suffix('\r').unwrap_or(&line).to_owned()
        })
    }
}
