//! Threaded code: runs tangent, adjoint and linearization code, which consists of arithmetic, jumps, and reads and writes of elements.
//!
//! In: verified code, [translated](translate()) once to [`Cell`]s. Each cell names the Rust function that executes it,
//! and this function continues with the next cell itself: without a loop that dispatches every instruction, the
//! processor predicts the next function better.
//!
//! Promises: a build in which such a call is not compiled to a jump is correct, too: after a number of backward jumps
//! the code returns to the loop in [`run`], so that the Rust frames do not exceed the stack. An operation that fails
//! (an index out of range, an overflow, exhausted memory) ends the run without a message, and only registers and
//! objects of the run have changed.
//! Not here: calls, slots, levels (`dispatch`).
#![allow(unsafe_code)]

mod arithmetic_cells;
mod integer_cells;
mod object_cells;
mod translation;

pub use translation::translate;

use crate::native::Primitive;
use crate::tape::{Levels, ValueStack};
use crate::value::{Cells, Constants, Ref};
use std::rc::Rc;

/// The function that executes a cell: it takes the cell and the registers of numbers and integers, and returns the cell
/// at which to continue, if the function does not continue itself; null at the end.
type Handler = unsafe fn(*const Cell, *mut f64, *mut i64, *mut Context) -> *const Cell;

/// One cell of threaded code: an instruction with its operands.
#[derive(Clone, Copy)]
pub struct Cell {
    run: Handler,
    more: More,
    /// The register of the result, if any, then the registers of the operands.
    regs: [u16; 5],
}

/// The operands of an instruction other than registers.
#[derive(Clone, Copy)]
union More {
    nothing: (),
    number: f64,
    integer: i64,
    distance: isize,
    one: fn(f64) -> f64,
    two: fn(f64, f64) -> f64,
    three: fn(f64, f64, f64) -> f64,
    primitive: &'static Primitive,
    /// An array of constants of the code, which lives as long as its translation.
    constants: *const Constants,
    counts: [u16; 3],
}

/// The numbers of the array or record in a register of references.
#[derive(Clone, Copy, Debug)]
pub struct View {
    numbers: *mut f64,
    /// The number of numbers in the array or record.
    count: usize,
    /// The number of elements of the array.
    elements: usize,
    /// Whether the array or record has no other owner, so that it may be modified.
    is_unique: bool,
}

impl View {
    const NONE: View = View { numbers: std::ptr::null_mut(), count: 0, elements: 0, is_unique: false };

    /// Creates the view of the object in a register.
    pub fn of(reference: &mut Ref) -> View {
        let Ref::Cells(cells) = reference else { return View::NONE };
        match Rc::get_mut(cells) {
            Some(cells) => {
                let (count, elements) = (cells.f.len(), cells.len);
                View { numbers: cells.f.as_mut_ptr(), count, elements, is_unique: true }
            }
            None => View {
                numbers: cells.f.as_ptr().cast_mut(),
                count: cells.f.len(),
                elements: cells.len,
                is_unique: false,
            },
        }
    }
}

/// The memory of a run: the registers from the window on, and the other storage that code may access.
pub struct Memory<'m> {
    /// The registers of numbers.
    pub numbers: &'m mut [f64],
    /// The registers of integers.
    pub integers: &'m mut [i64],
    /// The registers of references.
    pub references: &'m mut [Ref],
    /// The views of the objects in the registers of references.
    pub views: &'m mut [View],
    /// The value stack of adjoint code.
    pub value_stack: &'m mut ValueStack,
    /// The live levels; linearization code appends nodes to the tape of the only one.
    pub levels: &'m mut Levels,
    /// The global variables of the program.
    pub globals: &'m Cells,
    /// The maximum number of bytes that the value stack may take.
    pub limit: u64,
    /// The number of steps until the limits must be checked.
    pub fuel: &'m mut i64,
}

/// The outcome of a run of threaded code.
pub enum Outcome {
    /// The run has ended, and the results are in the registers.
    Done,
    /// An operation failed, or threaded code cannot execute it.
    BailedOut,
    /// The limits must be checked before the run continues with the cell of the given index.
    OutOfFuel(usize),
}

/// The state that a run needs in addition to the registers of numbers and integers.
struct Context {
    references: *mut Ref,
    /// The view of the object in each register of references. Objects are not moved as long as a register holds them;
    /// a cell that modifies an object renews the view.
    views: *mut View,
    value_stack: *mut ValueStack,
    levels: *mut Levels,
    globals: *const Cells,
    /// The maximum number of bytes that the value stack may take.
    limit: u64,
    /// The number of adjoints that were added from array to array.
    copied: usize,
    /// The number of backward jumps that need not return to the loop in [`run`].
    jumps: u32,
    is_done: bool,
}

/// The approximate number of cells that may be executed without returning to the loop.
const AT_ONCE: usize = 1024;

/// The translated code of a function.
pub struct Threaded {
    cells: Vec<Cell>,
}

impl std::fmt::Debug for Threaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Threaded({} cells)", self.cells.len())
    }
}

/// Runs threaded code from a cell on: the first cell, or a cell at which the run was [out of fuel](Outcome::OutOfFuel).
/// The registers have room for the frame of the code, the arguments are in the first registers, and there is a view for
/// each register of references.
pub fn run(memory: Memory<'_>, code: &Threaded, cell: usize) -> Outcome {
    let Some(mut at) = code.cells.get(cell).map(std::ptr::from_ref) else { return Outcome::BailedOut };
    let (f, i) = (memory.numbers.as_mut_ptr(), memory.integers.as_mut_ptr());
    let mut context = Context {
        references: memory.references.as_mut_ptr(),
        views: memory.views.as_mut_ptr(),
        value_stack: memory.value_stack,
        levels: memory.levels,
        globals: memory.globals,
        limit: memory.limit,
        copied: 0,
        jumps: 0,
        is_done: false,
    };
    let jumps = (AT_ONCE / code.cells.len()).max(1) as u32;
    loop {
        context.jumps = jumps;
        // SAFETY: `translate` has made the cells of verified code: registers lie inside of its frame, for which the
        // caller has made room, jumps lead to cells, and the last cell does not continue. The registers are borrowed,
        // so they do not move during the run.
        at = unsafe { ((*at).run)(at, f, i, &raw mut context) };
        if at.is_null() {
            return if context.is_done { Outcome::Done } else { Outcome::BailedOut };
        }
        // SAFETY: `at` is one of the cells of the code, and the verifier has checked the registers.
        let cell = unsafe { at.offset_from(code.cells.as_ptr()).cast_unsigned() };
        *memory.fuel -= i64::from(jumps);
        if *memory.fuel < 0 {
            return Outcome::OutOfFuel(cell);
        }
    }
}

/// Calls the handler of the next cell of threaded code.
#[inline(always)]
unsafe fn next(at: *const Cell, f: *mut f64, i: *mut i64, context: *mut Context) -> *const Cell {
    // SAFETY: verified code ends with a cell that does not continue.
    unsafe {
        let next = at.add(1);
        ((*next).run)(next, f, i, context)
    }
}

/// Returns the number in the register `k` of a cell.
#[inline(always)]
unsafe fn x(cell: &Cell, f: *const f64, k: usize) -> f64 {
    // SAFETY: the verifier has checked the register.
    unsafe { *f.add(cell.regs[k] as usize) }
}

/// Returns the integer in the register `k` of a cell.
#[inline(always)]
unsafe fn n(cell: &Cell, i: *const i64, k: usize) -> i64 {
    // SAFETY: the verifier has checked the register.
    unsafe { *i.add(cell.regs[k] as usize) }
}

/// Ends the run of threaded code, because an operation failed.
#[cold]
fn bail_out() -> *const Cell {
    std::ptr::null()
}
