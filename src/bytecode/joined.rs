//! Joined arithmetic: several operations in one instruction, and the numbering of their combinations.
//!
//! A value that the next operation needs at once is not written to a register first: a chain of operations waits for
//! each other's results only as long as the processor needs to compute them.

use crate::native::{PrimitiveId, ids};

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a · b`
    Mul,
    /// `a / b`
    Div,
}

impl Arithmetic {
    /// All, in the order of their numbers.
    pub const ALL: [Arithmetic; 4] = [Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul, Arithmetic::Div];

    /// The operation that a primitive is.
    pub fn of_primitive(id: PrimitiveId) -> Option<Arithmetic> {
        Some(match id {
            ids::ADD => Arithmetic::Add,
            ids::SUB => Arithmetic::Sub,
            ids::MUL => Arithmetic::Mul,
            ids::DIV => Arithmetic::Div,
            _ => return None,
        })
    }

    const fn of(number: u8) -> Arithmetic {
        Arithmetic::ALL[(number % 4) as usize]
    }

    /// Does it.
    #[inline(always)]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
        }
    }

    /// How it is written.
    pub fn sign(self) -> char {
        match self {
            Arithmetic::Add => '+',
            Arithmetic::Sub => '-',
            Arithmetic::Mul => '·',
            Arithmetic::Div => '/',
        }
    }
}

/// The operations that are done at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Joined {
    /// The one of the first two operands.
    pub first: Arithmetic,
    /// The one that gives the result.
    pub last: Arithmetic,
    /// The one of the third and fourth operands, where there are four.
    pub second: Arithmetic,
}

impl Joined {
    /// How many there are.
    pub const COUNT: usize = 64;
    /// How many of them are two operations.
    pub const COUNT_OF_TWO: usize = 16;

    /// Its number.
    pub fn number(self) -> u8 {
        self.first as u8 | (self.last as u8) << 2 | (self.second as u8) << 4
    }

    /// The one with that number.
    pub const fn of(number: u8) -> Joined {
        Joined { first: Arithmetic::of(number), last: Arithmetic::of(number >> 2), second: Arithmetic::of(number >> 4) }
    }
}
