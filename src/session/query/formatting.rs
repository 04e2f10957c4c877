//! Formatting: formats the text of a program in the standard style.

use crate::session::compile::{no_room, rejected};
use crate::session::{Input, Outcome, Session};
use crate::syntax;

impl Session {
    /// Formats a text; returns an outcome when it has errors, or the work is interrupted.
    pub fn formatted(&mut self, input: Input) -> Result<String, Outcome> {
        let Some(id) = self.sources.add(input.name, input.text.to_owned()) else {
            return Err(rejected(vec![no_room()]));
        };
        let start = self.sources.get(id).start;
        self.stoppable("formatting", |_| syntax::formatted(input.text, start).map_err(rejected))
    }
}
