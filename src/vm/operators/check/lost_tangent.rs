//! Lost tangents: marks numbers without a derivative, which were computed from a varied number through a value that is
//! not a number.
//!
//! The derivative of such a number may never be needed: the number may end in a condition, in a string, or be detached.
//! So on a tape, the adjoint of the number is passed to a function that stops the program; in forward mode, the tangent
//! of the number is a NaN that is recognized when an operator returns it. Arithmetic preserves the bits of a NaN; where
//! the bits are lost, the derivative is NaN and not a wrong number.

use crate::diagnostic::Code as Number;
use crate::tape::{Levels, Num, RecordError, Template};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::slot_rewrite::{SlotChange, change_slots};
use crate::value::{Cells, Ref, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::diagnosis::lost_tangent::LostTangent;
use crate::vm::fault::Fault;
use crate::vm::operators::{Offset, leaves, set_leaves, value_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use std::rc::Rc;

/// The bits that all NaNs that mark lost tangents share, without the sign; the bits that `Float` cannot represent are
/// zero.
const MARK: u64 = 0x7FFD_5A00_0000_0000;
const PLACES: u64 = 1 << 12;
const SHIFT: u32 = 29;

/// Returns the tangent that marks a number whose tangent was lost; `place` is the index of the lost tangent in the log.
fn mark_of(place: usize) -> f64 {
    f64::from_bits(MARK | (place as u64).min(PLACES - 1) << SHIFT)
}

/// Returns the index in the log of the lost tangent that a marking tangent represents.
fn place_of(tangent: f64) -> Option<usize> {
    let bits = tangent.to_bits() & !(1 << 63);
    let place = (bits >> SHIFT) & (PLACES - 1);
    (tangent.is_nan() && bits == MARK | place << SHIFT).then_some(place as usize)
}

/// Marks the second of two numbers as computed from the first number without a derivative, so that its tangent is lost.
pub(crate) fn mark(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    of: TangentId,
    arguments: &Cells,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    let layout = value_layout(walk, of);
    let x = leaves(walk, of, arguments, Offset::default())?;
    let mut parts = arguments.all();
    parts.take(layout);
    let mut y = Cells::record(parts);
    if machine.levels.innermost(&x).is_some() {
        let numbers = leaves(walk, of, &y, Offset::default())?;
        let template = Template { tangent: of, cells: y.clone() };
        let (place, function) = here(machine, "result");
        let mut marked = vec![];
        for (x, y) in x.into_iter().zip(numbers) {
            marked.push(machine.levels.without_tangent(x, y, &function, &template, mark_of(place))?);
        }
        set_leaves(walk, of, (&mut y, Offset::default()), &marked)?;
    }
    machine.set_window(y.all());
    Ok(Next::Return)
}

/// Marks all numbers of an argument, or of a stored property, that is marked `@noDerivative`. The contents of instances
/// are unchanged, because instances are shared.
pub(crate) fn mark_no_derivative(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    is_property: bool,
    mut x: Cells,
) -> Result<Next, Box<Fault>> {
    let varies = !x.r.is_empty() || x.slots.iter().any(|slot| machine.levels.is_live(*slot));
    let number = compiler.tangents().find(|tangent| tangent.kind == TangentKind::Number);
    if let Some(tangent) = number.filter(|_| varies && machine.levels.depth() > 0) {
        let (place, function) = here(machine, if is_property { "property" } else { "argument" });
        let template = Template { tangent, cells: Cells::numbers(vec![0.0]) };
        let mut marking = Marking { levels: &mut machine.levels, function, template, mark: mark_of(place), stop: None };
        change_slots(&mut x, &mut marking);
        if let Some(stop) = marking.stop {
            return Err(stop.into());
        }
    }
    machine.set_window(x.all());
    Ok(Next::Return)
}

/// A modification that replaces slots by marks of lost tangents.
struct Marking<'a> {
    levels: &'a mut Levels,
    function: Ref,
    /// The template of a single number.
    template: Template,
    mark: f64,
    stop: Option<RecordError>,
}

impl SlotChange for Marking<'_> {
    fn slot(&mut self, slot: Slot) -> Slot {
        let number = Num { value: 0.0, slot };
        // An array that grows is stored repeatedly; its elements are marked only once.
        if self.levels.is_without_tangent(number, &self.function, self.mark) {
            return slot;
        }
        match self.levels.without_tangent(number, number, &self.function, &self.template, self.mark) {
            Ok(marked) => marked.slot,
            Err(stop) => {
                self.stop = Some(stop);
                slot
            }
        }
    }

    fn enters_boxes(&self) -> bool {
        false
    }
}

/// Logs a lost tangent at the current source location, for an argument or a result marked `@noDerivative`. Returns its
/// index in the log, and the function that stops the program.
fn here(machine: &mut Machine, what: &str) -> (usize, Ref) {
    let step = machine.frames.last().map_or(std::ptr::null(), |frame| frame.pc);
    let known = machine.diagnosis.lost_tangents.places.iter().position(|lost| lost.step == step);
    let place = known.unwrap_or_else(|| {
        let message = format!(
            "cannot differentiate through a non-differentiable {what}; do you want to add 'withoutDerivative(at:)'?"
        );
        let mut fault = *Fault::new(Number::NotDifferentiable, message);
        machine.locate(&mut fault);
        machine.diagnosis.lost_tangents.places.push(Rc::new(LostTangent { step, fault }));
        machine.diagnosis.lost_tangents.places.len() - 1
    });
    (place, Ref::Machine(machine.diagnosis.lost_tangents.places[place].clone()))
}

/// Checks that the tangents that an operator returns do not mark numbers without a derivative.
pub(crate) fn check(machine: &Machine, tangents: &[Num]) -> Result<(), Box<Fault>> {
    let place = tangents.iter().find_map(|tangent| place_of(tangent.value));
    match place.and_then(|place| machine.diagnosis.lost_tangents.places.get(place)) {
        Some(lost) => Err(lost.fault()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_again() {
        for place in [0, 1, 4095] {
            let mark = mark_of(place);
            for tangent in [mark, -mark, mark * 2.0 + 1.0, f64::from(mark as f32)] {
                assert_eq!(place_of(tangent), Some(place));
            }
        }
        for tangent in [0.0, 1.0, f64::NAN, f64::INFINITY, f64::INFINITY - f64::INFINITY] {
            assert_eq!(place_of(tangent), None);
        }
    }
}
