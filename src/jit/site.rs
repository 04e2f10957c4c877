//! Sites: the points at which machine code can leave for the interpreter.

use crate::value::Bank;

/// The instruction with which the interpreter continues after an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Continuation {
    /// The interpreter executes the instruction of the site.
    Before,
    /// The interpreter enters the function of the site, whose arguments are in its first registers.
    Entry,
    /// The interpreter executes the instruction after that of the site.
    After,
}

/// A number or integer register.
pub type Register = (Bank, u16);

/// A point at which machine code can leave for the interpreter, or at which it executes a single step.
#[derive(Debug)]
pub struct Site {
    /// The function of the site, as given to the translation.
    pub owner: usize,
    /// The index of the instruction.
    pub pc: u32,
    /// The instruction with which the interpreter continues.
    pub continuation: Continuation,
    /// The registers whose values follow the address of the site in the record of an exit.
    pub saved: Box<[Register]>,
    /// The registers that a single step reads, in the order in which machine code passes them.
    pub read: Box<[Register]>,
    /// The registers that the instruction writes. Where an instruction that was executed by a single step leaves the code, their
    /// values are in the frame, and not in the record.
    pub written: Box<[Register]>,
}
