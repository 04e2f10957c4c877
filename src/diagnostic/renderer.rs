//! Renderer: the formatting of diagnostics in full with source lines, in short form with one line each, or as JSON
//! Lines.
//!
//! Promises: the output is sorted by source location, regardless of the order of the reports; no source text, however
//! long its lines or unusual its characters, corrupts the output or makes rendering slow.

mod excerpt;
mod json;

use super::{Diagnostic, Help, Severity};
use crate::source::{SourceId, SourceMap, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use excerpt::Excerpt;
use hashbrown::HashSet;
use std::borrow::Cow;
use std::fmt::Write;

/// The output forms of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// The full form: source lines, carets, labels, notes and edits, for human readers.
    #[default]
    Full,
    /// The short form: one line for each diagnostic, `FILE:LINE:COLUMN: SEVERITY: MESSAGE`, for editors and tests.
    Short,
    /// The JSON form: one object per line, for programs.
    Json,
}

/// The maximum number of printed errors, and of printed warnings; the rest is only counted: one mistake can cause
/// hundreds.
const AT_MOST: usize = 20;

/// Renders diagnostics, sorted by source location and without duplicates.
///
/// `width` is the number of terminal columns that the full form may use for a source line, and for messages if `wraps` is set.
pub fn render(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    form: Form,
    color: bool,
    width: usize,
    wraps: bool,
) -> String {
    let ordered = in_order(diagnostics, sources);
    if form == Form::Json {
        return ordered.into_iter().map(|d| json::line(d, sources)).collect();
    }
    let (shown, hidden) = limited(&ordered);
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = String::new();
    for diagnostic in shown {
        match form {
            Form::Full => {
                out.push_str(&renderer.render(&full(diagnostic, sources, if wraps { width } else { usize::MAX })));
                out.push_str("\n\n");
            }
            Form::Short | Form::Json => short(&mut out, diagnostic, sources),
        }
    }
    for (count, word) in hidden {
        let plural = if count == 1 { "" } else { "s" };
        // Writing into a `String` cannot fail.
        let _ = writeln!(out, "… and {count} more {word}{plural}");
    }
    out
}

/// Sorts diagnostics by source location and removes duplicates; those in the program precede those in the standard
/// library, and errors precede warnings at one source location.
fn in_order<'a>(diagnostics: &'a [Diagnostic], sources: &SourceMap) -> Vec<&'a Diagnostic> {
    let mut seen = HashSet::new();
    let mut ordered: Vec<&Diagnostic> =
        diagnostics.iter().filter(|d| seen.insert((d.code, d.primary.span, d.message.as_str()))).collect();
    ordered.sort_by_key(|d| (sources.is_prelude(d.primary.span), d.primary.span.start, d.severity));
    // The user did not write generated code, and further errors in it follow from the first.
    let mut is_first = true;
    ordered.retain(|d| !sources.is_generated(d.primary.span) || std::mem::replace(&mut is_first, false));
    ordered
}

/// Returns the first diagnostics of each severity, and the number of omitted ones by severity.
fn limited<'a>(ordered: &[&'a Diagnostic]) -> (Vec<&'a Diagnostic>, Vec<(usize, &'static str)>) {
    let (mut errors, mut warnings) = (0, 0);
    let mut shown = Vec::new();
    for diagnostic in ordered {
        let count = if diagnostic.is_error() { &mut errors } else { &mut warnings };
        *count += 1;
        if *count <= AT_MOST {
            shown.push(*diagnostic);
        }
    }
    let hidden = [(errors, "error"), (warnings, "warning")];
    (shown, hidden.into_iter().filter(|(n, _)| *n > AT_MOST).map(|(n, word)| (n - AT_MOST, word)).collect())
}

impl Severity {
    /// Returns the printed word for the severity.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }

    fn level(self) -> Level<'static> {
        match self {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        }
    }
}

// ---------------------------------------------------------------------------------------------------- the short form

fn short(out: &mut String, diagnostic: &Diagnostic, sources: &SourceMap) {
    let primary = diagnostic.primary.span;
    short_line(out, primary, diagnostic.severity.word(), &diagnostic.message, sources);
    for note in &diagnostic.notes {
        short_line(out, note.span.unwrap_or(primary), "note", &note.text, sources);
    }
}

fn short_line(out: &mut String, span: Span, word: &str, message: &str, sources: &SourceMap) {
    if let Some(place) = sources.place(span.start) {
        let _ = write!(out, "{}:{}:{}: ", one_line(&place.name), place.line, place.column);
    }
    let _ = writeln!(out, "{word}: {}", one_line(message));
}

// ----------------------------------------------------------------------------------------------------- the full form

fn full<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap, columns: usize) -> Vec<Group<'a>> {
    let before = diagnostic.severity.word().len() + diagnostic.code.number().len() + "[]: ".len();
    let message = wrapped(visible(&diagnostic.message), columns, before);
    let title = diagnostic.severity.level().primary_title(message).id(diagnostic.code.number());
    let mut marks = vec![Mark { span: diagnostic.primary.span, text: &diagnostic.primary.text, primary: true }];
    marks.extend(diagnostic.secondary.iter().map(|l| Mark { span: l.span, text: &l.text, primary: false }));
    let mut main = with_snippets(Group::with_title(title), &marks, sources);
    for note in diagnostic.notes.iter().filter(|n| n.span.is_none()) {
        main = main.element(Level::NOTE.message(wrapped(visible(&note.text), columns, BEFORE_NOTE)));
    }
    for help in diagnostic.helps.iter().filter(|h| h.edits.is_empty()) {
        main = main.element(Level::HELP.message(wrapped(visible(&help.text), columns, BEFORE_NOTE)));
    }
    let mut groups = vec![main];
    for note in &diagnostic.notes {
        if let Some(span) = note.span {
            let group = Group::with_title(Level::NOTE.secondary_title(visible(&note.text)));
            groups.push(with_snippets(group, &[Mark { span, text: "", primary: true }], sources));
        }
    }
    let is_edit = |h: &&Help| h.edits.first().is_some_and(|(span, _)| !sources.is_generated(*span));
    groups.extend(diagnostic.helps.iter().filter(is_edit).map(|h| suggestion(h, sources)));
    groups
}

/// A labeled span to underline.
#[derive(Clone, Copy)]
struct Mark<'a> {
    span: Span,
    text: &'a str,
    primary: bool,
}

/// Adds the source lines of some marks: nearby marks share a snippet, and the snippet with the primary mark comes
/// first.
fn with_snippets<'a>(mut group: Group<'a>, marks: &[Mark<'a>], sources: &'a SourceMap) -> Group<'a> {
    let mut clusters = excerpt::cluster(marks, |m| m.span, sources);
    clusters.retain(|(_, marks)| !marks.iter().any(|m| sources.is_generated(m.span)));
    clusters.sort_by_key(|(_, marks)| !marks.iter().any(|m| m.primary));
    for (id, marks) in clusters {
        let spans: Vec<Span> = marks.iter().map(|m| m.span).collect();
        let excerpt = Excerpt::new(id, &spans, sources);
        let head = marks.iter().find(|m| m.primary).or(marks.first()).map_or(Span::default(), |m| m.span);
        let annotations: Vec<Annotation<'a>> = marks
            .iter()
            .map(|m| {
                let kind = if m.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(excerpt.range(m.span));
                if m.text.is_empty() { annotation } else { annotation.label(visible(m.text)) }
            })
            .collect();
        let mut path = Some(one_line(&sources.get(id).name));
        if excerpt.is_cut {
            // The renderer would count the column from the start of the truncated line.
            if let (Some(place), Some(path)) = (sources.place(head.start), path.take()) {
                let origin = Origin::path(path).line(place.line as usize).char_column(place.column as usize);
                group = group.element(origin);
            }
        }
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.first_line).path(path);
        group = group.element(snippet.annotations(annotations));
    }
    group
}

/// Renders a suggestion with its edits applied to the source lines.
fn suggestion<'a>(help: &'a Help, sources: &'a SourceMap) -> Group<'a> {
    let mut group = Group::with_title(Level::HELP.secondary_title(visible(&help.text)));
    for (id, edits) in excerpt::cluster(&help.edits, |e| e.0, sources) {
        let spans: Vec<Span> = edits.iter().map(|e| e.0).collect();
        let excerpt = Excerpt::new(id, &spans, sources);
        let patches: Vec<Patch<'a>> =
            edits.iter().map(|(span, new)| Patch::new(excerpt.range(*span), visible_lines(new))).collect();
        group = group.element(Snippet::source(excerpt.text).line_start(excerpt.first_line).patches(patches));
    }
    group
}

// ---------------------------------------------------------------------------------------------------------- the text

/// The columns before a note or advice, with a line number of several digits.
const BEFORE_NOTE: usize = "9999 = note: ".len();

/// Breaks the lines of a text between words, so that each line fits in the columns after the first `before` ones.
fn wrapped(text: Cow<'_, str>, columns: usize, before: usize) -> Cow<'_, str> {
    /// The least width of a text.
    const NARROW: usize = 20;
    let width = columns.saturating_sub(before).max(NARROW);
    if text.lines().all(|line| line.chars().count() <= width) {
        return text;
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let length = word.trim_end().chars().count();
            if used > 0 && used + length > width {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                used = 0;
            }
            out.push_str(word);
            used += word.chars().count();
        }
    }
    Cow::Owned(out)
}

/// Removes the characters that would control a terminal from a text that comes from a program in part.
fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_control() && c != '\n')
}

/// Replaces the control characters in the text of an edit, except line breaks and tabs.
fn visible_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_control() && c != '\n' && c != '\t')
}

/// Replaces all control characters, so that the text stays on one line.
fn one_line(text: &str) -> Cow<'_, str> {
    replaced(text, char::is_control)
}

fn replaced(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' | '\t' => ' ',
        c if bad(c) => '\u{FFFD}',
        c => c,
    };
    Cow::Owned(text.chars().map(|c| if bad(c) { shown(c) } else { c }).collect())
}

/// A source and the items located in it.
type Cluster<'a, T> = (SourceId, Vec<&'a T>);

#[cfg(test)]
mod tests;
