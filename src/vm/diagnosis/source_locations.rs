//! Source locations: the source locations of recorded steps, which are numbered in the order of their first execution.

use crate::bytecode::Instruction;
use crate::source::Span;
use crate::tape::ObservedStep;
use hashbrown::HashMap;

/// The source locations of recorded steps, numbered in the order of their first execution.
#[derive(Default)]
pub struct Places {
    known: HashMap<*const Instruction, u32>,
    spans: Vec<Span>,
}

impl Places {
    /// Removes all recorded source locations, before a new run.
    pub fn clear(&mut self) {
        self.known.clear();
        self.spans.clear();
    }

    /// Returns the number of the source location of an instruction.
    pub(crate) fn number(&mut self, instruction: *const Instruction, span: Span) -> u32 {
        *self.known.entry(instruction).or_insert_with(|| {
            self.spans.push(span);
            (self.spans.len() - 1) as u32
        })
    }

    /// Returns the source location of an observed step.
    pub(crate) fn span(&self, step: &ObservedStep) -> Span {
        self.span_at(step.place)
    }

    /// Returns the source location with the number `place`.
    pub(crate) fn span_at(&self, place: u32) -> Span {
        self.spans.get(place as usize).copied().unwrap_or_default()
    }
}
