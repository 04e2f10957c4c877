//! Foreign code: replaces the errors that words and notations of other languages cause by one sentence and an edit.
//!
//! The tables of `syntax::foreign` propose replacements. A replacement is offered only if the module compiles with the
//! replaced code; the other errors that the replacement removes are not reported, because they followed from the first
//! error.

use crate::diagnostic::{Code, Diagnostic};
use crate::session::{Input, Session};
use crate::source::Span;
use crate::syntax::foreign::{self, Replacement, Scope};
use crate::types::TypeContext;
use crate::types::module_check;
use std::ops::{Range, RangeInclusive};

/// The maximum size of a module, in bytes, that is compiled again to explain its errors.
const MAX_BYTES: usize = 1 << 16;
/// The maximum number of errors that are explained.
const MAX_ERRORS: usize = 4;
/// The maximum number of times that a module is compiled to explain its errors.
const MAX_ATTEMPTS: usize = 40;
/// The maximum number of bytes that are compiled in total to explain errors.
const MAX_COMPILED: usize = 1 << 18;
/// The maximum number of replacements in one edit.
const MAX_STEPS: usize = 5;

/// A text in which foreign code was replaced, and the errors that remain.
struct Attempt {
    text: String,
    errors: Vec<Diagnostic>,
    /// The offset of the text in the space of all sources.
    start: u32,
    /// The range of offsets of the replaced lines.
    lines: RangeInclusive<u32>,
    /// Whether the text could be parsed, so that its types were checked.
    is_checked: bool,
}

/// The explanation of an error.
struct Explanation {
    diagnostic: Diagnostic,
    /// The range of the text whose errors are explained.
    range: Range<usize>,
    /// The errors that remain when the edit of the explanation is applied; `None` without an edit.
    remaining: Option<Vec<Diagnostic>>,
}

/// The search for an explanation of one error.
struct Search<'a> {
    before: &'a TypeContext,
    inputs: &'a [Input<'a>],
    /// The index of the input with the error.
    input: usize,
    wants_value: bool,
    /// The errors of the module before any replacement.
    reported: &'a [Diagnostic],
    /// The number of times that the module may still be compiled.
    attempts: usize,
}

impl Session {
    /// Explains errors in foreign code. `before` is the context before the module was entered.
    pub(super) fn explain_foreign_code(
        &mut self,
        before: &TypeContext,
        inputs: &[Input],
        wants_value: bool,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let bytes = inputs.iter().map(|input| input.text.len()).sum::<usize>();
        if bytes > MAX_BYTES {
            return diagnostics;
        }
        let mut attempts = MAX_ATTEMPTS.min(MAX_COMPILED / bytes.max(1));
        diagnostics.sort_by_key(|d| d.primary.span.start);
        let reported = diagnostics.clone();
        let mut explained = vec![];
        let mut at = 0;
        let mut tried = 0;
        while let Some(first) = diagnostics.get(at).cloned() {
            at += 1;
            let (Some(scope), true) = (scope_of(&first), tried < MAX_ERRORS) else { continue };
            let Some((input, start)) = self.input_of(inputs, first.primary.span) else { continue };
            tried += 1;
            let mut search = Search { before, inputs, input, wants_value, reported: &reported, attempts };
            let found = self.explanation(&mut search, &first, start, scope);
            attempts = search.attempts;
            let Some(found) = found else { continue };
            let end = start + found.range.end as u32;
            let line = start + inputs[input].text[..found.range.start].rfind('\n').map_or(0, |n| n + 1) as u32;
            // Source locations change with the edit, so errors are identified by their messages.
            let follows = |d: &Diagnostic| match &found.remaining {
                _ if d.primary.span == first.primary.span => true,
                Some(remaining) => !remaining.iter().any(|r| r.code == d.code && r.message == d.message),
                None => d.primary.span.start >= line && d.primary.span.start <= end,
            };
            let mut index = 0;
            diagnostics.retain(|d| {
                index += 1;
                index < at || !follows(d)
            });
            at -= 1;
            explained.push(found.diagnostic);
        }
        diagnostics.extend(explained);
        diagnostics.sort_by_key(|d| d.primary.span.start);
        self.without_repetitions(diagnostics)
    }

    /// Removes the diagnostics that follow from an unknown name: further occurrences of the name, and mismatches, in
    /// its line.
    fn without_repetitions(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let line = |d: &Diagnostic| self.sources.place(d.primary.span.start).map(|place| (place.name, place.line));
        let mut unknown: Vec<(_, String)> = vec![];
        for d in diagnostics.iter().filter(|d| d.code == Code::UnknownName) {
            unknown.push((line(d), d.message.clone()));
        }
        let mut seen = vec![];
        let mut follows = |d: &Diagnostic| match d.code {
            Code::UnknownName => {
                let this = (line(d), d.message.clone());
                let is_seen = seen.contains(&this);
                seen.push(this);
                is_seen
            }
            Code::Mismatch | Code::NoOverload | Code::Ambiguous | Code::CannotInfer | Code::NotConforming => {
                let place = line(d);
                unknown.iter().any(|(at, _)| *at == place)
            }
            _ => false,
        };
        diagnostics.retain(|d| !follows(d));
        diagnostics
    }

    /// Returns the index of the input that contains a span, and the offset of the input's text.
    fn input_of(&self, inputs: &[Input], span: Span) -> Option<(usize, u32)> {
        let source = self.sources.get(self.sources.source_of(span)?);
        let index = inputs.iter().position(|input| input.name == &*source.name && input.text == source.text)?;
        Some((index, source.start))
    }

    fn explanation(
        &mut self,
        search: &mut Search,
        error: &Diagnostic,
        start: u32,
        scope: Scope,
    ) -> Option<Explanation> {
        let text = search.inputs[search.input].text;
        let at = offsets(error.primary.span, start);
        let mut candidates = foreign::replacements(text, at, scope);
        let can_be_parsed = error.code > Code::ExpectedBrace;
        candidates.retain(|c| c.code.is_some() || !can_be_parsed || !c.is_of_declaration(text));
        let mut attempts: Vec<(&Replacement, Attempt)> = vec![];
        let mut sentence = None;
        for candidate in &candidates {
            // A sentence explains more than the replacements that are less likely.
            let Some(code) = &candidate.code else {
                sentence = Some(candidate);
                break;
            };
            let attempt = self.attempt(search, text, &candidate.range, code)?;
            if attempt.is_clean(candidate, search.reported) {
                return Some(explain(error, text, start, candidate, attempt, true));
            }
            attempts.push((candidate, attempt));
        }
        for (candidate, attempt) in attempts.iter().filter(|(candidate, attempt)| attempt.is_further(candidate, error))
        {
            if let Some(last) = self.continued(search, attempt, 1) {
                return Some(explain(error, text, start, candidate, last, false));
            }
        }
        // A keyword that is not allowed here is named, but no edit is offered.
        if let Some(found) = attempts.iter().find_map(|(candidate, attempt)| misplaced(candidate, attempt, text, start))
        {
            return Some(found);
        }
        // An edit that leaves unknown names is not offered, but its sentence is reported.
        let is_unknown = |d: &Diagnostic| d.code == Code::UnknownName && d.message != error.message;
        let only_unknown = attempts.iter().find(|(candidate, attempt)| {
            !candidate.is_guess && !attempt.errors.is_empty() && attempt.errors.iter().all(is_unknown)
        });
        let sentence = sentence.or(only_unknown.map(|(candidate, _)| *candidate));
        sentence.map(|candidate| {
            let range = candidate.range.clone();
            let span = span_of(text, start, &range);
            Explanation {
                diagnostic: Diagnostic::error(error.code, span, candidate.message.clone()),
                range,
                remaining: None,
            }
        })
    }

    /// Replaces code at the first error that remains in the lines of a replacement, until no error remains there.
    fn continued(&mut self, search: &mut Search, attempt: &Attempt, steps: usize) -> Option<Attempt> {
        if steps == MAX_STEPS {
            return None;
        }
        let error = attempt.errors.iter().find(|error| attempt.lines.contains(&error.primary.span.start))?;
        let scope = scope_of(error)?;
        let at = offsets(error.primary.span, attempt.start);
        for candidate in foreign::replacements(&attempt.text, at, scope) {
            let Some(code) = &candidate.code else { continue };
            let next = self.attempt(search, &attempt.text, &candidate.range, code)?;
            if next.is_clean(&candidate, search.reported) {
                return Some(next);
            }
            if next.is_further(&candidate, error)
                && let Some(last) = self.continued(search, &next, steps + 1)
            {
                return Some(last);
            }
        }
        None
    }

    /// Compiles the module with a replacement; returns nothing after too many attempts.
    fn attempt(&mut self, search: &mut Search, text: &str, range: &Range<usize>, code: &str) -> Option<Attempt> {
        search.attempts = search.attempts.checked_sub(1)?;
        let text = format!("{}{code}{}", &text[..range.start], &text[range.end..]);
        let mut inputs = search.inputs.to_vec();
        inputs[search.input].text = &text;
        let after = std::mem::replace(&mut self.context, search.before.clone());
        let imported = self.imported.clone();
        let (mut errors, is_checked) = match self.parse(&inputs) {
            Ok((files, texts)) => {
                module_check::check_module(&mut self.context, &files, &texts, search.wants_value);
                (std::mem::take(&mut self.context.sink.diagnostics), true)
            }
            Err(outcome) => (outcome.diagnostics, false),
        };
        (self.context, self.imported) = (after, imported);
        errors.retain(Diagnostic::is_error);
        errors.sort_by_key(|d| d.primary.span.start);
        let name = inputs[search.input].name;
        let start = self.sources.written().filter(|source| &*source.name == name && source.text == text).last()?.start;
        let line = text[..range.start].rfind('\n').map_or(0, |n| n + 1);
        let end = range.start + code.len();
        let end = end + text[end..].find('\n').unwrap_or(text.len() - end);
        let lines = start + line as u32..=start + end as u32;
        Some(Attempt { text, errors, start, lines, is_checked })
    }
}

impl Attempt {
    /// Whether the first error in the lines of a replacement lies after the beginning of the replacement, so that the
    /// replacement has removed `error`.
    fn is_further(&self, replacement: &Replacement, error: &Diagnostic) -> bool {
        if !self.is_checked && error.code > Code::ExpectedBrace {
            return false;
        }
        let begins = self.start + replacement.range.start as u32;
        let first = self.errors.iter().find(|error| self.lines.contains(&error.primary.span.start));
        first.is_some_and(|error| error.primary.span.start > begins)
    }

    /// Whether no error lies in the lines of a replacement, and the text can be parsed as far as before. A replacement
    /// that is a guess must also pass type checking.
    fn is_clean(&self, replacement: &Replacement, before: &[Diagnostic]) -> bool {
        let is_known = |error: &Diagnostic| before.iter().any(|d| d.code == error.code && d.message == error.message);
        let is_new = |error: &Diagnostic| error.code <= Code::ExpectedBrace && !is_known(error);
        if replacement.is_guess && !self.is_checked {
            // The keyword is plausible if the text can be parsed beyond its line.
            return replacement.is_keyword()
                && self.errors.iter().all(|error| error.primary.span.start > *self.lines.end());
        }
        self.errors.iter().all(|error| !self.lines.contains(&error.primary.span.start) && !is_new(error))
    }
}

/// Returns the explanation of a misspelled keyword in a place where the keyword is not allowed: `retrun` outside of a
/// function.
fn misplaced(candidate: &Replacement, attempt: &Attempt, text: &str, start: u32) -> Option<Explanation> {
    let keyword = candidate.code.as_ref().filter(|_| candidate.is_keyword())?;
    let mut errors = attempt.errors.iter().filter(|error| attempt.lines.contains(&error.primary.span.start));
    let (Some(error), None) = (errors.next(), errors.next()) else { return None };
    let reason = error.message.strip_prefix(&format!("'{keyword}' ")).filter(|_| error.code == Code::WrongContext)?;
    let message = format!("{}, which {reason}", candidate.message);
    let range = candidate.range.clone();
    let mut diagnostic = Diagnostic::error(error.code, span_of(text, start, &range), message);
    diagnostic.helps.clone_from(&error.helps);
    Some(Explanation { diagnostic, range, remaining: None })
}

/// Returns the tables that apply to an error; `None` if foreign code cannot be the cause of the error, or if the
/// message is specific.
fn scope_of(diagnostic: &Diagnostic) -> Option<Scope> {
    if !diagnostic.is_error() {
        return None;
    }
    let message = diagnostic.message.as_str();
    match diagnostic.code {
        Code::UnclosedBracket => Some(Scope::Comments),
        Code::Syntax => is_general(message).then_some(Scope::Everything),
        Code::InvalidLiteral
        | Code::UnknownOperator
        | Code::ExpectedBrace
        | Code::UnknownName
        | Code::UnknownType
        | Code::NotConforming
        | Code::NotCallable
        | Code::Import => Some(Scope::Everything),
        // A failed conversion is a type error of the program, not a foreign notation.
        Code::Mismatch => (!message.starts_with("cannot convert")).then_some(Scope::Expressions),
        Code::WrongContext => message.starts_with("static member").then_some(Scope::Expressions),
        Code::UnknownMember
        | Code::WrongArguments
        | Code::NoOverload
        | Code::CannotInfer
        | Code::Immutable
        | Code::Types => Some(Scope::Expressions),
        _ => None,
    }
}

/// Whether the message of a syntax error only states what the parser expected, or names the notation itself.
fn is_general(message: &str) -> bool {
    const BEGINNINGS: &[&str] = &["expected ", "unexpected "];
    const WORDS: &[&str] = &["cannot begin a program", "cannot be combined"];
    BEGINNINGS.iter().any(|beginning| message.starts_with(beginning)) || WORDS.iter().any(|word| message.contains(word))
}

/// Returns the offsets of a span in the text that begins at the offset `start`.
fn offsets(span: Span, start: u32) -> Range<usize> {
    (span.start.saturating_sub(start)) as usize..(span.end.saturating_sub(start)) as usize
}

/// Returns the span of the first line of a range.
fn span_of(text: &str, start: u32, range: &Range<usize>) -> Span {
    let line = text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
    Span::new(start + range.start as u32, start + line as u32)
}

/// Returns the explanation of an error. `is_one` states that the edit is the first replacement alone.
fn explain(
    error: &Diagnostic,
    text: &str,
    start: u32,
    first: &Replacement,
    last: Attempt,
    is_one: bool,
) -> Explanation {
    let (range, code) = match &first.code {
        Some(code) if is_one => (first.range.clone(), code.clone()),
        _ => edit(text, &last.text),
    };
    let shown: String = code.lines().next().unwrap_or_default().to_owned();
    let span = Span::new(start + range.start as u32, start + range.end as u32);
    let help = match shown.trim() {
        "" => "remove it".to_owned(),
        shown if code.lines().count() == 1 && shown.chars().count() <= 60 => format!("write '{shown}'"),
        _ => "write it as follows".to_owned(),
    };
    let place = span_of(text, start, &first.range);
    Explanation {
        diagnostic: Diagnostic::error(error.code, place, first.message.clone()).fix(help, span, code),
        range: first.range.start.min(range.start)..first.range.end.max(range.end),
        remaining: Some(last.errors),
    }
}

/// Returns the range in which two texts differ, extended to whole words, and the content of this range in the second
/// text.
fn edit(old: &str, new: &str) -> (Range<usize>, String) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let same = |(a, b): &(char, char)| a == b;
    let mut from: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (rest_old, rest_new) = (&old[from..], &new[from..]);
    let mut tail: usize =
        rest_old.chars().rev().zip(rest_new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while let Some(c) = old[..from].chars().next_back().filter(|c| is_word(*c)) {
        from -= c.len_utf8();
    }
    while let Some(c) = old[old.len() - tail..].chars().next().filter(|c| is_word(*c)) {
        tail -= c.len_utf8();
    }
    (from..old.len() - tail, new[from..new.len() - tail].to_owned())
}
