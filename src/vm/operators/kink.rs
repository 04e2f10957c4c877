//! Kinks that were met while something was differentiated: notes for whoever wants them, or the end of the program.

use super::super::fault::{Fault, Remark};
use super::super::machine::Machine;
use super::watched::{operation, time};
use crate::source::Span;
use crate::tape::watch::Met;
use crate::value::number::in_formula as text;

/// A place where a function has no derivative, and one was taken by convention.
#[derive(Clone, PartialEq, Debug)]
pub struct Kink {
    /// Where.
    pub span: Span,
    /// The operation with its operands: `abs(0)`.
    pub step: String,
    /// The slope on the left; NaN where there is no value.
    pub left: f64,
    /// The slope on the right, likewise.
    pub right: f64,
    /// The slope that was taken.
    pub taken: f64,
}

impl Machine {
    /// Hands over the kinks that were met since the last time, in order.
    pub fn take_kinks(&mut self) -> Vec<Kink> {
        std::mem::take(&mut self.kinks)
    }

    /// Keeps the kinks that this run has met, while it is known where they are.
    pub(in super::super) fn keep_kinks(&mut self) {
        for met in self.levels.take_kinks() {
            let Met { step, sides: [left, right], taken } = met;
            self.kinks.push(Kink { span: self.places.span(&step), step: operation(&step), left, right, taken });
        }
    }
}

/// Adds what is known of the kink that stopped the program.
pub(in super::super) fn with_kink(machine: &mut Machine, mut fault: Box<Fault>) -> Box<Fault> {
    let met = machine.levels.take_kinks();
    let Some(Met { step, sides, taken }) = met.last().copied() else { return fault };
    fault.span = machine.places.span(&step);
    let step_text = operation(&step);
    fault.message = match sides {
        [left, right] if left.is_finite() && right.is_finite() => {
            format!(
                "{step_text} is differentiated at a kink: its slope is {} on the left and {} on the right",
                text(left),
                text(right)
            )
        }
        _ => format!("{step_text} is differentiated where its graph is vertical"),
    };
    let convention = format!("by convention the slope is {} here", text(taken));
    fault.remark(Remark::Here(convention)).remark(Remark::Note(time(&step)))
}
