//! Regular expressions: their groups, and their matches in a string.

use crate::cancel;
use crate::native::library::context::{Failure, FailureKind, NativeContext, internal};
use crate::native::library::string::texts;
use crate::native::library::{NativeFunction, array};
use crate::value::{Cells, Ref};
use ::regex::{Error, Regex};
use hashbrown::HashMap;
use std::ops::Range;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] =
    &[NativeFunction { name: "regex.groups", call: groups }, NativeFunction { name: "regex.matches", call: matches }];

/// The maximum number of compiled expressions that are retained.
const MAX_KEPT: usize = 100;

/// The compiled regular expressions of a program.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    kept: HashMap<(Rc<str>, bool), Expression>,
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
enum Expression {
    /// One that is matched in linear time.
    Automaton(Regex),
    /// One with lookahead, lookbehind or backreferences, which is matched by backtracking.
    Backtracking(Rc<fancy_regex::Regex>),
}

impl Expression {
    fn new(pattern: &str) -> Result<Expression, Error> {
        match Regex::new(pattern) {
            Ok(regex) => Ok(Expression::Automaton(regex)),
            Err(error) if needs_backtracking(&error) => match fancy_regex::Regex::new(pattern) {
                Ok(regex) => Ok(Expression::Backtracking(Rc::new(regex))),
                Err(own) if error.to_string().contains("not supported") => Err(Error::Syntax(reason_of(&own))),
                Err(_) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the names of the groups, with an empty string for a group without a name.
    fn names(&self) -> Vec<String> {
        let name = |name: Option<&str>| name.unwrap_or("").to_owned();
        match self {
            Expression::Automaton(regex) => regex.capture_names().map(name).collect(),
            Expression::Backtracking(regex) => regex.capture_names().map(name).collect(),
        }
    }

    /// Returns the beginning and end of every group of every match, -1 for a group that did not participate.
    fn places(&self, text: &str, offset: usize, most: usize) -> Result<Vec<i64>, Failure> {
        let mut places = vec![];
        let mut add = |range: Option<Range<usize>>| {
            let place = range.map_or((-1, -1), |range| ((offset + range.start) as i64, (offset + range.end) as i64));
            places.extend([place.0, place.1]);
        };
        match self {
            Expression::Automaton(regex) => {
                for found in regex.captures_iter(text).take(most) {
                    cancel::check();
                    found.iter().for_each(|group| add(group.map(|group| group.range())));
                }
            }
            Expression::Backtracking(regex) => {
                for found in regex.captures_iter(text).take(most) {
                    cancel::check();
                    let message = "the regular expression takes too many steps in this string";
                    let found = found.map_err(|_| Failure::new(FailureKind::Precondition, message))?;
                    found.iter().for_each(|group| add(group.map(|group| group.range())));
                }
            }
        }
        Ok(places)
    }
}

impl Expressions {
    /// Returns a compiled expression, or the reason and the column of the error. `is_whole` states that the expression
    /// must match a whole string.
    fn compiled(&mut self, pattern: &str, is_whole: bool) -> Result<&Expression, (String, usize)> {
        let key = (Rc::from(pattern), is_whole);
        if self.kept.len() >= MAX_KEPT && !self.kept.contains_key(&key) {
            self.kept.clear();
        }
        match self.kept.entry(key) {
            hashbrown::hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            hashbrown::hash_map::Entry::Vacant(vacant) => {
                let compiled = if is_whole { compile_whole(pattern) } else { Expression::new(pattern) };
                Ok(vacant.insert(compiled.map_err(|error| place_of(&error))?))
            }
        }
    }
}

/// Returns the reason of an error, without its place, which is counted in bytes.
fn reason_of(error: &fancy_regex::Error) -> String {
    let text = error.to_string();
    text.rsplit(": ").next().unwrap_or(&text).to_lowercase()
}

/// Whether an expression has a part that an automaton cannot match: `(?=a)`, `\1`, `\k<name>`, `(?>a)`. Other errors are
/// errors of both libraries, of which the one of automata is stricter.
fn needs_backtracking(error: &Error) -> bool {
    const PARTS: &[&str] =
        &["look-around", "backreferences are not supported", "unrecognized flag", "unrecognized escape"];
    matches!(error, Error::Syntax(message) if PARTS.iter().any(|part| message.contains(part)))
}

fn compile_whole(pattern: &str) -> Result<Expression, Error> {
    // A comment at the end of an expression in verbose mode extends to a line break, which has no meaning there.
    Expression::new(&format!(r"\A(?:{pattern})\z")).or_else(|_| Expression::new(&format!("\\A(?:{pattern}\n)\\z")))
}

/// Returns the reason of a syntax error, and its column or 0. The library formats a syntax error as the pattern, a line
/// with carets, and the reason.
fn place_of(error: &Error) -> (String, usize) {
    let message = match error {
        Error::Syntax(message) => message.as_str(),
        Error::CompiledTooBig(_) => return ("the regular expression is too large".into(), 0),
        _ => return ("the regular expression is not supported".into(), 0),
    };
    let lines: Vec<&str> = message.lines().collect();
    let reason = lines.last().map_or(message, |last| last.strip_prefix("error: ").unwrap_or(last));
    // The pattern is indented by four columns.
    let caret = lines.iter().rev().find(|line| line.trim_start().starts_with('^') && line.trim_end().ends_with('^'));
    let column = caret.and_then(|line| line.find('^')).map_or(0, |at| at.saturating_sub(3));
    (reason.to_owned(), if message.contains("on line ") { 0 } else { column })
}

/// Returns the names of the groups, with an empty string for a group without a name; the first group is the whole
/// match.
fn groups(c: Call<'_, '_>) -> Result<(), Failure> {
    let pattern = c.text()?;
    let (names, failed) = match c.host.expressions.compiled(&pattern, false) {
        Ok(regex) => (regex.names(), vec![]),
        Err((reason, column)) => (vec![], vec![reason, column.to_string()]),
    };
    c.return_reference(texts(names))?;
    c.return_reference(texts(failed))
}

/// Returns the beginning and end of every group of every match between two string indices, in one array; -1 for a group
/// that did not participate.
fn matches(c: Call<'_, '_>) -> Result<(), Failure> {
    let (pattern, text) = (c.text()?, c.text()?);
    let (low, high, most, is_whole) = (c.integer(), c.integer(), c.integer(), c.integer() != 0);
    let inside = |n: i64| usize::try_from(n).ok().filter(|n| text.is_char_boundary(*n));
    let (Some(low), Some(high)) = (inside(low), inside(high)) else { return Err(internal()) };
    let most = usize::try_from(most).unwrap_or(0);
    let regex = c.host.expressions.compiled(&pattern, is_whole).map_err(|_| internal())?.clone();
    // The text around a substring does not belong to it.
    let found = regex.places(text.get(low..high).unwrap_or(""), low, most)?;
    array::affordable(c.host, found.len(), size_of::<i64>())?;
    c.return_reference(Ref::Cells(Rc::new(Cells::integers(found))))
}

/// Checks that a pattern is a regular expression.
///
/// # Errors
/// Fails if it is not one, with the reason, and the column of the error or 0.
pub fn check_pattern(pattern: &str) -> Result<(), (String, usize)> {
    Expression::new(pattern).map(drop).map_err(|error| place_of(&error))
}

/// Returns the ranges of the groups of all matches of a pattern, as `matches(of:)` finds them.
///
/// # Errors
/// Fails if the pattern is not a regular expression, with the reason and the column.
pub fn matches_of(pattern: &str, text: &str) -> Result<Vec<i64>, (String, usize)> {
    let mut expressions = Expressions::default();
    expressions.compiled(pattern, true)?;
    let places = expressions.compiled(pattern, false)?.places(text, 0, usize::MAX);
    places.map_err(|failure| (failure.message, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_place() {
        assert_eq!(matches_of(r"(\d+)(x)?", "é12x 3").unwrap(), [2, 5, 2, 4, 4, 5, 6, 7, 6, 7, -1, -1]);
        assert_eq!(matches_of("", "ab").unwrap(), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_whole_match_prefers_the_alternative_that_fits() {
        let mut expressions = Expressions::default();
        for (pattern, text, fits) in [
            ("a|ab", "ab", true),
            ("a", "ab", false),
            ("(?x) a b # both", "ab", true),
            ("(?i)É+", "éÉ", true),
            ("^a$", "a", true),
        ] {
            let found = expressions.compiled(pattern, true).unwrap().places(text, 0, 1).unwrap();
            assert_eq!(!found.is_empty(), fits, "{pattern}");
        }
    }

    #[test]
    fn an_error_has_a_column() {
        let error = |pattern: &str| Expressions::default().compiled(pattern, false).map(|_| ()).unwrap_err();
        assert_eq!(error("ab(c"), ("unclosed group".into(), 3));
        assert_eq!(error("[z-a]").1, 2);
        assert_eq!(error("a{1000}{1000}{1000}"), ("the regular expression is too large".into(), 0));
        assert_eq!(error("a\n(").1, 0);
    }

    #[test]
    fn old_expressions_are_dropped() {
        let mut expressions = Expressions::default();
        for n in 0..3 * MAX_KEPT {
            assert!(expressions.compiled(&format!("a{n}"), false).is_ok());
            assert!(expressions.kept.len() <= MAX_KEPT);
        }
    }
}
