//! Diagnostics: writes the diagnostics of a command.

use crate::diagnostic::Diagnostic;
use crate::front::prompt::{Flow, Prompt};

/// Writes diagnostics, and continues with the next input.
pub(super) fn print_diagnostics(prompt: &mut Prompt, diagnostics: &[Diagnostic]) -> Flow {
    let text = prompt.render_style.text(diagnostics, &prompt.session);
    prompt.print_error(text.trim_end())
}
