//! Window: accesses the registers that hold the arguments and the results of a task or operator.

use crate::tape::Num;
use crate::value::{Cells, Components, Ref, Slot};
use crate::vm::state::machine::Machine;

impl Machine {
    /// Returns the number `k` of the window.
    #[inline]
    pub fn number(&self, k: usize) -> f64 {
        self.stacks.f.get(self.window[0] + k).copied().unwrap_or(f64::NAN)
    }

    /// Returns the number `k` of the window with its slot. Plain code has no slots and uses [`Machine::number`]
    /// instead.
    pub fn num(&self, k: usize) -> Num {
        let slot = self.stacks.slots.get(self.window[0] + k).copied().unwrap_or(Slot::NONE);
        Num { value: self.number(k), slot }
    }

    /// Writes a constant number as the number `k` of the window.
    pub fn set_number(&mut self, k: usize, value: f64) {
        self.set_num(k, Num::constant(value));
    }

    /// Writes a number with its slot as the number `k` of the window.
    pub fn set_num(&mut self, k: usize, num: Num) {
        let at = self.window[0] + k;
        self.ensure(0, at);
        self.stacks.f[at] = num.value;
        if at < self.stacks.slots.len() {
            self.stacks.slots[at] = num.slot;
        } else if num.slot != Slot::NONE {
            self.stacks.slots.resize(self.stacks.f.len(), Slot::NONE);
            self.stacks.slots[at] = num.slot;
        }
    }

    /// Returns the integer `k` of the window.
    pub fn integer(&self, k: usize) -> i64 {
        self.stacks.i.get(self.window[1] + k).copied().unwrap_or(0)
    }

    /// Writes the integer `k` of the window.
    pub fn set_integer(&mut self, k: usize, value: i64) {
        let at = self.window[1] + k;
        self.ensure(1, at);
        self.stacks.i[at] = value;
    }

    /// Returns the reference `k` of the window.
    #[inline]
    pub fn reference(&self, k: usize) -> &Ref {
        const NULL: &Ref = &Ref::Null;
        self.stacks.r.get(self.window[2] + k).unwrap_or(NULL)
    }

    /// Moves the reference `k` out of the window.
    pub fn take_reference(&mut self, k: usize) -> Ref {
        self.stacks.r.get_mut(self.window[2] + k).map(std::mem::take).unwrap_or_default()
    }

    /// Writes the reference `k` of the window.
    #[inline]
    pub fn set_reference(&mut self, k: usize, value: Ref) {
        let at = self.window[2] + k;
        self.ensure(2, at);
        self.stacks.r[at] = value;
    }

    /// Moves the first components of each bank out of the window, with their slots when `slots` is set.
    pub fn take_window(&mut self, counts: [usize; 3], slots: bool) -> Cells {
        let mut cells = Cells::empty();
        cells.len = 1;
        for k in 0..counts[0] {
            let num = if slots { self.num(k) } else { Num::constant(self.number(k)) };
            cells.push_num(num.value, num.slot);
        }
        cells.i.extend((0..counts[1]).map(|k| self.integer(k)));
        cells.r.extend((0..counts[2]).map(|k| self.take_reference(k)));
        cells
    }

    /// Performs an action on the part of the window after the flag and the error of a function that may throw.
    pub fn after_error<T>(&mut self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let window = self.window;
        self.window = [window[0], window[1] + 1, window[2] + 1];
        let done = act(self);
        self.window = window;
        done
    }

    /// Writes components to the front of the window.
    pub fn set_window(&mut self, parts: Components<'_>) {
        self.set_window_from([0; 3], parts);
    }

    /// Writes components into the window, beginning with component `at` of each bank.
    pub fn set_window_from(&mut self, at: [usize; 3], parts: Components<'_>) {
        for (k, value) in parts.f.iter().enumerate() {
            let slot = parts.slots.get(k).copied().unwrap_or(Slot::NONE);
            self.set_num(at[0] + k, Num { value: *value, slot });
        }
        parts.i.iter().enumerate().for_each(|(k, value)| self.set_integer(at[1] + k, *value));
        parts.r.iter().enumerate().for_each(|(k, value)| self.set_reference(at[2] + k, value.clone()));
    }

    /// Allocates memory for the index `at` in the stack of a bank.
    fn ensure(&mut self, bank: usize, at: usize) {
        let mut end = [self.stacks.f.len(), self.stacks.i.len(), self.stacks.r.len()];
        if at >= end[bank] {
            end[bank] = at + 1;
            self.stacks.grow(end, false);
        }
    }
}
