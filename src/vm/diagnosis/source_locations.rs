//! Places: the positions in the program's text at which recorded steps were executed.

use crate::bytecode::Instruction;
use crate::source::Span;
use crate::tape::ObservedStep;
use hashbrown::HashMap;

/// The positions of recorded steps in the program's text, numbered in the order of their first execution.
#[derive(Default)]
pub struct Places {
    known: HashMap<*const Instruction, u32>,
    spans: Vec<Span>,
}

impl Places {
    /// Removes all recorded positions, before a new run.
    pub fn clear(&mut self) {
        self.known.clear();
        self.spans.clear();
    }

    /// Returns the number of the position of an instruction.
    pub(crate) fn number(&mut self, instruction: *const Instruction, span: Span) -> u32 {
        *self.known.entry(instruction).or_insert_with(|| {
            self.spans.push(span);
            (self.spans.len() - 1) as u32
        })
    }

    /// Returns the position of an observed step in the program's text.
    pub(crate) fn span(&self, step: &ObservedStep) -> Span {
        self.span_at(step.place)
    }

    /// Returns the position that has the number `place`.
    pub(crate) fn span_at(&self, place: u32) -> Span {
        self.spans.get(place as usize).copied().unwrap_or_default()
    }
}
