//! Foreign code: replaces the errors that words and notations of other languages cause by one sentence and an edit.
//!
//! The tables of `syntax::foreign` propose replacements. A replacement is offered only if the module compiles with the
//! replaced code; the other errors that the replacement removes are not reported, because they followed from the first
//! error.

use super::foreign_attempt::{Attempt, assigns};
use super::foreign_edit::{edited, edited_lines, offsets, span_of, stands_alone, text_edit};
use super::foreign_scope::{names_constant, scope_of};
use super::statement_errors::follows_from;
use crate::diagnostic::{Code, Diagnostic};
use crate::session::{Input, Session};
use crate::source::Span;
use crate::syntax::foreign::{self, Replacement, ReplacementKind, Scope};
use crate::types::TypeContext;
use crate::types::module_check;
use hashbrown::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The maximum size of a module, in bytes, that is compiled again to explain its errors.
const MAX_BYTES: usize = 1 << 16;
/// The maximum number of errors that are explained.
const MAX_ERRORS: usize = 4;
/// The maximum number of times that a module is compiled to explain its errors; its statements are explained with as
/// many attempts again.
const MAX_ATTEMPTS: usize = 120;
/// The time after which no more replacements are tried. Compilation is much slower in builds for development, whose tests
/// expect the same explanations.
const MAX_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 2 });
/// The maximum number of times that a module is compiled to explain one error.
const MAX_ATTEMPTS_PER_ERROR: usize = 60;
/// The maximum number of bytes that are compiled in total to explain errors.
const MAX_COMPILED: usize = 1 << 18;
/// The maximum numbers of replacements in one edit: short edits are tried first.
const MAX_STEPS: [usize; 2] = [2, 5];

/// The explanation of an error.
struct Explanation {
    diagnostic: Diagnostic,
    kind: ReplacementKind,
    /// The range of the text whose errors are explained.
    range: Range<usize>,
    /// The errors that remain when the edit of the explanation is applied; `None` without an edit.
    remaining: Option<Vec<Diagnostic>>,
}

/// The remaining effort for the explanation of the errors of a module.
pub(super) struct Effort {
    /// The number of times that the module may still be compiled.
    attempts: usize,
    deadline: Instant,
    /// The statements that were left out because their errors have no edits.
    pub(super) omitted: String,
}

impl Effort {
    pub(super) fn new(inputs: &[Input]) -> Effort {
        let bytes = inputs.iter().map(|input| input.text.len()).sum::<usize>();
        let (attempts, deadline) = (MAX_ATTEMPTS.min(MAX_COMPILED / bytes.max(1)), Instant::now() + MAX_TIME);
        Effort { attempts, deadline, omitted: String::new() }
    }

    /// Uses one attempt; returns whether it is allowed.
    pub(super) fn use_attempt(&mut self) -> bool {
        let is_allowed = self.attempts > 0 && Instant::now() <= self.deadline;
        self.attempts = self.attempts.saturating_sub(1);
        is_allowed
    }
}

/// The search for an explanation of one error.
pub(super) struct Search<'a> {
    pub(super) before: &'a TypeContext,
    pub(super) inputs: &'a [Input<'a>],
    /// The index of the input with the error.
    pub(super) input: usize,
    pub(super) wants_value: bool,
    /// The errors of the module before any replacement.
    pub(super) reported: &'a [Diagnostic],
    /// The number of times that the module may still be compiled.
    pub(super) attempts: usize,
    pub(super) deadline: Option<Instant>,
    /// The texts that replacements were continued from, with the number of steps. Different orders of the same
    /// replacements lead to the same text.
    pub(super) continued: HashMap<String, usize>,
    /// The statements before that were left out.
    omitted: String,
}

impl<'a> Search<'a> {
    fn has_several_errors(&self) -> bool {
        self.reported.iter().filter(|d| d.is_error()).nth(1).is_some()
    }

    /// Creates a search without attempts.
    pub(super) fn new(before: &'a TypeContext, inputs: &'a [Input<'a>], input: usize, wants_value: bool) -> Search<'a> {
        let (continued, omitted) = (HashMap::new(), String::new());
        Search { before, inputs, input, wants_value, reported: &[], attempts: 0, deadline: None, continued, omitted }
    }

    /// Whether an error follows from another statement: the variable is assigned to without a declaration, or its
    /// declaration was left out.
    fn follows_from_others(&self, error: &Diagnostic) -> bool {
        let is_assigned = |d: &Diagnostic| assigns(d) && d.message == error.message;
        error.code == Code::UnknownName && (self.reported.iter().any(is_assigned) || follows_from(error, &self.omitted))
    }
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
        diagnostics.sort_by_key(|d| d.primary.span.start);
        let assignments: Vec<String> = diagnostics.iter().filter(|d| assigns(d)).map(|d| d.message.clone()).collect();
        let syntax_error = diagnostics.iter().find(|d| d.is_error() && d.code <= Code::ExpectedBrace).cloned();
        let mut effort = Effort::new(inputs);
        let (found, is_mended) = self.explain_errors(before, inputs, wants_value, diagnostics, &mut effort);
        let by_statement = match syntax_error.and_then(|error| self.input_of(inputs, error.primary.span)) {
            Some((input, start)) if !is_mended => {
                effort.attempts += Effort::new(inputs).attempts;
                self.explain_statements(before, inputs, (input, start), wants_value, &found, &mut effort)
            }
            _ => None,
        };
        self.without_repetitions(by_statement.unwrap_or(found), &assignments)
    }

    /// Explains the errors of a module, sorted by location. Returns the diagnostics, and whether an edit mends all
    /// errors.
    pub(super) fn explain_errors(
        &mut self,
        before: &TypeContext,
        inputs: &[Input],
        wants_value: bool,
        mut diagnostics: Vec<Diagnostic>,
        effort: &mut Effort,
    ) -> (Vec<Diagnostic>, bool) {
        let reported = diagnostics.clone();
        let mut explained: Vec<Explanation> = vec![];
        let mut is_mended = false;
        let mut at = 0;
        let mut tried = 0;
        while let Some(first) = diagnostics.get(at).cloned() {
            at += 1;
            let (true, true) = (first.is_error(), tried < MAX_ERRORS) else { continue };
            let Some((input, start)) = self.input_of(inputs, first.primary.span) else { continue };
            let allowed = effort.attempts.min(MAX_ATTEMPTS_PER_ERROR);
            let mut search = Search {
                reported: &reported,
                attempts: allowed,
                deadline: Some(effort.deadline),
                omitted: effort.omitted.clone(),
                ..Search::new(before, inputs, input, wants_value)
            };
            let found = scope_of(&first).and_then(|scope| {
                tried += usize::from(scope != Scope::Conversions);
                self.explanation(&mut search, &first, start, scope)
            });
            // The edit that makes a constant a variable is better than a sentence without an edit.
            let found = found.filter(|found| found.remaining.is_some() || !names_constant(&first));
            let Some(found) = found else {
                // The edits of the diagnostic itself are always checked.
                search.attempts = search.attempts.max(2);
                diagnostics[at - 1] = self.without_wrong_edits(&mut search, first, start);
                effort.attempts -= allowed.saturating_sub(search.attempts);
                continue;
            };
            effort.attempts -= allowed - search.attempts;
            // An unknown name in the code was reported before, and perhaps the rest of the code follows from it.
            let follows_from_name = diagnostics[..at - 1].iter().any(|d| {
                d.code == Code::UnknownName
                    && d.message != first.message
                    && d.primary.span.start >= start
                    && found.range.contains(&offsets(d.primary.span, start).start)
            });
            let repeats = explained.last().is_some_and(|last| self.is_further_product(last, &found));
            if found.remaining.is_none() && (follows_from_name || repeats) {
                diagnostics.remove(at - 1);
                at -= 1;
                continue;
            }
            is_mended |= found.remaining.as_ref().is_some_and(Vec::is_empty);
            let range = start + found.range.start as u32..start + found.range.end as u32;
            let line = start + inputs[input].text[..found.range.start].rfind('\n').map_or(0, |n| n + 1) as u32;
            // Source locations change with the edit, so errors are identified by their messages.
            let remains =
                |d: &Diagnostic| found.remaining.iter().flatten().any(|r| r.code == d.code && r.message == d.message);
            let follows = |index: usize, d: &Diagnostic| match &found.remaining {
                _ if d.primary.span == first.primary.span => true,
                // An earlier error is independent unless it lies in the replaced code.
                Some(_) if index < at => range.contains(&d.primary.span.start) && !remains(d),
                Some(_) => !remains(d),
                None => index >= at && d.primary.span.start >= line && d.primary.span.start <= range.end,
            };
            let mut index = 0;
            let mut kept = 0;
            diagnostics.retain(|d| {
                index += 1;
                let keeps = !follows(index, d);
                kept += usize::from(keeps && index < at);
                keeps
            });
            at = kept;
            explained.push(found);
        }
        diagnostics.extend(explained.into_iter().map(|explanation| explanation.diagnostic));
        diagnostics.sort_by_key(|d| d.primary.span.start);
        (diagnostics, is_mended)
    }

    /// Whether two explanations in one line say that an unknown name is perhaps a product.
    fn is_further_product(&self, first: &Explanation, second: &Explanation) -> bool {
        [first, second].iter().all(|explanation| explanation.kind == ReplacementKind::Product)
            && self.line_of(&first.diagnostic) == self.line_of(&second.diagnostic)
    }

    /// Returns the file and the line of a diagnostic.
    fn line_of(&self, diagnostic: &Diagnostic) -> Option<(Rc<str>, u32)> {
        self.sources.place(diagnostic.primary.span.start).map(|place| (place.name, place.line))
    }

    /// Removes the edits of a diagnostic after which the edited lines contain an error that the module did not contain
    /// before.
    fn without_wrong_edits(&mut self, search: &mut Search, mut diagnostic: Diagnostic, start: u32) -> Diagnostic {
        let is_syntactic = diagnostic.code == Code::ExpectedBrace;
        let is_checked = match diagnostic.code {
            Code::UnknownName | Code::UnknownMember | Code::UnknownOperator => true,
            Code::WrongArguments | Code::NoOverload => true,
            Code::NotConforming => diagnostic.message.starts_with("for-in loop"),
            Code::Mismatch => diagnostic.message.starts_with("cannot compare 'Tensor<"),
            _ => is_syntactic,
        };
        if !is_checked {
            return diagnostic;
        }
        let text = search.inputs[search.input].text;
        let reported = search.reported;
        let is_known = |d: &Diagnostic| reported.iter().any(|r| r.code == d.code && r.message == d.message);
        let count = diagnostic.helps.len();
        diagnostic.helps.retain(|help| {
            let mut edits = help.edits.clone();
            edits.sort_by_key(|(span, _)| span.start);
            let (Some((first, _)), Some((last, _))) = (edits.first(), edits.last()) else { return true };
            let range = offsets(first.to(*last), start);
            if range.end > text.len() {
                return true;
            }
            let Some(code) = edited(text, start, &edits).and_then(|whole| {
                let length = (range.len() + whole.len()).checked_sub(text.len())?;
                whole.get(range.start..range.start + length).map(str::to_owned)
            }) else {
                return true;
            };
            match self.attempt(search, text, &range, &code) {
                Some(attempt) if is_syntactic => attempt.errors_in_lines().next().is_none(),
                Some(attempt) if !attempt.is_checked => reported.iter().any(|d| d.code <= Code::ExpectedBrace),
                Some(attempt) => attempt.errors_in_lines().all(is_known),
                None => true,
            }
        });
        if diagnostic.helps.len() < count && diagnostic.primary.text.starts_with("did you mean") {
            diagnostic.primary.text.clear();
        }
        diagnostic
    }

    /// Removes the diagnostics that follow from an unknown name: further occurrences of the name, and mismatches, in
    /// its line. `assignments` are the messages about assignments to names that are not declared.
    fn without_repetitions(&self, mut diagnostics: Vec<Diagnostic>, assignments: &[String]) -> Vec<Diagnostic> {
        let line = |d: &Diagnostic| self.line_of(d);
        let mut unknown: Vec<(_, String)> = vec![];
        for d in diagnostics.iter().filter(|d| d.code == Code::UnknownName) {
            unknown.push((line(d), d.message.clone()));
        }
        // The names to which the program assigns, although they are not declared.
        let mut assigned: Vec<String> = vec![];
        for diagnostic in &mut diagnostics {
            let (message, is_assigned) = (diagnostic.message.clone(), assigns(diagnostic));
            if !is_assigned || assigned.contains(&message) {
                continue;
            }
            // If the program assigns to the name again, a constant would not suffice.
            if assignments.iter().filter(|other| **other == message).count() > 1 {
                diagnostic.helps.retain(|help| !help.text.ends_with("constant"));
            }
            assigned.push(message);
        }
        let mut seen = vec![];
        let mut follows = |d: &Diagnostic| match d.code {
            Code::UnknownName => {
                let this = (line(d), d.message.clone());
                let is_seen = seen.contains(&this)
                    || assigned.contains(&d.message) && seen.iter().any(|(_, message)| *message == d.message);
                seen.push(this);
                is_seen
            }
            Code::Mismatch | Code::NoOverload | Code::Ambiguous | Code::CannotInfer | Code::NotConforming => {
                let place = line(d);
                unknown.iter().any(|(at, _)| *at == place)
            }
            // The unknown name is perhaps the parameter of the closure.
            Code::WrongArguments if d.message.starts_with("contextual type for closure argument list") => {
                let place = line(d);
                unknown.iter().any(|(at, _)| *at == place)
            }
            _ => false,
        };
        // A value has no known type because another error lies in it.
        let is_unresolved = |d: &Diagnostic| d.code == Code::CannotInfer;
        let errors = diagnostics.iter().filter(|d| d.is_error() && !is_unresolved(d));
        let errors: Vec<Span> = errors.map(|d| d.primary.span).collect();
        let has_error_inside = |d: &Diagnostic| errors.iter().any(|span| d.primary.span.contains(*span));
        diagnostics.retain(|d| !(follows(d) || is_unresolved(d) && has_error_inside(d)));
        // One edit mends all errors in its line that offer it.
        let mut offered = vec![];
        diagnostics.retain(|d| {
            let has_edit = d.code == Code::UnknownMember && d.helps.iter().any(|help| !help.edits.is_empty());
            let offer = has_edit.then(|| (line(d), d.helps.clone()));
            let is_repeated = offer.is_some() && offered.contains(&offer);
            offered.push(offer);
            !is_repeated
        });
        diagnostics
    }

    /// Returns the index of the input that contains a span, and the offset of the input's text.
    pub(super) fn input_of(&self, inputs: &[Input], span: Span) -> Option<(usize, u32)> {
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
        let mut candidates = foreign::replacements(text, at.clone(), scope);
        candidates.retain(|c| c.explains(text, error));
        candidates.retain(|c| !self.calls_declared(c, error, text));
        let inner = |d: &&Diagnostic| {
            d.code == Code::UnknownName
                && error.primary.span.start < d.primary.span.start
                && d.primary.span.end <= error.primary.span.end
        };
        // A call whose arguments contain an unknown variable takes a function.
        if let Some(unknown) = search.reported.iter().find(inner).filter(|_| error.code != Code::UnknownName) {
            let at = offsets(unknown.primary.span, start);
            candidates.splice(0..0, foreign::functions_of_variable(text, at));
        }
        // In languages whose operators apply to arrays, quotients of integers are fractions.
        if error.message.contains("[Int]") {
            candidates.iter_mut().for_each(Replacement::keep_fractions_of_elements);
        }
        if is_formula(error) {
            let first_sentence = candidates.iter().position(|c| c.code.is_none()).unwrap_or(candidates.len());
            candidates.splice(first_sentence..first_sentence, foreign::functions_of_formulas(text, at.clone()));
        }
        // Another error is perhaps the reason why the function takes a number.
        if search.has_several_errors() {
            candidates.retain(|c| !c.is_applied_to_elements());
        }
        let is_labeled_otherwise = matches!(error.code, Code::WrongArguments | Code::NoOverload)
            && error.helps.iter().all(|help| help.edits.is_empty());
        if is_labeled_otherwise {
            candidates.extend(self.relabeled(text, at.start));
        }
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
        let continues = |candidate: &Replacement, attempt: &Attempt| {
            attempt.is_further(candidate, error) && (!candidate.calls_operands() || attempt.is_beyond(candidate))
        };
        let mut further: Vec<_> =
            attempts.iter().filter(|(candidate, attempt)| continues(candidate, attempt)).collect();
        further.sort_by_key(|(candidate, attempt)| !attempt.is_beyond(candidate));
        for steps in MAX_STEPS {
            for (candidate, attempt) in &further {
                if let Some(last) = self.continued(search, attempt, steps - 1) {
                    return Some(explain(error, text, start, candidate, last, false));
                }
            }
        }
        // A keyword that is not allowed here is named, but no edit is offered.
        if let Some(found) = attempts.iter().find_map(|(candidate, attempt)| misplaced(candidate, attempt, text, start))
        {
            return Some(found);
        }
        // An edit that leaves unknown names or assignments to constants is not offered, but its sentence is reported.
        let is_unknown = |d: &Diagnostic| d.code == Code::UnknownName && d.message != error.message;
        let is_immutable = |d: &Diagnostic| d.code == Code::Immutable || is_unknown(d);
        let known = search.reported.iter().filter(|d| d.is_error()).count();
        let leaves_only = |is_left: &dyn Fn(&Diagnostic) -> bool| {
            attempts.iter().find(|(candidate, attempt)| {
                // A part of a split name is known if there are not more unknown names than before.
                let is_split = candidate.is_product_with_variable(text)
                    || candidate.is_split(text) && attempt.errors.len() <= known;
                let is_likely = !candidate.is_guess || is_split;
                is_likely && !attempt.errors.is_empty() && attempt.errors.iter().all(is_left)
            })
        };
        // The replacements before the sentence are more specific.
        let message = leaves_only(&is_unknown).and_then(|(candidate, attempt)| match candidate.removes_module() {
            true => Some((*candidate, sentence_of(attempt)?)),
            false => Some((*candidate, candidate.message.clone())),
        });
        let message = message.or(sentence.map(|candidate| (candidate, candidate.message.clone())));
        let message = message
            .or_else(|| leaves_only(&is_immutable).map(|(candidate, _)| (*candidate, candidate.message.clone())));
        message.map(|(candidate, message)| {
            let range = candidate.range.clone();
            let span = span_of(text, start, &range);
            let diagnostic = Diagnostic::error(error.code, span, message);
            Explanation { diagnostic, kind: candidate.kind, range, remaining: None }
        })
    }

    /// Whether the replaced code calls what the program declares, and not a function of another language.
    fn calls_declared(&self, candidate: &Replacement, error: &Diagnostic, text: &str) -> bool {
        let Some(name) = &candidate.function else { return false };
        let is_unknown = error.code == Code::UnknownName && self.sources.text(error.primary.span) == name;
        !is_unknown && (self.context.declares(name) || foreign::declares(text, name))
    }

    /// Replaces code at the first error that remains in the lines of a replacement, until no error remains there, in at
    /// most `steps` steps.
    fn continued(&mut self, search: &mut Search, attempt: &Attempt, steps: usize) -> Option<Attempt> {
        if steps == 0 || search.continued.get(&attempt.text).is_some_and(|tried| *tried >= steps) {
            return None;
        }
        search.continued.insert(attempt.text.clone(), steps);
        let error = attempt.errors.iter().find(|error| attempt.lines.contains(&error.primary.span.start))?;
        let scope = scope_of(error)?;
        let at = offsets(error.primary.span, attempt.start);
        let mut later = vec![];
        for candidate in foreign::replacements(&attempt.text, at, scope) {
            // A declaration with another meaning is only offered as the whole edit, and a value whose declaration has an
            // error seems to have every member.
            let is_whole = candidate.declares || candidate.is_mapped() && search.has_several_errors();
            let is_part = !is_whole && candidate.explains(&attempt.text, error);
            let Some(code) = candidate.code.as_ref().filter(|_| is_part) else { continue };
            let mut next = self.attempt(search, &attempt.text, &candidate.range, code)?;
            next.include(attempt);
            if next.is_clean(&candidate, search.reported) {
                return Some(next);
            }
            if !next.is_further(&candidate, error) {
                continue;
            }
            if !next.is_beyond(&candidate) {
                later.extend(Some(next).filter(|_| !candidate.calls_operands()));
            } else if let Some(last) = self.continued(search, &next, steps - 1) {
                return Some(last);
            }
        }
        later.iter().find_map(|next| self.continued(search, next, steps - 1))
    }

    /// Compiles the module with a replacement; returns nothing after too many attempts.
    fn attempt(&mut self, search: &mut Search, text: &str, range: &Range<usize>, code: &str) -> Option<Attempt> {
        search.attempts = search.attempts.checked_sub(1)?;
        if search.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return None;
        }
        let text = format!("{}{code}{}", &text[..range.start], &text[range.end..]);
        let (errors, start, is_checked) = self.compiled_again(search, &text)?;
        let (others, errors) = errors.into_iter().partition(|error| search.follows_from_others(error));
        let line = text[..range.start].rfind('\n').map_or(0, |n| n + 1);
        let end = range.start + code.len();
        let end = end + text[end..].find('\n').unwrap_or(text.len() - end);
        let lines = start + line as u32..=start + end as u32;
        let is_block = code.contains('\n');
        Some(Attempt { text, errors, others, start, lines, is_checked, is_block })
    }

    /// Compiles the module with another text of an input. Returns the errors, the offset of the text in the space of all
    /// sources, and whether types were checked.
    pub(super) fn compiled_again(&mut self, search: &Search, text: &str) -> Option<(Vec<Diagnostic>, u32, bool)> {
        let mut inputs = search.inputs.to_vec();
        inputs[search.input].text = text;
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
        Some((errors, start, is_checked))
    }
}

/// Returns the sentence about the first unknown name that remains after a replacement.
fn sentence_of(attempt: &Attempt) -> Option<String> {
    let error = attempt.errors.first().filter(|error| error.code == Code::UnknownName)?;
    let at = offsets(error.primary.span, attempt.start);
    let found = foreign::replacements(&attempt.text, at, Scope::Name);
    found
        .into_iter()
        .find(|candidate| candidate.code.is_none() && !candidate.is_guess)
        .map(|candidate| candidate.message)
}

/// Whether an error is about a number in the place of a function.
fn is_formula(error: &Diagnostic) -> bool {
    let message = error.message.as_str();
    match error.code {
        Code::Mismatch => {
            message.starts_with("cannot convert value of type 'Double' to expected type") && message.contains("->")
        }
        Code::NoOverload => message.contains("of types (") && message.contains("Double"),
        _ => false,
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
    Some(Explanation { diagnostic, kind: candidate.kind, range, remaining: None })
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
        _ => text_edit(text, &last.text, &first.range),
    };
    let shown = if is_one && stands_alone(&code) { code.as_str() } else { edited_lines(&last.text, text, &range) };
    let span = Span::new(start + range.start as u32, start + range.end as u32);
    let help = match shown.trim() {
        _ if code.trim().is_empty() => "remove it".to_owned(),
        shown if shown.lines().count() == 1 && shown.chars().count() <= 60 => format!("write '{shown}'"),
        _ => "write it as follows".to_owned(),
    };
    let place = span_of(text, start, &first.range);
    Explanation {
        diagnostic: Diagnostic::error(error.code, place, first.message.clone()).fix(help, span, code),
        kind: first.kind,
        range: first.range.start.min(range.start)..first.range.end.max(range.end),
        remaining: Some(last.errors.into_iter().chain(last.others).collect()),
    }
}
