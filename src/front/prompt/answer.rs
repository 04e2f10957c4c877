//! Answers: parses `f at 1, 2` and displays diagnostics, for several commands of the prompt.

use crate::diagnostic::Diagnostic;
use crate::front::list_syntax::listed;
use crate::front::prompt::{Flow, Prompt};

/// Splits the text `f at 1, 2` into the function and the source texts of the arguments.
pub(super) fn at(rest: &str) -> Option<(&str, Vec<String>)> {
    let (function, arguments) = rest.rsplit_once(" at ")?;
    let arguments: Vec<String> = listed(arguments).iter().map(|argument| number(argument)).collect();
    (!function.trim().is_empty() && arguments.iter().all(|a| !a.is_empty())).then_some((function.trim(), arguments))
}

/// Converts an integer such as `2` to `2.0`, because integers are not differentiable.
fn number(argument: &str) -> String {
    if argument.parse::<i64>().is_ok() { format!("{argument}.0") } else { argument.to_owned() }
}

/// Writes diagnostics instead of the answer of a command.
pub(super) fn refuse(prompt: &mut Prompt, diagnostics: &[Diagnostic]) -> Flow {
    let text = prompt.render_style.text(diagnostics, &prompt.session);
    prompt.print_error(text.trim_end())
}
