//! Compiled code: translates verified bytecode to machine code.
//!
//! In: the bytecode of a function, or one of its loops. Out: executable pages, and the [sites](Site) at which the
//! machine code leaves for the interpreter.
//!
//! Number and integer registers become values of the code generator; references stay in the machine's stack of
//! references. Whatever machine code cannot execute, or what fails in it, it leaves to the interpreter: it stores the
//! registers that are needed later, and the interpreter executes the instruction with its complete meaning. Therefore
//! machine code has no error messages of its own.
//!
//! Promises: nothing is initialized before the first function is compiled; memory is either writable or executable.
//! Not here: the decision what is compiled, and the transitions between interpreter and machine code (`vm`).

mod compiler;
mod context;
mod convention;
mod effects;
mod flow;
mod layout;
mod pages;
mod shims;
mod site;
mod translate;
mod treatment;

pub use compiler::{Compiled, Compiler, Refusal, Thunk};
pub use context::{Context, Link, PASSED};
pub use site::{Continuation, Register, Site};
pub use treatment::is_worthwhile;

use crate::bytecode::Counts;

/// The numbers of components of the arguments and of the results of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The components of the arguments.
    pub params: Counts,
    /// The components of the results.
    pub results: Counts,
}

/// The functions of the machine that machine code calls.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// Executes a single instruction.
    pub step: extern "C" fn(*mut Context, *const Site, *const Link) -> i64,
    /// Ends a function with references: moves the result `from` to the first register, unless `from` is negative, and
    /// drops the references from `kept` to `end`.
    pub finish: extern "C" fn(references: *mut u8, kept: i64, end: i64, from: i64) -> i64,
    /// Appends a number to the array in a register; returns whether it succeeded.
    pub append_number: extern "C" fn(array: *mut u8, value: f64) -> i64,
    /// Appends an integer to the array in a register; returns whether it succeeded.
    pub append_integer: extern "C" fn(array: *mut u8, value: i64) -> i64,
    /// Copies a reference from the second register to the first one, and drops the content of that register.
    pub share: extern "C" fn(to: *mut u8, from: *const u8) -> i64,
    /// Moves a reference from the second register to the first one, and drops the content of that register.
    pub take: extern "C" fn(to: *mut u8, from: *mut u8) -> i64,
    /// Checks the limits of tangent or adjoint code; returns whether the code continues.
    pub poll: extern "C" fn(*mut Context) -> i64,
    /// Allocates memory for the value stack of adjoint code; returns whether there is some.
    pub grow: extern "C" fn(*mut Context) -> i64,
    /// The size of a reference.
    pub reference: i32,
}

/// The program of which a function is compiled.
#[derive(Clone, Copy)]
pub struct Program<'p> {
    /// Returns the signature of a function, if the function is known.
    pub signature: &'p dyn Fn(u32) -> Option<Signature>,
    /// The numbers of components of the global variables, which only grow.
    pub globals: [u32; 3],
}

/// The part of a function that is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The whole function, which is called with its arguments.
    Function,
    /// A whole function of tangent or adjoint code, whose registers are read from the frame. It has no sites: when an
    /// operation fails, the code returns, and the derivative is computed in another way.
    Derivative,
    /// The loop with the given head, whose registers are read from the frame. Leaving the loop leaves the machine code.
    Loop(usize),
}

/// The outcomes of machine code: it has returned.
pub const RETURNED: i64 = 0;
/// The machine code has left for the interpreter.
pub const LEFT: i64 = 1;
/// The machine code has returned, and finalizers are pending.
pub const FINALIZERS_PENDING: i64 = 2;
/// A single step was not executed.
pub const NOT_EXECUTED: i64 = 3;

/// The largest number of arguments or results in one bank of a function that is compiled.
pub const MAX_PASSED: u16 = (PASSED / 2) as u16;
