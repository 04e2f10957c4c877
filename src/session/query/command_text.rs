//! Command text: a program that a command generates around parts of its input. The diagnostics of the program are
//! reported at these parts, so that generated code never appears in a message.

use crate::diagnostic::{Code, Diagnostic, Help, Label, Note};
use crate::session::Session;
use crate::source::{GENERATED, Source, Span};
use crate::syntax::foreign::{self, Scope};
use crate::vm::{Trace, TraceOperation};
use std::ops::Range;

/// The displayed name of the input of a command.
pub(crate) const NAME: &str = "‹input›";

/// A program around parts of the input of a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandText<'t> {
    /// The input of the command.
    input: &'t str,
    text: String,
    parts: Vec<InputPart>,
}

/// A part of the input in the program.
#[derive(Clone, Debug)]
struct InputPart {
    /// The range of the part in the program.
    range: Range<usize>,
    /// The offset of the part in the input.
    start: usize,
}

impl<'t> CommandText<'t> {
    /// Creates an empty program for the input of a command.
    pub(crate) fn new(input: &'t str) -> CommandText<'t> {
        CommandText { input, text: String::new(), parts: vec![] }
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
        if let Some(at) = position(self.input, part) {
            self.parts.push(InputPart { range: start..self.text.len(), start: at });
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

    /// Appends another program around parts of this input.
    #[must_use]
    pub(crate) fn append(mut self, other: &CommandText<'t>) -> CommandText<'t> {
        let by = self.text.len();
        self.text.push_str(&other.text);
        let moved =
            |part: &InputPart| InputPart { range: part.range.start + by..part.range.end + by, start: part.start };
        self.parts.extend(other.parts.iter().map(moved));
        self
    }

    /// Returns an empty program for this input.
    pub(crate) fn empty(&self) -> CommandText<'t> {
        CommandText::new(self.input)
    }

    /// Returns the source text of the program.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the offset of a part in the input.
fn position(input: &str, part: &str) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(input.as_ptr() as usize);
    offset.filter(|at| input.get(*at..).is_some_and(|rest| rest.starts_with(part))).or_else(|| input.find(part))
}

/// The source locations of a program and of the input around which it was generated.
struct SpanMapping<'a, 't> {
    text: &'a CommandText<'t>,
    /// The span of the program.
    program: Span,
    /// The span of the input.
    input: Span,
}

impl SpanMapping<'_, '_> {
    /// Returns the span in the input for a span in the program; `None` for generated text. Other spans are unchanged.
    fn moved(&self, span: Span) -> Option<Span> {
        if span.start < self.program.start || span.end > self.program.end {
            return Some(span);
        }
        let (from, to) = ((span.start - self.program.start) as usize, (span.end - self.program.start) as usize);
        let part = self.text.parts.iter().find(|part| part.range.start <= from && to <= part.range.end)?;
        let start = self.input.start + (part.start + from - part.range.start) as u32;
        Some(Span::new(start, start + (to - from) as u32))
    }

    /// Returns the syntax errors in the parts of the input, each of which is parsed alone.
    fn syntax_errors(&self) -> Vec<Diagnostic> {
        let part = |part: &InputPart| {
            let text = &self.text.text[part.range.clone()];
            let start = self.input.start + part.start as u32;
            let mut errors = crate::syntax::parse(text, start).diagnostics;
            errors.retain(Diagnostic::is_error);
            match errors.first().and_then(|error| notation_error(text, start, error)) {
                Some(explained) => vec![explained],
                None => errors,
            }
        };
        self.text.parts.iter().flat_map(part).collect()
    }

    fn diagnostic(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Diagnostic { severity, code, message, primary, secondary, notes, helps } = diagnostic;
        let is_in_input = self.moved(primary.span).is_some();
        let primary = Label { span: self.moved(primary.span).unwrap_or(self.input), text: primary.text };
        let label = |Label { span, text }: Label| Some(Label { span: self.moved(span)?, text });
        // The lines of a backtrace that name generated programs are omitted, and so is the heading if no other line is left.
        let is_written = |line: &&str| !line.contains(GENERATED);
        let note = |Note { span, text }: Note| match span {
            None => {
                let lines: Vec<&str> = text.lines().filter(is_written).collect();
                let is_heading = lines.len() == 1 && text.lines().count() > 1;
                (!is_heading).then(|| Note { span, text: lines.join("\n") })
            }
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
            helps: helps.into_iter().filter(|_| is_in_input).filter_map(help).collect(),
        }
    }
}

/// Explains a syntax error of an expression in another notation, such as `sin x`, if there is a replacement with which the
/// expression can be parsed.
pub(crate) fn notation_error(text: &str, start: u32, error: &Diagnostic) -> Option<Diagnostic> {
    let span = error.primary.span;
    let at = (span.start.checked_sub(start)? as usize)..(span.end.checked_sub(start)? as usize);
    foreign::replacements(text, at, Scope::Everything).into_iter().find_map(|candidate| {
        let code = candidate.code.as_ref()?;
        let mut edited = text.to_owned();
        edited.replace_range(candidate.range.clone(), code);
        if crate::syntax::parse(&edited, start).diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let range = Span::new(start + candidate.range.start as u32, start + candidate.range.end as u32);
        let diagnostic = Diagnostic::error(error.code, range, candidate.message.clone());
        Some(diagnostic.fix(format!("write '{code}'"), range, code.clone()))
    })
}

impl Session {
    /// Moves the diagnostics of the last compiled program, which is a command text, to the parts of the input.
    pub(crate) fn at_input_parts(
        &mut self,
        diagnostics: Vec<Diagnostic>,
        name: &str,
        text: &CommandText<'_>,
    ) -> Vec<Diagnostic> {
        let is_program = |source: &&Source| source.text == text.text();
        let Some(program) = self.sources.written().filter(is_program).last().map(span_of) else { return diagnostics };
        let input = self.input_span(name, text.input);
        let mapping = SpanMapping { text, program, input };
        // After an incomplete part, the parser reports errors in generated text.
        if diagnostics.iter().any(|diagnostic| diagnostic.code <= Code::ExpectedBrace) {
            let errors = mapping.syntax_errors();
            if !errors.is_empty() {
                return errors;
            }
        }
        let mut moved: Vec<Diagnostic> = vec![];
        let is_in_input = |diagnostic: &Diagnostic| mapping.moved(diagnostic.primary.span).is_some();
        // Errors in generated text follow from errors in parts of the input.
        let has_input_error = diagnostics.iter().any(is_in_input);
        let relevant = diagnostics.into_iter().filter(|diagnostic| !has_input_error || is_in_input(diagnostic));
        for diagnostic in relevant.take(if has_input_error { usize::MAX } else { 1 }) {
            let diagnostic = mapping.diagnostic(diagnostic);
            let is_known =
                moved.iter().any(|m| m.message == diagnostic.message && m.primary.span == diagnostic.primary.span);
            if !is_known {
                moved.push(diagnostic);
            }
        }
        moved
    }

    /// Returns the type of an expression around a part of the input.
    ///
    /// # Errors
    /// Returns the diagnostics when the text does not compile.
    pub(crate) fn type_around(&mut self, code: &str, input: &str) -> Result<Option<String>, Vec<Diagnostic>> {
        let text = CommandText::new(input).around(code, input);
        self.type_of(code).map_err(|diagnostics| self.at_input_parts(diagnostics, NAME, &text))
    }

    /// Moves the source locations of operations from the last compiled program, which is a command text, to the parts
    /// of the input.
    pub(crate) fn trace_at_input_parts(&mut self, trace: &mut Trace, name: &str, text: &CommandText<'_>) {
        let is_program = |source: &&Source| source.text == text.text();
        let Some(program) = self.sources.written().filter(is_program).last().map(span_of) else { return };
        let is_inside = |span: Span| program.contains(span);
        let mut spans: Vec<&mut Span> = trace.counts.iter_mut().map(|count| &mut count.span).collect();
        spans.extend(trace.rows.iter_mut().filter_map(|row| match &mut row.operation {
            TraceOperation::Primitive { span, .. }
            | TraceOperation::Called { span, .. }
            | TraceOperation::Tensor { span, .. } => Some(span),
            TraceOperation::Sum(_) | TraceOperation::Other => None,
        }));
        spans.retain(|span| is_inside(**span));
        if spans.is_empty() {
            return;
        }
        let input = self.input_span(name, text.input);
        let mapping = SpanMapping { text, program, input };
        for span in spans {
            *span = mapping.moved(*span).unwrap_or(input);
        }
    }

    /// Returns an error about the input of a command.
    pub(crate) fn input_error(&mut self, name: &str, input: &str, part: &str, message: String) -> Vec<Diagnostic> {
        let whole = self.input_span(name, input);
        let start = whole.start + position(input, part).unwrap_or(0) as u32;
        vec![Diagnostic::error(Code::Input, Span::new(start, start + part.len() as u32), message)]
    }

    /// Adds the input of a command to the sources.
    fn input_span(&mut self, name: &str, input: &str) -> Span {
        self.sources.add(name, input.to_owned()).map_or(Span::default(), |id| span_of(self.sources.get(id)))
    }
}

fn span_of(source: &Source) -> Span {
    Span::new(source.start, source.start + source.text.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_move_to_the_parts_of_the_input() {
        let input = "f at 2";
        let text =
            CommandText::new(input).code("g(at: ").part(&input[5..]).code(".0, of: ").part(&input[..1]).code(")");
        assert_eq!(text.text(), "g(at: 2.0, of: f)");
        let mapping = SpanMapping { text: &text, program: Span::new(100, 117), input: Span::new(200, 206) };
        assert_eq!(mapping.moved(Span::new(106, 107)), Some(Span::new(205, 206)));
        assert_eq!(mapping.moved(Span::new(115, 116)), Some(Span::new(200, 201)));
        assert_eq!(mapping.moved(Span::new(100, 117)), None);
        assert_eq!(mapping.moved(Span::new(3, 4)), Some(Span::new(3, 4)));
    }
}
