//! Components: the components of a value in registers or in storage.

use super::shape::Layout;
use super::{Ref, Slot};

/// The components of one or several values, bank by bank. `slots` is empty or as long as `f`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Components<'a> {
    /// Numbers.
    pub f: &'a [f64],
    /// Their slots, if any.
    pub slots: &'a [Slot],
    /// Integers.
    pub i: &'a [i64],
    /// References.
    pub r: &'a [Ref],
}

impl<'a> Components<'a> {
    /// Removes the components of the next value from the front and returns them. Missing components are left out.
    pub fn take(&mut self, layout: Layout) -> Components<'a> {
        Components {
            f: front(&mut self.f, layout.f),
            slots: front(&mut self.slots, layout.f),
            i: front(&mut self.i, layout.i),
            r: front(&mut self.r, layout.r),
        }
    }

    /// Removes and returns the next number.
    pub fn number(&mut self) -> f64 {
        front(&mut self.slots, 1);
        front(&mut self.f, 1).first().copied().unwrap_or(f64::NAN)
    }

    /// Removes and returns the next integer.
    pub fn integer(&mut self) -> i64 {
        front(&mut self.i, 1).first().copied().unwrap_or(0)
    }

    /// Removes and returns the next reference.
    pub fn reference(&mut self) -> &'a Ref {
        const NULL: &Ref = &Ref::Null;
        front(&mut self.r, 1).first().unwrap_or(NULL)
    }
}

fn front<'a, T>(all: &mut &'a [T], count: u32) -> &'a [T] {
    let (first, rest) = all.split_at((count as usize).min(all.len()));
    *all = rest;
    first
}
