//! The numbers that integers and texts were made of: how functions hand them to each other, and where they are kept
//! beside objects.

use crate::native::ids;
use crate::tape::Num;
use crate::value::heap_visit::visit_slots;
use crate::value::origins::{Content, Origin, Origins, Storage};
use crate::value::{Cells, Ref};
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use hashbrown::HashSet;
use std::rc::Rc;

/// From so many things in an object on those whose numbers belong to levels that have ended are looked for.
const MANY: usize = 256;

/// Notes that a result of the running function was made of a number, if that is active.
pub(crate) fn send_result(machine: &mut Machine, result: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        machine.diagnosis.lost_tangents.transfers.results.leave(machine.frames.len() - 1, result, number);
    }
    Ok(Next::Return)
}

/// The number that a result of the function that has just returned was made of.
pub(crate) fn receive_result(machine: &mut Machine, result: u32) -> Result<Next, Box<Fault>> {
    let sent = machine.diagnosis.lost_tangents.transfers.results.find(machine.frames.len(), result);
    set_combined(machine, &sent)
}

/// Before the innermost level is closed: what the body of an operator has sent goes to the caller of the operator.
pub(crate) fn rebase_sent(machine: &mut Machine) {
    let Machine { diagnosis, levels, frames, .. } = machine;
    let results = &mut diagnosis.lost_tangents.transfers.results;
    if let Some(level) = levels.depth().checked_sub(1).filter(|_| results.to == frames.len() + 1) {
        results.to = frames.len();
        results.numbers.iter_mut().for_each(|(_, number)| number.slot = levels.strip_slot(level, number.slot));
    }
}

/// Notes that an argument of the function that is called next was made of a number, if that is active.
pub(crate) fn send_argument(machine: &mut Machine, argument: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        machine.diagnosis.lost_tangents.transfers.arguments.leave(machine.frames.len() + 1, argument, number);
    }
    Ok(Next::Return)
}

/// The number that an argument of the function that was just called was made of.
pub(crate) fn receive_argument(machine: &mut Machine, argument: u32) -> Result<Next, Box<Fault>> {
    let given = machine.diagnosis.lost_tangents.transfers.arguments.find(machine.frames.len(), argument);
    set_combined(machine, &given)
}

/// A number that moves wherever any of these does, or any that is in these objects.
pub(crate) fn join(machine: &mut Machine, arguments: &mut Cells) -> Result<Next, Box<Fault>> {
    let numbers = arguments.f.iter().enumerate().map(|(k, value)| Num { value: *value, slot: arguments.slot(k) });
    let mut numbers: Vec<Num> = numbers.collect();
    if !arguments.r.is_empty() && machine.levels.depth() > 0 {
        let constant = |slot| Num { value: 0.0, slot };
        visit_slots(arguments, false, &mut |slot| numbers.push(constant(slot)));
    }
    set_combined(machine, &numbers)
}

fn set_combined(machine: &mut Machine, numbers: &[Num]) -> Result<Next, Box<Fault>> {
    let combined = combined(machine, numbers)?;
    machine.set_num(0, combined);
    Ok(Next::Return)
}

/// A number that moves wherever any of these does: they are added up with weights, so that their tangents do not
/// cancel.
fn combined(machine: &mut Machine, numbers: &[Num]) -> Result<Num, Box<Fault>> {
    let mut met = HashSet::new();
    let mut moving: Vec<Num> = vec![];
    for x in numbers {
        if machine.levels.innermost(&[*x]).is_some() && met.insert((x.slot.epoch, x.slot.payload)) {
            moving.push(*x);
        }
    }
    let mut combined = moving.first().copied().unwrap_or_default();
    for (k, x) in moving.iter().enumerate().skip(1) {
        let weighted = machine.levels.record(ids::MUL, &[*x, Num::constant(1.0 / (k as f64 + 0.7))])?;
        combined = machine.levels.record(ids::ADD, &[combined, weighted])?;
    }
    Ok(combined)
}

/// The number that an operator was given.
fn number(arguments: &Cells) -> Num {
    arguments.f.first().map(|value| Num { value: *value, slot: arguments.slot(0) }).unwrap_or_default()
}

/// The content of storage that an operator was given; `None` for a reference that is no string.
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
/// they are not shared.
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
pub(crate) fn store(
    machine: &mut Machine,
    inside: Storage,
    component: u32,
    replaces: bool,
    mut arguments: Cells,
) -> Result<Next, Box<Fault>> {
    if let Some(content) = content(inside, &arguments) {
        let number = number(&arguments);
        let moves = machine.levels.innermost(&[number]).is_some();
        let known =
            beside(machine, inside, arguments.r.first(), |origins| (origins.count(), origins.get(component, content)));
        if moves || replaces && known.0 > 0 {
            let mut made_of = if replaces { vec![] } else { numbers(&known.1) };
            made_of.push(number);
            let combined = combined(machine, &made_of)?;
            let origin = Origin { value: combined.value, slot: combined.slot };
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
pub(crate) fn load(
    machine: &mut Machine,
    inside: Storage,
    component: u32,
    arguments: &Cells,
) -> Result<Next, Box<Fault>> {
    let object = arguments.r.first();
    let found = match content(inside, arguments) {
        Some(Content::Any) => beside(machine, inside, object, Origins::all),
        Some(content) => beside(machine, inside, object, |origins| origins.get(component, content).to_vec()),
        None => vec![],
    };
    set_combined(machine, &numbers(&found))
}

/// The epochs of the levels that are live.
fn live(machine: &Machine) -> Vec<u64> {
    (0..machine.levels.depth()).filter_map(|k| machine.levels.epoch_at(k)).collect()
}

fn numbers(origins: &[Origin]) -> Vec<Num> {
    origins.iter().map(|origin| Num { value: origin.value, slot: origin.slot }).collect()
}
