//! Object cells: cells of threaded code that read and write references, elements, captures, global variables, and the
//! value stack.

use super::{Cell, Context, View, bail_out, next};
use crate::tape::ValueStack;
use crate::value::{Cells, Ref};
use crate::vm::objects::{self, position};
use smallvec::SmallVec;
use std::rc::Rc;

/// The action of a cell that computes neither a number nor an integer; `None` when the action fails.
pub(super) trait Action {
    /// Performs the action of the cell.
    unsafe fn perform(cell: &Cell, f: *mut f64, i: *mut i64, context: &mut Context) -> Option<()>;
}

/// Executes a cell that performs the action `A`.
pub(super) unsafe fn perform<A: Action>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers; the context belongs to the run.
    unsafe {
        match A::perform(&*at, f, i, &mut *context) {
            Some(()) => next(at, f, i, context),
            None => bail_out(),
        }
    }
}

/// Executes a cell that ends the run: the results are in their registers.
pub(super) unsafe fn end(_: *const Cell, _: *mut f64, _: *mut i64, context: *mut Context) -> *const Cell {
    // SAFETY: the context belongs to the run.
    unsafe { (*context).is_done = true };
    std::ptr::null()
}

/// Executes a cell that ends the run with one result, which the action `A` moves to its register.
pub(super) unsafe fn end_with<A: Action>(
    at: *const Cell,
    f: *mut f64,
    i: *mut i64,
    context: *mut Context,
) -> *const Cell {
    // SAFETY: the verifier has checked the registers; the context belongs to the run.
    unsafe {
        match A::perform(&*at, f, i, &mut *context) {
            Some(()) => end(at, f, i, context),
            None => bail_out(),
        }
    }
}

/// Executes a cell that ends the run, because an operation failed.
pub(super) unsafe fn fail(_: *const Cell, _: *mut f64, _: *mut i64, _: *mut Context) -> *const Cell {
    bail_out()
}

/// Returns the reference in the register `k` of a cell.
#[inline(always)]
unsafe fn reference<'r>(cell: &Cell, context: &mut Context, k: usize) -> &'r mut Ref {
    // SAFETY: the verifier has checked the register. No two such references are live at once, except where a comment
    // explains why.
    unsafe { &mut *context.references.add(cell.regs[k] as usize) }
}

/// Returns the array or record in a register of a cell.
#[inline(always)]
unsafe fn cells<'r>(cell: &Cell, context: &mut Context, k: usize) -> Option<&'r Cells> {
    // SAFETY: the verifier has checked the register, and no other reference to it is live.
    match unsafe { reference(cell, context, k) } {
        Ref::Cells(cells) => Some(cells),
        _ => None,
    }
}

/// Returns the view of the object in a register of a cell.
#[inline(always)]
unsafe fn view<'v>(cell: &Cell, context: &mut Context, k: usize) -> &'v mut View {
    // SAFETY: there is a view for each register, and the verifier has checked the register.
    unsafe { &mut *context.views.add(cell.regs[k] as usize) }
}

/// Writes a reference into the first register of a cell.
#[inline(always)]
unsafe fn write_result(cell: &Cell, context: &mut Context, value: Ref) {
    // SAFETY: the verifier has checked the register, and no reference to its content is live.
    unsafe {
        let to = reference(cell, context, 0);
        *to = value;
        *view(cell, context, 0) = View::of(to);
    }
}

/// Returns the array in the register `k` of a cell for modification; a shared array is copied first. The view of the
/// register must be [renewed](renew_view) afterwards.
#[inline(always)]
unsafe fn own<'r>(cell: &Cell, context: &mut Context, k: usize) -> Option<&'r mut Cells> {
    // SAFETY: the verifier has checked the register, and no other reference to it is live.
    objects::own(unsafe { reference(cell, context, k) }).ok()
}

/// Determines the view of the register `k` of a cell again, after its object was modified.
#[inline(always)]
unsafe fn renew_view(cell: &Cell, context: &mut Context, k: usize) {
    // SAFETY: the verifier has checked the register, and no reference to its content is live.
    unsafe { *view(cell, context, k) = View::of(reference(cell, context, k)) }
}

/// Returns the position of a component of an element of an array of adjoints: the registers 3 and 4 of the cell hold
/// the offset and the stride.
#[inline(always)]
unsafe fn adjoint_position(cell: &Cell, i: *const i64) -> Option<usize> {
    // SAFETY: the verifier has checked the register.
    objects::adjoint_position(unsafe { *i.add(cell.regs[2] as usize) }, (cell.regs[3], cell.regs[4]))
}

/// Returns the global variables.
#[inline(always)]
unsafe fn globals<'g>(context: &Context) -> &'g Cells {
    // SAFETY: the global variables belong to the machine, and no code writes them during the run.
    unsafe { &*context.globals }
}

/// Returns the address of an element that consists of one number.
#[inline(always)]
unsafe fn whole(cell: &Cell, i: *const i64, view: &View) -> Option<*mut f64> {
    // SAFETY: the verifier has checked the register, and the address lies inside of the object. As an unsigned number,
    // a negative index is larger than any count.
    unsafe {
        let index = (*i.add(cell.regs[2] as usize)).cast_unsigned();
        (index < view.count as u64).then(|| view.numbers.add(index as usize))
    }
}

/// Returns the address of a number in an element: the registers 3 and 4 of the cell hold the offset of the number and
/// the stride.
#[inline(always)]
unsafe fn part(cell: &Cell, i: *const i64, view: &View) -> Option<*mut f64> {
    // SAFETY: the verifier has checked the register, and the address lies inside of the object.
    unsafe {
        let index = (*i.add(cell.regs[2] as usize)).cast_unsigned();
        if index >= view.elements as u64 {
            return None;
        }
        let at = index as usize * usize::from(cell.regs[4]) + usize::from(cell.regs[3]);
        (at < view.count).then(|| view.numbers.add(at))
    }
}

/// Returns the index of an integer or a reference in an element of an array.
#[inline(always)]
unsafe fn place(cell: &Cell, i: *const i64, cells: &Cells) -> Option<usize> {
    // SAFETY: the verifier has checked the register.
    position(cells, unsafe { *i.add(cell.regs[2] as usize) }, (cell.regs[3], cell.regs[4]))
}

/// Pushes a value onto the value stack, after allocating memory if necessary.
#[inline(always)]
unsafe fn push<T: Copy>(context: &mut Context, x: T, push: fn(&mut ValueStack, T) -> Option<()>) -> Option<()> {
    // SAFETY: the value stack belongs to the machine, which no other code uses during the run.
    let stack = unsafe { &mut *context.value_stack };
    if push(stack, x).is_some() {
        return Some(());
    }
    std::hint::cold_path();
    stack.make_room(context.limit).ok()?;
    push(stack, x)
}

/// Appends a node to the tape of the only level, unless both operands are constants; returns the bits of its number.
unsafe fn append_node(context: &mut Context, operands: [f64; 2], partials: [f64; 2]) -> Option<f64> {
    // SAFETY: the levels belong to the machine, which no other code uses during the run.
    unsafe { &mut *context.levels }.append_linear(operands, partials)
}

macro_rules! acts {
    ($($(#[doc = $doc:literal])* $name:ident |$cell:ident, $f:ident, $i:ident, $context:ident| $perform:block)*) => {
        $(
            $(#[doc = $doc])*
            pub(super) struct $name;

            impl Action for $name {
                #[inline(always)]
                unsafe fn perform($cell: &Cell, $f: *mut f64, $i: *mut i64, $context: &mut Context) -> Option<()> {
                    // SAFETY: the verifier has checked the registers; `translate` has stored the operands in the cell.
                    unsafe { $perform }
                    Some(())
                }
            }
        )*
    };
}

acts! {
    /// Copies a reference, which is then shared: `out = a`.
    Share |cell, _f, _i, context| {
        let value = reference(cell, context, 1).clone();
        view(cell, context, 1).is_unique = false;
        write_result(cell, context, value);
    }
    /// Moves a reference to another register: `out = a`.
    Take |cell, _f, _i, context| {
        let value = std::mem::take(reference(cell, context, 1));
        *view(cell, context, 1) = View::NONE;
        write_result(cell, context, value);
    }
    /// Copies a number to another register: `out = a`.
    Move |cell, f, _i, _context| { *f.add(cell.regs[0] as usize) = *f.add(cell.regs[1] as usize); }
    /// Drops the content of a reference register.
    Clear |cell, _f, _i, context| { write_result(cell, context, Ref::Null); }
    /// Counts the elements of an array: `out` becomes their number.
    Count |cell, _f, i, context| {
        *i.add(cell.regs[0] as usize) = objects::cells(reference(cell, context, 1)).ok()?.len as i64;
    }
    /// Checks that an index is in the range of an array.
    CheckIndex |cell, _f, i, context| {
        position(cells(cell, context, 0)?, *i.add(cell.regs[1] as usize), (0, 1))?;
    }
    /// Reads an element that consists of one number: `out = array[index]`.
    Element |cell, f, i, context| {
        let from = whole(cell, i, view(cell, context, 1))?;
        *f.add(cell.regs[0] as usize) = *from;
    }
    /// Reads a number from an element: `out` becomes a component of `array[index]`.
    Part |cell, f, i, context| {
        let from = part(cell, i, view(cell, context, 1))?;
        *f.add(cell.regs[0] as usize) = *from;
    }
    /// Reads an integer from an element: `out` becomes a component of `array[index]`.
    PartInteger |cell, _f, i, context| {
        let cells = cells(cell, context, 1)?;
        *i.add(cell.regs[0] as usize) = *cells.i.get(place(cell, i, cells)?)?;
    }
    /// Reads a reference from an element: `out` becomes a component of `array[index]`. The reference is shared.
    PartReference |cell, _f, i, context| {
        let cells = cells(cell, context, 1)?;
        let value = cells.r.get(place(cell, i, cells)?)?.clone();
        write_result(cell, context, value);
    }
    /// Creates an empty array.
    NewArray |cell, _f, _i, context| { write_result(cell, context, Ref::Cells(Rc::default())); }
    /// Creates an array of constants.
    LoadArray |cell, _f, _i, context| {
        write_result(cell, context, Ref::Cells(Rc::new((*cell.more.constants).cells())));
    }
    /// Appends an element that consists of one number to an array.
    Append |cell, f, _i, context| {
        let cells = own(cell, context, 0)?;
        cells.push_f(*f.add(cell.regs[1] as usize));
        cells.len += 1;
        renew_view(cell, context, 0);
    }
    /// Appends an element that consists of one integer to an array.
    AppendInteger |cell, _f, i, context| {
        let cells = own(cell, context, 0)?;
        cells.i.push(*i.add(cell.regs[1] as usize));
        cells.len += 1;
        renew_view(cell, context, 0);
    }
    /// Appends an element to an array, whose components are in the registers from those of the cell on.
    AppendElement |cell, f, i, context| {
        let [nf, ni, nr] = cell.more.counts.map(usize::from);
        let mut element: SmallVec<[Ref; 2]> = SmallVec::new();
        element.extend((0..nr).map(|k| std::mem::take(&mut *context.references.add(cell.regs[3] as usize + k))));
        (0..nr).for_each(|k| *context.views.add(cell.regs[3] as usize + k) = View::NONE);
        let cells = own(cell, context, 0)?;
        (0..nf).for_each(|k| cells.push_f(*f.add(cell.regs[1] as usize + k)));
        cells.i.extend((0..ni).map(|k| *i.add(cell.regs[2] as usize + k)));
        cells.r.extend(element);
        cells.len += 1;
        renew_view(cell, context, 0);
    }
    /// Sets a number in an element: a component of `array[index]` becomes `a`.
    SetPart |cell, f, i, context| {
        let cells = own(cell, context, 0)?;
        let at = place(cell, i, cells)?;
        *cells.f.get_mut(at)? = *f.add(cell.regs[1] as usize);
        renew_view(cell, context, 0);
    }
    /// Sets an integer in an element: a component of `array[index]` becomes `a`.
    SetPartInteger |cell, _f, i, context| {
        let cells = own(cell, context, 0)?;
        let at = place(cell, i, cells)?;
        *cells.i.get_mut(at)? = *i.add(cell.regs[1] as usize);
        renew_view(cell, context, 0);
    }
    /// Adds to a component of an element of an array of adjoints, which is extended as far as necessary.
    Accumulate |cell, f, i, context| {
        let more = *f.add(cell.regs[1] as usize);
        objects::accumulate(reference(cell, context, 0), adjoint_position(cell, i)?, more)?;
        renew_view(cell, context, 0);
    }
    /// Moves a component of an element out of an array of adjoints.
    TakeAdjoint |cell, f, i, context| {
        let at = adjoint_position(cell, i)?;
        *f.add(cell.regs[0] as usize) = objects::take_adjoint(reference(cell, context, 1), at)?;
        renew_view(cell, context, 1);
    }
    /// Reads a component of an element of an array of adjoints.
    ReadAdjoint |cell, f, i, context| {
        let at = adjoint_position(cell, i)?;
        *f.add(cell.regs[0] as usize) = objects::read_adjoint(reference(cell, context, 1), at)?;
    }
    /// Appends an element that consists of one reference, which is moved, to an array.
    AppendReference |cell, _f, _i, context| {
        let value = std::mem::take(reference(cell, context, 1));
        *view(cell, context, 1) = View::NONE;
        let cells = own(cell, context, 0)?;
        cells.r.push(value);
        cells.len += 1;
        renew_view(cell, context, 0);
    }
    /// Moves a reference out of an element: `out` becomes a component of `array[index]`.
    TakePartReference |cell, _f, i, context| {
        let cells = own(cell, context, 1)?;
        let at = place(cell, i, cells)?;
        let value = std::mem::take(cells.r.get_mut(at)?);
        renew_view(cell, context, 1);
        write_result(cell, context, value);
    }
    /// Sets a reference in an element: a component of `array[index]` becomes `a`, which is moved.
    SetPartReference |cell, _f, i, context| {
        let value = std::mem::take(reference(cell, context, 1));
        *view(cell, context, 1) = View::NONE;
        let cells = own(cell, context, 0)?;
        let at = place(cell, i, cells)?;
        *cells.r.get_mut(at)? = value;
        renew_view(cell, context, 0);
    }
    /// Adds the numbers of an array to those of an array in an element of an array of adjoints.
    AccumulateArray |cell, _f, i, context| {
        let from = reference(cell, context, 1).clone();
        view(cell, context, 1).is_unique = false;
        let at = adjoint_position(cell, i)?;
        let mut copied = context.copied;
        let entries = (*context.value_stack).room();
        objects::accumulate_array(reference(cell, context, 0), at, &from, &mut copied, entries)?;
        context.copied = copied;
        renew_view(cell, context, 0);
    }
    /// Moves an array out of an element of an array of adjoints.
    TakeAdjointArray |cell, _f, i, context| {
        let at = adjoint_position(cell, i)?;
        let value = objects::take_adjoint_array(reference(cell, context, 1), at)?;
        renew_view(cell, context, 1);
        write_result(cell, context, value);
    }
    /// Adds the numbers of an array to those of an array of adjoints.
    AddArray |cell, _f, _i, context| {
        // The verifier does not exclude that both registers are the same, so that one reference is a copy.
        let from = reference(cell, context, 1).clone();
        let mut copied = context.copied;
        let entries = (*context.value_stack).room();
        objects::add_array(reference(cell, context, 0), &from, &mut copied, entries)?;
        context.copied = copied;
        drop(from);
        renew_view(cell, context, 0);
    }
    /// Adds the nodes in an array to those in another.
    AddNodes |cell, _f, _i, context| {
        let from = reference(cell, context, 1).clone();
        let array = std::ptr::from_mut(reference(cell, context, 0));
        objects::add_nodes(&mut *array, &from, |nodes| append_node(context, nodes, [1.0; 2]))?;
        drop(from);
        renew_view(cell, context, 0);
    }
    /// Adds to an element that consists of one number: `array[index] += a`.
    AddElement |cell, f, i, context| {
        let view = view(cell, context, 0);
        let to = whole(cell, i, view)?;
        if !view.is_unique {
            return None;
        }
        *to += *f.add(cell.regs[1] as usize);
    }
    /// Adds to a number in an element: a component of `array[index] += a`.
    AddPart |cell, f, i, context| {
        let view = view(cell, context, 0);
        let to = part(cell, i, view)?;
        if !view.is_unique {
            return None;
        }
        *to += *f.add(cell.regs[1] as usize);
    }
    /// Loads a number from a record: `out = record.index`.
    Field |cell, f, _i, context| {
        let (view, at) = (view(cell, context, 1), usize::from(cell.regs[2]));
        if at >= view.count {
            return None;
        }
        *f.add(cell.regs[0] as usize) = *view.numbers.add(at);
    }
    /// Loads an integer from a record: `out = record.index`.
    FieldInteger |cell, _f, i, context| {
        *i.add(cell.regs[0] as usize) = *cells(cell, context, 1)?.i.get(cell.regs[2] as usize)?;
    }
    /// Loads a reference from a record: `out = record.index`. The reference is shared.
    FieldReference |cell, _f, _i, context| {
        let value = cells(cell, context, 1)?.r.get(cell.regs[2] as usize)?.clone();
        write_result(cell, context, value);
    }
    /// Stores a number in a record without slots: `record.index = a`.
    SetField |cell, f, _i, context| {
        let (view, at) = (view(cell, context, 0), usize::from(cell.regs[2]));
        if at >= view.count || !view.is_unique {
            return None;
        }
        *view.numbers.add(at) = *f.add(cell.regs[1] as usize);
    }
    /// Loads a captured number: `out = captures.index`.
    Captured |cell, f, _i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        *f.add(cell.regs[0] as usize) = *closure.captures.f.get(cell.regs[2] as usize)?;
    }
    /// Loads a captured integer: `out = captures.index`.
    CapturedInteger |cell, _f, i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        *i.add(cell.regs[0] as usize) = *closure.captures.i.get(cell.regs[2] as usize)?;
    }
    /// Loads a captured reference: `out = captures.index`. The reference is shared.
    CapturedReference |cell, _f, _i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        let value = closure.captures.r.get(cell.regs[2] as usize)?.clone();
        write_result(cell, context, value);
    }
    /// Loads a number from the global variables.
    Global |cell, f, _i, context| {
        *f.add(cell.regs[0] as usize) = *globals(context).f.get(cell.more.integer as usize)?;
    }
    /// Loads an integer from the global variables.
    GlobalInteger |cell, _f, i, context| {
        *i.add(cell.regs[0] as usize) = *globals(context).i.get(cell.more.integer as usize)?;
    }
    /// Loads a reference from the global variables. The reference is shared.
    GlobalReference |cell, _f, _i, context| {
        let value = globals(context).r.get(cell.more.integer as usize)?.clone();
        write_result(cell, context, value);
    }
    /// Sets a number to zero if it is subnormal: contractions over thousands of iterations would otherwise compute with
    /// subnormal numbers, which is 15 times slower.
    Flush |cell, f, _i, _context| {
        let number = &mut *f.add(cell.regs[0] as usize);
        if number.is_subnormal() {
            *number = 0.0;
        }
    }
    /// Appends a node with one operand to the tape.
    AppendNode |cell, f, _i, context| {
        let [node, partial] = [1, 2].map(|k| *f.add(cell.regs[k] as usize));
        *f.add(cell.regs[0] as usize) = append_node(context, [node, 0.0], [partial, 0.0])?;
    }
    /// Appends a node with two operands to the tape.
    AppendNode2 |cell, f, _i, context| {
        let [left, right, first, second] = [1, 2, 3, 4].map(|k| *f.add(cell.regs[k] as usize));
        *f.add(cell.regs[0] as usize) = append_node(context, [left, right], [first, second])?;
    }
    /// Pushes a number onto the value stack.
    Push |cell, f, _i, context| {
        push(context, *f.add(cell.regs[0] as usize), ValueStack::push_number)?;
    }
    /// Pushes an integer onto the value stack.
    PushInteger |cell, _f, i, context| {
        push(context, *i.add(cell.regs[0] as usize), ValueStack::push_integer)?;
    }
    /// Pushes a constant integer onto the value stack.
    PushKnown |cell, _f, _i, context| {
        push(context, cell.more.integer, ValueStack::push_integer)?;
    }
    /// Pops a number from the value stack.
    Pop |cell, f, _i, context| { *f.add(cell.regs[0] as usize) = (*context.value_stack).pop_number(); }
    /// Pops an integer from the value stack.
    PopInteger |cell, _f, i, context| { *i.add(cell.regs[0] as usize) = (*context.value_stack).pop_integer(); }
}
