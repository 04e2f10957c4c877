//! Bytecode: the contract between compiler and machine: instruction list, code object, verifier, disassembler, compiled form.
//!
//! In: [`Code`], made by `emit` or read from a file. Out: the same, checked ([`verify`]) or as text ([`disassemble`]).
//!
//! **Registers.** A function has registers of three banks (numbers, integers, references), numbered from 0 in each. Its
//! arguments arrive in the first ones. After its own registers comes the *window*: the first registers of whatever it
//! calls. A caller writes arguments there and finds the results there; nothing else survives a call in the window.
//!
//! **Encoding.** An instruction is 8 bytes: a tag, and operands of 8, 16 or 32 bits. What does not fit is in an
//! instruction after it ([`Instruction::Extra`], [`Instruction::Element`]). A jump counts from the instruction after it.
//!
//! **Limits.** 65,535 registers of a bank with the window, near jumps over 32,767 instructions (`emit` uses far ones where
//! that is not enough), 256 primitives that have no instruction of their own.
//!
//! **Original and derivative code.** The instructions of the second half of the list move and combine tangent slots. They
//! are only in derivative code, which calls derivative code. One derivative code serves every mode and order.
//!
//! Promises: verified code never leads the machine outside of its registers, constants and instructions, whatever it
//! computes; an endless loop can be interrupted, because every backward jump and every call is counted.
//! Not here: how graphs become code (`emit`), what instructions do (`vm`).

mod code;
mod disassemble;
mod image;
mod instructions;
mod joined;
pub mod operand;
mod verify;

#[cfg(test)]
mod tests;

pub use code::*;
pub use disassemble::disassemble;
pub use image::{Bytes, Damaged, Image};
pub use instructions::{Entry, Field, Instruction, LIST, Opcode, Trailer};
pub use joined::{Arithmetic, Joined};
pub use verify::{Malformed, verify};
