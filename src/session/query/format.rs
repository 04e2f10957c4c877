//! Formatting: formats the text of a program.

use crate::session::compile::{no_room, rejected};
use crate::session::{Input, Outcome, Session};
use crate::syntax;

impl Session {
    /// A text in the one style; an outcome instead when something is wrong with it, or when the work is interrupted.
    pub fn formatted(&mut self, input: Input) -> Result<String, Outcome> {
        let Some(id) = self.sources.add(input.name, input.text.to_owned(), false) else {
            return Err(rejected(vec![no_room()]));
        };
        let start = self.sources.get(id).start;
        self.stoppable("formatting", |_| syntax::formatted(input.text, start).map_err(rejected))
    }
}
