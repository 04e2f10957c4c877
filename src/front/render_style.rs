//! Render style: stores the form, the color and the width of diagnostics.

use crate::diagnostic::{Diagnostic, Form, render};
use crate::session::Session;

/// The style of diagnostics: their form, whether they are colored, and how many columns they may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderStyle {
    pub(crate) form: Form,
    pub(crate) is_colored: bool,
    pub(crate) width: usize,
    /// Whether messages are wrapped to the width.
    pub(crate) wraps: bool,
}

impl RenderStyle {
    /// Renders diagnostics of a session as text.
    pub(crate) fn text(&self, diagnostics: &[Diagnostic], session: &Session) -> String {
        if diagnostics.is_empty() {
            return String::new();
        }
        render(diagnostics, session.sources(), self.form, self.is_colored, self.width, self.wraps)
    }
}
