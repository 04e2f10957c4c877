//! Command text: a program that a command generates around parts of its input. Its diagnostics are reported at these parts,
//! so that generated code never appears in a message.

use crate::diagnostic::{Code, Diagnostic, Help, Label, Note};
use crate::session::Session;
use crate::source::{GENERATED, Source, Span};
use crate::vm::{Trace, TraceOperation};
use std::ops::Range;

/// The displayed name of the input of a command.
pub(crate) const NAME: &str = "‹input›";

/// A program around typed parts.
#[derive(Clone, Debug)]
pub(crate) struct CommandText<'t> {
    /// The input of the command.
    typed: &'t str,
    text: String,
    parts: Vec<TypedPart>,
}

/// A part of the input in the program.
#[derive(Clone, Debug)]
struct TypedPart {
    /// Its range in the program.
    range: Range<usize>,
    /// Its start in the input.
    start: usize,
}

impl<'t> CommandText<'t> {
    /// Creates an empty program for the input of a command.
    pub(crate) fn new(typed: &'t str) -> CommandText<'t> {
        CommandText { typed, text: String::new(), parts: vec![] }
    }

    /// Appends generated text.
    #[must_use]
    pub(crate) fn code(mut self, text: &str) -> CommandText<'t> {
        self.text.push_str(text);
        self
    }

    /// Appends a part of the input.
    #[must_use]
    pub(crate) fn part(mut self, part: &str) -> CommandText<'t> {
        let start = self.text.len();
        self.text.push_str(part);
        if let Some(at) = position(self.typed, part) {
            self.parts.push(TypedPart { range: start..self.text.len(), start: at });
        }
        self
    }

    /// Appends generated text that contains a part of the input.
    #[must_use]
    pub(crate) fn around(self, code: &str, part: &str) -> CommandText<'t> {
        match code.split_once(part) {
            Some((before, after)) => self.code(before).part(part).code(after),
            None => self.code(code),
        }
    }

    /// Appends another program around parts of the same input.
    #[must_use]
    pub(crate) fn append(mut self, other: &CommandText<'t>) -> CommandText<'t> {
        let by = self.text.len();
        self.text.push_str(&other.text);
        let moved =
            |part: &TypedPart| TypedPart { range: part.range.start + by..part.range.end + by, start: part.start };
        self.parts.extend(other.parts.iter().map(moved));
        self
    }

    /// Returns an empty program for the same input.
    pub(crate) fn empty(&self) -> CommandText<'t> {
        CommandText::new(self.typed)
    }

    /// Returns the program.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the offset of a part in the input.
fn position(typed: &str, part: &str) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(typed.as_ptr() as usize);
    offset.filter(|at| typed.get(*at..).is_some_and(|rest| rest.starts_with(part))).or_else(|| typed.find(part))
}

/// The positions of a program and of the input around which it was generated.
struct Positions<'a, 't> {
    text: &'a CommandText<'t>,
    /// The span of the program.
    program: Span,
    /// The span of the input.
    typed: Span,
}

impl Positions<'_, '_> {
    /// Returns the span in the input for a span in the program; `None` for generated text. Other spans are unchanged.
    fn moved(&self, span: Span) -> Option<Span> {
        if span.start < self.program.start || span.end > self.program.end {
            return Some(span);
        }
        let (from, to) = ((span.start - self.program.start) as usize, (span.end - self.program.start) as usize);
        let part = self.text.parts.iter().find(|part| part.range.start <= from && to <= part.range.end)?;
        let start = self.typed.start + (part.start + from - part.range.start) as u32;
        Some(Span::new(start, start + (to - from) as u32))
    }

    /// Returns the errors that the parts contain, each parsed alone.
    fn syntax_errors(&self) -> Vec<Diagnostic> {
        let part = |part: &TypedPart| {
            let text = &self.text.text[part.range.clone()];
            crate::syntax::parse(text, self.typed.start + part.start as u32).diagnostics
        };
        self.text.parts.iter().flat_map(part).filter(Diagnostic::is_error).collect()
    }

    fn diagnostic(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Diagnostic { severity, code, message, primary, secondary, notes, helps } = diagnostic;
        let is_typed = self.moved(primary.span).is_some();
        let primary = Label { span: self.moved(primary.span).unwrap_or(self.typed), text: primary.text };
        let label = |Label { span, text }: Label| Some(Label { span: self.moved(span)?, text });
        // The lines of a backtrace name generated programs, too.
        let is_written = |line: &&str| !line.contains(GENERATED);
        let note = |Note { span, text }: Note| match span {
            None => Some(Note { span, text: text.lines().filter(is_written).collect::<Vec<_>>().join("\n") }),
            Some(span) => Some(Note { span: Some(self.moved(span)?), text }),
        };
        let help = |Help { text, edits }: Help| {
            let moved = |(span, edit): (Span, String)| Some((self.moved(span)?, edit));
            Some(Help { text, edits: edits.into_iter().map(moved).collect::<Option<_>>()? })
        };
        Diagnostic {
            severity,
            code,
            message,
            primary,
            secondary: secondary.into_iter().filter_map(label).collect(),
            notes: notes.into_iter().filter_map(note).collect(),
            helps: helps.into_iter().filter(|_| is_typed).filter_map(help).collect(),
        }
    }
}

impl Session {
    /// Moves diagnostics of the last compiled program, which is a command text, to its typed parts.
    pub(crate) fn at_typed_parts(
        &mut self,
        diagnostics: Vec<Diagnostic>,
        name: &str,
        text: &CommandText<'_>,
    ) -> Vec<Diagnostic> {
        let is_program = |source: &&Source| source.text == text.text();
        let Some(program) = self.sources.written().filter(is_program).last().map(span_of) else { return diagnostics };
        let typed = self.typed_span(name, text.typed);
        let positions = Positions { text, program, typed };
        // What follows an incomplete part is generated.
        if diagnostics.iter().any(|diagnostic| diagnostic.code <= Code::ExpectedBrace) {
            let errors = positions.syntax_errors();
            if !errors.is_empty() {
                return errors;
            }
        }
        let mut moved: Vec<Diagnostic> = vec![];
        let is_typed = |diagnostic: &Diagnostic| positions.moved(diagnostic.primary.span).is_some();
        // Errors in generated text follow from those in typed text.
        let has_typed = diagnostics.iter().any(is_typed);
        let relevant = diagnostics.into_iter().filter(|diagnostic| !has_typed || is_typed(diagnostic));
        for diagnostic in relevant.take(if has_typed { usize::MAX } else { 1 }) {
            let diagnostic = positions.diagnostic(diagnostic);
            let is_known =
                moved.iter().any(|m| m.message == diagnostic.message && m.primary.span == diagnostic.primary.span);
            if !is_known {
                moved.push(diagnostic);
            }
        }
        moved
    }

    /// Returns the type of an expression around a typed part.
    ///
    /// # Errors
    /// Returns the diagnostics when the text does not compile.
    pub(crate) fn type_around(&mut self, code: &str, typed: &str) -> Result<Option<String>, Vec<Diagnostic>> {
        let text = CommandText::new(typed).around(code, typed);
        self.type_of(code).map_err(|diagnostics| self.at_typed_parts(diagnostics, NAME, &text))
    }

    /// Moves the positions of operations from the last compiled program, which is a command text, to its typed parts.
    pub(crate) fn trace_at_typed_parts(&mut self, trace: &mut Trace, name: &str, text: &CommandText<'_>) {
        let is_program = |source: &&Source| source.text == text.text();
        let Some(program) = self.sources.written().filter(is_program).last().map(span_of) else { return };
        let is_inside = |span: Span| program.start <= span.start && span.end <= program.end;
        let mut spans: Vec<&mut Span> = trace.counts.iter_mut().map(|count| &mut count.span).collect();
        spans.extend(trace.rows.iter_mut().filter_map(|row| match &mut row.operation {
            TraceOperation::Primitive { span, .. } | TraceOperation::Called { span, .. } => Some(span),
            TraceOperation::Sum(_) | TraceOperation::Other => None,
        }));
        spans.retain(|span| is_inside(**span));
        if spans.is_empty() {
            return;
        }
        let typed = self.typed_span(name, text.typed);
        let positions = Positions { text, program, typed };
        for span in spans {
            *span = positions.moved(*span).unwrap_or(typed);
        }
    }

    /// Returns an error about the input of a command.
    pub(crate) fn input_error(&mut self, name: &str, typed: &str, part: &str, message: String) -> Vec<Diagnostic> {
        let whole = self.typed_span(name, typed);
        let start = whole.start + position(typed, part).unwrap_or(0) as u32;
        vec![Diagnostic::error(Code::Input, Span::new(start, start + part.len() as u32), message)]
    }

    /// Adds the input of a command to the sources.
    fn typed_span(&mut self, name: &str, typed: &str) -> Span {
        self.sources.add(name, typed.to_owned(), false).map_or(Span::default(), |id| span_of(self.sources.get(id)))
    }
}

fn span_of(source: &Source) -> Span {
    Span::new(source.start, source.start + source.text.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_move_to_the_typed_parts() {
        let typed = "f at 2";
        let text =
            CommandText::new(typed).code("g(at: ").part(&typed[5..]).code(".0, of: ").part(&typed[..1]).code(")");
        assert_eq!(text.text(), "g(at: 2.0, of: f)");
        let positions = Positions { text: &text, program: Span::new(100, 117), typed: Span::new(200, 206) };
        assert_eq!(positions.moved(Span::new(106, 107)), Some(Span::new(205, 206)));
        assert_eq!(positions.moved(Span::new(115, 116)), Some(Span::new(200, 201)));
        assert_eq!(positions.moved(Span::new(100, 117)), None);
        assert_eq!(positions.moved(Span::new(3, 4)), Some(Span::new(3, 4)));
    }
}
