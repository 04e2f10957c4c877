//! Saved inputs: the successful inputs of a session as a program. A value to which a later input refers by `ans` gets a
//! name.

use crate::session::{Class, DisplayItem, Session};

/// The variable that holds the last value.
const ANSWER: &str = "ans";

/// The successful inputs of a session.
#[derive(Default)]
pub(super) struct SavedInputs {
    inputs: Vec<String>,
    /// The input that computed the last value, and the name of this value in the program, if any.
    answer: Option<(usize, Option<String>)>,
    /// The number of named values.
    named: usize,
}

impl SavedInputs {
    /// Adds an input with the items that it displayed. `refers_to_answer` states that `ans` denotes the last value and
    /// is not a variable of the program.
    pub(super) fn add(&mut self, input: &str, shown: &[DisplayItem], refers_to_answer: bool) {
        let mut text = with_declarations(input, shown);
        let positions = if refers_to_answer { words(&text, ANSWER) } else { vec![] };
        let has_value = shown.iter().any(|item| item.name.is_none() && item.value.is_some());
        if let Some(name) = (!positions.is_empty()).then(|| self.name_of_answer()).flatten() {
            for at in positions.into_iter().rev() {
                text.replace_range(at..at + ANSWER.len(), &name);
            }
        }
        self.inputs.push(text);
        if has_value {
            self.answer = Some((self.inputs.len() - 1, None));
        }
    }

    /// Returns the name of the last value; the input that computed the value becomes a declaration of this name.
    fn name_of_answer(&mut self) -> Option<String> {
        let (input, name) = self.answer.as_mut()?;
        if name.is_none() {
            self.named += 1;
            let new = format!("answer{}", self.named);
            let text = self.inputs.get_mut(*input)?;
            // The value of an input is the value of its last statement.
            let at = text.rfind([';', '\n']).map_or(0, |at| at + 1);
            let at = at + (text[at..].len() - text[at..].trim_start().len());
            text.insert_str(at, &format!("let {new} = "));
            *name = Some(new);
        }
        name.clone()
    }

    /// Returns the number of inputs.
    pub(super) fn count(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the saved inputs as a program.
    pub(super) fn program(&self) -> String {
        self.inputs.iter().map(|input| format!("{input}\n")).collect()
    }
}

/// Converts the assignments that declared variables to declarations.
fn with_declarations(input: &str, shown: &[DisplayItem]) -> String {
    let mut text = input.to_owned();
    for name in shown.iter().filter_map(|item| item.name.as_deref()) {
        let is_assigned = |at: &usize| {
            let before = text[..*at].trim_end_matches([' ', '\t']);
            let after = text[at + name.len()..].trim_start();
            (before.is_empty() || before.ends_with([';', '\n'])) && after.starts_with('=') && !after.starts_with("==")
        };
        if let Some(at) = words(&text, name).into_iter().find(is_assigned) {
            text.insert_str(at, "var ");
        }
    }
    text
}

/// Returns the offsets of a word in a program, outside strings and comments.
fn words(text: &str, word: &str) -> Vec<usize> {
    let hidden = Session::highlight(text);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let is_word = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + word.len()..]);
        let is_inside =
            hidden.iter().any(|(range, class)| matches!(class, Class::Text | Class::Comment) && range.contains(at));
        !before.ends_with(is_part) && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !is_inside
    };
    text.match_indices(word).map(|(at, _)| at).filter(is_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_referred_to_get_names() {
        let mut inputs = SavedInputs::default();
        let item = |name: Option<&str>| DisplayItem {
            name: name.map(str::to_owned),
            ty: "Int".to_owned(),
            value: Some("1".to_owned()),
        };
        inputs.add("6 * 7", &[item(None)], true);
        inputs.add("ans + 1", &[item(None)], true);
        inputs.add("let a = ans + ans", &[item(Some("a"))], true);
        inputs.add("b = a; b", &[item(Some("b")), item(None)], true);
        inputs.add("print(\"ans\", answers)", &[], true);
        assert_eq!(
            inputs.program(),
            "let answer1 = 6 * 7\nlet answer2 = answer1 + 1\nlet a = answer2 + answer2\nvar b = a; b\nprint(\"ans\", answers)\n"
        );
    }
}
