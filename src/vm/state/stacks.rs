//! Stacks: stores the registers of all frames.

use crate::bytecode::Instruction;
use crate::value::{Ref, Slot};
use crate::vm::function_table::Entry;

/// The frame of one call that is running.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The entry of the frame's code. `Functions` or the machine itself retains the entry as long as the machine lives.
    pub entry: *const Entry,
    /// The next instruction of the frame, while a callee is running.
    pub pc: *const Instruction,
    /// The beginning of the frame's registers in each stack.
    pub base: [u32; 3],
}

/// The stacks that hold the registers of all frames. Every element is a valid value of its bank at any time.
#[derive(Debug, Default)]
pub struct Stacks {
    /// The stack of numbers.
    pub f: Vec<f64>,
    /// The slots of the numbers: there are as many slots as numbers wherever derivative code runs.
    pub slots: Vec<Slot>,
    /// The stack of integers.
    pub i: Vec<i64>,
    /// The stack of references.
    pub r: Vec<Ref>,
}

/// The number of registers that are allocated at the beginning.
const INITIAL_CAPACITY: usize = 1024;
/// The number of registers that are retained when a run ends.
const RETAINED_CAPACITY: usize = 1 << 18;

impl Stacks {
    /// Allocates memory for registers up to `end` in each bank; with slots for derivative code.
    #[cold]
    pub fn grow(&mut self, end: [usize; 3], slots: bool) {
        let grown =
            |have: usize, need: usize| if need > have { need.max(2 * have).max(INITIAL_CAPACITY) } else { have };
        self.f.resize(grown(self.f.len(), end[0]), 0.0);
        self.i.resize(grown(self.i.len(), end[1]), 0);
        self.r.resize(grown(self.r.len(), end[2]), Ref::Null);
        if slots {
            self.slots.resize(self.f.len(), Slot::NONE);
        }
    }

    /// Whether memory is allocated for registers up to `end` in each bank.
    #[inline(always)]
    pub fn has(&self, end: [usize; 3], slots: bool) -> bool {
        end[0] <= self.f.len()
            && end[1] <= self.i.len()
            && end[2] <= self.r.len()
            && (!slots || end[0] <= self.slots.len())
    }

    /// Returns the addresses of the stacks. Machine code has the addresses of its registers, so it cannot continue after a stack
    /// has moved.
    pub fn addresses(&self) -> [usize; 4] {
        [self.f.as_ptr().addr(), self.slots.as_ptr().addr(), self.i.as_ptr().addr(), self.r.as_ptr().addr()]
    }

    /// Returns the number of bytes that the given numbers of registers take.
    pub fn bytes_for([f, i, r]: [usize; 3], slots: bool) -> u64 {
        let number = size_of::<f64>() + if slots { size_of::<Slot>() } else { 0 };
        [(f, number), (i, size_of::<i64>()), (r, size_of::<Ref>())]
            .iter()
            .map(|(n, size)| *n as u64 * *size as u64)
            .sum()
    }

    /// Drops all references, and releases memory that only a deep recursion needed.
    pub fn reset(&mut self) {
        self.r.iter_mut().filter(|r| !matches!(r, Ref::Null)).for_each(|r| *r = Ref::Null);
        if self.f.len() > RETAINED_CAPACITY || self.i.len() > RETAINED_CAPACITY || self.r.len() > RETAINED_CAPACITY {
            *self = Stacks::default();
        }
    }
}
