//! Provenance: determines the source location of an observed step, and its description.

use crate::source::Span;
use crate::tape::ObservedStep;
use crate::value::number_format::in_formula as text;
use crate::vm::state::machine::Machine;

impl Machine {
    /// Informs the observer of the current source location. A step of the library is attributed to its caller.
    #[cold]
    pub(in crate::vm) fn note_place(&mut self) {
        let Some(frame) = self.frames.iter().rev().find(|frame| !self.is_prelude(frame)) else { return };
        let (key, span) = (frame.pc, self.place(frame).map_or(Span::default(), |(_, span)| span));
        let place = self.diagnosis.places.number(key, span);
        let met = self.levels.set_place(place);
        self.diagnosis.observed_kinks.extend(met);
    }
}

/// Describes an observed step with its numbers, for example `sqrt(0)` or `0 / 0`.
pub(crate) fn operation(step: &ObservedStep) -> String {
    applied(step.id.info().symbol, &step.x[..usize::from(step.operands).min(3)])
}

/// Describes an operation with its operands.
pub(crate) fn applied(name: &str, operands: &[f64]) -> String {
    let x: Vec<String> = operands.iter().map(|x| text(*x)).collect();
    match &x[..] {
        [a, b] if name.chars().all(|c| c.is_ascii_punctuation()) => format!("{a} {name} {b}"),
        _ => format!("{name}({})", x.join(", ")),
    }
}

/// Describes the ordinal of a step among the executions of the operation at its source location.
pub(crate) fn time(time: u32) -> String {
    match time {
        1 => "evaluated here for the first time in this derivative".into(),
        n => format!("evaluated here for the {n}{} time in this derivative", ordinal(n)),
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
