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
//! Derivative code is compiled for the usual case that one level is live, in reverse mode: machine code appends the nodes
//! to the tape itself. Slots stay in the machine's stack of slots, like references.
//!
//! Promises: nothing is initialized before the first function is compiled; memory is either writable or executable.
//! Not here: the decision what is compiled, and the transitions between interpreter and machine code (`vm`).

mod compiler;
mod context;
mod convention;
mod effects;
mod empty_registers;
mod flow;
mod induction;
mod inlining;
mod layout;
mod own_numbers;
mod pages;
mod rare;
mod shims;
mod site;
mod translate;
mod treatment;
mod value_range;

pub use compiler::{Compiled, Compiler, Refusal, Thunk};
pub use context::{Context, Link, PASSED};
pub use site::{Continuation, Register, Site};
pub use treatment::is_worthwhile;

use crate::bytecode::operand::SignatureAt;
use crate::bytecode::{CallSignature, ClosureSite, Code, Counts, Instruction, NativeSite};
use crate::value::Constants;
use std::rc::Rc;

/// The numbers of components of the arguments and of the results of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The components of the arguments.
    pub params: Counts,
    /// The components of the results.
    pub results: Counts,
    /// Whether the function is derivative code, whose numbers have slots.
    pub has_slots: bool,
}

impl Signature {
    /// Returns the signature of a function.
    pub fn of(code: &Code) -> Signature {
        Signature { params: code.params, results: code.results, has_slots: code.is_derivative }
    }

    /// Returns the signature of a function object that code calls.
    pub fn of_object(code: &Code, signature: SignatureAt) -> Signature {
        let CallSignature { params, results } = code.signatures[usize::from(signature)];
        Signature { params, results, has_slots: code.is_derivative }
    }
}

/// A function that is called by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callee {
    /// The number of the function.
    pub function: u32,
    /// Whether the derivative code of the function is called.
    pub is_derivative: bool,
}

impl Callee {
    /// Returns the function that an instruction calls by its number, if it does.
    pub fn of(instruction: &Instruction) -> Option<Callee> {
        match *instruction {
            Instruction::Call { function } => Some(Callee { function: function.0, is_derivative: false }),
            Instruction::DCall { function } => Some(Callee { function: function.0, is_derivative: true }),
            _ => None,
        }
    }
}

/// Returns the signature of a function, if the function is known.
pub type Signatures<'p> = &'p dyn Fn(Callee) -> Option<Signature>;

/// Returns the code of a function with its identity in sites, if the function is known.
pub type Functions<'p> = &'p dyn Fn(Callee) -> Option<(&'p Code, usize)>;

/// The functions of the machine that machine code calls.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// Executes a single instruction.
    pub step: extern "C" fn(*mut Context, *const Site, *const Link) -> i64,
    /// Ends a function with references: moves the result `from` to the first register, unless `from` is negative, and
    /// drops the references from `kept` to `end`.
    pub finish: extern "C" fn(references: *mut u8, kept: i64, end: i64, from: i64) -> i64,
    /// Calls a native function that needs no context on the window, whose numbers and integers were passed; the results
    /// replace them. Returns an outcome.
    pub call_native: extern "C" fn(*mut Context, *const NativeSite, references: *mut u8) -> i64,
    /// Writes a constant string to an empty register; returns whether the register was empty.
    pub load_text: extern "C" fn(register: *mut u8, text: *const Rc<str>) -> i64,
    /// Appends the string in a register, which is moved, to the string in another one, if that has enough capacity or the
    /// result is short; returns whether it did.
    pub append_text: extern "C" fn(text: *mut u8, from: *mut u8) -> i64,
    /// Appends a number to the array in a register; returns whether it succeeded.
    pub append_number: extern "C" fn(array: *mut u8, value: f64) -> i64,
    /// Appends an integer to the array in a register; returns whether it succeeded.
    pub append_integer: extern "C" fn(array: *mut u8, value: i64) -> i64,
    /// Appends a number with its node, 0 for a constant, to the array in a register; returns whether it succeeded.
    pub append_varied: extern "C" fn(*mut Context, array: *mut u8, value: f64, node: i64) -> i64,
    /// Applies a differential operator to the window, whose numbers were passed, by tangent or adjoint code; the results
    /// replace them. Returns an outcome.
    pub operate: extern "C" fn(*mut Context, *const Site, *const Link, references: *mut u8) -> i64,
    /// Creates a function object in an empty register, with captured references, and with the captured numbers and integers that
    /// were passed; returns whether the register was empty.
    pub new_closure: extern "C" fn(*mut Context, register: *mut u8, captured: *mut u8, *const ClosureSite) -> i64,
    /// Creates an empty array in a register.
    pub new_array: extern "C" fn(*mut Context, register: *mut u8) -> i64,
    /// Creates an empty array in an empty register; returns whether the register was empty.
    pub new_array_if_empty: extern "C" fn(*mut Context, register: *mut u8) -> i64,
    /// Creates an array of constants in a register.
    pub load_array: extern "C" fn(register: *mut u8, constants: *const Constants) -> i64,
    /// Appends an element to the array in a register, whose numbers and integers were passed, and whose references are
    /// in the given registers; returns whether it succeeded. The three numbers of components have 16 bits each.
    pub append_element: extern "C" fn(*mut Context, array: *mut u8, references: *mut u8, counts: i64) -> i64,
    /// Appends the reference in a register, which is moved, to the array in a register; returns whether it succeeded.
    pub append_reference: extern "C" fn(array: *mut u8, from: *mut u8) -> i64,
    /// Moves a reference out of a component of an element of an array; returns whether it succeeded. `place` has the
    /// offset of the component and the stride in 16 bits each.
    pub take_reference: extern "C" fn(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64,
    /// Moves a reference into a component of an element of an array; returns whether it succeeded.
    pub set_reference: extern "C" fn(array: *mut u8, from: *mut u8, index: i64, place: i64) -> i64,
    /// Does the same as `take_reference`, if nothing must be copied or dropped.
    pub take_element: extern "C" fn(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64,
    /// Does the same as `set_reference`, if nothing must be copied or dropped.
    pub set_element: extern "C" fn(array: *mut u8, from: *mut u8, index: i64, place: i64) -> i64,
    /// Moves an array out of an element of an array of adjoints; returns whether it succeeded.
    pub take_adjoint_array: extern "C" fn(out: *mut u8, array: *mut u8, index: i64, place: i64) -> i64,
    /// Returns the address of the reference in an element of an array of adjoints, which is extended as far as necessary, or
    /// 0 if it did not succeed.
    pub adjoint_element: extern "C" fn(*mut Context, array: *mut u8, index: i64, place: i64) -> i64,
    /// Adds the numbers of an array to those of the array in an element of an array of adjoints; returns whether it
    /// succeeded.
    pub accumulate_array: extern "C" fn(*mut Context, array: *mut u8, from: *const u8, index: i64, place: i64) -> i64,
    /// Sets a component of an element of the array in a register to the number that was passed, given the position of
    /// the component; a shared array is copied. Returns whether it succeeded.
    pub set_number: extern "C" fn(*mut Context, array: *mut u8, position: i64) -> i64,
    /// Sets a component to the integer that was passed, with the same arguments.
    pub set_integer: extern "C" fn(*mut Context, array: *mut u8, position: i64) -> i64,
    /// Appends the number that was passed to the array in a register; returns whether it succeeded.
    pub append_passed: extern "C" fn(*mut Context, array: *mut u8, i64) -> i64,
    /// Adds the number that was passed to an array of adjoints; returns whether it succeeded.
    pub accumulate: extern "C" fn(*mut Context, array: *mut u8, position: i64) -> i64,
    /// Adds the numbers of an array to those of an array of adjoints; returns whether it succeeded.
    pub add_array: extern "C" fn(*mut Context, array: *mut u8, from: *const u8) -> i64,
    /// Appends the sums of the nodes in two arrays to the tape; returns whether it succeeded.
    pub add_nodes: extern "C" fn(*mut Context, array: *mut u8, from: *const u8) -> i64,
    /// Allocates slots for the numbers of the array in a register; returns whether it succeeded.
    pub make_slots: extern "C" fn(array: *mut u8) -> i64,
    /// Allocates memory for the next nodes of the tape; returns whether the limit permits it.
    pub extend_tape: extern "C" fn(*mut Context, i64, i64) -> i64,
    /// Copies a reference from the second register to the first one, and drops the content of that register.
    pub share: extern "C" fn(*mut Context, to: *mut u8, from: *const u8) -> i64,
    /// Moves a reference from the second register to the first one, and drops the content of that register.
    pub take: extern "C" fn(*mut Context, to: *mut u8, from: *mut u8) -> i64,
    /// Drops the reference in a register, which is passed twice; returns whether finalizers are pending.
    pub drop: extern "C" fn(*mut Context, register: *mut u8, again: *mut u8) -> i64,
    /// Checks the limits of tangent or adjoint code; returns whether the code continues.
    pub poll: extern "C" fn(*mut Context, i64, i64) -> i64,
    /// Allocates memory for the value stack of adjoint code; returns whether there is some.
    pub grow: extern "C" fn(*mut Context, i64, i64) -> i64,
    /// The size of a reference.
    pub reference: i32,
}

/// The program of which a function is compiled.
#[derive(Clone, Copy)]
pub struct Program<'p> {
    /// Returns the code of a function, if the function is known.
    pub functions: Functions<'p>,
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
