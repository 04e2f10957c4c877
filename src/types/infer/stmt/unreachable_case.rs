//! Unreachable cases: cases of a `switch` all of whose values are matched by preceding cases.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::stmt::exhaustiveness::{LIMIT, LimitExceeded, distinguishes, is_any, narrow};
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Case, Pattern, PatternKind};
use hashbrown::HashMap;
use std::rc::Rc;

/// The key of a pattern of a `switch` in the index: an enum case, or a literal.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Case(u32),
    Literal(Rc<str>),
}

/// The preceding patterns of a `switch`, indexed by key, so that a `switch` of thousands of cases does not compare all
/// pairs.
#[derive(Default)]
struct Rows<'p> {
    all: Vec<&'p Pattern>,
    by_key: HashMap<Key, Vec<usize>>,
    /// The indices of the patterns that may match values with any key.
    open: Vec<usize>,
}

impl<'p> Rows<'p> {
    fn push(&mut self, key: Option<Key>, pattern: &'p Pattern) {
        let number = self.all.len();
        self.all.push(pattern);
        match key {
            Some(key) => self.by_key.entry(key).or_default().push(number),
            None => self.open.push(number),
        }
    }

    fn all(&self) -> Vec<Vec<&'p Pattern>> {
        self.all.iter().map(|pattern| vec![*pattern]).collect()
    }

    /// Returns the patterns that may match values of a pattern with the given key, in order.
    fn about(&self, key: Option<&Key>) -> Vec<Vec<&'p Pattern>> {
        let Some(key) = key else { return self.all() };
        let mut numbers = self.by_key.get(key).cloned().unwrap_or_default();
        numbers.extend(&self.open);
        numbers.sort_unstable();
        numbers.into_iter().map(|number| vec![self.all[number]]).collect()
    }
}

impl Infer<'_> {
    /// Warns about cases of a `switch` that no value reaches.
    pub(crate) fn warn_of_unreached_cases(&mut self, ty: &Type, cases: &[Case]) {
        if self.file == PRELUDE_FILE || self.is_unwritten() || *ty == Type::Error || self.failed {
            return;
        }
        let ty = unification::shallow(self.cx, ty);
        let mut rows = Rows::default();
        let mut is_led_to = false;
        for case in cases {
            let wildcard = Pattern { kind: PatternKind::Wildcard, ty: Type::Error, span: case.span };
            if case.patterns.is_empty() && !is_led_to && self.is_unreached(&rows.all(), &wildcard, &ty) {
                let keyword = Span::new(case.span.start, case.span.start + "default".len() as u32);
                self.cx.sink.report(Diagnostic::warning(Code::Unreachable, keyword, "default will never be executed"));
            }
            for (pattern, guard) in &case.patterns {
                let key = self.key(pattern);
                let before = rows.about(key.as_ref());
                if !is_led_to && self.is_unreached(&before, pattern, &ty) {
                    let diagnostic = self.unreached(&before, pattern);
                    self.cx.sink.report(diagnostic);
                }
                if guard.is_none() {
                    rows.push(key, pattern);
                }
            }
            is_led_to = case.falls_through;
        }
    }

    /// Returns the key of a pattern; `None` for a pattern that matches values with several keys.
    fn key(&self, pattern: &Pattern) -> Option<Key> {
        match &pattern.kind {
            PatternKind::Case { case, .. } => Some(Key::Case(*case)),
            PatternKind::Test { .. } => Some(self.cx.sink.source_text(pattern.span))
                .filter(|text| is_literal(text))
                .map(|text| Key::Literal(text.into())),
            _ => None,
        }
    }

    /// Creates the warning for a pattern whose values are all matched by preceding patterns.
    fn unreached(&mut self, rows: &[Vec<&Pattern>], pattern: &Pattern) -> Diagnostic {
        let warning = |message| Diagnostic::warning(Code::Unreachable, pattern.span, message);
        if let Some(all) = rows.iter().find(|row| takes_all(row[0])) {
            return warning("case will never be executed").also(all[0].span, "matches every value");
        }
        match rows.iter().find(|row| self.is_same_literal(row[0], pattern)) {
            Some(same) => warning("literal value is already handled by previous pattern; consider removing it")
                .also(same[0].span, "handled here"),
            None => warning("case is already handled by previous patterns; consider removing it"),
        }
    }

    fn is_unreached(&mut self, rows: &[Vec<&Pattern>], pattern: &Pattern, ty: &Type) -> bool {
        let mut budget = LIMIT;
        let reached = self.takes_more(rows, &[pattern], std::slice::from_ref(ty), &mut budget);
        matches!(reached, Ok(false))
    }

    /// Whether a row of patterns matches a combination of values that none of the other rows matches.
    fn takes_more(
        &mut self,
        rows: &[Vec<&Pattern>],
        row: &[&Pattern],
        types: &[Type],
        budget: &mut usize,
    ) -> Result<bool, LimitExceeded> {
        let (Some((first, others)), Some((ty, rest))) = (row.split_first(), types.split_first()) else {
            return Ok(rows.is_empty());
        };
        if rows.is_empty() {
            return Ok(true);
        }
        *budget = budget.checked_sub(1).ok_or(LimitExceeded)?;
        let splits = distinguishes(first) || is_any(first) && rows.iter().any(|row| distinguishes(row[0]));
        if !splits {
            let mut narrowed: Vec<Vec<&Pattern>> = vec![];
            for row in rows {
                if is_any(row[0]) || self.is_same_literal(row[0], first) {
                    narrowed.push(row[1..].to_vec());
                }
            }
            return self.takes_more(&narrowed, others, rest, budget);
        }
        let ty = unification::shallow(self.cx, ty);
        for made in self.constructors(&ty) {
            let Some(own) = narrow(first, &made.constructor, made.parts.len()) else { continue };
            let own: Vec<&Pattern> = own.into_iter().chain(others.iter().copied()).collect();
            let mut narrowed: Vec<Vec<&Pattern>> = vec![];
            for row in rows {
                if let Some(parts) = narrow(row[0], &made.constructor, made.parts.len()) {
                    narrowed.push(parts.into_iter().chain(row[1..].iter().copied()).collect());
                }
            }
            let all: Vec<Type> = made.parts.iter().chain(rest).cloned().collect();
            if self.takes_more(&narrowed, &own, &all, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the source texts of two patterns are equal number or string literals.
    fn is_same_literal(&mut self, a: &Pattern, b: &Pattern) -> bool {
        let is_test = |p: &Pattern| matches!(p.kind, PatternKind::Test { .. });
        if !is_test(a) || !is_test(b) {
            return false;
        }
        let (a, b) = (self.cx.sink.source_text(a.span), self.cx.sink.source_text(b.span));
        a == b && is_literal(&a)
    }
}

/// Whether a source text is one number, or one string without escapes and interpolations.
fn is_literal(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
        && !number.contains("..");
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    is_number || inside.is_some_and(|inside| !inside.contains(['"', '\\']))
}

/// Whether a pattern matches every value, possibly binding names.
fn takes_all(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Tuple(parts) => parts.iter().all(takes_all),
        _ => is_any(pattern),
    }
}
