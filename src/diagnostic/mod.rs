//! Diagnostics: the table of codes, [`Diagnostic`] as data, and one renderer.
//!
//! In: what a stage noticed, with its places. Out: text in one of three forms (full, short, JSON).
//!
//! Promises: a stage reports and goes on; the order of what is printed is by place, so it does not depend on the order
//! in which stages look.

mod codes;
mod pages;
mod render;

pub use codes::{CODES, Code, CodeInfo};
pub use render::{Form, render};

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// The program is rejected, or ended.
    Error,
    /// The program runs, but probably not as meant.
    Warning,
}

/// A place with a word about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// A further sentence, with its own place when it has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where, if it speaks of a place.
    pub span: Option<Span>,
    /// The sentence.
    pub text: String,
}

/// A way out: a sentence and the edit that does it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Help {
    /// The sentence.
    pub text: String,
    /// Replacements to make; empty when there is nothing to apply.
    pub edits: Vec<(Span, String)>,
}

/// One thing that is said to a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Its number in the table.
    pub code: Code,
    /// The headline.
    pub message: String,
    /// The place that it is about, with what to say there.
    pub primary: Label,
    /// Other places that matter.
    pub secondary: Vec<Label>,
    /// Why, and what belongs to it. A note with a place is printed on a line of its own in the short form.
    pub notes: Vec<Note>,
    /// Ways out.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    fn new(severity: Severity, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        let primary = Label { span, text: String::new() };
        Diagnostic { severity, code, message: message.into(), primary, secondary: vec![], notes: vec![], helps: vec![] }
    }

    /// What to say at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Another place that matters.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// A sentence without a place.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { span: None, text: text.into() });
        self
    }

    /// A sentence about a place.
    #[must_use]
    pub fn note_at(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { span: Some(span), text: text.into() });
        self
    }

    /// A way out, in words.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits: vec![] });
        self
    }

    /// A way out that can be applied: replace `span` by `replacement`.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits: vec![(span, replacement.into())] });
        self
    }

    /// A way out that can be applied: put something around `span`.
    #[must_use]
    pub fn wrap(mut self, text: impl Into<String>, span: Span, open: impl Into<String>, close: &str) -> Diagnostic {
        let edits = vec![(span.before(), open.into()), (span.after(), close.to_string())];
        self.helps.push(Help { text: text.into(), edits });
        self
    }

    /// Whether it rejects the program.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
