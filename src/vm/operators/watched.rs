//! Steps that were watched, and what is told of them.

use super::super::machine::Machine;
use crate::bytecode::Instruction;
use crate::source::Span;
use crate::tape::watch::Step;
use crate::value::number::in_formula as text;
use hashbrown::HashMap;

/// Places of steps, in the user's own text.
#[derive(Default)]
pub struct Places {
    known: HashMap<*const Instruction, u32>,
    spans: Vec<Span>,
}

impl Places {
    /// A new run begins.
    pub fn clear(&mut self) {
        self.known.clear();
        self.spans.clear();
    }

    pub(super) fn span(&self, step: &Step) -> Span {
        self.span_at(step.place)
    }

    pub(super) fn span_at(&self, place: u32) -> Span {
        self.spans.get(place as usize).copied().unwrap_or_default()
    }
}

impl Machine {
    /// Says to the levels where the program is. A step of the library belongs to whoever called it.
    #[cold]
    pub(in super::super) fn note_place(&mut self) {
        let Some(frame) = self.frames.iter().rev().find(|frame| !self.is_prelude(frame)) else { return };
        let (key, span) = (frame.pc, self.place(frame).map_or(Span::default(), |(_, span)| span));
        let Places { known, spans } = &mut self.places;
        let place = *known.entry(key).or_insert_with(|| {
            spans.push(span);
            (spans.len() - 1) as u32
        });
        self.levels.set_place(place);
    }
}

/// A step with its numbers: `sqrt(0)`, `0 / 0`.
pub(super) fn operation(step: &Step) -> String {
    let name = step.id.info().symbol;
    let x: Vec<String> = step.x[..usize::from(step.operands).min(3)].iter().map(|x| text(*x)).collect();
    match &x[..] {
        [a, b] if name.chars().all(|c| c.is_ascii_punctuation()) => format!("{a} {name} {b}"),
        _ => format!("{name}({})", x.join(", ")),
    }
}

/// How often it was computed.
pub(super) fn time(step: &Step) -> String {
    match step.time {
        1 => "this was computed for the first time in this derivative".into(),
        n => format!("this was computed for the {n}{} time in this derivative", ordinal(n)),
    }
}

fn ordinal(n: u32) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}
