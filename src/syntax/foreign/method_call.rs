//! Method calls: a call of an unknown function as a call of a method of one of its arguments, `filter(xs, …)`.

use super::call::Argument;
use super::pattern::is_operand;
use super::{Replacement, Search, generic};

impl Search<'_> {
    /// Returns the calls of methods that a call of an unknown function could mean. The receiver is the first or the last
    /// argument.
    pub(super) fn method_calls(&self) -> Vec<Replacement> {
        let is_member = self.focus > 0 && self.code.word(self.focus - 1) == Some(".");
        let Some(call) = self.code.call(self.focus + 1).filter(|_| !is_member) else { return vec![] };
        let code = &self.code;
        let Some(name) = code.word(call.name) else { return vec![] };
        let range = code.tokens[call.name].from..code.tokens[call.end - 1].to;
        let foreign = &code.text[range.clone()];
        let mut found = vec![];
        let mut offer = |here: String| {
            let message = generic(foreign, &here);
            // Only type checking shows whether there is such a method.
            found.push(Replacement { message, is_guess: true, ..Replacement::certain(range.clone(), here) });
        };
        let receiver = |argument: &Argument| {
            let written = code.slice(argument.value.start, argument.value.end);
            let is_closure = written.starts_with('{');
            (argument.label.is_none() && !written.is_empty() && !is_closure).then(|| match is_operand(written) {
                true => written.to_owned(),
                false => format!("({written})"),
            })
        };
        if let [only] = call.arguments.as_slice()
            && let Some(receiver) = receiver(only)
        {
            offer(format!("{receiver}.{name}()"));
            offer(format!("{receiver}.{name}"));
        }
        if let [first, rest @ ..] = call.arguments.as_slice()
            && let (Some(receiver), false) = (receiver(first), rest.is_empty())
        {
            offer(format!("{receiver}.{name}{}", self.argument_list(rest)));
        }
        if let [rest @ .., last] = call.arguments.as_slice()
            && let (Some(receiver), false) = (receiver(last), rest.is_empty())
        {
            offer(format!("{receiver}.{name}{}", self.argument_list(rest)));
        }
        found
    }

    /// Writes the arguments of a call; a closure at the end follows the parentheses.
    fn argument_list(&self, arguments: &[Argument]) -> String {
        let written = |argument: &Argument| {
            let value = self.code.slice(argument.value.start, argument.value.end);
            argument.label.map_or(value.to_owned(), |label| format!("{label}: {value}"))
        };
        let mut written: Vec<String> = arguments.iter().map(written).collect();
        let closure = written.pop_if(|last| last.starts_with('{'));
        let list = if written.is_empty() { String::new() } else { format!("({})", written.join(", ")) };
        match closure {
            Some(closure) => format!("{list} {closure}"),
            None => list,
        }
    }
}
