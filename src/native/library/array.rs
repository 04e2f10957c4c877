//! Arrays: native functions of entire arrays; instructions access single elements.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};
use super::host::Host;
use crate::cancel;
use crate::value::shape::Layout;
use crate::value::{Cells, Ref, Slot};
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "array.concat", call: append_contents },
    NativeFunction { name: "array.appendContents", call: append_contents },
    NativeFunction { name: "array.repeating", call: repeating },
    NativeFunction { name: "array.removeLast", call: remove_last },
    NativeFunction { name: "array.remove", call: remove },
    NativeFunction { name: "array.insert", call: insert },
    NativeFunction { name: "array.slice", call: slice },
    NativeFunction { name: "array.reversed", call: reversed },
    NativeFunction { name: "array.swap", call: swap },
    NativeFunction { name: "array.removeAll", call: remove_all },
    NativeFunction { name: "array.reserve", call: reserve },
];

/// Returns the layout of the elements of the array argument.
fn layout(c: &NativeContext<'_>) -> Result<Layout, Failure> {
    Ok(c.shapes.layout(c.type_at(0)?))
}

/// Converts a count of elements to an unsigned number; fails if it is negative.
pub(super) fn count(count: i64) -> Result<usize, Failure> {
    usize::try_from(count).map_err(|_| Failure::new(FailureKind::Precondition, format!("a count cannot be {count}")))
}

/// Fails if `count` elements of `bytes` bytes each exceed the maximum size of an object.
pub(super) fn affordable(host: &Host, count: usize, bytes: usize) -> Result<(), Failure> {
    match count.checked_mul(bytes) {
        Some(all) if all as u64 <= host.largest => Ok(()),
        _ => {
            let message = format!("an object of {count} elements of {bytes} bytes needs more memory than allowed");
            Err(Failure::new(FailureKind::Memory, message))
        }
    }
}

/// Reserves capacity for `more` elements in an array.
fn make_room(c: &NativeContext<'_>, cells: &mut Cells, more: usize, layout: Layout) -> Result<(), Failure> {
    let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
    affordable(c.host, more, nf * size_of::<f64>() + ni * size_of::<i64>() + nr * size_of::<Ref>())?;
    let fits = cells.f.try_reserve(more * nf).is_ok()
        && cells.i.try_reserve(more * ni).is_ok()
        && cells.r.try_reserve(more * nr).is_ok()
        && (cells.slots.is_empty() || cells.slots.try_reserve(more * nf).is_ok());
    if fits { Ok(()) } else { Err(Failure::new(FailureKind::Memory, "the system is out of memory")) }
}

fn position(index: i64, below: usize, count: usize) -> Result<usize, Failure> {
    usize::try_from(index).ok().filter(|k| *k < below).ok_or_else(|| Failure::index("array", index, count))
}

fn append_contents(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let (mut to, from) = (c.array(layout)?, c.array(layout)?);
    let cells = Rc::make_mut(&mut to);
    make_room(c, cells, from.len, layout)?;
    cancel::in_pieces(from.len, |piece| cells.extend(&from, piece.start, piece.end, layout));
    c.return_reference(Ref::Cells(to))
}

fn repeating(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let element = c.value(layout)?;
    let count = count(c.integer())?;
    let mut cells = Cells::empty();
    make_room(c, &mut cells, count, layout)?;
    let parts = c.components(element);
    match (parts.f, parts.i, parts.r) {
        // Arrays of numbers are the most common arrays, and are filled by one vectorizable loop.
        ([x], [], []) => {
            cancel::in_pieces(count, |piece| cells.f.resize(piece.end, *x));
            let slot = parts.slots.first().copied().unwrap_or(Slot::NONE);
            if slot != Slot::NONE {
                cancel::in_pieces(count, |piece| cells.slots.resize(piece.end, slot));
            }
            cells.len = count;
        }
        ([], [n], []) => {
            cancel::in_pieces(count, |piece| cells.i.resize(piece.end, *n));
            cells.len = count;
        }
        _ => cancel::in_pieces(count, |piece| piece.for_each(|_| cells.push(parts))),
    }
    c.return_reference(Ref::Cells(Rc::new(cells)))
}

fn remove_last(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let mut array = c.array(layout)?;
    let Some(last) = array.len.checked_sub(1) else {
        return Err(Failure::new(FailureKind::IndexOutOfRange, "cannot remove the last element of an empty array"));
    };
    take_out(c, &mut array, last, layout)?;
    c.return_reference(Ref::Cells(array))
}

fn remove(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let (mut array, index) = (c.array(layout)?, c.integer());
    let at = position(index, array.len, array.len)?;
    take_out(c, &mut array, at, layout)?;
    c.return_reference(Ref::Cells(array))
}

/// Removes an element from an array and returns it.
fn take_out(c: Call<'_, '_>, array: &mut Rc<Cells>, at: usize, layout: Layout) -> Result<(), Failure> {
    c.return_components(array.element(at, layout))?;
    Rc::make_mut(array).remove(at, at + 1, layout);
    Ok(())
}

fn insert(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let mut array = c.array(layout)?;
    let (element, index) = (c.value(layout)?, c.integer());
    let at = position(index, array.len + 1, array.len)?;
    Rc::make_mut(&mut array).insert(at, layout, c.components(element));
    c.return_reference(Ref::Cells(array))
}

fn slice(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let (array, low, high) = (c.array(layout)?, c.integer(), c.integer());
    if low > high {
        return Err(Failure::new(FailureKind::InvalidRange, format!("the range {low}..<{high} ends before it starts")));
    }
    let inside = |n: i64| usize::try_from(n).ok().filter(|n| *n <= array.len);
    let (Some(from), Some(to)) = (inside(low), inside(high)) else {
        let message = format!("the range {low}..<{high} is out of range for an array of {} elements", array.len);
        return Err(Failure::new(FailureKind::IndexOutOfRange, message).with("count", array.len));
    };
    let mut cells = Cells::empty();
    make_room(c, &mut cells, to - from, layout)?;
    cancel::in_pieces(to - from, |piece| cells.extend(&array, from + piece.start, from + piece.end, layout));
    c.return_reference(Ref::Cells(Rc::new(cells)))
}

fn reversed(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let mut array = c.array(layout)?;
    let cells = Rc::make_mut(&mut array);
    let last = cells.len.saturating_sub(1);
    cancel::in_pieces(cells.len / 2, |piece| piece.for_each(|k| cells.swap(k, last - k, layout)));
    c.return_reference(Ref::Cells(array))
}

fn swap(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let (mut array, a, b) = (c.array(layout)?, c.integer(), c.integer());
    let (a, b) = (position(a, array.len, array.len)?, position(b, array.len, array.len)?);
    if a != b {
        Rc::make_mut(&mut array).swap(a, b, layout);
    }
    c.return_reference(Ref::Cells(array))
}

fn remove_all(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let mut array = c.array(layout)?;
    match Rc::get_mut(&mut array) {
        // The capacity of the emptied array is retained for new elements.
        Some(cells) => {
            cells.remove(0, cells.len, layout);
            cells.origins.clear();
        }
        None => array = Rc::default(),
    }
    c.return_reference(Ref::Cells(array))
}

fn reserve(c: Call<'_, '_>) -> Result<(), Failure> {
    let layout = layout(c)?;
    let mut array = c.array(layout)?;
    let capacity = count(c.integer())?;
    let more = capacity.saturating_sub(array.len);
    make_room(c, Rc::make_mut(&mut array), more, layout)?;
    c.return_reference(Ref::Cells(array))
}
