//! JSON renderer: formats diagnostics as JSON Lines.

use crate::diagnostic::{Diagnostic, Help, Label, Note};
use crate::source::{SourceMap, Span};
use serde::Serialize;

/// Returns the JSON object of a diagnostic, with a line break.
pub(super) fn line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let object = Object {
        kind: "diagnostic",
        severity: diagnostic.severity.word(),
        code: diagnostic.code.number(),
        message: &diagnostic.message,
        place: place(diagnostic.primary.span, sources),
        labels: std::iter::once(&diagnostic.primary)
            .filter(|l| !l.text.is_empty())
            .chain(&diagnostic.secondary)
            .map(|Label { span, text }| Annotation { text, place: place(*span, sources) })
            .collect(),
        notes: diagnostic
            .notes
            .iter()
            .map(|Note { span, text }| Annotation { text, place: span.and_then(|s| place(s, sources)) })
            .collect(),
        helps: diagnostic
            .helps
            .iter()
            .map(|Help { text, edits }| Suggestion {
                text,
                edits: edits
                    .iter()
                    .map(|(span, new)| Edit { place: place(*span, sources), replacement: new })
                    .collect(),
            })
            .collect(),
    };
    let mut text =
        serde_json::to_string(&object).unwrap_or_else(|_| unreachable!("strings and numbers always have a JSON form"));
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Object<'a> {
    kind: &'a str,
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<Place>,
    labels: Vec<Annotation<'a>>,
    notes: Vec<Annotation<'a>>,
    helps: Vec<Suggestion<'a>>,
}

/// A span: lines and columns from 1, columns in characters; the end is the location after the last character.
#[derive(Serialize)]
struct Place {
    file: String,
    line: u32,
    column: u32,
    #[serde(rename = "endLine")]
    end_line: u32,
    #[serde(rename = "endColumn")]
    end_column: u32,
}

#[derive(Serialize)]
struct Annotation<'a> {
    text: &'a str,
    #[serde(flatten)]
    place: Option<Place>,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    text: &'a str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    place: Option<Place>,
    replacement: &'a str,
}

fn place(span: Span, sources: &SourceMap) -> Option<Place> {
    let start = sources.place(span.start)?;
    let end = sources.place(span.end.max(span.start))?;
    Some(Place {
        file: start.name.to_string(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    })
}
