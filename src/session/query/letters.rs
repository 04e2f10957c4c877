//! Letters: the names of one or two characters in an expression that are not declared, such as `a` and `t` in `a * t^2`. They are the
//! variable and the constants of a formula.

use crate::diagnostic::{Code, Diagnostic};
use crate::session::Session;
use crate::syntax::variable_words;
use crate::types::declare::interactive_session::is_declared;

/// The largest number of characters of a name that is taken as a letter of a formula, such as `k1`.
const MAX_CHARACTERS: usize = 2;

/// The variable of an expression, where it has one of this name.
const USUAL: &str = "x";

impl Session {
    /// Returns the letters of an expression in alphabetical order.
    fn letters<'t>(&self, expression: &'t str) -> Vec<&'t str> {
        let mut letters = variable_words(expression);
        letters.retain(|word| word.chars().count() <= MAX_CHARACTERS && !is_declared(&self.context, word));
        letters.sort_unstable();
        letters.dedup();
        letters
    }

    /// Returns the variable of an expression: `x`, or the only letter of an expression without `x`. There is none if several letters may
    /// be the variable.
    pub(crate) fn variable<'t>(&self, expression: &'t str) -> Option<&'t str> {
        if variable_words(expression).contains(&USUAL) {
            return Some(USUAL);
        }
        match self.letters(expression)[..] {
            [] => Some(USUAL),
            // A name alone is that of a function.
            [letter] => Some(if letter == expression { USUAL } else { letter }),
            _ => None,
        }
    }

    /// Returns the letters of a closure that are not its parameters.
    pub(crate) fn constants<'t>(&self, closure: &'t str) -> Vec<&'t str> {
        let inside = closure.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some((parameters, body)) = inside.and_then(|inside| inside.split_once(" in ")) else { return vec![] };
        let is_parameter = |letter: &&str| parameters.split(|c: char| !c.is_alphanumeric()).any(|word| word == *letter);
        let mut letters = self.letters(body);
        letters.retain(|letter| !is_parameter(letter));
        letters
    }

    /// Returns an error that states how the variable of an expression with several letters is chosen.
    pub(crate) fn choice_of_variable(&mut self, command: &str, expression: &str) -> Option<Vec<Diagnostic>> {
        if self.variable(expression).is_some() {
            return None;
        }
        let letters = self.letters(expression);
        let (names, last) = (letters.join(", "), letters.last()?);
        let message = format!("the variable may be any of {names}: write '{command} {{ {last} in {expression} }}'");
        Some(self.input_error("‹input›", expression, expression, message))
    }

    /// Adds to the errors about the letters of an expression that they need values.
    pub(crate) fn with_values(&self, errors: Vec<Diagnostic>, expression: &str) -> Vec<Diagnostic> {
        let mut letters = self.letters(expression);
        // A name alone is that of a function.
        letters.retain(|letter| *letter != expression);
        let advised = |error: Diagnostic| {
            let is_about = |letter: &&&str| error.message.contains(&format!("'{letter}'"));
            let is_unexplained = error.code == Code::UnknownName && error.helps.is_empty();
            match letters.iter().find(is_about).filter(|_| is_unexplained) {
                Some(letter) => error.help(format!("give it a value first: 'let {letter} = 2.0'")),
                None => error,
            }
        };
        errors.into_iter().map(advised).collect()
    }
}
