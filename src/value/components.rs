//! Components: the components of a value in registers or in storage.

use super::shape::Layout;
use super::{Ref, Slot};

/// The components of one or several values, bank by bank. `slots` is empty or as long as `f`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Components<'a> {
    /// The numbers of the values.
    pub f: &'a [f64],
    /// The tangent slots of the numbers, if the numbers have slots.
    pub slots: &'a [Slot],
    /// The integers of the values.
    pub i: &'a [i64],
    /// The references of the values.
    pub r: &'a [Ref],
}

impl<'a> Components<'a> {
    /// Removes the components of the next value from the front and returns them. Banks with too few components yield
    /// fewer components.
    pub fn take(&mut self, layout: Layout) -> Components<'a> {
        Components {
            f: front(&mut self.f, layout.f),
            slots: front(&mut self.slots, layout.f),
            i: front(&mut self.i, layout.i),
            r: front(&mut self.r, layout.r),
        }
    }

    /// Removes the first number and returns it.
    pub fn number(&mut self) -> f64 {
        front(&mut self.slots, 1);
        front(&mut self.f, 1).first().copied().unwrap_or(f64::NAN)
    }

    /// Removes the first integer and returns it.
    pub fn integer(&mut self) -> i64 {
        front(&mut self.i, 1).first().copied().unwrap_or(0)
    }

    /// Removes the first reference and returns it.
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
