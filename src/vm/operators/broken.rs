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
use crate::value::origins::{Content, Origin, Origins, Storage};
use crate::value::reach::{SlotChange, change_slots};
use crate::value::shape::{TangentId, TangentKind};
use crate::value::{Cells, Ref, Slot};
use hashbrown::HashSet;
use std::rc::Rc;

/// Chains that broke.
#[derive(Default)]
pub struct BrokenChains {
    /// The places, in order.
    places: Vec<Rc<Broken>>,
    /// Results of the function that has returned last: their numbers, and what they were made of.
    sent: Vec<(u32, Num)>,
    /// How many frames there are where they go.
    sent_to: usize,
    /// The same of the arguments of the function that is called next.
    given: Vec<(u32, Num)>,
    /// How many frames there are in the function that takes them.
    given_to: usize,
}

/// From so many things in an object on those whose numbers belong to levels that have ended are looked for.
const MANY: usize = 256;

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
        self.forget();
    }

    /// Forgets what was sent by functions that have returned, and given to functions that were called.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.given.clear();
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
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        let to = machine.frames.len() - 1;
        if machine.broken.sent_to != to {
            machine.broken.sent.clear();
            machine.broken.sent_to = to;
        }
        machine.broken.sent.push((result, number));
    }
    Ok(Next::Return)
}

/// The number that a result of the function that has just returned was made of.
pub(super) fn receive(machine: &mut Machine, result: u32) -> Result<Next, Box<Fault>> {
    let mut sent = vec![];
    if machine.broken.sent_to == machine.frames.len() {
        sent.extend(machine.broken.sent.iter().filter(|(of, _)| *of == result).map(|(_, x)| *x));
    }
    give_together(machine, &sent)
}

/// Before the innermost level is closed: what the body of an operator has sent goes to who has called the operator.
pub(super) fn settle_sent(machine: &mut Machine) {
    let Machine { broken, levels, frames, .. } = machine;
    if let Some(level) = levels.depth().checked_sub(1).filter(|_| broken.sent_to == frames.len() + 1) {
        broken.sent_to = frames.len();
        broken.sent.iter_mut().for_each(|(_, number)| number.slot = levels.strip_slot(level, number.slot));
    }
}

/// Says that an argument of the function that is called next was made of a number that moves, if it does.
pub(super) fn give(machine: &mut Machine, argument: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        machine.broken.given_to = machine.frames.len() + 1;
        machine.broken.given.push((argument, number));
    }
    Ok(Next::Return)
}

/// The number that an argument of the function that was just called was made of.
pub(super) fn take(machine: &mut Machine, argument: u32) -> Result<Next, Box<Fault>> {
    let mut given = vec![];
    if machine.broken.given_to == machine.frames.len() {
        given.extend(machine.broken.given.iter().filter(|(of, _)| *of == argument).map(|(_, x)| *x));
    }
    give_together(machine, &given)
}

/// A number that moves wherever any of these does, or any that is in these objects.
pub(super) fn join(machine: &mut Machine, arguments: &mut Cells) -> Result<Next, Box<Fault>> {
    let numbers = arguments.f.iter().enumerate().map(|(k, value)| Num { value: *value, slot: arguments.slot(k) });
    let mut numbers: Vec<Num> = numbers.collect();
    if !arguments.r.is_empty() && machine.levels.depth() > 0 {
        let mut inside = Inside(vec![]);
        change_slots(arguments, &mut inside);
        numbers.extend(inside.0.into_iter().map(|slot| Num { value: 0.0, slot }));
    }
    give_together(machine, &numbers)
}

/// Collects slots, and changes none.
struct Inside(Vec<Slot>);

impl SlotChange for Inside {
    fn slot(&mut self, slot: Slot) -> Slot {
        self.0.push(slot);
        slot
    }

    fn enters_boxes(&self) -> bool {
        false
    }
}

fn give_together(machine: &mut Machine, numbers: &[Num]) -> Result<Next, Box<Fault>> {
    let together = together(machine, numbers)?;
    machine.set_num(0, together);
    Ok(Next::Return)
}

/// A number that moves wherever any of these does: they are added up with weights, so that their tangents do not cancel.
fn together(machine: &mut Machine, numbers: &[Num]) -> Result<Num, Box<Fault>> {
    let mut met = HashSet::new();
    let mut moving: Vec<Num> = vec![];
    for x in numbers {
        if machine.levels.innermost(&[*x]).is_some() && met.insert((x.slot.epoch, x.slot.payload)) {
            moving.push(*x);
        }
    }
    let mut together = moving.first().copied().unwrap_or_default();
    for (k, x) in moving.iter().enumerate().skip(1) {
        let weighted = machine.levels.record(machine.ids.mul, &[*x, Num::constant(1.0 / (k as f64 + 0.7))])?;
        together = machine.levels.record(machine.ids.add, &[together, weighted])?;
    }
    Ok(together)
}

/// The number that an operator was given.
fn number(arguments: &Cells) -> Num {
    arguments.f.first().map(|value| Num { value: *value, slot: arguments.slot(0) }).unwrap_or_default()
}

/// What an operator was told to stand in storage; nothing for a reference that is no text.
fn content(inside: Storage, arguments: &Cells) -> Option<Content> {
    if inside == Storage::Whole {
        return Some(Content::Any);
    }
    match arguments.i.first() {
        Some(integer) => Some(Content::Integer(*integer)),
        None => Content::of(arguments.r.last()?),
    }
}

/// What is kept beside the integers and texts of an object, or of the global variables.
fn beside<T: Default>(machine: &Machine, inside: Storage, object: Option<&Ref>, look: impl FnOnce(&Origins) -> T) -> T {
    match (inside, object) {
        (Storage::Global, _) => look(&machine.globals.origins),
        (_, Some(Ref::Cells(cells))) => look(&cells.origins),
        (_, Some(Ref::Box(inside))) => look(&inside.cells.borrow().origins),
        (_, Some(Ref::Closure(closure))) => look(&closure.captures.origins),
        (_, Some(Ref::Any(any))) => look(&any.cells.origins),
        (Storage::Values, Some(Ref::Dictionary(dictionary))) => look(dictionary.origins()[1]),
        (_, Some(Ref::Dictionary(dictionary))) => look(dictionary.origins()[0]),
        (_, Some(Ref::Null | Ref::Text(_) | Ref::Machine(_)) | None) => T::default(),
    }
}

/// The same, to be changed. Values that are shared are copied first; functions and values of any type are new here, and
/// nobody else has them.
fn change_beside(machine: &mut Machine, inside: Storage, object: Option<&mut Ref>, change: impl FnOnce(&mut Origins)) {
    match (inside, object) {
        (Storage::Global, _) => {
            machine.levels.log_global();
            change(&mut machine.globals.origins);
        }
        (_, Some(Ref::Cells(cells))) => change(&mut Rc::make_mut(cells).origins),
        (_, Some(Ref::Box(inside))) => {
            machine.levels.log_store(inside);
            change(&mut inside.cells.borrow_mut().origins);
        }
        (_, Some(Ref::Closure(closure))) => {
            if let Some(closure) = Rc::get_mut(closure) {
                change(&mut closure.captures.origins);
            }
        }
        (_, Some(Ref::Any(any))) => {
            if let Some(any) = Rc::get_mut(any) {
                change(&mut any.cells.origins);
            }
        }
        (_, Some(Ref::Dictionary(dictionary))) => {
            let [keys, values] = Rc::make_mut(dictionary).origins_mut();
            change(if inside == Storage::Values { values } else { keys });
        }
        (_, Some(Ref::Null | Ref::Text(_) | Ref::Machine(_)) | None) => {}
    }
}

/// Remembers what an integer or a text was made of that was stored somewhere.
pub(super) fn keep(
    machine: &mut Machine,
    (inside, component, replaces): (Storage, u32, bool),
    mut arguments: Cells,
) -> Result<Next, Box<Fault>> {
    if let Some(content) = content(inside, &arguments) {
        let number = number(&arguments);
        let moves = machine.levels.innermost(&[number]).is_some();
        let known =
            beside(machine, inside, arguments.r.first(), |origins| (origins.count(), origins.get(component, content)));
        let mut made_of = if replaces { vec![] } else { numbers(&known.1) };
        made_of.push(number);
        let together = together(machine, &made_of)?;
        if moves || replaces && known.0 > 0 {
            let origin = Origin { value: together.value, slot: together.slot };
            let live = (known.0 >= MANY && known.0.is_power_of_two()).then(|| live(machine));
            change_beside(machine, inside, arguments.r.first_mut(), |origins| {
                if let Some(live) = live {
                    origins.retain(|origin| live.contains(&origin.slot.epoch));
                }
                if replaces {
                    origins.forget(component, content);
                }
                if moves {
                    origins.set(component, content, smallvec::smallvec![origin]);
                }
            });
        }
    }
    if inside.has_object() {
        let object = arguments.r.first_mut().map(std::mem::take).unwrap_or_default();
        machine.set_reference(0, object);
    }
    Ok(Next::Return)
}

/// The number that an integer or a text was made of that was read somewhere.
pub(super) fn kept(
    machine: &mut Machine,
    (inside, component): (Storage, u32),
    arguments: &Cells,
) -> Result<Next, Box<Fault>> {
    let object = arguments.r.first();
    let found = match content(inside, arguments) {
        Some(Content::Any) => beside(machine, inside, object, Origins::all),
        Some(content) => beside(machine, inside, object, |origins| origins.get(component, content).to_vec()),
        None => vec![],
    };
    give_together(machine, &numbers(&found))
}

/// The epochs of the levels that are live.
fn live(machine: &Machine) -> Vec<u64> {
    (0..machine.levels.depth()).filter_map(|k| machine.levels.epoch_at(k)).collect()
}

fn numbers(origins: &[Origin]) -> Vec<Num> {
    origins.iter().map(|origin| Num { value: origin.value, slot: origin.slot }).collect()
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
