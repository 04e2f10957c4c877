//! Registers: provides unchecked access to the registers of the running frame.
//!
//! The accesses are sound for these reasons: [`verify`](crate::bytecode::verify) has checked every register number,
//! constant and jump target of a code object against its sizes before the machine accepted it; a frame is entered only
//! when the stacks have space for all its registers and its window; every element of a stack is a valid value at any
//! time; stacks move only when a frame is entered or a task runs, and the pointers in this file are created again
//! afterwards.
#![allow(unsafe_code)]

use crate::bytecode::operand::*;
use crate::bytecode::{Code, Instruction};
use crate::tape::Num;
use crate::value::{Ref, Slot};
use crate::vm::function_table::Entry;
use crate::vm::state::stacks::{Frame, Stacks};

/// Pointers to the next instruction and to the registers of its frame.
#[derive(Clone, Copy)]
pub struct Registers {
    /// The next instruction of the frame.
    pub pc: *const Instruction,
    entry: *const Entry,
    f: *mut f64,
    slots: *mut Slot,
    i: *mut i64,
    r: *mut Ref,
}

impl Registers {
    /// Creates the pointers for a frame.
    #[inline(always)]
    pub fn of(frame: &Frame, stacks: &mut Stacks) -> Registers {
        let [f, i, r] = [frame.base[0] as usize, frame.base[1] as usize, frame.base[2] as usize];
        Registers {
            pc: frame.pc,
            entry: frame.entry,
            f: stacks.f.as_mut_ptr().wrapping_add(f),
            // The pointer is dangling where there are no slots; then only plain code runs, which has no instruction
            // that uses slots.
            slots: stacks.slots.as_mut_ptr().wrapping_add(f),
            i: stacks.i.as_mut_ptr().wrapping_add(i),
            r: stacks.r.as_mut_ptr().wrapping_add(r),
        }
    }

    /// Returns the entry of the code of the running frame.
    #[inline(always)]
    pub fn entry<'c>(&self) -> &'c Entry {
        // SAFETY: `Functions` never drops an entry, and the machine outlives the loop.
        unsafe { &*self.entry }
    }

    /// Returns the code of the running frame.
    #[inline(always)]
    pub fn code<'c>(&self) -> &'c Code {
        &self.entry().code
    }

    /// Returns the next instruction by reference: reading the operands one by one needs fewer machine registers than a
    /// copy, and the dispatch loop has none to spare.
    #[inline(always)]
    pub fn next<'c>(&mut self) -> &'c Instruction {
        // SAFETY: verified code ends with an instruction that does not continue, and jumps stay inside; code is never
        // dropped while the machine runs.
        unsafe {
            let instruction = &*self.pc;
            self.pc = self.pc.add(1);
            instruction
        }
    }

    /// Returns the third operand of an instruction, which follows the instruction. The verifier has checked that such
    /// an operand follows.
    #[inline(always)]
    pub fn extra(&mut self) -> FIn {
        match *self.next() {
            Instruction::Extra { c } => c,
            _ => FIn(0),
        }
    }

    /// Returns the third and the fourth operand of an instruction, which follow the instruction.
    #[inline(always)]
    pub fn extras(&mut self) -> (FIn, FIn) {
        match *self.next() {
            Instruction::Extras { c, d } => (c, d),
            _ => (FIn(0), FIn(0)),
        }
    }

    /// Returns the offset and stride of a component of an element, which follow the instruction.
    #[inline(always)]
    pub fn element(&mut self) -> (u16, u16) {
        match *self.next() {
            Instruction::Element { offset, stride } => (offset.0, stride.0),
            _ => (0, 0),
        }
    }

    /// Jumps by a distance from the next instruction.
    #[inline(always)]
    pub fn jump(&mut self, distance: i32) {
        // SAFETY: the target was verified to lie inside of the code.
        self.pc = unsafe { self.pc.offset(distance as isize) };
    }

    /// Reads the number in a register.
    #[inline(always)]
    pub fn f(&self, a: FIn) -> f64 {
        // SAFETY: the verifier has checked the register.
        unsafe { *self.f.add(a.0 as usize) }
    }

    /// Writes a number to a register.
    #[inline(always)]
    pub fn set_f(&mut self, out: FOut, value: f64) {
        // SAFETY: the verifier has checked the register.
        unsafe { *self.f.add(out.0 as usize) = value }
    }

    /// Reads the slot of the number in a register. Only derivative code may call this function.
    #[inline(always)]
    pub fn slot(&self, a: FIn) -> Slot {
        // The slot is read in two halves: it is written in halves, and a read of the whole slot would wait until both
        // halves have left the store buffer. The reads are volatile, because the optimizer would join them again.
        // SAFETY: a verified register; only derivative code has instructions that call this function, and frames of
        // derivative code have slots.
        unsafe {
            let slot = self.slots.add(a.0 as usize);
            let epoch = std::ptr::read_volatile(&raw const (*slot).epoch);
            let payload = std::ptr::read_volatile(&raw const (*slot).payload);
            Slot { epoch, payload }
        }
    }

    /// Writes the slot of the number in a register. Only derivative code may call this function.
    #[inline(always)]
    pub fn set_slot(&mut self, out: FOut, epoch: u64, payload: u64) {
        // SAFETY: the conditions for reading a slot hold here as well.
        unsafe {
            let slot = self.slots.add(out.0 as usize);
            (*slot).epoch = epoch;
            (*slot).payload = payload;
        }
    }

    /// Reads the number in a register with its slot. Only derivative code may call this function.
    #[inline(always)]
    pub fn num(&self, a: FIn) -> Num {
        Num { value: self.f(a), slot: self.slot(a) }
    }

    /// Writes a number with its slot to a register. Only derivative code may call this function.
    #[inline(always)]
    pub fn set_num(&mut self, out: FOut, num: Num) {
        self.set_f(out, num.value);
        self.set_slot(out, num.slot.epoch, num.slot.payload);
    }

    /// Reads the integer in a register.
    #[inline(always)]
    pub fn i(&self, a: IIn) -> i64 {
        // SAFETY: the verifier has checked the register.
        unsafe { *self.i.add(a.0 as usize) }
    }

    /// Writes an integer to a register.
    #[inline(always)]
    pub fn set_i(&mut self, out: IOut, value: i64) {
        // SAFETY: the verifier has checked the register.
        unsafe { *self.i.add(out.0 as usize) = value }
    }

    /// Reads the reference in a register.
    #[inline(always)]
    pub fn r(&self, a: RIn) -> &Ref {
        // SAFETY: the verifier has checked the register.
        unsafe { &*self.r.add(a.0 as usize) }
    }

    /// Returns the reference in a register for modification.
    #[inline(always)]
    pub fn changed(&mut self, a: RChange) -> &mut Ref {
        // SAFETY: the verifier has checked the register, which is borrowed through `self` alone.
        unsafe { &mut *self.r.add(a.0 as usize) }
    }

    /// Moves the reference out of a register.
    #[inline(always)]
    pub fn take(&mut self, a: RTake) -> Ref {
        std::mem::take(self.changed(RChange(a.0)))
    }

    /// Moves a reference to an empty register, of which the content is not dropped.
    #[inline(always)]
    pub fn move_to_empty(&mut self, out: ROut, a: RTake) {
        // SAFETY: the verifier has checked both registers, which may be the same: then both are empty.
        unsafe {
            let moved = std::ptr::read(self.r.add(a.0 as usize));
            std::ptr::write(self.r.add(a.0 as usize), Ref::Null);
            std::ptr::write(self.r.add(out.0 as usize), moved);
        }
    }

    /// Writes a reference to a register.
    #[inline(always)]
    pub fn set_r(&mut self, out: ROut, value: Ref) {
        *self.changed(RChange(out.0)) = value;
    }

    /// Returns a number constant of the running code.
    #[inline(always)]
    pub fn constant(&self, k: Number) -> f64 {
        // SAFETY: the verifier has checked the index of the constant.
        unsafe { *self.entry().numbers.add(k.0 as usize) }
    }

    /// Returns the first `count` numbers of the window, and their slots in derivative code.
    #[inline(always)]
    pub fn window_f(&self, count: u16, slots: bool) -> (&[f64], &[Slot]) {
        let (at, count) = (self.entry().own[0] as usize, count as usize);
        // SAFETY: the verifier has checked that call sites need no more registers than the window has; slots exist in
        // derivative code.
        unsafe {
            let numbers = std::slice::from_raw_parts(self.f.add(at), count);
            let slots = if slots { std::slice::from_raw_parts(self.slots.add(at), count) } else { &[] };
            (numbers, slots)
        }
    }

    /// Returns the first `count` integers of the window.
    #[inline(always)]
    pub fn window_i(&self, count: u16) -> &[i64] {
        // SAFETY: the verifier has checked that call sites need no more registers than the window has.
        unsafe { std::slice::from_raw_parts(self.i.add(self.entry().own[1] as usize), count as usize) }
    }

    /// Returns the first `count` references of the window.
    #[inline(always)]
    pub fn window_r(&mut self, count: u16) -> &mut [Ref] {
        // SAFETY: the verifier has checked that call sites need no more registers than the window has; the window is
        // borrowed through `self` alone.
        unsafe { std::slice::from_raw_parts_mut(self.r.add(self.entry().own[2] as usize), count as usize) }
    }

    /// Returns the first registers of the window in each bank, without slots.
    #[inline(always)]
    pub fn window(&mut self, counts: [u16; 3]) -> (&mut [f64], &mut [i64], &mut [Ref]) {
        let own = self.entry().own;
        // SAFETY: the verifier has checked that call sites need no more window than there is; the three banks do not
        // overlap, and the window is borrowed through `self` alone.
        unsafe {
            (
                std::slice::from_raw_parts_mut(self.f.add(own[0] as usize), counts[0].into()),
                std::slice::from_raw_parts_mut(self.i.add(own[1] as usize), counts[1].into()),
                std::slice::from_raw_parts_mut(self.r.add(own[2] as usize), counts[2].into()),
            )
        }
    }

    /// Returns the references in the running frame that are not results.
    #[inline(always)]
    pub fn leftovers(&mut self) -> &mut [Ref] {
        let (from, to) = (self.entry().kept as usize, self.entry().frame[2] as usize);
        // SAFETY: the verifier has checked that results lie inside of the frame.
        unsafe { std::slice::from_raw_parts_mut(self.r.add(from), to - from) }
    }
}
