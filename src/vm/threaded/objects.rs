//! Cells that read and write references, elements, captures, global variables, and what is kept.

use super::super::objects::position;
use super::{Cell, Context, give_up, next};
use crate::tape::Kept;
use crate::value::{Cells, Ref};
use std::rc::Rc;

/// What a cell does besides giving a number or an integer; nothing when it cannot.
pub(super) trait Act {
    /// Does it.
    unsafe fn act(cell: &Cell, f: *mut f64, i: *mut i64, context: &mut Context) -> Option<()>;
}

/// Does what `A` says.
pub(super) unsafe fn act<A: Act>(at: *const Cell, f: *mut f64, i: *mut i64, context: *mut Context) -> *const Cell {
    // SAFETY: verified registers; the context belongs to the run.
    unsafe {
        match A::act(&*at, f, i, &mut *context) {
            Some(()) => next(at, f, i, context),
            None => give_up(),
        }
    }
}

/// The end: results stand where they belong.
pub(super) unsafe fn end(_: *const Cell, _: *mut f64, _: *mut i64, context: *mut Context) -> *const Cell {
    // SAFETY: the context belongs to the run.
    unsafe { (*context).is_done = true };
    std::ptr::null()
}

/// The end of what cannot be done.
pub(super) unsafe fn fail(_: *const Cell, _: *mut f64, _: *mut i64, _: *mut Context) -> *const Cell {
    give_up()
}

/// The reference in register `k` of a cell.
#[inline(always)]
unsafe fn reference<'r>(cell: &Cell, context: &mut Context, k: usize) -> &'r mut Ref {
    // SAFETY: a verified register. No two of these live at once, but where a comment says why.
    unsafe { &mut *context.references.add(cell.regs[k] as usize) }
}

/// The array or record in a register.
#[inline(always)]
unsafe fn cells<'r>(cell: &Cell, context: &mut Context, k: usize) -> Option<&'r Cells> {
    // SAFETY: as above.
    match unsafe { reference(cell, context, k) } {
        Ref::Cells(cells) => Some(cells),
        _ => None,
    }
}

/// The same when nobody else has it.
#[inline(always)]
unsafe fn own<'r>(cell: &Cell, context: &mut Context, k: usize) -> Option<&'r mut Cells> {
    // SAFETY: as above.
    match unsafe { reference(cell, context, k) } {
        Ref::Cells(cells) => Rc::get_mut(cells),
        _ => None,
    }
}

/// The global variables.
#[inline(always)]
unsafe fn globals<'g>(context: &Context) -> &'g Cells {
    // SAFETY: they belong to the machine, and nobody writes them during the run.
    unsafe { &*context.globals }
}

/// Where an element of one component stands. Whether it is there, reading sees.
#[inline(always)]
unsafe fn whole(cell: &Cell, i: *const i64, k: usize) -> Option<usize> {
    // SAFETY: a verified register.
    usize::try_from(unsafe { *i.add(cell.regs[k] as usize) }).ok()
}

/// Where a component of an element stands: registers 3 and 4 have its offset and its stride.
#[inline(always)]
unsafe fn part(cell: &Cell, i: *const i64, cells: &Cells) -> Option<usize> {
    // SAFETY: a verified register.
    position(cells, unsafe { *i.add(cell.regs[2] as usize) }, (cell.regs[3], cell.regs[4]))
}

/// Keeps something, where need be behind making room.
#[inline(always)]
unsafe fn keep<T: Copy>(context: &mut Context, x: T, keep: fn(&mut Kept, T) -> Option<()>) -> Option<()> {
    // SAFETY: what is kept belongs to the machine, which nobody else uses during the run.
    let kept = unsafe { &mut *context.kept };
    if keep(kept, x).is_some() {
        return Some(());
    }
    std::hint::cold_path();
    kept.make_room(context.limit).ok()?;
    keep(kept, x)
}

macro_rules! acts {
    ($($(#[doc = $doc:literal])* $name:ident |$cell:ident, $f:ident, $i:ident, $context:ident| $act:block)*) => {
        $(
            $(#[doc = $doc])*
            pub(super) struct $name;

            impl Act for $name {
                #[inline(always)]
                unsafe fn act($cell: &Cell, $f: *mut f64, $i: *mut i64, $context: &mut Context) -> Option<()> {
                    // SAFETY: verified registers; `translate` has put what is read into the cell.
                    unsafe { $act }
                    Some(())
                }
            }
        )*
    };
}

acts! {
    /// `out = a`, shared.
    Share |cell, _f, _i, context| {
        let value = reference(cell, context, 1).clone();
        *reference(cell, context, 0) = value;
    }
    /// `out = a`, moved.
    Take |cell, _f, _i, context| {
        let value = std::mem::take(reference(cell, context, 1));
        *reference(cell, context, 0) = value;
    }
    /// Drops what is in a register.
    Clear |cell, _f, _i, context| { *reference(cell, context, 0) = Ref::Null; }
    /// `out =` how many elements there are.
    Count |cell, _f, i, context| { *i.add(cell.regs[0] as usize) = cells(cell, context, 1)?.len as i64; }
    /// Whether an index is in range.
    CheckIndex |cell, _f, i, context| {
        position(cells(cell, context, 0)?, *i.add(cell.regs[1] as usize), (0, 1))?;
    }
    /// `out = array[index]`
    Element |cell, f, i, context| {
        let cells = cells(cell, context, 1)?;
        *f.add(cell.regs[0] as usize) = *cells.f.get(whole(cell, i, 2)?)?;
    }
    /// `out = array[index]`
    ElementInteger |cell, _f, i, context| {
        let cells = cells(cell, context, 1)?;
        *i.add(cell.regs[0] as usize) = *cells.i.get(whole(cell, i, 2)?)?;
    }
    /// `out =` a component of `array[index]`
    Part |cell, f, i, context| {
        let cells = cells(cell, context, 1)?;
        *f.add(cell.regs[0] as usize) = *cells.f.get(part(cell, i, cells)?)?;
    }
    /// `out =` a component of `array[index]`
    PartInteger |cell, _f, i, context| {
        let cells = cells(cell, context, 1)?;
        *i.add(cell.regs[0] as usize) = *cells.i.get(part(cell, i, cells)?)?;
    }
    /// `out =` a component of `array[index]`, shared; of elements of one reference, too.
    PartReference |cell, _f, i, context| {
        let cells = cells(cell, context, 1)?;
        let value = cells.r.get(part(cell, i, cells)?)?.clone();
        *reference(cell, context, 0) = value;
    }
    /// `array[index] += a`
    AddElement |cell, f, i, context| {
        let value = *f.add(cell.regs[1] as usize);
        let cells = own(cell, context, 0)?;
        *cells.f.get_mut(whole(cell, i, 2)?)? += value;
    }
    /// A component of `array[index] += a`
    AddPart |cell, f, i, context| {
        let value = *f.add(cell.regs[1] as usize);
        let cells = own(cell, context, 0)?;
        let at = part(cell, i, cells)?;
        *cells.f.get_mut(at)? += value;
    }
    /// `out = record.index`
    Field |cell, f, _i, context| {
        *f.add(cell.regs[0] as usize) = *cells(cell, context, 1)?.f.get(cell.regs[2] as usize)?;
    }
    /// `out = record.index`
    FieldInteger |cell, _f, i, context| {
        *i.add(cell.regs[0] as usize) = *cells(cell, context, 1)?.i.get(cell.regs[2] as usize)?;
    }
    /// `out = record.index`, shared.
    FieldReference |cell, _f, _i, context| {
        let value = cells(cell, context, 1)?.r.get(cell.regs[2] as usize)?.clone();
        *reference(cell, context, 0) = value;
    }
    /// `record.index = a`, of a record without slots.
    SetField |cell, f, _i, context| {
        let value = *f.add(cell.regs[1] as usize);
        *own(cell, context, 0)?.f.get_mut(cell.regs[2] as usize)? = value;
    }
    /// `out = captures.index`
    Captured |cell, f, _i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        *f.add(cell.regs[0] as usize) = *closure.captures.f.get(cell.regs[2] as usize)?;
    }
    /// `out = captures.index`
    CapturedInteger |cell, _f, i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        *i.add(cell.regs[0] as usize) = *closure.captures.i.get(cell.regs[2] as usize)?;
    }
    /// `out = captures.index`, shared.
    CapturedReference |cell, _f, _i, context| {
        let Ref::Closure(closure) = reference(cell, context, 1) else { return None };
        let value = closure.captures.r.get(cell.regs[2] as usize)?.clone();
        *reference(cell, context, 0) = value;
    }
    /// `out =` a global variable.
    Global |cell, f, _i, context| {
        *f.add(cell.regs[0] as usize) = *globals(context).f.get(cell.more.integer as usize)?;
    }
    /// `out =` a global variable.
    GlobalInteger |cell, _f, i, context| {
        *i.add(cell.regs[0] as usize) = *globals(context).i.get(cell.more.integer as usize)?;
    }
    /// `out =` a global variable, shared.
    GlobalReference |cell, _f, _i, context| {
        let value = globals(context).r.get(cell.more.integer as usize)?.clone();
        *reference(cell, context, 0) = value;
    }
    /// Keeps a number.
    Keep |cell, f, _i, context| {
        keep(context, *f.add(cell.regs[0] as usize), Kept::keep_number)?;
    }
    /// Keeps an integer.
    KeepInteger |cell, _f, i, context| {
        keep(context, *i.add(cell.regs[0] as usize), Kept::keep_integer)?;
    }
    /// Keeps an integer that is known.
    KeepKnown |cell, _f, _i, context| {
        keep(context, cell.more.integer, Kept::keep_integer)?;
    }
    /// `out =` the number that was kept last.
    Recall |cell, f, _i, context| { *f.add(cell.regs[0] as usize) = (*context.kept).recall_number(); }
    /// `out =` the integer that was kept last.
    RecallInteger |cell, _f, i, context| { *i.add(cell.regs[0] as usize) = (*context.kept).recall_integer(); }
}
