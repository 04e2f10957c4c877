//! Fused arithmetic: the encoding of several operations in one instruction.
//!
//! A value that only the next operation needs is not written to a register: the latency of a chain of operations is
//! that of the arithmetic alone.

use crate::native::{PrimitiveId, primitive_ids};

/// An arithmetic operation on two numbers, which can be fused with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Arithmetic {
    /// Addition, `a + b`.
    Add,
    /// Subtraction, `a - b`.
    Sub,
    /// Multiplication, `a · b`.
    Mul,
    /// Division, `a / b`.
    Div,
}

impl Arithmetic {
    /// All arithmetic operations, in the order of their numbers.
    pub const ALL: [Arithmetic; 4] = [Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul, Arithmetic::Div];

    /// Returns the arithmetic operation that a primitive computes, if it is one.
    pub fn of_primitive(id: PrimitiveId) -> Option<Arithmetic> {
        Some(match id {
            primitive_ids::ADD => Arithmetic::Add,
            primitive_ids::SUB => Arithmetic::Sub,
            primitive_ids::MUL => Arithmetic::Mul,
            primitive_ids::DIV => Arithmetic::Div,
            _ => return None,
        })
    }

    const fn of(number: u8) -> Arithmetic {
        Arithmetic::ALL[(number % 4) as usize]
    }

    /// Computes the result of the operation.
    #[inline(always)]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
        }
    }

    /// Returns the operator symbol of the operation.
    pub fn sign(self) -> char {
        match self {
            Arithmetic::Add => '+',
            Arithmetic::Sub => '-',
            Arithmetic::Mul => '·',
            Arithmetic::Div => '/',
        }
    }
}

/// The combination of operations in a fused instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fused {
    /// The operation on the first two operands.
    pub first: Arithmetic,
    /// The operation that computes the result.
    pub last: Arithmetic,
    /// The operation on the third and fourth operands, if there are four.
    pub second: Arithmetic,
}

impl Fused {
    /// The number of combinations of three operations.
    pub const COUNT: usize = 64;
    /// The number of combinations of two operations.
    pub const COUNT_OF_TWO: usize = 16;

    /// Returns the number that encodes the combination.
    pub fn number(self) -> u8 {
        self.first as u8 | (self.last as u8) << 2 | (self.second as u8) << 4
    }

    /// Returns the combination that a number encodes.
    pub const fn of(number: u8) -> Fused {
        Fused { first: Arithmetic::of(number), last: Arithmetic::of(number >> 2), second: Arithmetic::of(number >> 4) }
    }
}
