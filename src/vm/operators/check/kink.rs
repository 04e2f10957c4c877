//! Kinks: collects the kinks at which a derivative was taken, or stops the program at the first kink.

use crate::native::PrimitiveId;
use crate::native::tensor::TensorKink;
use crate::tape::Num;
use crate::tape::step_observer::{KinkOccurrence, KinkOperation, KinkPartials};
use crate::value::number_format::in_formula as text;
use crate::value::{Cells, Slot};
use crate::vm::diagnosis::kink::Kink;
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::check::provenance::{applied, operation, time};
use crate::vm::state::machine::Machine;

/// Observes a comparison on which a branch depends, or a rounding of a number.
pub(crate) fn compared(machine: &mut Machine, id: PrimitiveId, numbers: &Cells) -> Result<(), Box<Fault>> {
    let number = |k: usize| Num {
        value: numbers.f.get(k).copied().unwrap_or_default(),
        slot: numbers.slots.get(k).copied().unwrap_or(Slot::NONE),
    };
    match numbers.f.len() {
        1 => machine.levels.flat(id, number(0))?,
        _ => machine.levels.compared(id, [number(0), number(1)])?,
    }
    Ok(())
}

impl Machine {
    /// Takes the kinks that were found since the previous call, in the order of their detection.
    pub fn take_kinks(&mut self) -> Vec<Kink> {
        std::mem::take(&mut self.diagnosis.kinks)
    }

    /// Stores the kinks that the run has observed, while the source locations of the kinks are known.
    pub(in crate::vm) fn keep_kinks(&mut self) {
        let mut all = std::mem::take(&mut self.diagnosis.observed_kinks);
        all.append(&mut self.levels.take_kinks());
        for met in all {
            let KinkOccurrence { operation, partials } = met;
            self.diagnosis.kinks.push(Kink {
                span: self.diagnosis.places.span_at(operation.place()),
                step: description(&operation),
                partials,
            });
        }
    }
}

/// Describes an operation at a kink: `abs(0)`; in tensors, with the index of the scalar: `abs(0) at index [1, 2]`.
fn description(of: &KinkOperation) -> String {
    match of {
        KinkOperation::Step(step) => operation(step),
        KinkOperation::Tensor { kink, .. } => {
            let TensorKink { name, operands, indices, .. } = &**kink;
            let of_scalars = applied(name, operands);
            match &indices[..] {
                [index] if index.is_empty() => of_scalars,
                [index] => format!("{of_scalars} at index {index:?}"),
                several => {
                    let several: Vec<String> = several.iter().map(|index| format!("{index:?}")).collect();
                    format!("{of_scalars} at the indices {}", several.join(" and "))
                }
            }
        }
    }
}

/// Adds the details of the kink that stopped the program to the fault.
pub(in crate::vm) fn with_kink(machine: &mut Machine, mut fault: Box<Fault>) -> Box<Fault> {
    let met = machine.levels.take_kinks();
    let Some(KinkOccurrence { operation, partials }) = met.last() else { return fault };
    fault.span = machine.diagnosis.places.span_at(operation.place());
    let step_text = description(operation);
    let (message, remark) = match *partials {
        None => (
            format!("a branch on {step_text} is differentiated exactly at its threshold"),
            "the derivative is that of the branch taken here".to_owned(),
        ),
        Some(KinkPartials { left, right, taken }) => {
            let is_jump = taken.is_finite() && (left.is_infinite() || right.is_infinite());
            let message = if is_jump {
                format!("{step_text} is differentiated at a jump")
            } else if left.is_finite() && right.is_finite() {
                let (left, right) = (text(left), text(right));
                format!(
                    "{step_text} is differentiated at a kink: its derivative is {left} on the left and {right} on the \
                     right"
                )
            } else {
                format!("{step_text} is differentiated at a vertical tangent")
            };
            (message, format!("by convention the derivative is {} here", text(taken)))
        }
    };
    fault.message = message;
    fault.remark(Remark::Here(remark)).remark(Remark::Note(time(operation.time())))
}
