//! Fast path: executes the usual case of instructions, without a call of the program, a drop of any object but a
//! string, or a failure; only native functions allocate and drop objects here. A function returns `None` when its fast
//! path does not apply; then it has changed nothing, and [`slow_path`](super::slow_path) executes the whole
//! instruction.

use crate::bytecode::NativeSite;
use crate::bytecode::operand::{self, *};
use crate::native::library::{self, Window};
use crate::tape::Num;
use crate::value::{Cells, Ref, Slot, Text};
use crate::vm::fused;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use std::rc::Rc;

/// The offset and stride of a component of an element of an array; `None` for elements of one component.
type ComponentOffset = Option<(u16, u16)>;

/// Computes `out = (a ∘ b) ∘ c`, where `how` selects the two operations, and `c` is in the
/// [`Extra`](crate::bytecode::Instruction::Extra) after the instruction.
#[inline(always)]
pub fn join_left_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let c = at.extra();
    let value = fused::left(how, at.f(a), at.f(b), at.f(c));
    at.set_f(out, value);
}

/// Computes `out = a ∘ (b ∘ c)`, with the operands of [`join_left_f`].
#[inline(always)]
pub fn join_right_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let c = at.extra();
    let value = fused::right(how, at.f(a), at.f(b), at.f(c));
    at.set_f(out, value);
}

/// Computes `out = (a ∘ b) ∘ (c ∘ d)`, where `c` and `d` are in the [`Extras`](crate::bytecode::Instruction::Extras)
/// after the instruction.
#[inline(always)]
pub fn join_both_f(at: &mut Registers, out: FOut, a: FIn, b: FIn, how: Ways) {
    let (c, d) = at.extras();
    let value = fused::both(how, [at.f(a), at.f(b), at.f(c), at.f(d)]);
    at.set_f(out, value);
}

/// Copies a reference, which is then shared: `out = a`.
#[inline(always)]
pub fn share(at: &mut Registers, out: ROut, a: RIn) -> Option<()> {
    is_null(at, out)?;
    let value = at.r(a).clone();
    put(at, out, value)
}

/// Moves a reference from one register to another: `out = a`.
#[inline(always)]
pub fn take(at: &mut Registers, out: ROut, a: RTake) -> Option<()> {
    is_null(at, out)?;
    at.move_to_empty(out, a);
    Some(())
}

/// Drops the reference in a register: `out = nil`.
#[inline(always)]
pub fn clear(at: &mut Registers, out: ROut) -> Option<()> {
    match at.changed(RChange(out.0)) {
        Ref::Null => {}
        text @ Ref::Text(_) => *text = Ref::Null,
        _ => return None,
    }
    Some(())
}

/// Writes a function object that captures nothing and was created before to `out`.
#[inline(always)]
pub fn plain_closure(machine: &Machine, at: &mut Registers, out: ROut, site: ClosureAt) -> Option<()> {
    is_null(at, out)?;
    let site = at.code().closures.get(usize::from(site)).filter(|site| site.captures == [0; 3])?;
    let value = machine.functions.known_plain(site.function)?;
    put(at, out, value)
}

/// Loads a constant string: `out = texts[k]`.
#[inline(always)]
pub fn load_text(at: &mut Registers, out: ROut, k: operand::Text) -> Option<()> {
    is_null(at, out)?;
    let text = at.code().texts.get(usize::from(k))?.clone();
    put(at, out, Ref::Text(Text::Fixed(text)))
}

/// Succeeds if the register `out` is empty, so that a write to the register drops no object.
#[inline(always)]
fn is_null(at: &Registers, out: ROut) -> Option<()> {
    matches!(at.r(RIn(out.0)), Ref::Null).then_some(())
}

/// Writes a reference to a register, which must be empty.
#[inline(always)]
fn put(at: &mut Registers, out: ROut, value: Ref) -> Option<()> {
    // The previous content of the register is null: forgetting it avoids the check whether it must be dropped.
    std::mem::forget(std::mem::replace(at.changed(RChange(out.0)), value));
    Some(())
}

/// Returns the array or record in a register.
#[inline(always)]
fn cells(at: &Registers, a: RIn) -> Option<&Cells> {
    match at.r(a) {
        Ref::Cells(cells) => Some(cells),
        _ => None,
    }
}

/// Returns the array or record in a register if it is not shared.
#[inline(always)]
fn own(at: &mut Registers, a: RChange) -> Option<&mut Cells> {
    match at.changed(a) {
        Ref::Cells(cells) => Rc::get_mut(cells),
        _ => None,
    }
}

/// Returns the index of a component of an element. For an element of one component, the read or write itself checks the
/// range.
#[inline(always)]
fn position(cells: &Cells, index: i64, place: ComponentOffset) -> Option<usize> {
    match place {
        None => usize::try_from(index).ok(),
        Some(place) => objects::position(cells, index, place),
    }
}

/// Writes a number with its slot to an array, unless slots of the array would have to be allocated first.
#[inline(always)]
fn set_num(cells: &mut Cells, k: usize, num: Num) -> Option<()> {
    if cells.slots.is_empty() && num.slot == Slot::NONE {
        *cells.f.get_mut(k)? = num.value;
        return Some(());
    }
    let slot = cells.slots.get_mut(k)?;
    *cells.f.get_mut(k)? = num.value;
    slot.epoch = num.slot.epoch;
    slot.payload = num.slot.payload;
    Some(())
}

/// Appends an element that consists of one number to an array.
#[inline(always)]
pub fn append_f(at: &mut Registers, array: RChange, a: FIn) -> Option<()> {
    let value = at.f(a);
    let cells = own(at, array)?;
    if cells.f.len() == cells.f.capacity() || !cells.slots.is_empty() {
        return None;
    }
    cells.f.push(value);
    cells.len += 1;
    Some(())
}

/// Appends an element that consists of one integer to an array.
#[inline(always)]
pub fn append_i(at: &mut Registers, array: RChange, a: IIn) -> Option<()> {
    let value = at.i(a);
    let cells = own(at, array)?;
    if cells.i.len() == cells.i.capacity() {
        return None;
    }
    cells.i.push(value);
    cells.len += 1;
    Some(())
}

/// Appends a string to another string that has enough capacity, or is short.
#[inline(always)]
pub fn append_text(at: &mut Registers, text: RChange, a: RTake) -> Option<()> {
    let mut more = at.take(a);
    let done = append_moved(at.changed(text), &mut more);
    if done.is_none() {
        std::mem::swap(at.changed(RChange(a.0)), &mut more);
    }
    done
}

/// Appends a string, which is moved, to another string, if that has enough capacity, or the result is short.
#[inline(always)]
pub fn append_moved(text: &mut Ref, from: &mut Ref) -> Option<()> {
    let (Ref::Text(text), Ref::Text(more)) = (text, &*from) else { return None };
    let length = text.len() + more.len();
    let has_room = match text {
        Text::Growing(text) => Rc::get_mut(text).is_some_and(|text| text.capacity() >= length),
        Text::Fixed(_) => false,
    };
    if !has_room && length > library::MAX_LENGTH {
        return None;
    }
    text.push_str(more);
    *from = Ref::Null;
    Some(())
}

/// Calls a native function of the library on the window, if the function has a path without a context; returns the number
/// of steps that it counts as.
#[inline(always)]
pub fn native(mut at: Registers, site: &NativeSite) -> Option<i64> {
    let function = library::direct(site.native)?;
    let (f, i, r) = at.window(site.window);
    function.apply(&mut Window { f, i, r, signature: &site.signature })
}

/// Counts the elements of an array: `out` becomes their number.
#[inline(always)]
pub fn count(at: &mut Registers, out: IOut, array: RIn) -> Option<()> {
    let count = cells(at, array)?.len;
    at.set_i(out, count as i64);
    Some(())
}

/// Checks an index of an array; returns `None` if the index is out of range.
#[inline(always)]
pub fn check_index(at: &Registers, array: RIn, index: IIn) -> Option<()> {
    objects::position(cells(at, array)?, at.i(index), (0, 1)).map(|_| ())
}

/// Reads a number from an element of an array: `out` becomes a component of `array[index]`.
#[inline(always)]
pub fn element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let cells = cells(at, array)?;
    let value = *cells.f.get(position(cells, at.i(index), place)?)?;
    at.set_f(out, value);
    Some(())
}

/// Reads an integer from an element of an array: `out` becomes a component of `array[index]`.
#[inline(always)]
pub fn element_i(at: &mut Registers, out: IOut, array: RIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let cells = cells(at, array)?;
    let value = *cells.i.get(position(cells, at.i(index), place)?)?;
    at.set_i(out, value);
    Some(())
}

/// Reads a reference from an element of an array: `out` becomes a component of `array[index]`. The reference is shared.
#[inline(always)]
pub fn element_r(at: &mut Registers, out: ROut, array: RIn, index: IIn, place: ComponentOffset) -> Option<()> {
    is_null(at, out)?;
    let cells = cells(at, array)?;
    let value = cells.r.get(position(cells, at.i(index), place)?)?.clone();
    put(at, out, value)
}

/// Sets a number in an element of an array: a component of `array[index]` becomes `a`.
#[inline(always)]
pub fn set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let (value, index) = (at.f(a), at.i(index));
    let cells = own(at, array)?;
    let k = position(cells, index, place)?;
    cells.set_f(k, value).then_some(())
}

/// Sets an integer in an element of an array: a component of `array[index]` becomes `a`.
#[inline(always)]
pub fn set_element_i(at: &mut Registers, array: RChange, a: IIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let (value, index) = (at.i(a), at.i(index));
    let cells = own(at, array)?;
    let k = position(cells, index, place)?;
    *cells.i.get_mut(k)? = value;
    Some(())
}

/// Reads a number with its slot from an element of an array: `out` becomes a component of `array[index]`.
#[inline(always)]
pub fn d_element_f(at: &mut Registers, out: FOut, array: RIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let cells = cells(at, array)?;
    let num = objects::num(cells, position(cells, at.i(index), place)?)?;
    at.set_num(out, num);
    Some(())
}

/// Sets a number with its slot in an element of an array: a component of `array[index]` becomes `a`.
#[inline(always)]
pub fn d_set_element_f(at: &mut Registers, array: RChange, a: FIn, index: IIn, place: ComponentOffset) -> Option<()> {
    let (num, index) = (at.num(a), at.i(index));
    let cells = own(at, array)?;
    let k = position(cells, index, place)?;
    set_num(cells, k, num)
}

/// Looks up the implementation of a method for the type of the receiver; succeeds if the implementation was looked up
/// before.
#[inline(always)]
pub fn find_method(machine: &Machine, at: &mut Registers, out: ROut, from: RIn, method: Method) -> Option<()> {
    is_null(at, out)?;
    let shape = objects::shape(at.r(from))?;
    let value = machine.functions.method(method.0, shape)?;
    put(at, out, value)
}

/// Loads a number from a box: `out = box.index`.
#[inline(always)]
pub fn load_box_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let Ref::Box(object) = at.r(from) else { return None };
    let value = *object.cells.try_borrow().ok()?.f.get(usize::from(index))?;
    at.set_f(out, value);
    Some(())
}

/// Loads an integer from a box: `out = box.index`.
#[inline(always)]
pub fn load_box_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Option<()> {
    let Ref::Box(object) = at.r(from) else { return None };
    let value = *object.cells.try_borrow().ok()?.i.get(usize::from(index))?;
    at.set_i(out, value);
    Some(())
}

/// Loads a reference from a box: `out = box.index`. The reference is shared.
#[inline(always)]
pub fn load_box_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Option<()> {
    is_null(at, out)?;
    let Ref::Box(object) = at.r(from) else { return None };
    let value = object.cells.try_borrow().ok()?.r.get(usize::from(index))?.clone();
    put(at, out, value)
}

/// Moves a reference into an empty component of a box, outside of any level: `box.index = a`. Inside of a level, such
/// stores must be logged.
#[inline(always)]
pub fn store_box_r(machine: &Machine, at: &mut Registers, to: RIn, a: RTake, index: Part) -> Option<()> {
    // The box must stay in its register while it is filled.
    if machine.levels.depth() != 0 || to.0 == a.0 {
        return None;
    }
    let Ref::Box(object) = at.r(to) else { return None };
    let mut cells = object.cells.try_borrow_mut().ok()?;
    let place = cells.r.get_mut(usize::from(index)).filter(|place| matches!(place, Ref::Null))?;
    let mut from = *at;
    std::mem::forget(std::mem::replace(place, from.take(a)));
    Some(())
}

/// Stores a number in a box: `box.index = a`.
#[inline(always)]
pub fn store_box_f(at: &mut Registers, to: RIn, a: FIn, index: Part) -> Option<()> {
    let Ref::Box(object) = at.r(to) else { return None };
    object.cells.try_borrow_mut().ok()?.set_f(usize::from(index), at.f(a)).then_some(())
}

/// Stores an integer in a box: `box.index = a`.
#[inline(always)]
pub fn store_box_i(at: &mut Registers, to: RIn, a: IIn, index: Part) -> Option<()> {
    let Ref::Box(object) = at.r(to) else { return None };
    *object.cells.try_borrow_mut().ok()?.i.get_mut(usize::from(index))? = at.i(a);
    Some(())
}

/// Loads a number from a record: `out = record.index`.
#[inline(always)]
pub fn load_record_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let value = *cells(at, from)?.f.get(usize::from(index))?;
    at.set_f(out, value);
    Some(())
}

/// Loads an integer from a record: `out = record.index`.
#[inline(always)]
pub fn load_record_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Option<()> {
    let value = *cells(at, from)?.i.get(usize::from(index))?;
    at.set_i(out, value);
    Some(())
}

/// Loads a reference from a record: `out = record.index`. The reference is shared.
#[inline(always)]
pub fn load_record_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Option<()> {
    is_null(at, out)?;
    let value = cells(at, from)?.r.get(usize::from(index))?.clone();
    put(at, out, value)
}

/// Stores a number in a record: `record.index = a`.
#[inline(always)]
pub fn store_record_f(at: &mut Registers, to: RChange, a: FIn, index: Part) -> Option<()> {
    let value = at.f(a);
    own(at, to)?.set_f(usize::from(index), value).then_some(())
}

/// Stores an integer in a record: `record.index = a`.
#[inline(always)]
pub fn store_record_i(at: &mut Registers, to: RChange, a: IIn, index: Part) -> Option<()> {
    let value = at.i(a);
    *own(at, to)?.i.get_mut(usize::from(index))? = value;
    Some(())
}

/// Returns the captured components of a function object.
#[inline(always)]
fn captures(at: &Registers, from: RIn) -> Option<&Cells> {
    match at.r(from) {
        Ref::Closure(closure) => Some(&closure.captures),
        _ => None,
    }
}

/// Loads a number that a function object has captured: `out = captures.index`.
#[inline(always)]
pub fn capture_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let value = *captures(at, from)?.f.get(usize::from(index))?;
    at.set_f(out, value);
    Some(())
}

/// Loads an integer that a function object has captured: `out = captures.index`.
#[inline(always)]
pub fn capture_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Option<()> {
    let value = *captures(at, from)?.i.get(usize::from(index))?;
    at.set_i(out, value);
    Some(())
}

/// Loads a reference that a function object has captured: `out = captures.index`. The reference is shared.
#[inline(always)]
pub fn capture_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Option<()> {
    is_null(at, out)?;
    let value = captures(at, from)?.r.get(usize::from(index))?.clone();
    put(at, out, value)
}

/// Loads a number from the global variables: `out = globals.index`.
#[inline(always)]
pub fn load_global_f(machine: &Machine, at: &mut Registers, out: FOut, index: Global) -> Option<()> {
    at.set_f(out, *machine.globals.f.get(usize::from(index))?);
    Some(())
}

/// Loads an integer from the global variables: `out = globals.index`.
#[inline(always)]
pub fn load_global_i(machine: &Machine, at: &mut Registers, out: IOut, index: Global) -> Option<()> {
    at.set_i(out, *machine.globals.i.get(usize::from(index))?);
    Some(())
}

/// Loads a reference from the global variables: `out = globals.index`. The reference is shared.
#[inline(always)]
pub fn load_global_r(machine: &Machine, at: &mut Registers, out: ROut, index: Global) -> Option<()> {
    is_null(at, out)?;
    let value = machine.globals.r.get(usize::from(index))?.clone();
    put(at, out, value)
}

/// Stores a number in the global variables: `globals.index = a`.
#[inline(always)]
pub fn store_global_f(machine: &mut Machine, at: &Registers, a: FIn, index: Global) -> Option<()> {
    machine.globals.set_f(usize::from(index), at.f(a)).then_some(())
}

/// Stores an integer in the global variables: `globals.index = a`.
#[inline(always)]
pub fn store_global_i(machine: &mut Machine, at: &Registers, a: IIn, index: Global) -> Option<()> {
    *machine.globals.i.get_mut(usize::from(index))? = at.i(a);
    Some(())
}

/// Loads a number with its slot from a box: `out = box.index`.
#[inline(always)]
pub fn d_load_box_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let Ref::Box(object) = at.r(from) else { return None };
    let num = objects::num(&*object.cells.try_borrow().ok()?, usize::from(index))?;
    at.set_num(out, num);
    Some(())
}

/// Loads a number with its slot from a record: `out = record.index`.
#[inline(always)]
pub fn d_load_record_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let num = objects::num(cells(at, from)?, usize::from(index))?;
    at.set_num(out, num);
    Some(())
}

/// Loads a number with its slot that a function object has captured: `out = captures.index`.
#[inline(always)]
pub fn d_capture_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Option<()> {
    let num = objects::num(captures(at, from)?, usize::from(index))?;
    at.set_num(out, num);
    Some(())
}

/// Loads a number with its slot from the global variables: `out = globals.index`.
#[inline(always)]
pub fn d_load_global_f(machine: &Machine, at: &mut Registers, out: FOut, index: Global) -> Option<()> {
    let num = objects::num(&machine.globals, usize::from(index))?;
    at.set_num(out, num);
    Some(())
}
