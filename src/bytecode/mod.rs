//! Bytecode: the interface between compiler and machine: instruction list, code object, verifier, disassembler,
//! compiled form.
//!
//! In: [`Code`], emitted by `emit` or read from a file. Out: the same code, verified ([`verify`]) or as text
//! ([`disassemble`]).
//!
//! **Registers.** A function has registers of three banks (numbers, integers, references), numbered from 0 in each. Its
//! arguments are passed in the first ones. Its own registers are followed by the *window*: the first registers of its
//! callees. A caller writes arguments there and finds the results there; nothing else survives a call in the window.
//!
//! **Encoding.** An instruction is 8 bytes: a tag, and operands of 8, 16 or 32 bits. Operands that do not fit are in the
//! following instruction ([`Instruction::Extra`], [`Instruction::Element`]). A jump is relative to the instruction after it.
//!
//! **Limits.** 65,535 registers of a bank including the window, near jumps over 32,767 instructions (`emit` uses far ones
//! where this is not enough), 256 primitives that have no dedicated instruction.
//!
//! **Original and derivative code.** The instructions of the second half of the list propagate tangent slots. They
//! only occur in derivative code, which calls derivative code. One derivative code serves every mode and order.
//!
//! Promises: verified code never accesses anything outside of its registers, constants and instructions, whatever it
//! computes; an infinite loop can be interrupted, because every backward jump and every call is counted.
//! Not here: the translation of graphs to code (`emit`), the execution of instructions (`vm`).

mod code;
mod disassembler;
mod encoding;
mod entry;
mod fused;
mod image;
mod instructions;
pub mod operand;
mod verifier;

#[cfg(test)]
mod tests;

pub use code::*;
pub use disassembler::disassemble;
pub use entry::{Entry, Field};
pub use fused::{Arithmetic, Fused};
pub use image::{Bytes, Image, ImageError};
pub use instructions::{Instruction, LIST, Opcode, Trailer};
pub use verifier::{VerifyError, verify};
