//! What messages take from the text of the program: quotations, and the words that an edit replaces.

use super::store::World;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

impl World {
    /// The text around a place, with the position where it starts.
    fn text_at(&self, span: Span) -> Option<(u32, &str)> {
        let holds = |(start, text): &&(u32, Rc<str>)| span.start >= *start && span.end <= *start + text.len() as u32;
        self.texts.iter().rev().find(holds).map(|(start, text)| (*start, &**text))
    }

    /// What a text says in a place, for messages that quote it.
    pub(super) fn source_text(&self, span: Span) -> String {
        let found = self.text_at(span).and_then(|(start, text)| {
            text.get((span.start - start) as usize..(span.end - start) as usize).map(ToString::to_string)
        });
        found.unwrap_or_else(|| "…".to_string())
    }

    /// The word before a place, opening brackets apart.
    pub(super) fn word_before(&self, span: Span) -> Option<(Span, String)> {
        let (start, text) = self.text_at(span)?;
        let before = text.get(..(span.start - start) as usize)?.trim_end_matches([' ', '\n', '(']);
        let word: String = before.chars().rev().take_while(|c| c.is_alphanumeric()).collect();
        let word: String = word.chars().rev().collect();
        let end = start + before.len() as u32;
        (!word.is_empty()).then(|| (Span::new(end - word.len() as u32, end), word))
    }

    /// Adds how a constant that is declared there becomes a variable.
    pub(super) fn let_to_var(&self, diagnostic: Diagnostic, declared: Span) -> Diagnostic {
        let help = "change 'let' to 'var' to make it mutable";
        let own = Span::new(declared.start, declared.start + 3);
        if self.source_text(own) == "let" {
            return diagnostic.fix(help, own, "var");
        }
        match self.word_before(declared) {
            Some((at, word)) if word == "let" => diagnostic.fix(help, at, "var"),
            Some((at, word)) if word == "for" => diagnostic.fix("make it a variable of each round", at.after(), " var"),
            _ => diagnostic.help(help),
        }
    }
}
