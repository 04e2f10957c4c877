//! How diagnostics look.

use crate::diagnostic::{Diagnostic, Form, render};
use crate::session::Session;

/// The form of diagnostics, whether they are coloured, and how many columns they may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) form: Form,
    pub(super) is_colored: bool,
    pub(super) width: usize,
}

impl Manner {
    /// Diagnostics about texts of a session, as text.
    pub(super) fn text(&self, diagnostics: &[Diagnostic], session: &Session) -> String {
        if diagnostics.is_empty() {
            return String::new();
        }
        render(diagnostics, session.sources(), self.form, self.is_colored, self.width)
    }
}
