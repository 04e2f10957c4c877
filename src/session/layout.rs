//! Texts in the one style.

use super::{Input, Session};
use crate::diagnostic::Diagnostic;
use crate::syntax;

impl Session {
    /// A text in the one style; what is wrong with it instead.
    pub fn formatted(&mut self, input: Input) -> Result<String, Vec<Diagnostic>> {
        let Some(id) = self.sources.add(input.name, input.text.to_owned(), false) else {
            return Err(vec![super::pipeline::no_room()]);
        };
        syntax::formatted(input.text, self.sources.get(id).start)
    }
}
