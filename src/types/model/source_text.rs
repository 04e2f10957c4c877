//! Source text: returns the parts of the program's source text that messages quote, and the words that an edit
//! replaces.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::model::type_context::DiagnosticSink;
use std::rc::Rc;

impl DiagnosticSink {
    /// Returns the source text that contains a span, with the offset at which the text starts.
    pub(crate) fn text_at(&self, span: Span) -> Option<(u32, &str)> {
        let holds = |(start, text): &&(u32, Rc<str>)| span.start >= *start && span.end <= *start + text.len() as u32;
        self.texts.iter().rev().find(holds).map(|(start, text)| (*start, &**text))
    }

    /// Registers the name of the source text that starts at an offset.
    pub fn name_text(&mut self, start: u32, name: &str) {
        self.text_names.push((start, name.into()));
    }

    /// Returns the name of the source text that contains a span.
    pub(crate) fn text_name(&self, span: Span) -> Rc<str> {
        let after = self.text_names.partition_point(|(start, _)| *start <= span.start);
        let found = after.checked_sub(1).and_then(|i| self.text_names.get(i));
        found.map_or_else(|| "".into(), |(_, name)| name.clone())
    }

    /// Returns the line and the column of a span, both counted from 1.
    pub(crate) fn line_and_column(&self, span: Span) -> (usize, usize) {
        let Some((start, text)) = self.text_at(span) else { return (1, 1) };
        let before = text.get(..(span.start - start) as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// Returns the source text of a span, for messages that quote it.
    pub(crate) fn source_text(&self, span: Span) -> String {
        let found = self.text_at(span).and_then(|(start, text)| {
            text.get((span.start - start) as usize..(span.end - start) as usize).map(ToString::to_string)
        });
        found.unwrap_or_else(|| "…".to_string())
    }

    /// Returns the word before a span, ignoring spaces, newlines and opening parentheses.
    pub(crate) fn word_before(&self, span: Span) -> Option<(Span, String)> {
        let (start, text) = self.text_at(span)?;
        let before = text.get(..(span.start - start) as usize)?.trim_end_matches([' ', '\n', '(']);
        let word: String = before.chars().rev().take_while(|c| c.is_alphanumeric()).collect();
        let word: String = word.chars().rev().collect();
        let end = start + before.len() as u32;
        (!word.is_empty()).then(|| (Span::new(end - word.len() as u32, end), word))
    }

    /// Adds a fix to a diagnostic that turns the constant declared at `declared` into a variable.
    pub(crate) fn let_to_var(&self, diagnostic: Diagnostic, declared: Span) -> Diagnostic {
        let help = "change 'let' to 'var' to make it mutable";
        let own = Span::new(declared.start, declared.start + 3);
        if self.source_text(own) == "let" {
            return diagnostic.fix(help, own, "var");
        }
        match self.word_before(declared) {
            Some((at, word)) if word == "let" => diagnostic.fix(help, at, "var"),
            Some((at, word)) if word == "for" => {
                diagnostic.fix("declare the loop variable with 'var'", at.after(), " var")
            }
            _ => diagnostic.help(help),
        }
    }
}
