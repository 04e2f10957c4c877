//! Line editor: reads lines with completion, hints and highlighting.

use super::{Flow, Prompt, indentation, key_bindings, needs_more, symbol_names, value_display};
use crate::session::Class;
use anstyle::{AnsiColor, Style};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper, Result};
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const SIGN: &str = "› ";

/// The maximum number of inputs in the history.
const MAX_HISTORY: usize = 5000;

/// Reads inputs until the user quits.
pub(super) fn run(prompt: &Rc<RefCell<Prompt>>) -> i32 {
    let mut editor = match editor(prompt) {
        Ok(editor) => editor,
        Err(error) => {
            prompt.borrow_mut().print_error(&format!("dscript: cannot use the terminal: {error}"));
            return super::exit_status::FAILED;
        }
    };
    let history = history_file();
    if let Some(file) = &history {
        // The file does not exist in the first session.
        let _ = editor.load_history(file);
    }
    prompt.borrow_mut().is_typed = true;
    prompt.borrow().print_line(&banner());
    let sign = value_display::painted(SIGN, value_display::sign(), prompt.borrow().render_style.is_colored);
    loop {
        match editor.readline(&(SIGN, sign.as_str())) {
            Ok(input) => {
                let _ = editor.add_history_entry(input.trim_end());
                // The input may end the process; a missing history is only an inconvenience.
                let _ = history.as_deref().map(|file| save_history(&mut editor, file));
                if let Flow::Leave(status) = prompt.borrow_mut().enter(&input) {
                    return status;
                }
            }
            // Ctrl-C at the prompt discards the line.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return super::exit_status::DONE,
            Err(error) => {
                prompt.borrow_mut().print_error(&format!("dscript: cannot read from the terminal: {error}"));
                return super::exit_status::FAILED;
            }
        }
    }
}

/// Appends the inputs that are not in the file of the history yet.
fn save_history(editor: &mut Editor<EditorHelper, FileHistory>, file: &Path) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    editor.append_history(file)
}

fn banner() -> String {
    format!("dscript {} — programs you can differentiate          ? help    Ctrl-D quits", env!("CARGO_PKG_VERSION"))
}

fn editor(prompt: &Rc<RefCell<Prompt>>) -> Result<Editor<EditorHelper, FileHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(MAX_HISTORY)?
        .history_ignore_dups(true)?
        .indent_size(indentation::WIDTH)
        .build();
    let mut editor = Editor::with_config(config)?;
    key_bindings::bind(&mut editor);
    editor.set_helper(Some(EditorHelper { prompt: Rc::clone(prompt), history: HistoryHinter::new() }));
    Ok(editor)
}

/// Returns the path of the history, which is in the folder for application state of the user.
fn history_file() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("dscript").join("history"))
}

/// The helper of the line editor.
struct EditorHelper {
    prompt: Rc<RefCell<Prompt>>,
    history: HistoryHinter,
}

impl Helper for EditorHelper {}

impl Validator for EditorHelper {
    fn validate(&self, context: &mut ValidationContext) -> Result<ValidationResult> {
        Ok(if needs_more(context.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// A hint after the cursor.
enum CursorHint {
    /// The rest of an earlier input, which the right arrow inserts.
    Earlier(String),
    /// The signature of the call around the cursor.
    Signature(String),
}

impl Hint for CursorHint {
    fn display(&self) -> &str {
        match self {
            CursorHint::Earlier(text) | CursorHint::Signature(text) => text,
        }
    }

    fn completion(&self) -> Option<&str> {
        match self {
            CursorHint::Earlier(text) => Some(text),
            CursorHint::Signature(_) => None,
        }
    }
}

impl Hinter for EditorHelper {
    type Hint = CursorHint;

    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<CursorHint> {
        let earlier = || self.history.hint(line, at, context).map(CursorHint::Earlier);
        // The signature is shown only at the end of the line, so that the hint does not displace text.
        let signature = || {
            let signature = (at == line.len()).then(|| self.prompt.borrow_mut().session.signature(line, at)).flatten();
            signature.map(|signature| CursorHint::Signature(format!("   {}", value_display::arrows(&signature))))
        };
        earlier().or_else(signature)
    }
}

impl Completer for EditorHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        if let Some((start, found)) = symbol_names::complete(before) {
            let pair = |(name, symbol): (&str, &str)| Pair {
                display: format!("{symbol}  \\{name}"),
                replacement: symbol.to_owned(),
            };
            return Ok((start, found.into_iter().map(pair).collect()));
        }
        let found = self.prompt.borrow_mut().complete(line, at);
        Ok((found.start, found.words.into_iter().map(plain).collect()))
    }
}

fn plain(word: String) -> Pair {
    Pair { display: word.clone(), replacement: word }
}

impl Highlighter for EditorHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.prompt.borrow().render_style.is_colored {
            return Cow::Borrowed(line);
        }
        let mut out = String::new();
        let mut at = 0;
        for (range, class) in crate::session::Session::highlight(line) {
            out.push_str(&line[at..range.start]);
            out.push_str(&value_display::painted(&line[range.clone()], style(class), true));
            at = range.end;
        }
        out.push_str(&line[at..]);
        Cow::Owned(out)
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(value_display::dimmed(hint, self.prompt.borrow().render_style.is_colored))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

fn style(class: Class) -> Style {
    match class {
        Class::Keyword => AnsiColor::Magenta.on_default(),
        Class::Number => AnsiColor::Blue.on_default(),
        Class::Text => AnsiColor::Green.on_default(),
        Class::Type => AnsiColor::Cyan.on_default(),
        Class::Comment => Style::new().dimmed(),
    }
}
