//! Arrays: appending, and elements read and written, with and without slots.

use super::gather;
use crate::bytecode::operand::*;
use crate::value::Ref;
use crate::vm::fault::Fault;
use crate::vm::objects;
use crate::vm::registers::Registers;
use std::rc::Rc;

/// `out =` an array of `arrays[k]`
#[inline(never)]
pub fn load_array(at: &mut Registers, out: ROut, k: ArrayAt) {
    let array = at.code().arrays[usize::from(k)].cells();
    at.set_r(out, Ref::Cells(Rc::new(array)));
}

/// Appends an element of one number.
#[inline(always)]
pub fn append_f(at: &mut Registers, array: RChange, a: FIn) -> Result<(), Box<Fault>> {
    let value = at.f(a);
    let cells = objects::own(at.changed(array))?;
    cells.push_f(value);
    cells.len += 1;
    Ok(())
}

/// Appends an element of one integer.
#[inline(always)]
pub fn append_i(at: &mut Registers, array: RChange, a: IIn) -> Result<(), Box<Fault>> {
    let value = at.i(a);
    let cells = objects::own(at.changed(array))?;
    cells.i.push(value);
    cells.len += 1;
    Ok(())
}

/// Appends an element of one reference, moved.
#[inline(always)]
pub fn append_r(at: &mut Registers, array: RChange, a: RTake) -> Result<(), Box<Fault>> {
    let value = at.take(a);
    let cells = objects::own(at.changed(array))?;
    cells.r.push(value);
    cells.len += 1;
    Ok(())
}

/// Appends the element in the window.
#[inline(always)]
pub fn append(at: &mut Registers, array: RChange, parts: PartsAt) -> Result<(), Box<Fault>> {
    let element = gather(*at, parts, at.entry().is_derivative);
    let cells = objects::own(at.changed(array))?;
    cells.push(element.all());
    Ok(())
}

/// `out =` how many elements there are.
#[inline(always)]
pub fn count(at: &mut Registers, out: IOut, array: RIn) -> Result<(), Box<Fault>> {
    let count = objects::cells(at.r(array))?.len;
    at.set_i(out, count as i64);
    Ok(())
}

/// Fails when `index` is out of range.
#[inline(always)]
pub fn check_index(at: &mut Registers, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    objects::position(cells, index, (0, 1)).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}

/// `out = array[index]`, of elements of one number. Fails out of range.
#[inline(always)]
pub fn element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    let value = usize::try_from(index).ok().and_then(|k| cells.f.get(k).copied());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_f(out, value);
    Ok(())
}

/// `out = array[index]`, of elements of one integer. Fails out of range.
#[inline(always)]
pub fn element_i(at: &mut Registers, out: IOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    let value = usize::try_from(index).ok().and_then(|k| cells.i.get(k).copied());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_i(out, value);
    Ok(())
}

/// `out = array[index]`, of elements of one reference, shared. Fails out of range.
#[inline(always)]
pub fn element_r(at: &mut Registers, out: ROut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    let value = usize::try_from(index).ok().and_then(|k| cells.r.get(k).cloned());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_r(out, value);
    Ok(())
}

/// `out =` a component of `array[index]`: the [`Element`](Instruction::Element) behind says which.
#[inline(always)]
pub fn part_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, part) = (at.i(index), at.element());
    let cells = objects::cells(at.r(array))?;
    let value = objects::position(cells, index, part).and_then(|k| cells.f.get(k).copied());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_f(out, value);
    Ok(())
}

/// `out =` a component of `array[index]`.
#[inline(always)]
pub fn part_i(at: &mut Registers, out: IOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, part) = (at.i(index), at.element());
    let cells = objects::cells(at.r(array))?;
    let value = objects::position(cells, index, part).and_then(|k| cells.i.get(k).copied());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_i(out, value);
    Ok(())
}

/// `out =` a component of `array[index]`, shared.
#[inline(always)]
pub fn part_r(at: &mut Registers, out: ROut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, part) = (at.i(index), at.element());
    let cells = objects::cells(at.r(array))?;
    let value = objects::position(cells, index, part).and_then(|k| cells.r.get(k).cloned());
    let value = value.ok_or_else(|| objects::bad_index(cells, index))?;
    at.set_r(out, value);
    Ok(())
}

/// `out =` a component of `array[index]`, moved.
#[inline(always)]
pub fn take_part(at: &mut Registers, out: ROut, array: RChange, index: IIn) -> Result<(), Box<Fault>> {
    let (index, part) = (at.i(index), at.element());
    let cells = objects::own(at.changed(array))?;
    let place = objects::position(cells, index, part).filter(|k| *k < cells.r.len());
    let place = place.ok_or_else(|| objects::bad_index(cells, index))?;
    let value = std::mem::take(&mut cells.r[place]);
    at.set_r(out, value);
    Ok(())
}

/// `array[index] = a`, of elements of one number. Fails out of range.
#[inline(always)]
pub fn set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value) = (at.i(index), at.f(a));
    let cells = objects::own(at.changed(array))?;
    let stored = usize::try_from(index).is_ok_and(|k| cells.set_f(k, value));
    stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}

/// `array[index] = a`, of elements of one integer. Fails out of range.
#[inline(always)]
pub fn set_element_i(at: &mut Registers, array: RChange, a: IIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value) = (at.i(index), at.i(a));
    let cells = objects::own(at.changed(array))?;
    match usize::try_from(index).ok().filter(|k| *k < cells.i.len()) {
        Some(k) => cells.i[k] = value,
        None => {
            let fault = objects::bad_index(cells, index);
            return Err(fault);
        }
    }
    Ok(())
}

/// `array[index] = a`, of elements of one reference, moved. Fails out of range.
#[inline(always)]
pub fn set_element_r(at: &mut Registers, array: RChange, a: RTake, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value) = (at.i(index), at.take(a));
    let cells = objects::own(at.changed(array))?;
    match usize::try_from(index).ok().filter(|k| *k < cells.r.len()) {
        Some(k) => cells.r[k] = value,
        None => {
            let fault = objects::bad_index(cells, index);
            return Err(fault);
        }
    }
    Ok(())
}

/// A component of `array[index] = a`.
#[inline(always)]
pub fn set_part_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value, part) = (at.i(index), at.f(a), at.element());
    let cells = objects::own(at.changed(array))?;
    let stored = objects::position(cells, index, part).is_some_and(|k| cells.set_f(k, value));
    stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}

/// A component of `array[index] = a`.
#[inline(always)]
pub fn set_part_i(at: &mut Registers, array: RChange, a: IIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value, part) = (at.i(index), at.i(a), at.element());
    let cells = objects::own(at.changed(array))?;
    match objects::position(cells, index, part).filter(|k| *k < cells.i.len()) {
        Some(k) => cells.i[k] = value,
        None => {
            let fault = objects::bad_index(cells, index);
            return Err(fault);
        }
    }
    Ok(())
}

/// A component of `array[index] = a`, moved.
#[inline(always)]
pub fn set_part_r(at: &mut Registers, array: RChange, a: RTake, index: IIn) -> Result<(), Box<Fault>> {
    let (index, value, part) = (at.i(index), at.take(a), at.element());
    let cells = objects::own(at.changed(array))?;
    match objects::position(cells, index, part).filter(|k| *k < cells.r.len()) {
        Some(k) => cells.r[k] = value,
        None => {
            let fault = objects::bad_index(cells, index);
            return Err(fault);
        }
    }
    Ok(())
}

/// Appends an element of one number with its slot.
#[inline(always)]
pub fn d_append_f(at: &mut Registers, array: RChange, a: FIn) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    let cells = objects::own(at.changed(array))?;
    cells.push_num(num.value, num.slot);
    cells.len += 1;
    Ok(())
}

/// `out = array[index]` with its slot, of elements of one number. Fails out of range.
#[inline(always)]
pub fn d_element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let index = at.i(index);
    let cells = objects::cells(at.r(array))?;
    let num = usize::try_from(index).ok().and_then(|k| objects::num(cells, k));
    at.set_num(out, num.ok_or_else(|| objects::bad_index(cells, index))?);
    Ok(())
}

/// `out =` a component of `array[index]`, with its slot.
#[inline(always)]
pub fn d_part_f(at: &mut Registers, out: FOut, array: RIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, part) = (at.i(index), at.element());
    let cells = objects::cells(at.r(array))?;
    let num = objects::position(cells, index, part).and_then(|k| objects::num(cells, k));
    at.set_num(out, num.ok_or_else(|| objects::bad_index(cells, index))?);
    Ok(())
}

/// `array[index] = a` with its slot, of elements of one number. Fails out of range.
#[inline(always)]
pub fn d_set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, num) = (at.i(index), at.num(a));
    let cells = objects::own(at.changed(array))?;
    let stored = usize::try_from(index).is_ok_and(|k| cells.set_num(k, num.value, num.slot));
    stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}

/// A component of `array[index] = a`, with its slot.
#[inline(always)]
pub fn d_set_part_f(at: &mut Registers, array: RChange, a: FIn, index: IIn) -> Result<(), Box<Fault>> {
    let (index, num, part) = (at.i(index), at.num(a), at.element());
    let cells = objects::own(at.changed(array))?;
    let place = objects::position(cells, index, part);
    let stored = place.is_some_and(|k| cells.set_num(k, num.value, num.slot));
    stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index))?;
    Ok(())
}
