//! Elementwise formulas: a formula of numbers that contains arrays, `exp(-t) * cos(t)`, which other languages apply to the
//! elements of the arrays.

use super::token::Kind;
use super::{Replacement, ReplacementKind, Search};
use std::ops::Range;

const MESSAGE: &str = "a formula is applied to each element of an array by 'map'";
/// The maximum number of names that are tried as arrays.
const NAMES: usize = 4;

impl Search<'_> {
    /// Returns the formula at the error as a function that is applied to the elements of one or two arrays.
    pub(super) fn elementwise_formulas(&self) -> Vec<Replacement> {
        let mut found = vec![];
        for formula in self.formulas() {
            let range = self.code.tokens[formula.start].from..self.code.tokens[formula.end - 1].to;
            let written = &self.code.text[range.clone()];
            // The cross product of vectors is not elementwise.
            if written.contains('×') {
                continue;
            }
            let names = self.variables_of(&formula);
            let mut offer = |here: String| {
                let message = MESSAGE.to_owned();
                let kind = ReplacementKind::MappedFormula;
                let mapped = Replacement::certain(range.clone(), here);
                found.push(Replacement { message, kind, is_guess: true, ..mapped });
            };
            for name in &names {
                offer(format!("{name}.map {{ {name} in {written} }}"));
            }
            for (k, first) in names.iter().enumerate() {
                for second in &names[k + 1..] {
                    offer(format!("zip({first}, {second}).map {{ {first}, {second} in {written} }}"));
                }
            }
        }
        found
    }

    /// Returns the tokens of the formulas around the error: the argument of a call of a function that is not elementary, and
    /// the value of the statement.
    fn formulas(&self) -> Vec<Range<usize>> {
        let code = &self.code;
        let mut found = vec![];
        for call in code.calls_around(self.focus) {
            let name = code.word(call.name).unwrap_or_default();
            let is_elementary = super::word_classes::class("elementary").contains(&name);
            if is_elementary || code.word(call.name + 1) != Some("(") {
                continue;
            }
            let own = call.arguments.iter().find(|argument| argument.value.contains(&self.focus));
            found.extend(own.map(|argument| argument.value.clone()));
        }
        let Some(begin) = (0..=self.focus).rev().find(|at| code.begins_statement(*at)) else { return found };
        let end = code.line_end(begin);
        let sign = (begin..end).find(|at| code.word(*at) == Some("="));
        let value = match sign {
            Some(sign) => sign + 1,
            None if code.word(begin) == Some("return") => begin + 1,
            None => begin,
        };
        found.push(value..end);
        found.retain(|formula| formula.contains(&self.focus) && formula.len() > 1);
        found
    }

    /// Returns the names of values in a formula.
    fn variables_of(&self, formula: &Range<usize>) -> Vec<String> {
        let code = &self.code;
        let mut names: Vec<String> = vec![];
        for at in formula.clone() {
            let Some(word) = code.word(at).filter(|_| code.is(at, Kind::Word)) else { continue };
            let is_called = matches!(code.word(at + 1), Some("(" | "'")) && code.adjacent(at + 1);
            let is_member = at > 0 && code.word(at - 1) == Some(".");
            if !is_called && !is_member && !names.iter().any(|name| name == word) && names.len() < NAMES {
                names.push(word.to_owned());
            }
        }
        names
    }
}
