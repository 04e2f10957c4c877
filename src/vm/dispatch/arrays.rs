//! Arrays: appends, reads and writes elements, with and without slots.

use super::gather;
use crate::bytecode::operand::*;
use crate::value::{Cells, Ref};
use crate::vm::fault::Fault;
use crate::vm::objects;
use crate::vm::state::registers::Registers;
use std::rc::Rc;

/// Creates an array of constants: `out` becomes a copy of `arrays[k]`.
pub fn load_array(at: &mut Registers, out: ROut, k: ArrayAt) {
    let array = at.code().arrays[usize::from(k)].cells();
    at.set_r(out, Ref::Cells(Rc::new(array)));
}

/// Appends an element that consists of one number to an array.
pub fn append_f(at: &mut Registers, array: RChange, a: FIn) -> Result<(), Box<Fault>> {
    let value = at.f(a);
    let cells = objects::own(at.changed(array))?;
    cells.push_f(value);
    cells.len += 1;
    Ok(())
}

/// Appends an element that consists of one integer to an array.
pub fn append_i(at: &mut Registers, array: RChange, a: IIn) -> Result<(), Box<Fault>> {
    let value = at.i(a);
    let cells = objects::own(at.changed(array))?;
    cells.i.push(value);
    cells.len += 1;
    Ok(())
}

/// Appends an element that consists of one reference to an array. The reference is moved.
pub fn append_r(at: &mut Registers, array: RChange, a: RTake) -> Result<(), Box<Fault>> {
    let value = at.take(a);
    let cells = objects::own(at.changed(array))?;
    cells.r.push(value);
    cells.len += 1;
    Ok(())
}

/// Appends an element to an array. The components of the element are in the window.
pub fn append(at: &mut Registers, array: RChange, parts: PartsAt) -> Result<(), Box<Fault>> {
    let element = gather(*at, parts, at.entry().is_derivative);
    let cells = objects::own(at.changed(array))?;
    cells.push(element.all());
    Ok(())
}

/// Counts the elements of an array: `out` becomes their number.
pub fn count(at: &mut Registers, out: IOut, array: RIn) -> Result<(), Box<Fault>> {
    let count = objects::cells(at.r(array))?.len;
    at.set_i(out, count as i64);
    Ok(())
}

/// Checks an index of an array; fails when the index is out of range.
pub fn check_index(at: &mut Registers, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    objects::position(cells, index, (0, 1)).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}

/// Returns the index of an element of one component in its bank. The read or write itself checks the range.
fn whole(_: &Cells, index: i64) -> Option<usize> {
    usize::try_from(index).ok()
}

/// Returns the function that computes the index of a component of an element, given by the
/// [`Element`](Instruction::Element) after the instruction.
fn part(at: &mut Registers) -> impl FnOnce(&Cells, i64) -> Option<usize> + use<> {
    let part = at.element();
    move |cells, index| objects::position(cells, index, part)
}

/// Reads a component of an element; fails when the index is out of range.
fn read<T>(
    at: &Registers,
    (array, index): (RIn, IIn),
    place: impl FnOnce(&Cells, i64) -> Option<usize>,
    get: impl FnOnce(&Cells, usize) -> Option<T>,
) -> Result<T, Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    place(cells, index).and_then(|k| get(cells, k)).ok_or_else(|| objects::bad_index(cells, index))
}

/// Writes a component of an element; fails when the index is out of range.
fn write(
    at: &mut Registers,
    (array, index): (RChange, IIn),
    place: impl FnOnce(&Cells, i64) -> Option<usize>,
    set: impl FnOnce(&mut Cells, usize) -> bool,
) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::own(at.changed(array))?;
    let stored = place(cells, index).is_some_and(|k| set(cells, k));
    if stored { Ok(()) } else { Err(objects::bad_index(cells, index)) }
}

/// Reads an element that consists of one number: `out = array[index]`. Fails when the index is out of range.
pub fn element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let value = read(at, (array, index), whole, |cells, k| cells.f.get(k).copied())?;
    at.set_f(out, value);
    Ok(())
}

/// Reads an element that consists of one integer: `out = array[index]`. Fails when the index is out of range.
pub fn element_i(at: &mut Registers, out: IOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let value = read(at, (array, index), whole, |cells, k| cells.i.get(k).copied())?;
    at.set_i(out, value);
    Ok(())
}

/// Reads an element that consists of one reference: `out = array[index]`. Fails when the index is out of range. The
/// reference is shared.
pub fn element_r(at: &mut Registers, out: ROut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let value = read(at, (array, index), whole, |cells, k| cells.r.get(k).cloned())?;
    at.set_r(out, value);
    Ok(())
}

/// Reads a number from an element of an array: `out` becomes a component of `array[index]`.
pub fn part_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = read(at, (array, index), place, |cells, k| cells.f.get(k).copied())?;
    at.set_f(out, value);
    Ok(())
}

/// Reads an integer from an element of an array: `out` becomes a component of `array[index]`.
pub fn part_i(at: &mut Registers, out: IOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = read(at, (array, index), place, |cells, k| cells.i.get(k).copied())?;
    at.set_i(out, value);
    Ok(())
}

/// Reads a reference from an element of an array: `out` becomes a component of `array[index]`. The reference is shared.
pub fn part_r(at: &mut Registers, out: ROut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = read(at, (array, index), place, |cells, k| cells.r.get(k).cloned())?;
    at.set_r(out, value);
    Ok(())
}

/// Moves a reference out of an element of an array: `out` becomes a component of `array[index]`.
pub fn take_part(at: &mut Registers, out: ROut, array: RChange, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let mut value = Ref::Null;
    write(at, (array, index), place, |cells, k| {
        cells.r.get_mut(k).map(|place| value = std::mem::take(place)).is_some()
    })?;
    at.set_r(out, value);
    Ok(())
}

/// Sets an element that consists of one number: `array[index] = a`. Fails when the index is out of range.
pub fn set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let value = at.f(a);
    write(at, (array, index), whole, |cells, k| cells.set_f(k, value))
}

/// Sets an element that consists of one integer: `array[index] = a`. Fails when the index is out of range.
pub fn set_element_i(at: &mut Registers, array: RChange, a: IIn, index: IIn) -> Result<(), Box<Fault>> {
    let value = at.i(a);
    write(at, (array, index), whole, |cells, k| cells.i.get_mut(k).map(|place| *place = value).is_some())
}

/// Sets an element that consists of one reference: `array[index] = a`. Fails when the index is out of range. The
/// reference is moved.
pub fn set_element_r(at: &mut Registers, array: RChange, a: RTake, index: IIn) -> Result<(), Box<Fault>> {
    let value = at.take(a);
    write(at, (array, index), whole, |cells, k| cells.r.get_mut(k).map(|place| *place = value).is_some())
}

/// Sets a number in an element of an array: a component of `array[index]` becomes `a`.
pub fn set_part_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = at.f(a);
    write(at, (array, index), place, |cells, k| cells.set_f(k, value))
}

/// Sets an integer in an element of an array: a component of `array[index]` becomes `a`.
pub fn set_part_i(at: &mut Registers, array: RChange, a: IIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = at.i(a);
    write(at, (array, index), place, |cells, k| cells.i.get_mut(k).map(|place| *place = value).is_some())
}

/// Sets a reference in an element of an array: a component of `array[index]` becomes `a`. The reference is moved.
pub fn set_part_r(at: &mut Registers, array: RChange, a: RTake, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let value = at.take(a);
    write(at, (array, index), place, |cells, k| cells.r.get_mut(k).map(|place| *place = value).is_some())
}

/// Appends an element that consists of one number with its slot to an array.
pub fn d_append_f(at: &mut Registers, array: RChange, a: FIn) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    let cells = objects::own(at.changed(array))?;
    cells.push_num(num.value, num.slot);
    cells.len += 1;
    Ok(())
}

/// Reads an element that consists of one number with its slot: `out = array[index]`. Fails when the index is out of
/// range.
pub fn d_element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let num = read(at, (array, index), whole, objects::num)?;
    at.set_num(out, num);
    Ok(())
}

/// Reads a number with its slot from an element of an array: `out` becomes a component of `array[index]`.
pub fn d_part_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let num = read(at, (array, index), place, objects::num)?;
    at.set_num(out, num);
    Ok(())
}

/// Sets an element that consists of one number with its slot: `array[index] = a`. Fails when the index is out of range.
pub fn d_set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    write(at, (array, index), whole, |cells, k| cells.set_num(k, num.value, num.slot))
}

/// Sets a number with its slot in an element of an array: a component of `array[index]` becomes `a`.
pub fn d_set_part_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let place = part(at);
    let num = at.num(a);
    write(at, (array, index), place, |cells, k| cells.set_num(k, num.value, num.slot))
}
