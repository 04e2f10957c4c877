//! Calls in foreign code: the name of a call and its arguments.

use super::pattern::Code;
use super::token::{self, Kind};
use std::ops::Range;

/// The number of calls around a token that are considered, the innermost ones first.
const DEPTH: usize = 4;

/// An argument of a call: its label, and the tokens of its value.
#[derive(Clone, Debug)]
pub(super) struct Argument<'t> {
    pub label: Option<&'t str>,
    pub value: Range<usize>,
}

/// A call: the tokens of its name and its parentheses.
#[derive(Clone, Debug)]
pub(super) struct Call<'t> {
    pub name: usize,
    /// The token after the closing parenthesis.
    pub end: usize,
    pub arguments: Vec<Argument<'t>>,
}

/// A call as text, with its range in the text that contains it.
#[derive(Clone, Debug)]
pub(crate) struct WrittenCall {
    pub name: String,
    pub range: Range<usize>,
    /// The arguments in parentheses: their labels, followed by `:` or `=`, and their values.
    pub arguments: Vec<(Option<String>, String)>,
}

impl<'t> Code<'t> {
    /// Returns the call whose parenthesis opens at a token.
    pub(super) fn call(&self, open: usize) -> Option<Call<'t>> {
        let is_call = open > 0 && self.word(open) == Some("(") && self.adjacent(open) && self.is(open - 1, Kind::Word);
        let end = self.closed(open).filter(|_| is_call)?;
        Some(Call { name: open - 1, end, arguments: self.arguments(open + 1, end - 1) })
    }

    /// Returns the tokens of the brackets around a token, the innermost ones first.
    pub(super) fn brackets_around(&self, at: usize) -> impl Iterator<Item = usize> {
        let encloses = move |open: &usize| self.is(*open, Kind::Open) && self.closed(*open).is_some_and(|end| end > at);
        (0..at.min(self.tokens.len())).rev().filter(encloses)
    }

    /// Returns the call of the name at a token, and the calls around the token.
    pub(super) fn calls_around(&self, at: usize) -> Vec<Call<'t>> {
        let own = self.call(at + 1).into_iter();
        own.chain(self.brackets_around(at).filter_map(|open| self.call(open))).take(DEPTH).collect()
    }

    fn arguments(&self, from: usize, end: usize) -> Vec<Argument<'t>> {
        let mut found = vec![];
        let mut first = from;
        let mut at = from;
        while first < end {
            while at < end && self.word(at) != Some(",") {
                at = if self.is(at, Kind::Open) { self.closed(at).unwrap_or(end) } else { at + 1 };
            }
            let is_labeled = self.is(first, Kind::Word) && matches!(self.word(first + 1), Some(":" | "="));
            let label = is_labeled.then(|| token::text_of(self.text, self.tokens[first]));
            let value = if is_labeled { first + 2 } else { first };
            found.push(Argument { label, value: value.min(at)..at.min(end) });
            at += 1;
            first = at;
        }
        found
    }
}

/// Returns the calls of functions at an offset of a text and around it, the innermost ones first.
pub(crate) fn calls(text: &str, at: usize) -> Vec<WrittenCall> {
    let search = super::Search::at(text, at..at);
    let code = &search.code;
    let is_function = |call: &Call| !(call.name > 0 && code.word(call.name - 1) == Some("."));
    let written = |call: Call| WrittenCall {
        name: code.slice(call.name, call.name + 1).to_owned(),
        range: code.tokens[call.name].from..code.tokens[call.end - 1].to,
        arguments: call
            .arguments
            .iter()
            .map(|argument| {
                let value = code.slice(argument.value.start, argument.value.end).to_owned();
                (argument.label.map(str::to_owned), value)
            })
            .collect(),
    };
    code.calls_around(search.focus).into_iter().filter(is_function).map(written).collect()
}
