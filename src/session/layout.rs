//! Texts in the one style.

use super::{Input, Session};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax;

impl Session {
    /// A text in the one style; what is wrong with it instead.
    pub fn formatted(&mut self, input: Input) -> Result<String, Vec<Diagnostic>> {
        let Some(id) = self.sources.add(input.name, input.text.to_owned(), false) else {
            let message = "the texts of this session are larger than 4 GiB";
            return Err(vec![Diagnostic::error(Code::Input, Span::default(), message)]);
        };
        syntax::formatted(input.text, self.sources.get(id).start)
    }
}
