//! Storage: accesses boxes, records, function objects and global variables, with and without slots.

use super::{gather, gather_counts};
use crate::bytecode::operand::*;
use crate::value::shape::ShapeId;
use crate::value::{BoxCells, Cells, Closure, Ref};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use std::cell::RefCell;
use std::rc::Rc;

/// Creates a box with the components in the window.
pub fn new_box(at: &mut Registers, out: ROut, parts: PartsAt) {
    let slots = at.entry().is_derivative;
    let cells = gather(*at, parts, slots);
    at.set_r(
        out,
        Ref::Box(Rc::new(BoxCells { cells: RefCell::new(cells), shape: None, finalizer: Default::default() })),
    );
}

/// Creates an instance of a class with the components in the window.
pub fn new_instance(
    compiler: &mut dyn Compiler,
    at: &mut Registers,
    out: ROut,
    shape: Shaped,
) -> Result<(), Box<Fault>> {
    let shape = ShapeId(shape.0);
    let Some(layout) = compiler.shapes().instance_layout(shape) else {
        return Err(Fault::internal("an instance of a type that is not a class"));
    };
    let cells = Cells::zeros(layout);
    at.set_r(
        out,
        Ref::Box(Rc::new(BoxCells { cells: RefCell::new(cells), shape: Some(shape), finalizer: Default::default() })),
    );
    Ok(())
}

/// Looks up the function that implements a method for the type of the receiver.
pub fn find_method(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: &mut Registers,
    out: ROut,
    from: RIn,
    method: Method,
) -> Result<(), Box<Fault>> {
    let Some(shape) = objects::shape(at.r(from)) else {
        return Err(Fault::internal("a method of a value that has no methods"));
    };
    let found = match machine.functions.method(method.0, shape) {
        Some(found) => found,
        None => machine.functions.load_method(compiler, method.0, shape)?,
    };
    at.set_r(out, found);
    Ok(())
}

/// Creates a record with the components in the window.
pub fn new_record(at: &mut Registers, out: ROut, parts: PartsAt) {
    let slots = at.entry().is_derivative;
    let cells = gather(*at, parts, slots);
    at.set_r(out, Ref::Cells(Rc::new(cells)));
}

/// Creates a function object with the captured components in the window.
pub fn new_closure(machine: &mut Machine, at: &mut Registers, out: ROut, site: ClosureAt) {
    let code = at.code();
    let site = &code.closures[usize::from(site)];
    if site.captures == [0; 3] {
        at.set_r(out, machine.functions.plain(site.function));
        return;
    }
    let captures = gather_counts(*at, site.captures, at.entry().is_derivative);
    at.set_r(out, Ref::Closure(Rc::new(Closure { function: site.function, captures })));
}

/// Loads a number from a box: `out = box.index`.
pub fn load_box_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::boxed(at.r(from))?.cells.borrow();
    let value = cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    drop(cells);
    at.set_f(out, value);
    Ok(())
}

/// Loads an integer from a box: `out = box.index`.
pub fn load_box_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::boxed(at.r(from))?.cells.borrow();
    let value = cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    drop(cells);
    at.set_i(out, value);
    Ok(())
}

/// Loads a reference from a box: `out = box.index`. The reference is shared.
pub fn load_box_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::boxed(at.r(from))?.cells.borrow();
    let value = cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component)?;
    drop(cells);
    at.set_r(out, value);
    Ok(())
}

/// Stores a number in a box: `box.index = a`.
pub fn store_box_f(at: &mut Registers, to: RIn, a: FIn, index: Part) -> Result<(), Box<Fault>> {
    let value = at.f(a);
    let stored = objects::boxed(at.r(to))?.cells.borrow_mut().set_f(usize::from(index), value);
    present(stored)?;
    Ok(())
}

/// Stores an integer in a box: `box.index = a`.
pub fn store_box_i(at: &mut Registers, to: RIn, a: IIn, index: Part) -> Result<(), Box<Fault>> {
    let value = at.i(a);
    let mut cells = objects::boxed(at.r(to))?.cells.borrow_mut();
    let place = cells.i.get_mut(usize::from(index)).ok_or_else(objects::no_component)?;
    *place = value;
    Ok(())
}

/// Stores a reference in a box: `box.index = a`. The reference is moved.
pub fn store_box_r(
    machine: &mut Machine,
    at: &mut Registers,
    to: RIn,
    a: RTake,
    index: Part,
) -> Result<(), Box<Fault>> {
    let value = at.take(a);
    let object = objects::boxed(at.r(to))?;
    // The stored value may contain slots: in elements of an array, in captures of a closure.
    machine.levels.log_store(object);
    let mut cells = object.cells.borrow_mut();
    let place = cells.r.get_mut(usize::from(index)).ok_or_else(objects::no_component)?;
    let old = std::mem::replace(place, value);
    // Dropping the previous content may access the box again, if the content contains the box.
    drop(cells);
    drop(old);
    Ok(())
}

/// Moves a reference out of a box: `out = box.index`.
pub fn take_box(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let mut cells = objects::boxed(at.r(from))?.cells.borrow_mut();
    let value = cells.r.get_mut(usize::from(index)).map(std::mem::take).ok_or_else(objects::no_component)?;
    drop(cells);
    at.set_r(out, value);
    Ok(())
}

/// Loads a number from a record: `out = record.index`.
pub fn load_record_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::cells(at.r(from))?;
    let value = cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    at.set_f(out, value);
    Ok(())
}

/// Loads an integer from a record: `out = record.index`.
pub fn load_record_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::cells(at.r(from))?;
    let value = cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    at.set_i(out, value);
    Ok(())
}

/// Loads a reference from a record: `out = record.index`. The reference is shared.
pub fn load_record_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::cells(at.r(from))?;
    let value = cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component)?;
    at.set_r(out, value);
    Ok(())
}

/// Stores a number in a record: `record.index = a`.
pub fn store_record_f(at: &mut Registers, to: RChange, a: FIn, index: Part) -> Result<(), Box<Fault>> {
    let value = at.f(a);
    let stored = objects::own(at.changed(to))?.set_f(usize::from(index), value);
    present(stored)?;
    Ok(())
}

/// Stores an integer in a record: `record.index = a`.
pub fn store_record_i(at: &mut Registers, to: RChange, a: IIn, index: Part) -> Result<(), Box<Fault>> {
    let value = at.i(a);
    let cells = objects::own(at.changed(to))?;
    *cells.i.get_mut(usize::from(index)).ok_or_else(objects::no_component)? = value;
    Ok(())
}

/// Stores a reference in a record: `record.index = a`. The reference is moved.
pub fn store_record_r(at: &mut Registers, to: RChange, a: RTake, index: Part) -> Result<(), Box<Fault>> {
    let value = at.take(a);
    let cells = objects::own(at.changed(to))?;
    *cells.r.get_mut(usize::from(index)).ok_or_else(objects::no_component)? = value;
    Ok(())
}

/// Moves a reference out of a record: `out = record.index`.
pub fn take_record(at: &mut Registers, out: ROut, from: RChange, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::own(at.changed(from))?;
    let value = cells.r.get_mut(usize::from(index)).map(std::mem::take).ok_or_else(objects::no_component)?;
    at.set_r(out, value);
    Ok(())
}

/// Loads a number that a function object has captured: `out = captures.index`.
pub fn capture_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::captures(at.r(from))?;
    let value = cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    at.set_f(out, value);
    Ok(())
}

/// Loads an integer that a function object has captured: `out = captures.index`.
pub fn capture_i(at: &mut Registers, out: IOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::captures(at.r(from))?;
    let value = cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component)?;
    at.set_i(out, value);
    Ok(())
}

/// Loads a reference that a function object has captured: `out = captures.index`. The reference is shared.
pub fn capture_r(at: &mut Registers, out: ROut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::captures(at.r(from))?;
    let value = cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component)?;
    at.set_r(out, value);
    Ok(())
}

/// Loads a number from the global variables: `out = globals.index`.
pub fn load_global_f(machine: &mut Machine, at: &mut Registers, out: FOut, index: Global) -> Result<(), Box<Fault>> {
    let value = machine.globals.f.get(usize::from(index)).copied();
    let value = value.ok_or_else(objects::no_global)?;
    at.set_f(out, value);
    Ok(())
}

/// Loads an integer from the global variables: `out = globals.index`.
pub fn load_global_i(machine: &mut Machine, at: &mut Registers, out: IOut, index: Global) -> Result<(), Box<Fault>> {
    let value = machine.globals.i.get(usize::from(index)).copied();
    let value = value.ok_or_else(objects::no_global)?;
    at.set_i(out, value);
    Ok(())
}

/// Loads a reference from the global variables: `out = globals.index`. The reference is shared.
pub fn load_global_r(machine: &mut Machine, at: &mut Registers, out: ROut, index: Global) -> Result<(), Box<Fault>> {
    let value = machine.globals.r.get(usize::from(index)).cloned();
    let value = value.ok_or_else(objects::no_global)?;
    at.set_r(out, value);
    Ok(())
}

/// Stores a number in the global variables: `globals.index = a`.
pub fn store_global_f(machine: &mut Machine, at: &mut Registers, a: FIn, index: Global) -> Result<(), Box<Fault>> {
    let stored = machine.globals.set_f(usize::from(index), at.f(a));
    stored.then_some(()).ok_or_else(objects::no_global)?;
    Ok(())
}

/// Stores an integer in the global variables: `globals.index = a`.
pub fn store_global_i(machine: &mut Machine, at: &mut Registers, a: IIn, index: Global) -> Result<(), Box<Fault>> {
    match machine.globals.i.get_mut(usize::from(index)) {
        Some(place) => *place = at.i(a),
        None => return Err(objects::no_global()),
    }
    Ok(())
}

/// Stores a reference in the global variables: `globals.index = a`. The reference is moved.
pub fn store_global_r(machine: &mut Machine, at: &mut Registers, a: RTake, index: Global) -> Result<(), Box<Fault>> {
    match machine.globals.r.get_mut(usize::from(index)) {
        Some(place) => {
            *place = at.take(a);
            machine.levels.log_global();
        }
        None => return Err(objects::no_global()),
    }
    Ok(())
}

/// Moves a reference out of the global variables: `out = globals.index`.
pub fn take_global(machine: &mut Machine, at: &mut Registers, out: ROut, index: Global) -> Result<(), Box<Fault>> {
    let value = machine.globals.r.get_mut(usize::from(index)).map(std::mem::take);
    let value = value.ok_or_else(objects::no_global)?;
    at.set_r(out, value);
    Ok(())
}

/// Loads a number with its slot from a box: `out = box.index`.
pub fn d_load_box_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::boxed(at.r(from))?.cells.borrow();
    let num = objects::num(&cells, usize::from(index)).ok_or_else(objects::no_component)?;
    drop(cells);
    at.set_num(out, num);
    Ok(())
}

/// Stores a number with its slot in a box: `box.index = a`.
pub fn d_store_box_f(
    machine: &mut Machine,
    at: &mut Registers,
    to: RIn,
    a: FIn,
    index: Part,
) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    let object = objects::boxed(at.r(to))?;
    machine.levels.log_store(object);
    let stored = object.cells.borrow_mut().set_num(usize::from(index), num.value, num.slot);
    present(stored)?;
    Ok(())
}

/// Loads a number with its slot from a record: `out = record.index`.
pub fn d_load_record_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::cells(at.r(from))?;
    at.set_num(out, objects::num(cells, usize::from(index)).ok_or_else(objects::no_component)?);
    Ok(())
}

/// Stores a number with its slot in a record: `record.index = a`.
pub fn d_store_record_f(at: &mut Registers, to: RChange, a: FIn, index: Part) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    let cells = objects::own(at.changed(to))?;
    present(cells.set_num(usize::from(index), num.value, num.slot))?;
    Ok(())
}

/// Loads a number with its slot that a function object has captured: `out = captures.index`.
pub fn d_capture_f(at: &mut Registers, out: FOut, from: RIn, index: Part) -> Result<(), Box<Fault>> {
    let cells = objects::captures(at.r(from))?;
    at.set_num(out, objects::num(cells, usize::from(index)).ok_or_else(objects::no_component)?);
    Ok(())
}

/// Loads a number with its slot from the global variables: `out = globals.index`.
pub fn d_load_global_f(machine: &mut Machine, at: &mut Registers, out: FOut, index: Global) -> Result<(), Box<Fault>> {
    let num = objects::num(&machine.globals, usize::from(index));
    at.set_num(out, num.ok_or_else(objects::no_global)?);
    Ok(())
}

/// Stores a number with its slot in the global variables: `globals.index = a`.
pub fn d_store_global_f(machine: &mut Machine, at: &mut Registers, a: FIn, index: Global) -> Result<(), Box<Fault>> {
    let num = at.num(a);
    machine.levels.log_global();
    let stored = machine.globals.set_num(usize::from(index), num.value, num.slot);
    stored.then_some(()).ok_or_else(objects::no_global)?;
    Ok(())
}

fn present(stored: bool) -> Result<(), Box<Fault>> {
    if stored { Ok(()) } else { Err(objects::no_component()) }
}
