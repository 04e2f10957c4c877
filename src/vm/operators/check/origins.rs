//! Origins: passes the numbers from which integers and strings were computed between functions, and stores them beside
//! objects.

use crate::native::primitive_ids;
use crate::tape::Num;
use crate::value::origins::{Content, Origin, Origins, Storage};
use crate::value::slot_rewrite::visit_slots;
use crate::value::{Cells, Ref};
use crate::vm::fault::Fault;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use hashbrown::HashSet;
use std::rc::Rc;

/// The number of entries in an object's table of origins from which on the entries of ended levels are removed.
const PRUNE_THRESHOLD: usize = 256;

/// Records the number from which a result of the running function was computed, if the number is active.
pub(crate) fn send_result(machine: &mut Machine, result: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        machine.diagnosis.lost_tangents.transfers.results.send(machine.frames.len() - 1, result, number);
    }
    Ok(Next::Return)
}

/// Returns the number from which a result of the last returned function was computed.
pub(crate) fn receive_result(machine: &mut Machine, result: u32) -> Result<Next, Box<Fault>> {
    let sent = machine.diagnosis.lost_tangents.transfers.results.find(machine.frames.len(), result);
    set_combined(machine, &sent)
}

/// Passes the numbers sent by the body of an operator to the caller of the operator, before the innermost level is
/// closed.
pub(crate) fn rebase_sent_origins(machine: &mut Machine) {
    let Machine { diagnosis, levels, frames, .. } = machine;
    let results = &mut diagnosis.lost_tangents.transfers.results;
    if let Some(level) = levels.depth().checked_sub(1).filter(|_| results.to == frames.len() + 1) {
        results.to = frames.len();
        results.numbers.iter_mut().for_each(|(_, number)| number.slot = levels.strip_slot(level, number.slot));
    }
}

/// Records the number from which an argument of the next called function was computed, if the number is active.
pub(crate) fn send_argument(machine: &mut Machine, argument: u32, arguments: &Cells) -> Result<Next, Box<Fault>> {
    let number = number(arguments);
    if machine.levels.innermost(&[number]).is_some() {
        machine.diagnosis.lost_tangents.transfers.arguments.send(machine.frames.len() + 1, argument, number);
    }
    Ok(Next::Return)
}

/// Returns the number from which an argument of the running function was computed.
pub(crate) fn receive_argument(machine: &mut Machine, argument: u32) -> Result<Next, Box<Fault>> {
    let given = machine.diagnosis.lost_tangents.transfers.arguments.find(machine.frames.len(), argument);
    set_combined(machine, &given)
}

/// Returns a number that varies wherever any of the given numbers varies, or any number in the given objects varies.
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

/// Returns a number that varies wherever any of the given numbers varies: their weighted sum, with weights that prevent
/// cancellation of the tangents.
fn combined(machine: &mut Machine, numbers: &[Num]) -> Result<Num, Box<Fault>> {
    let mut met = HashSet::new();
    let mut varied: Vec<Num> = vec![];
    for x in numbers {
        if machine.levels.innermost(&[*x]).is_some() && met.insert((x.slot.epoch, x.slot.payload)) {
            varied.push(*x);
        }
    }
    let mut combined = varied.first().copied().unwrap_or_default();
    for (k, x) in varied.iter().enumerate().skip(1) {
        let weighted = machine.levels.record(primitive_ids::MUL, &[*x, Num::constant(1.0 / (k as f64 + 0.7))])?;
        combined = machine.levels.record(primitive_ids::ADD, &[combined, weighted])?;
    }
    Ok(combined)
}

/// Returns the number among the arguments of an operator on origins.
fn number(arguments: &Cells) -> Num {
    arguments.f.first().map(|value| Num { value: *value, slot: arguments.slot(0) }).unwrap_or_default()
}

/// Returns the content of storage among an operator's arguments; `None` for a reference that is no string.
fn content(inside: Storage, arguments: &Cells) -> Option<Content> {
    if inside == Storage::Whole {
        return Some(Content::Any);
    }
    match arguments.i.first() {
        Some(integer) => Some(Content::Integer(*integer)),
        None => Content::of(arguments.r.last()?),
    }
}

/// Inspects the origins of the integers and strings of an object, or of the global variables.
fn beside<T: Default>(machine: &Machine, inside: Storage, object: Option<&Ref>, read: impl FnOnce(&Origins) -> T) -> T {
    match (inside, object) {
        (Storage::Global, _) => read(&machine.globals.origins),
        (_, Some(Ref::Cells(cells))) => read(&cells.origins),
        (_, Some(Ref::Box(inside))) => read(&inside.cells.borrow().origins),
        (_, Some(Ref::Closure(closure))) => read(&closure.captures.origins),
        (_, Some(Ref::Any(any))) => read(&any.cells.origins),
        (Storage::Values, Some(Ref::Dictionary(dictionary))) => read(dictionary.origins()[1]),
        (_, Some(Ref::Dictionary(dictionary))) => read(dictionary.origins()[0]),
        (_, Some(Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Machine(_)) | None) => T::default(),
    }
}

/// Changes the origins of the integers and strings of an object. Values that are shared are copied first; function
/// objects and existentials were just created, so they are not shared.
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
        (_, Some(Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Machine(_)) | None) => {}
    }
}

/// Records the number from which a stored integer or string was computed: its origin.
pub(crate) fn store(
    machine: &mut Machine,
    inside: Storage,
    component: u32,
    replaces: bool,
    mut arguments: Cells,
) -> Result<Next, Box<Fault>> {
    if let Some(content) = content(inside, &arguments) {
        let number = number(&arguments);
        let varies = machine.levels.innermost(&[number]).is_some();
        let known =
            beside(machine, inside, arguments.r.first(), |origins| (origins.count(), origins.get(component, content)));
        if varies || replaces && known.0 > 0 {
            let mut made_of = if replaces { vec![] } else { numbers(&known.1) };
            made_of.push(number);
            let combined = combined(machine, &made_of)?;
            let origin = Origin { value: combined.value, slot: combined.slot };
            let live = (known.0 >= PRUNE_THRESHOLD && known.0.is_power_of_two()).then(|| live(machine));
            change_beside(machine, inside, arguments.r.first_mut(), |origins| {
                if let Some(live) = live {
                    origins.retain(|origin| live.contains(&origin.slot.epoch));
                }
                if replaces {
                    origins.forget(component, content);
                }
                if varies {
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

/// Returns the number from which an integer or a string read from storage was computed.
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

/// Returns the epochs of the live levels.
fn live(machine: &Machine) -> Vec<u64> {
    (0..machine.levels.depth()).filter_map(|k| machine.levels.epoch_at(k)).collect()
}

fn numbers(origins: &[Origin]) -> Vec<Num> {
    origins.iter().map(|origin| Num { value: origin.value, slot: origin.slot }).collect()
}
