//! Diagnostics: the table of codes, [`Diagnostic`] as data, and the renderer.
//!
//! In: the findings of the stages, with their spans. Out: text in one of three forms (full, short, JSON).
//!
//! Promises: a stage continues after reporting a diagnostic; the output is sorted by source location, so it does not
//! depend on the order in which the stages run.

mod codes;
mod pages;
mod renderer;

pub use codes::{CODES, Code, CodeInfo};
pub use renderer::{Form, render};

use crate::source::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// An error: the program is rejected, or stopped.
    Error,
    /// A warning: the program runs, but probably not as intended.
    Warning,
}

/// A span with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The source location to which the label is attached.
    pub span: Span,
    /// The message of the label; may be empty.
    pub text: String,
}

/// An additional message, optionally with a span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The source location to which the note refers, if any.
    pub span: Option<Span>,
    /// The message of the note.
    pub text: String,
}

/// A suggestion: a message and the edits that implement it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Help {
    /// The message of the suggestion.
    pub text: String,
    /// The replacements that implement the suggestion; empty when it cannot be applied automatically.
    pub edits: Vec<(Span, String)>,
}

/// An error or a warning with a source location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity of the diagnostic.
    pub severity: Severity,
    /// The code of the diagnostic.
    pub code: Code,
    /// The main message of the diagnostic.
    pub message: String,
    /// The label at the source location of the diagnostic.
    pub primary: Label,
    /// The labels at other source locations.
    pub secondary: Vec<Label>,
    /// The notes: reasons and further details. In the short form, each note is printed on a separate line.
    pub notes: Vec<Note>,
    /// The suggestions how to mend the program.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// Creates an error at a span.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// Creates a warning at a span.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    fn new(severity: Severity, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        let primary = Label { span, text: String::new() };
        Diagnostic { severity, code, message: message.into(), primary, secondary: vec![], notes: vec![], helps: vec![] }
    }

    /// Sets the text of the primary label.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds a secondary label.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a note without a span.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { span: None, text: text.into() });
        self
    }

    /// Adds a note with a span.
    #[must_use]
    pub fn note_at(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { span: Some(span), text: text.into() });
        self
    }

    /// Adds a suggestion without edits.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits: vec![] });
        self
    }

    /// Adds a suggestion that replaces `span` by `replacement`.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits: vec![(span, replacement.into())] });
        self
    }

    /// Adds a suggestion that inserts text around `span`.
    #[must_use]
    pub fn wrap(mut self, text: impl Into<String>, span: Span, open: impl Into<String>, close: &str) -> Diagnostic {
        let edits = vec![(span.before(), open.into()), (span.after(), close.to_string())];
        self.helps.push(Help { text: text.into(), edits });
        self
    }

    /// Whether the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
