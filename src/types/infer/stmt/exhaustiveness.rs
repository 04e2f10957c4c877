//! Exhaustiveness of `switch`: whether the cases match every value, and which cases are missing.
//!
//! The patterns are the rows of a matrix whose columns are the parts of the value. A column is split by the
//! constructors of its type only if some row distinguishes them, so the cost depends on the patterns and not on the
//! type.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::declaration_info::{Builtin, NominalKind};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Argument, Case, Expr, ExprKind, Pattern, PatternKind};
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use hashbrown::HashMap;

/// The maximum number of matrices for one `switch`. The number of matrices may grow exponentially with the number of
/// independent parts.
pub(crate) const LIMIT: usize = 20_000;

/// The maximum number of missing cases that a message lists.
const LISTED: usize = 8;

/// The error that the search for missing cases exceeded its limit.
pub(crate) struct LimitExceeded;

/// A combination of values that no case matches, written as patterns.
type Witness = Vec<String>;

impl Infer<'_> {
    /// Reports a `switch` that does not match every value.
    pub(crate) fn check_exhaustive(&mut self, ty: &Type, cases: &[Case], span: Span) {
        let plain = cases.iter().flat_map(|c| c.patterns.iter()).filter(|(_, guard)| guard.is_none());
        let rows: Vec<Vec<&Pattern>> = plain.map(|(pattern, _)| vec![pattern]).collect();
        if cases.iter().any(|c| c.patterns.is_empty()) || *ty == Type::Error {
            return;
        }
        let diagnostic = match self.all_missing(&rows, ty) {
            Ok(missing) if missing.is_empty() => return,
            Ok(missing) => {
                let diagnostic = Diagnostic::error(Code::NotExhaustive, span, "switch must be exhaustive");
                if missing.iter().any(|case| case == "_") {
                    diagnostic.help("add a 'default' clause")
                } else {
                    diagnostic.note(named(&missing))
                }
            }
            Err(LimitExceeded) => {
                let message = "cannot determine in reasonable time whether this switch is exhaustive";
                Diagnostic::error(Code::NotExhaustive, span, message).help("add a 'default' clause")
            }
        };
        self.error(diagnostic);
    }

    /// Returns for each constructor of a type an example that no row matches, if any.
    fn all_missing(&mut self, rows: &[Vec<&Pattern>], ty: &Type) -> Result<Vec<String>, LimitExceeded> {
        let ty = unification::shallow(self.cx, ty);
        if self.is_uninhabited(&ty) {
            return Ok(vec![]);
        }
        let mut budget = LIMIT;
        let sorted = Rows::of(rows);
        let mut found = vec![];
        for constructor in self.constructors(&ty) {
            let witness = self.missing_with(&sorted, &constructor, &[], &mut budget)?;
            found.extend(witness.and_then(|parts| parts.into_iter().next()));
        }
        Ok(found)
    }

    /// Returns a combination of values that no row of patterns matches, if any.
    fn missing(
        &mut self,
        rows: &[Vec<&Pattern>],
        types: &[Type],
        budget: &mut usize,
    ) -> Result<Option<Witness>, LimitExceeded> {
        if types.iter().any(|ty| self.is_uninhabited(ty)) {
            return Ok(None);
        }
        if rows.is_empty() {
            return Ok(Some(vec!["_".into(); types.len()]));
        }
        let Some((first, rest)) = types.split_first() else {
            return Ok(None);
        };
        *budget = budget.checked_sub(1).ok_or(LimitExceeded)?;
        if !rows.iter().any(|row| distinguishes(row[0])) {
            let narrowed: Vec<Vec<&Pattern>> =
                rows.iter().filter(|row| is_any(row[0])).map(|row| row[1..].to_vec()).collect();
            let missing = self.missing(&narrowed, rest, budget)?;
            return Ok(missing.map(|others| std::iter::once("_".into()).chain(others).collect()));
        }
        let ty = unification::shallow(self.cx, first);
        let sorted = Rows::of(rows);
        for constructor in self.constructors(&ty) {
            let missing = self.missing_with(&sorted, &constructor, rest, budget)?;
            if missing.is_some() {
                return Ok(missing);
            }
        }
        Ok(None)
    }

    /// Returns a combination of values that no row of patterns matches, like `missing`, among the combinations whose
    /// first value has the given constructor.
    fn missing_with(
        &mut self,
        rows: &Rows<'_, '_>,
        made: &ConstructorInfo,
        rest: &[Type],
        budget: &mut usize,
    ) -> Result<Option<Witness>, LimitExceeded> {
        let mut narrowed: Vec<Vec<&Pattern>> = vec![];
        for row in rows.for_constructor(&made.constructor) {
            if let Some(sub) = narrow(row[0], &made.constructor, made.parts.len()) {
                narrowed.push(sub.into_iter().chain(row[1..].iter().copied()).collect());
            }
        }
        let all: Vec<Type> = made.parts.iter().chain(rest).cloned().collect();
        let Some(mut own) = self.missing(&narrowed, &all, budget)? else {
            return Ok(None);
        };
        let others = own.split_off(made.parts.len());
        Ok(Some(std::iter::once(made.written(&own)).chain(others).collect()))
    }

    /// Whether a type has no values: `Never`, an enum without cases, and a tuple with such a part.
    fn is_uninhabited(&mut self, ty: &Type) -> bool {
        match unification::shallow(self.cx, ty) {
            Type::Never => true,
            Type::Tuple(parts) => parts.iter().any(|(_, part)| self.is_uninhabited(part)),
            Type::Nominal(n, _) => {
                let data = self.cx.defs.nominal_data(n);
                data.kind == NominalKind::Enum && data.builtin.is_none() && data.cases.is_empty()
            }
            _ => false,
        }
    }

    /// Returns the constructors of a type, such as the cases of an enum.
    pub(crate) fn constructors(&mut self, ty: &Type) -> Vec<ConstructorInfo> {
        if let Some(payload) = name_lookup::optional_payload(self.cx, ty) {
            return vec![
                ConstructorInfo::new(".none", Constructor::Nil, vec![]),
                ConstructorInfo::new(".some", Constructor::Some, vec![payload]),
            ];
        }
        match ty {
            Type::Tuple(parts) => {
                vec![ConstructorInfo::new("", Constructor::Tuple, parts.iter().map(|(_, t)| t.clone()).collect())]
            }
            Type::Nominal(n, args) if !self.cx.defs.nominal_data(*n).cases.is_empty() => {
                let args = args.clone();
                (0..self.cx.defs.nominal_data(*n).cases.len() as u32)
                    .map(|case| {
                        let payload = stored_property::case_payload(self.cx, *n, case);
                        let payload = payload
                            .iter()
                            .map(|(_, t)| conformances::substitute_nominal(self.cx, *n, &args, t))
                            .collect();
                        let name = format!(".{}", self.cx.defs.nominal_data(*n).cases[case as usize].name);
                        ConstructorInfo::new(&name, Constructor::Case(case), payload)
                    })
                    .collect()
            }
            Type::Nominal(n, _) if self.cx.defs.nominal_data(*n).builtin == Some(Builtin::Bool) => {
                vec![
                    ConstructorInfo::new("true", Constructor::Bool(true), vec![]),
                    ConstructorInfo::new("false", Constructor::Bool(false), vec![]),
                ]
            }
            _ => vec![ConstructorInfo::new("", Constructor::Other, vec![])],
        }
    }
}

/// A constructor of a type, such as a case of an enum.
pub(crate) struct ConstructorInfo {
    /// The name of the constructor in a pattern; empty for a tuple.
    name: String,
    /// The constructor with which patterns are compared.
    pub(crate) constructor: Constructor,
    /// The types of the constructor's parts.
    pub(crate) parts: Vec<Type>,
}

impl ConstructorInfo {
    fn new(name: &str, constructor: Constructor, parts: Vec<Type>) -> ConstructorInfo {
        ConstructorInfo { name: name.into(), constructor, parts }
    }

    /// Returns the source text of a pattern for the constructor, given the texts for its parts.
    fn written(&self, parts: &[String]) -> String {
        let is_whole = parts.iter().all(|part| part == "_");
        match self.constructor {
            Constructor::Other => "_".into(),
            _ if parts.is_empty() && !self.name.is_empty() => self.name.clone(),
            Constructor::Tuple if is_whole => "_".into(),
            _ if is_whole => format!("{}(_)", self.name),
            _ => format!("{}({})", self.name, parts.join(", ")),
        }
    }
}

/// Returns the note that lists the missing cases.
fn named(missing: &[String]) -> String {
    let listed: Vec<String> = missing.iter().take(LISTED).map(|case| format!("'{case}'")).collect();
    match missing.len() {
        1 => format!("add missing case: {}", listed[0]),
        n if n <= LISTED => format!("add missing cases: {}", listed.join(", ")),
        n => format!("add missing cases: {} and {} more", listed.join(", "), n - LISTED),
    }
}

/// Whether a pattern matches every value.
pub(crate) fn is_any(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Wildcard | PatternKind::Bind(_))
}

/// Returns the Boolean that a pattern of type `Bool` matches.
fn tested_bool(pattern: &Pattern) -> Option<bool> {
    let PatternKind::Test { test, .. } = &pattern.kind else {
        return None;
    };
    let ExprKind::Call { args, .. } = &test.kind else {
        return None;
    };
    args.iter().find_map(|argument| match argument {
        Argument::Value(Expr { kind: ExprKind::Bool(value), .. }) => Some(*value),
        _ => None,
    })
}

/// Whether the values that a pattern matches depend on their constructors.
pub(crate) fn distinguishes(pattern: &Pattern) -> bool {
    match pattern.kind {
        PatternKind::Tuple(_) | PatternKind::Case { .. } | PatternKind::Some(_) | PatternKind::Nil => true,
        PatternKind::Test { .. } => tested_bool(pattern).is_some(),
        PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Is { .. } => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constructor {
    Nil,
    Some,
    Tuple,
    Case(u32),
    Bool(bool),
    Other,
}

/// Rows of patterns, indexed by the enum case that the first pattern of a row matches, so that the analysis of each
/// case of a large enum visits only the relevant rows.
struct Rows<'r, 'p> {
    of_case: HashMap<u32, Vec<&'r Vec<&'p Pattern>>>,
    others: Vec<&'r Vec<&'p Pattern>>,
}

impl<'r, 'p> Rows<'r, 'p> {
    fn of(rows: &'r [Vec<&'p Pattern>]) -> Rows<'r, 'p> {
        let mut found = Rows { of_case: HashMap::new(), others: vec![] };
        for row in rows {
            match row[0].kind {
                PatternKind::Case { case, .. } => found.of_case.entry(case).or_default().push(row),
                _ => found.others.push(row),
            }
        }
        found
    }

    /// Returns the rows of patterns that may match a value with the given constructor.
    fn for_constructor(&self, constructor: &Constructor) -> impl Iterator<Item = &'r Vec<&'p Pattern>> {
        let of_case = match constructor {
            Constructor::Case(case) => self.of_case.get(case),
            _ => None,
        };
        of_case.into_iter().flatten().chain(&self.others).copied()
    }
}

/// Returns the patterns for the parts of a value, if the pattern can match the constructor.
pub(crate) fn narrow<'p>(p: &'p Pattern, constructor: &Constructor, parts: usize) -> Option<Vec<&'p Pattern>> {
    const ANY: &Pattern = &Pattern { kind: PatternKind::Wildcard, ty: Type::Error, span: Span { start: 0, end: 0 } };
    match (&p.kind, constructor) {
        (PatternKind::Wildcard | PatternKind::Bind(_), _) => Some(vec![ANY; parts]),
        (PatternKind::Nil, Constructor::Nil) => Some(vec![]),
        (PatternKind::Some(inner), Constructor::Some) => Some(vec![inner]),
        (PatternKind::Tuple(inner), Constructor::Tuple) => Some(inner.iter().collect()),
        (PatternKind::Case { case, payload }, Constructor::Case(c)) if case == c => {
            let mut out: Vec<&Pattern> = payload.iter().collect();
            out.resize(parts, ANY);
            Some(out)
        }
        (PatternKind::Test { .. }, Constructor::Bool(value)) if tested_bool(p) == Some(*value) => Some(vec![]),
        _ => None,
    }
}
