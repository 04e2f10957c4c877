//! Answers: display of diagnostics, for several commands of the prompt.

use crate::diagnostic::Diagnostic;
use crate::front::prompt::{Flow, Prompt};

/// Writes diagnostics instead of an answer.
pub(super) fn refuse(prompt: &mut Prompt, diagnostics: &[Diagnostic]) -> Flow {
    let text = prompt.render_style.text(diagnostics, &prompt.session);
    prompt.print_error(text.trim_end())
}
