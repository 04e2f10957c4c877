//! Statement errors: explains the errors of a text that cannot be parsed statement by statement, so that one foreign
//! notation does not hide the next one.
//!
//! The statements with syntax errors are explained one after the other, each below the earlier statements with their
//! edits. A statement without an edit is left out, and the names that it contains are unknown below it without an error.

use super::foreign_code::{Effort, Search};
use super::foreign_edit::edited;
use crate::diagnostic::{Code, Diagnostic};
use crate::session::{Input, Session};
use crate::source::Span;
use crate::syntax::{self, foreign};
use crate::types::TypeContext;
use std::ops::Range;

/// The maximum number of statements that are explained.
const MAX_STATEMENTS: usize = 24;
/// The maximum size of a text, in bytes, whose statements are explained.
const MAX_BYTES: usize = 1 << 13;

/// A part of the edited text, and the part of the original text from which it comes.
struct Part {
    edited: Range<usize>,
    original: Range<usize>,
}

/// The statements so far.
#[derive(Default)]
struct Statements {
    text: String,
    parts: Vec<Part>,
    /// The statements that were left out.
    omitted: String,
}

impl Statements {
    fn add(&mut self, code: &str, original: Range<usize>) {
        let from = self.text.len();
        self.text.push_str(code);
        self.parts.push(Part { edited: from..self.text.len(), original });
    }

    /// Returns the offset in the original text for an offset in the edited text; `None` inside an edit.
    fn original(&self, at: usize, text: &str) -> Option<usize> {
        let part = self.parts.iter().rfind(|part| part.edited.start <= at && at <= part.edited.end)?;
        let (now, before) = (&self.text[part.edited.clone()], &text[part.original.clone()]);
        let from_start = at - part.edited.start;
        let same = now.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
        if from_start <= same {
            return Some(part.original.start + from_start);
        }
        let from_end = part.edited.end - at;
        let same = now.bytes().rev().zip(before.bytes().rev()).take_while(|(a, b)| a == b).count();
        (from_end <= same).then(|| part.original.end - from_end)
    }
}

impl Session {
    /// Explains the errors of an input that begins at the offset `start`; `None` if this explains less than `found`.
    pub(super) fn explain_statements(
        &mut self,
        before: &TypeContext,
        inputs: &[Input],
        (input, start): (usize, u32),
        wants_value: bool,
        found: &[Diagnostic],
        effort: &mut Effort,
    ) -> Option<Vec<Diagnostic>> {
        let text = inputs[input].text;
        let ranges = foreign::statement_ranges(text);
        if ranges.len() < 2 || text.len() > MAX_BYTES {
            return None;
        }
        let mut all = vec![];
        let mut statements = Statements::default();
        let mut count = 0;
        for range in ranges {
            let code = &text[range.clone()];
            // An assignment may declare a variable, and an import may be foreign; later statements depend on both.
            let is_valid = !syntax::parse(code, 0).diagnostics.iter().any(Diagnostic::is_error)
                && !foreign::is_assignment_or_import(code);
            if is_valid || count == MAX_STATEMENTS {
                statements.add(code, range);
                continue;
            }
            count += 1;
            let base = statements.text.len();
            statements.add(code, range.clone());
            effort.omitted.clone_from(&statements.omitted);
            let (diagnostics, mended) = self.explain_last(before, inputs, input, (&statements, base), effort)?;
            // The parser describes an error without an explanation better with the code after the statement.
            let place = start + range.start as u32..start + range.end as u32;
            let own = || found.iter().filter(|d| place.contains(&d.primary.span.start)).cloned();
            if diagnostics.iter().any(has_edit) || own().next().is_none() {
                self.move_to(start, text, &statements, diagnostics, &mut all);
            } else {
                all.extend(own());
            }
            if mended.is_none() {
                statements.omitted.push_str(code);
            }
            statements.text.truncate(base);
            statements.parts.pop();
            statements.add(&mended.unwrap_or_default(), range);
        }
        let search = Search::new(before, inputs, input, wants_value);
        let edited_text = statements.text.clone();
        let (mut errors, _, _) = self.compiled_again(&search, &edited_text)?;
        errors.retain(|error| !follows_from(error, &statements.omitted));
        let edited_inputs = with_text(inputs, input, &edited_text);
        let (explained, _) = self.explain_errors(before, &edited_inputs, wants_value, errors, effort);
        self.move_to(start, text, &statements, explained, &mut all);
        let edits = |all: &[Diagnostic]| all.iter().filter(|d| has_edit(d)).count();
        let (now, before) = (edits(&all), edits(found));
        (now > before || now > 0 && now == before && all.len() <= found.len()).then_some(all)
    }

    /// Explains the last statement, which begins at the offset `base`. Returns its errors, and the statement with all
    /// edits if it has no error then.
    fn explain_last(
        &mut self,
        before: &TypeContext,
        inputs: &[Input],
        input: usize,
        (statements, base): (&Statements, usize),
        effort: &mut Effort,
    ) -> Option<(Vec<Diagnostic>, Option<String>)> {
        let text = &statements.text;
        let inputs = with_text(inputs, input, text);
        let search = Search::new(before, &inputs, input, false);
        let (errors, start, _) = self.compiled_again(&search, text)?;
        let (mut explained, _) = self.explain_errors(before, &inputs, false, errors, effort);
        let first = start + base as u32;
        explained.retain(|d| d.primary.span.start >= first && !follows_from(d, &statements.omitted));
        // The last edit declares a variable, which later statements may change.
        let edits_of = |d: &Diagnostic| d.helps.iter().rfind(|h| !h.edits.is_empty()).map(|h| h.edits.clone());
        let mut edits: Vec<(Span, String)> = explained.iter().filter_map(edits_of).flatten().collect();
        edits.sort_by_key(|(span, _)| span.start);
        let overlap = edits.windows(2).any(|pair| pair[0].0.end > pair[1].0.start);
        let mended = (!overlap && !edits.is_empty()).then(|| edited(text, start, &edits)).flatten();
        let mended = mended.filter(|mended| {
            let again = self.compiled_again(&search, mended);
            again.is_some_and(|(errors, start, _)| {
                let is_own = |d: &Diagnostic| d.primary.span.start >= start + base as u32;
                !errors.iter().any(|d| is_own(d) && !follows_from(d, &statements.omitted))
            })
        });
        if explained.is_empty() {
            return Some((explained, text.get(base..).map(str::to_owned)));
        }
        Some((explained, mended.and_then(|mended| mended.get(base..).map(str::to_owned))))
    }

    /// Moves diagnostics from the edited text to the original text, which begins at the offset `start`. A diagnostic in
    /// edited code is left out.
    fn move_to(
        &self,
        start: u32,
        text: &str,
        statements: &Statements,
        diagnostics: Vec<Diagnostic>,
        all: &mut Vec<Diagnostic>,
    ) {
        let moved = |span: Span| {
            let source = self.sources.get(self.sources.source_of(span)?);
            if source.text != statements.text {
                return Some(span);
            }
            let offset = |at: u32| statements.original((at - source.start) as usize, text).map(|n| start + n as u32);
            let (from, to) = (offset(span.start)?, offset(span.end)?);
            (from <= to).then(|| Span::new(from, to))
        };
        for mut d in diagnostics {
            let Some(span) = moved(d.primary.span) else { continue };
            d.primary.span = span;
            d.secondary.retain_mut(|label| moved(label.span).map(|span| label.span = span).is_some());
            d.notes.retain_mut(|note| match note.span {
                Some(span) => moved(span).map(|span| note.span = Some(span)).is_some(),
                None => true,
            });
            d.helps.retain_mut(|help| {
                help.edits.iter_mut().all(|(span, _)| moved(*span).map(|moved| *span = moved).is_some())
            });
            all.push(d);
        }
        all.sort_by_key(|d| d.primary.span.start);
    }
}

fn has_edit(diagnostic: &Diagnostic) -> bool {
    diagnostic.helps.iter().any(|help| !help.edits.is_empty())
}

/// Whether an error is about a name that a statement contains which was left out.
pub(super) fn follows_from(error: &Diagnostic, omitted: &str) -> bool {
    let name = error.message.split('\'').nth(1).unwrap_or_default();
    matches!(error.code, Code::UnknownName | Code::UnknownType)
        && !name.is_empty()
        && omitted.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Returns the inputs with another text of one of them.
fn with_text<'a>(inputs: &[Input<'a>], input: usize, text: &'a str) -> Vec<Input<'a>> {
    let mut inputs = inputs.to_vec();
    inputs[input].text = text;
    inputs
}
