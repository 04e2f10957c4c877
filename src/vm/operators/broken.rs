//! Numbers without a derivative: what they were made of moves, and was something other than a number on the way.
//!
//! Nobody may ever ask how such a number moves: it may end in a condition, in a text, or be cut off. So on a tape its
//! adjoint goes to a function that stops the program, and forwards its tangent is a NaN that is known again when it comes
//! out of the operator. (Arithmetic keeps the bits of a NaN; where they get lost, the derivative is NaN and not a number
//! that is wrong.)

use super::super::fault::Fault;
use super::super::functions::Compiler;
use super::super::machine::Machine;
use super::super::task::Next;
use super::{At, leaves, set_leaves, value_layout, walk};
use crate::bytecode::Instruction;
use crate::diagnostic::Code as Number;
use crate::tape::{Levels, Num, Stop, Template};
use crate::value::reach::{SlotChange, change_slots};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::{BoxCells, Cells, Ref, Slot};
use hashbrown::HashMap;
use std::rc::{Rc, Weak};

/// Chains that broke.
#[derive(Default)]
pub struct BrokenChains {
    /// The places, in order.
    places: Vec<Rc<Broken>>,
    /// Results of the function that has returned last: their numbers, and what they were made of.
    sent: Vec<(u32, Num)>,
    /// How many frames there are where they go.
    sent_to: usize,
    /// Integers in variables that were made of numbers, by the address of the box and the number in it.
    kept: HashMap<(usize, u32), Kept>,
}

/// From so many variables on those that are gone are looked for.
const MANY: usize = 256;

/// An integer in a variable.
struct Kept {
    /// The box; nothing for a global variable.
    inside: Option<Weak<BoxCells>>,
    /// The integer: another one was stored there since.
    integer: i64,
    made_of: Vec<Num>,
}

/// A place where a chain broke: the function that takes the adjoint of the result.
pub struct Broken {
    step: *const Instruction,
    fault: Fault,
}

impl Broken {
    /// Why the program stops.
    pub fn fault(&self) -> Box<Fault> {
        Box::new(self.fault.clone())
    }
}

impl BrokenChains {
    /// A new run begins.
    pub fn clear(&mut self) {
        self.places.clear();
        self.kept.clear();
        self.forget_sent();
    }

    /// Forgets what was sent by functions that have returned.
    pub fn forget_sent(&mut self) {
        self.sent.clear();
    }
}

/// The bits that all marks share, the sign left out; what `Float` has no room for is zero in them.
const MARK: u64 = 0x7FFD_5A00_0000_0000;
const PLACES: u64 = 1 << 12;
const SHIFT: u32 = 29;

/// The tangent of a number whose chain broke at that place.
fn mark_of(place: usize) -> f64 {
    f64::from_bits(MARK | (place as u64).min(PLACES - 1) << SHIFT)
}

/// The place that a tangent stands for.
fn place_of(tangent: f64) -> Option<usize> {
    let bits = tangent.to_bits() & !(1 << 63);
    let place = (bits >> SHIFT) & (PLACES - 1);
    (tangent.is_nan() && bits == MARK | place << SHIFT).then_some(place as usize)
}

/// Marks the second of two numbers as made of the first one without a derivative.
pub(super) fn mark(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    of: TangentId,
    arguments: &Cells,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    let layout = value_layout(walk, of);
    let x = leaves(walk, of, arguments, At::default())?;
    let mut parts = arguments.all();
    parts.take(layout);
    let mut y = Cells::record(parts);
    if machine.levels.innermost(&x).is_some() {
        let numbers = leaves(walk, of, &y, At::default())?;
        let template = Template { tangent: of, cells: y.clone() };
        let (place, function) = here(machine, "result");
        let mut marked = vec![];
        for pair in x.into_iter().zip(numbers) {
            marked.push(machine.levels.broken(pair, &function, &template, mark_of(place))?);
        }
        set_leaves(walk, of, (&mut y, At::default()), &marked)?;
    }
    machine.set_window(y.all());
    Ok(Next::Return)
}

/// Says that a result of the function that runs was made of a number that moves, if it does.
pub(super) fn send(machine: &mut Machine, result: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = arguments.f.first().map(|value| Num { value: *value, slot: arguments.slot(0) }).unwrap_or_default();
    if machine.levels.innermost(&[number]).is_some() {
        let to = machine.frames.len() - 1;
        if machine.broken.sent_to != to {
            machine.broken.forget_sent();
            machine.broken.sent_to = to;
        }
        machine.broken.sent.push((result, number));
    }
    Ok(Next::Return)
}

/// The number that a result of the function that has just returned was made of: one that moves wherever any of those does.
/// They are added up with weights, so that their tangents do not cancel.
pub(super) fn receive(machine: &mut Machine, result: u32) -> Result<Next, Box<Fault>> {
    let mut sent = vec![];
    if machine.broken.sent_to == machine.frames.len() {
        sent.extend(machine.broken.sent.iter().filter(|(of, _)| *of == result).map(|(_, x)| *x));
    }
    give_together(machine, &sent)
}

/// Gives a number that moves wherever any of these does.
fn give_together(machine: &mut Machine, numbers: &[Num]) -> Result<Next, Box<Fault>> {
    let mut together = numbers.first().copied().unwrap_or_default();
    for (k, x) in numbers.iter().enumerate().skip(1) {
        let weighted = machine.levels.record(machine.ids.mul, &[*x, Num::constant(1.0 / (k as f64 + 0.7))])?;
        together = machine.levels.record(machine.ids.add, &[together, weighted])?;
    }
    machine.set_num(0, together);
    Ok(Next::Return)
}

/// Remembers what an integer was made of that was stored in a variable.
pub(super) fn keep(machine: &mut Machine, (index, more): (u32, bool), arguments: &Cells) -> Result<Next, Box<Fault>> {
    let (inside, address) = variable(arguments);
    let integer = arguments.i.first().copied().unwrap_or(0);
    let number = arguments.f.first().map(|value| Num { value: *value, slot: arguments.slot(0) }).unwrap_or_default();
    if !more {
        machine.broken.kept.remove(&(address, index));
        prune(machine);
    }
    if machine.levels.innermost(&[number]).is_some() {
        let new = || Kept { inside: inside.map(Rc::downgrade), integer, made_of: vec![] };
        machine.broken.kept.entry((address, index)).or_insert_with(new).made_of.push(number);
    }
    Ok(Next::Return)
}

/// Forgets variables that are gone, and numbers of levels that have ended, when there are many.
fn prune(machine: &mut Machine) {
    let (levels, kept) = (&machine.levels, &mut machine.broken.kept);
    if kept.len() >= MANY && kept.len().is_power_of_two() {
        let is_there = |kept: &Kept| kept.inside.as_ref().is_none_or(|inside| inside.strong_count() > 0);
        kept.retain(|_, one| is_there(one) && one.made_of.iter().any(|x| levels.is_live(x.slot)));
    }
}

/// The number that an integer was made of that was read in a variable.
pub(super) fn kept(machine: &mut Machine, index: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let (inside, address) = variable(arguments);
    let is_there = |kept: &&Kept| {
        let known = kept.inside.as_ref().and_then(Weak::upgrade);
        let is_same = known.as_ref().map(Rc::as_ptr) == inside.map(Rc::as_ptr);
        is_same && arguments.i.first() == Some(&kept.integer)
    };
    let found = machine.broken.kept.get(&(address, index)).filter(is_there);
    let made_of = found.map_or(vec![], |kept| kept.made_of.clone());
    give_together(machine, &made_of)
}

/// The box of a variable, and its address; a global variable has none.
fn variable(arguments: &Cells) -> (Option<&Rc<BoxCells>>, usize) {
    match arguments.r.first() {
        Some(Ref::Box(inside)) => (Some(inside), Rc::as_ptr(inside) as usize),
        _ => (None, 0),
    }
}

/// Marks what a function value has given as made without a derivative, if it was made of that argument: an integer that
/// was made of a number.
pub(super) fn mark_argument(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (of, argument, result): (TangentId, u32, u32),
    mut arguments: Cells,
) -> Result<Next, Box<Fault>> {
    let passes = match arguments.r.pop() {
        Some(Ref::Closure(closure)) => compiler.passes(closure.function, argument, result),
        _ => false,
    };
    if passes {
        return mark(machine, compiler, of, &arguments);
    }
    let y = Num { value: arguments.f.get(1).copied().unwrap_or(f64::NAN), slot: arguments.slot(1) };
    machine.set_num(0, y);
    Ok(Next::Return)
}

/// Marks all numbers of an argument, or of what is stored in a property, that is marked `@noDerivative`. What is in
/// instances moves on: others share it.
pub(super) fn left_out(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    is_property: bool,
    mut x: Cells,
) -> Result<Next, Box<Fault>> {
    let moves = !x.r.is_empty() || x.slots.iter().any(|slot| machine.levels.is_live(*slot));
    let number = compiler.tangents().find(|tangent| tangent.kind == TangentKind::Number);
    if let Some(tangent) = number.filter(|_| moves && machine.levels.depth() > 0) {
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

/// Puts marks in the place of the slots of a value.
struct Marking<'a> {
    levels: &'a mut Levels,
    function: Ref,
    /// A number.
    template: Template,
    mark: f64,
    stop: Option<Stop>,
}

impl SlotChange for Marking<'_> {
    fn slot(&mut self, slot: Slot) -> Slot {
        let number = Num { value: 0.0, slot };
        // An array that grows is stored again and again.
        if self.levels.is_broken(number, &self.function, self.mark) {
            return slot;
        }
        match self.levels.broken((number, number), &self.function, &self.template, self.mark) {
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

/// The place where the program is, and the function that stops it there because of an argument or a result.
fn here(machine: &mut Machine, what: &str) -> (usize, Ref) {
    let step = machine.frames.last().map_or(std::ptr::null(), |frame| frame.pc);
    let known = machine.broken.places.iter().position(|broken| broken.step == step);
    let place = known.unwrap_or_else(|| {
        let message = format!(
            "cannot differentiate through a non-differentiable {what}; do you want to add 'withoutDerivative(at:)'?"
        );
        let mut fault = *Fault::new(Number::NotDifferentiable, message);
        machine.locate(&mut fault);
        machine.broken.places.push(Rc::new(Broken { step, fault }));
        machine.broken.places.len() - 1
    });
    (place, Ref::Machine(machine.broken.places[place].clone()))
}

/// Whether tangents that come out of an operator are those of numbers that have none.
pub(super) fn check(machine: &Machine, tangents: &[Num]) -> Result<(), Box<Fault>> {
    let place = tangents.iter().find_map(|tangent| place_of(tangent.value));
    match place.and_then(|place| machine.broken.places.get(place)) {
        Some(broken) => Err(broken.fault()),
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
