//! Prompt: an interactive session.
//!
//! In: lines of a terminal, or of standard input. Out: values with their types, diagnostics, the output of commands.
//!
//! Promises: an input that does not compile leaves the session unchanged; Ctrl-C interrupts the running input and
//! returns to the prompt; without a command only the history is written.
//! Not here: the evaluation of inputs (`session`), the list of commands (`commands`).

mod block_header;
mod check_command;
mod commands;
mod diagnostics;
pub(crate) mod function_commands;
mod indentation;
mod key_bindings;
mod line_editor;
pub(crate) mod matrix;
mod path_completion;
mod saved_inputs;
mod settings;
mod symbol_names;
pub(crate) mod value_display;

use self::saved_inputs::SavedInputs;
use super::exit_status;
use super::output::Output;
use crate::front::render_style::RenderStyle;
use crate::session::explain::derivation;
use crate::session::{
    Answer, Completeness, Completion, Display, DisplayItem, Explanation, Kinks, Options, Session, Status, View,
};
use std::cell::RefCell;
use std::io::{BufRead, IsTerminal};
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// The maximum length of an expression that is repeated before its type.
const MAX_EXPRESSION_LENGTH: usize = 40;

/// The action of the prompt after an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// The prompt reads the next input.
    Next,
    /// The session ends with an exit status.
    Leave(i32),
}

/// A session and its display settings.
pub(crate) struct Prompt {
    pub(super) session: Session,
    options: Options,
    /// The output to which results are written.
    pub(super) output: Output,
    /// The output to which diagnostics and errors are written.
    pub(super) errors: Output,
    /// The function that creates a session.
    make: Box<dyn Fn(&Options) -> Session>,
    render_style: RenderStyle,
    /// The number of significant digits of displayed numbers; `None` for all.
    digits: Option<usize>,
    /// The number of inputs so far.
    count: usize,
    /// The successful inputs, for `:save`.
    kept: SavedInputs,
    /// The status of the first input that failed.
    pub(super) failed: Option<i32>,
    /// Whether the inputs are typed on a terminal, which echoes the keys.
    is_typed: bool,
    /// Whether the note about abbreviated values was displayed.
    has_noted_abbreviation: bool,
}

/// Runs an interactive session, or one that reads from standard input.
pub(super) fn run(options: Options, render_style: RenderStyle) -> i32 {
    let prompt = Rc::new(RefCell::new(Prompt::on_terminal(options, render_style)));
    if std::io::stdin().is_terminal() {
        return line_editor::run(&prompt);
    }
    let mut prompt = prompt.borrow_mut();
    match prompt.read(lines_of_stdin()) {
        Flow::Leave(status) => status,
        Flow::Next => prompt.failed.unwrap_or(exit_status::DONE),
    }
}

/// Runs a lesson step by step, with its text and code.
pub(super) fn lesson(name: &str, options: Options, render_style: RenderStyle) -> i32 {
    let mut prompt = Prompt::on_terminal(options, render_style);
    match prompt.enter(&format!(":lesson {name}")) {
        Flow::Leave(status) => status,
        Flow::Next => prompt.failed.unwrap_or(exit_status::DONE),
    }
}

impl Prompt {
    /// Creates a prompt that writes results to `output` and errors to `errors`; `make` creates its sessions.
    pub(super) fn new(
        options: Options,
        render_style: RenderStyle,
        [output, errors]: [Output; 2],
        make: Box<dyn Fn(&Options) -> Session>,
    ) -> Prompt {
        // Kinks are reported with the value.
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
            kept: SavedInputs::default(),
            failed: None,
            is_typed: false,
            has_noted_abbreviation: false,
        }
    }

    fn on_terminal(options: Options, render_style: RenderStyle) -> Prompt {
        let output = Output::stdout();
        let prints = output.clone();
        let make = move |options: &Options| Session::new(options.clone(), Box::new(prints.clone()));
        Prompt::new(options, render_style, [output, Output::stderr()], Box::new(make))
    }

    /// Reads lines, and joins the lines that belong to one input.
    fn read(&mut self, lines: impl Iterator<Item = String>) -> Flow {
        let mut input = String::new();
        for line in lines {
            if block_header::awaits_more(&input)
                && !block_header::continues(&input, &line)
                && let Flow::Leave(status) = self.enter(std::mem::take(&mut input).trim_end())
            {
                return Flow::Leave(status);
            }
            input.push_str(&line);
            // In a pipe an empty line does not end an input, because functions may contain empty lines.
            if is_unfinished(&input) || block_header::awaits_more(&input) {
                input.push('\n');
                continue;
            }
            if let Flow::Leave(status) = self.enter(&std::mem::take(&mut input)) {
                return Flow::Leave(status);
            }
        }
        if input.trim().is_empty() { Flow::Next } else { self.enter(&input) }
    }

    /// Completes the word before an offset of an input: a symbol by its name, a file, a command, or a name.
    pub(super) fn complete(&mut self, input: &str, at: usize) -> Completion {
        let before = &input[..at];
        if let Some((start, found)) = symbol_names::complete(before) {
            return Completion { start, words: found.into_iter().map(|(_, symbol)| symbol.to_owned()).collect() };
        }
        match path_completion::complete(before).or_else(|| commands::complete(before)) {
            Some((start, words)) => Completion { start, words },
            None => self.session.complete(input, at),
        }
    }

    /// Runs an input, which is a command or a text of the language.
    pub(super) fn enter(&mut self, input: &str) -> Flow {
        let trimmed = input.trim();
        if trimmed.is_empty() {
            return Flow::Next;
        }
        // An interrupt before the input does not apply to the input.
        self.options.interrupt.store(false, Ordering::Relaxed);
        let flow = match trimmed.strip_prefix('?') {
            Some(topic) => commands::help(self, topic.trim()),
            None if trimmed.starts_with(':') => commands::run(self, trimmed),
            None => match self.command_of_word(trimmed) {
                Some(command) => commands::run(self, command),
                None => self.evaluate(input),
            },
        };
        // An interrupt applies only to the input that it stopped.
        self.options.interrupt.store(false, Ordering::Relaxed);
        // An interrupted loop may still have a bar.
        super::progress_bar::end();
        self.output.flush_or_end();
        flow
    }

    /// Returns the command for a word such as `exit` or `help`, which other interactive programs use, unless the user
    /// has declared the name.
    pub(crate) fn command_of_word(&mut self, input: &str) -> Option<&'static str> {
        let word = input.strip_suffix("()").unwrap_or(input);
        let command = match word {
            "exit" | "quit" => ":quit",
            "help" => ":help",
            _ => return None,
        };
        let is_declared = self.session.declared().iter().any(|item| item.name.as_deref() == Some(word));
        (!is_declared).then_some(command)
    }

    fn evaluate(&mut self, input: &str) -> Flow {
        self.count += 1;
        let name = format!("‹{}›", self.count);
        let mut answer = self.session.enter(&name, input);
        if answer.status == Status::Done {
            let refers_to_answer = !self.session.declares("ans");
            self.kept.add(input.trim_end(), &answer.shown, refers_to_answer);
        }
        for shown in answer.shown.iter_mut().filter(|shown| shown.name.is_none() && shown.value.is_none()) {
            // A function without a name is displayed with its source text as the name.
            shown.name = Some(input.trim().to_owned()).filter(|text| text.chars().count() <= MAX_EXPRESSION_LENGTH);
        }
        let flow = self.show(&answer);
        for note in answer.outdated_notes() {
            self.print_line(&value_display::dimmed(&note, self.render_style.is_colored));
        }
        if let Some(note) = derivation::observed_kinks(&self.session.take_kinks()) {
            self.print_line(&value_display::dimmed(&note, self.render_style.is_colored));
        }
        flow
    }

    fn show(&mut self, answer: &Answer) -> Flow {
        for shown in &answer.shown {
            self.print_line(&value_display::line(&self.displayed(shown), self.render_style.is_colored));
        }
        let is_abbreviated = |item: &DisplayItem| {
            item.value.as_ref().is_some_and(|value| value.contains("… ") && value.contains(" more"))
        };
        if self.options.abbreviates && !self.has_noted_abbreviation && answer.shown.iter().any(is_abbreviated) {
            self.has_noted_abbreviation = true;
            let note = "long values are abbreviated; print(…) and ':set abbreviate off' show everything";
            self.print_line(&value_display::dimmed(note, self.render_style.is_colored));
        }
        self.output.flush_or_end();
        if self.is_typed && self.options.interrupt.load(Ordering::Relaxed) {
            // The terminal has echoed Ctrl-C as `^C`.
            self.errors.write_or_end("\n");
        }
        self.errors.write_or_end(&self.render_style.text(&answer.diagnostics, &self.session));
        let failed = match answer.status {
            Status::Done => None,
            Status::Exited(status) => return Flow::Leave(status),
            other => Some(exit_status::of(other)),
        };
        self.failed = self.failed.or(failed);
        Flow::Next
    }

    /// Returns an item as it is displayed: with rounded numbers, and without the rest of a very long description.
    pub(super) fn displayed(&self, item: &DisplayItem) -> DisplayItem {
        let item = value_display::rounded(item, self.digits);
        match &item.value {
            Some(value) if self.options.abbreviates => {
                DisplayItem { value: Some(value_display::shortened(value)), ..item }
            }
            _ => item,
        }
    }

    /// Shows a picture: as text on a terminal, in its richest form in a notebook.
    fn show_display(&mut self, display: &Display) -> Flow {
        self.output.flush_or_end();
        self.session.display(display);
        Flow::Next
    }

    /// Shows a view of an explanation.
    fn show_view(&mut self, explained: &Explanation, view: View) -> Flow {
        let display = self.session.view(explained, view);
        self.show_display(&display)
    }

    /// Writes a line.
    fn print_line(&self, line: &str) {
        self.output.write_or_end(line);
        self.output.write_or_end("\n");
    }

    /// Reports a command that cannot be run.
    fn print_error(&mut self, line: &str) -> Flow {
        self.output.flush_or_end();
        self.errors.write_or_end(&format!("{line}\n"));
        self.failed = self.failed.or(Some(exit_status::FAILED));
        Flow::Next
    }
}

/// Whether a typed input continues on the next line. An empty line ends every input.
fn needs_more(input: &str) -> bool {
    let has_ended = input.rsplit_once('\n').is_some_and(|(_, last)| last.trim().is_empty());
    !has_ended && (is_unfinished(input) || block_header::awaits_more(input))
}

/// Whether an input is incomplete.
fn is_unfinished(input: &str) -> bool {
    let trimmed = input.trim_start();
    let is_command = trimmed.starts_with(':') || trimmed.starts_with('?');
    !is_command && !trimmed.is_empty() && Session::completeness(input) == Completeness::Incomplete
}

/// Returns the lines of standard input; invalid UTF-8 is replaced. The stream is locked only while a line is read, so that
/// an input can read the lines after it.
fn lines_of_stdin() -> impl Iterator<Item = String> {
    std::iter::from_fn(|| {
        let mut line = vec![];
        let count = std::io::stdin().lock().read_until(b'\n', &mut line).ok()?;
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix('\n').unwrap_or(&line);
        (count > 0).then(|| line.strip_suffix('\r').unwrap_or(line).to_owned())
    })
}
