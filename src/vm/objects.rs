//! Objects: accesses records, boxes and arrays, and constructs the faults of such accesses.

use crate::diagnostic::Code as Number;
use crate::native::library::Failure;
use crate::tape::Num;
use crate::value::shape::ShapeId;
use crate::value::{BoxCells, Cells, Integers, Numbers, Ref, Slot};
use crate::vm::fault::Fault;
use std::rc::Rc;

/// Combines components to the cells of an object; the references are moved out of `r`.
pub fn gather((f, slots): (&[f64], &[Slot]), i: &[i64], r: &mut [Ref]) -> Cells {
    let mut cells = Cells::empty();
    if slots.is_empty() {
        (cells.len, cells.f, cells.i) = (1, Numbers::from_slice(f), Integers::from_slice(i));
        // Most objects have few references, for which `extend` takes longer.
        r.iter_mut().for_each(|reference| cells.r.push(std::mem::take(reference)));
    } else {
        append((f, slots), i, r, &mut cells);
    }
    cells
}

/// Appends an element that consists of the given components to an array; the references are moved out of `r`.
pub fn append((f, slots): (&[f64], &[Slot]), i: &[i64], r: &mut [Ref], to: &mut Cells) {
    to.push_numbers(f, slots);
    to.i.extend_from_slice(i);
    to.r.extend(r.iter_mut().map(std::mem::take));
    to.len += 1;
}

/// Returns the array or record in a register for modification; a shared object is copied first.
#[inline(always)]
pub fn own(r: &mut Ref) -> Result<&mut Cells, Box<Fault>> {
    match r {
        Ref::Cells(cells) => Ok(Rc::make_mut(cells)),
        // An array that was moved away is treated as an empty array.
        Ref::Null => {
            *r = Ref::Cells(Rc::default());
            own(r)
        }
        _ => Err(wrong_object()),
    }
}

/// Returns the array or record in a register.
#[inline(always)]
pub fn cells(r: &Ref) -> Result<&Cells, Box<Fault>> {
    const EMPTY: &Cells = &Cells::empty();
    match r {
        Ref::Cells(cells) => Ok(cells),
        Ref::Null => Ok(EMPTY),
        _ => Err(wrong_object()),
    }
}

/// Returns the box in a register.
#[inline(always)]
pub fn boxed(r: &Ref) -> Result<&Rc<BoxCells>, Box<Fault>> {
    match r {
        Ref::Box(cells) => Ok(cells),
        _ => Err(wrong_object()),
    }
}

/// Returns the captured components of a function object.
#[inline(always)]
pub fn captures(r: &Ref) -> Result<&Cells, Box<Fault>> {
    match r {
        Ref::Closure(closure) => Ok(&closure.captures),
        _ => Err(wrong_object()),
    }
}

/// Returns the type of an object that stores its type.
#[inline(always)]
pub fn shape(r: &Ref) -> Option<ShapeId> {
    match r {
        Ref::Box(instance) => instance.shape,
        Ref::Any(value) => Some(value.shape),
        _ => None,
    }
}

/// Returns the number `k` of an object, with its slot.
#[inline(always)]
pub fn num(cells: &Cells, k: usize) -> Option<Num> {
    cells.f.get(k).map(|value| Num { value: *value, slot: cells.slot(k) })
}

/// Returns the index of the component `offset` of the element `index` of an array; `None` if the index is out of range.
#[inline(always)]
pub fn position(cells: &Cells, index: i64, (offset, stride): (u16, u16)) -> Option<usize> {
    let index = usize::try_from(index).ok().filter(|k| *k < cells.len)?;
    Some(index * usize::from(stride) + usize::from(offset))
}

/// Adds a number to the number `at` of an array of adjoints, which is extended by zeros as far as necessary.
pub fn accumulate(array: &mut Ref, at: usize, more: f64) -> Option<()> {
    let cells = own(array).ok()?;
    if at >= cells.f.len() {
        cells.f.resize(at + 1, 0.0);
    }
    cells.f[at] += more;
    Some(())
}

/// Moves the number `at` out of an array of adjoints, in which it becomes zero. A missing number is zero.
pub fn take_adjoint(array: &mut Ref, at: usize) -> Option<f64> {
    if matches!(array, Ref::Null) {
        return Some(0.0);
    }
    let numbers = &mut own(array).ok()?.f;
    // The last number is removed, so that an array that shrinks again to its original size has no further adjoints.
    if at + 1 == numbers.len() { numbers.pop() } else { Some(numbers.get_mut(at).map_or(0.0, std::mem::take)) }
}

/// Returns the number `at` of an array of adjoints. A missing number is zero.
pub fn read_adjoint(array: &Ref, at: usize) -> Option<f64> {
    match array {
        Ref::Null => Some(0.0),
        array => Some(cells(array).ok()?.f.get(at).copied().unwrap_or(0.0)),
    }
}

/// Moves the array `at` out of an array of adjoints. A missing array has no adjoints.
pub fn take_adjoint_array(array: &mut Ref, at: usize) -> Option<Ref> {
    if matches!(array, Ref::Null) {
        return Some(Ref::Null);
    }
    Some(own(array).ok()?.r.get_mut(at).map(std::mem::take).unwrap_or_default())
}

/// The number of adjoints that may be added from array to array for each entry of the value stack, and in addition.
/// Copies of arrays, which take no time in the program itself, could otherwise take most of the time of the gradient.
const COPIED_FOR_ENTRY: usize = 8;
const COPIED: usize = 100_000;

/// Adds the numbers of an array to those of an array of adjoints, which is extended by zeros as far as necessary: not
/// for zeros. `copied` counts the numbers; fails if there are too many, given the number of entries of the value stack.
pub fn add_array(array: &mut Ref, from: &Ref, copied: &mut usize, entries: usize) -> Option<()> {
    let from = cells(from).ok()?;
    *copied += from.f.len();
    if *copied > COPIED + COPIED_FOR_ENTRY * entries {
        return None;
    }
    let to = extended_for(array, from)?;
    to.iter_mut().zip(&from.f).for_each(|(to, more)| *to += more);
    from.r.iter().enumerate().try_for_each(|(at, inner)| accumulate_array(array, at, inner, copied, entries))
}

/// Returns the array `at` in an array of adjoints, which is extended as far as necessary.
pub fn adjoint_element(array: &mut Ref, at: usize) -> Option<&mut Ref> {
    let arrays = &mut own(array).ok()?.r;
    if at >= arrays.len() {
        arrays.resize(at + 1, Ref::Null);
    }
    arrays.get_mut(at)
}

/// Adds the numbers of an array to those of the array `at` in an array of adjoints, which is extended as far as necessary.
pub fn accumulate_array(array: &mut Ref, at: usize, from: &Ref, copied: &mut usize, entries: usize) -> Option<()> {
    // Other objects have no adjoints.
    let Ref::Cells(added) = from else { return Some(()) };
    match adjoint_element(array, at)? {
        empty @ Ref::Null => {
            *empty = from.clone();
            Some(())
        }
        // The array that was moved out of a gradient has as many elements as the array of the value.
        Ref::Cells(shorter) if shorter.len < added.len => {
            let shorter = Ref::Cells(Rc::clone(shorter));
            let to = adjoint_element(array, at)?;
            *to = from.clone();
            add_array(to, &shorter, copied, entries)
        }
        to => add_array(to, from, copied, entries),
    }
}

/// Adds the nodes in an array to those in another, which is extended by zeros as far as necessary. `sum` returns the bits of
/// the sum of two nodes.
pub fn add_nodes(array: &mut Ref, from: &Ref, mut sum: impl FnMut([f64; 2]) -> Option<f64>) -> Option<()> {
    let from = cells(from).ok().filter(|from| from.r.is_empty())?;
    let to = extended_for(array, from)?;
    for (to, more) in to.iter_mut().zip(&from.f).filter(|(_, more)| **more != 0.0) {
        *to = if *to == 0.0 { *more } else { sum([*to, *more])? };
    }
    Some(())
}

/// Returns the numbers of an array, extended by zeros so that it has all numbers of another that are not zero.
fn extended_for<'a>(array: &'a mut Ref, from: &Cells) -> Option<&'a mut [f64]> {
    let Some(last) = from.f.iter().rposition(|x| *x != 0.0) else { return Some(&mut []) };
    let to = own(array).ok()?;
    if to.f.len() <= last {
        to.f.resize(last + 1, 0.0);
    }
    Some(&mut to.f)
}

/// Returns the index of a component of an element of an array of adjoints.
pub fn adjoint_position(index: i64, (offset, stride): (u16, u16)) -> Option<usize> {
    usize::try_from(index).ok()?.checked_mul(usize::from(stride))?.checked_add(usize::from(offset))
}

/// Returns the fault for an object of another kind than the code expects.
#[cold]
pub fn wrong_object() -> Box<Fault> {
    Fault::internal("an instruction found an object of the wrong kind")
}

/// Returns the fault for a missing component of an object of the right kind.
#[cold]
pub fn no_component() -> Box<Fault> {
    Fault::internal("an instruction refers to a component that does not exist")
}

/// The maximum number of elements of an array that are listed.
const MAX_LISTED: usize = 8;

fn listed(numbers: &[f64]) -> String {
    let texts: Vec<String> = numbers.iter().map(|x| crate::value::number_format::in_formula(*x)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns the fault for an element that could not be read or written: the index, unless the code itself is wrong.
#[cold]
pub fn bad_index(cells: &Cells, index: i64) -> Box<Fault> {
    match usize::try_from(index) {
        Ok(k) if k < cells.len => no_component(),
        _ => {
            let fault: Box<Fault> = Failure::index("array", index, cells.len).into();
            let is_numbers = cells.f.len() == cells.len && cells.i.is_empty() && cells.r.is_empty();
            if is_numbers && (1..=MAX_LISTED).contains(&cells.len) {
                fault.with("elements", listed(&cells.f))
            } else {
                fault
            }
        }
    }
}

/// Returns the fault for a global variable that does not exist.
#[cold]
pub fn no_global() -> Box<Fault> {
    Fault::internal("an instruction refers to a global variable that does not exist")
}

/// Returns the fault of `nil!`.
#[cold]
pub fn unexpected_nil() -> Box<Fault> {
    Fault::new(Number::UnexpectedNil, "unexpectedly found nil while unwrapping an optional value")
}

/// Returns the fault for a condition that did not hold: the kind of condition, and the message of the program.
#[cold]
pub fn failed(what: &str, message: &Ref) -> Box<Fault> {
    let message = text(message);
    match what {
        "range" => return Fault::new(Number::InvalidRange, message),
        "index" => return Fault::new(Number::IndexOutOfRange, message),
        "overflow" => return Fault::new(Number::Overflow, message),
        "cast" => return Fault::new(Number::InvalidConversion, message),
        "try" => return Fault::new(Number::Trap, format!("'try!' expression unexpectedly raised an error: {message}")),
        "expected" => return Fault::new(Number::Expectation, message),
        _ => {}
    }
    let text = match (what, message) {
        ("failed" | "", "") => "fatal error".to_owned(),
        ("failed" | "", message) => message.to_owned(),
        (what, "") => what.to_owned(),
        (what, message) => format!("{what}: {message}"),
    };
    Fault::new(Number::PreconditionFailed, text)
}

/// Returns the fault for an error that was not caught.
#[cold]
pub fn uncaught(message: &Ref) -> Box<Fault> {
    Fault::new(Number::Trap, format!("uncaught error: {}", text(message)))
}

fn text(r: &Ref) -> &str {
    match r {
        Ref::Text(text) => text,
        _ => "",
    }
}
