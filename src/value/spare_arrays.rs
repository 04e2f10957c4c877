//! Spare arrays: arrays of numbers without an owner, kept for the next arrays that derivative code makes.
//!
//! A loop that makes a small array in each iteration would otherwise spend more time on its memory than on its numbers.

use super::{Cells, Ref};
use std::rc::Rc;

/// The largest number of arrays that are kept.
const MOST: usize = 64;
/// The largest number of numbers for which a kept array has memory.
pub const LARGEST: usize = 1024;

/// Empty arrays, which have no other owner, and memory for some numbers.
#[derive(Debug, Default)]
pub struct SpareArrays {
    arrays: Vec<Rc<Cells>>,
}

impl SpareArrays {
    /// Returns an empty array.
    pub fn make(&mut self) -> Ref {
        Ref::Cells(self.arrays.pop().unwrap_or_default())
    }

    /// Drops a reference. The array is kept if this was its last owner.
    pub fn recycle(&mut self, reference: Ref) {
        let Ref::Cells(mut array) = reference else { return };
        if self.arrays.len() == MOST {
            return;
        }
        if let Some(cells) = Rc::get_mut(&mut array)
            && is_plain(cells)
        {
            cells.f.clear();
            cells.len = 0;
            self.arrays.push(array);
        }
    }
}

/// Whether an array consists of a few numbers that are constant.
fn is_plain(cells: &Cells) -> bool {
    cells.f.capacity() <= LARGEST
        && !cells.i.spilled()
        && cells.i.is_empty()
        && !cells.r.spilled()
        && cells.r.is_empty()
        && cells.slots.capacity() == 0
        && cells.origins.is_unused()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_used_again_when_it_has_no_owner() {
        let mut spare = SpareArrays::default();
        let array = Rc::new(Cells::numbers(vec![1.0, 2.0, 3.0]));
        let address = Rc::as_ptr(&array);
        let other = Rc::clone(&array);
        spare.recycle(Ref::Cells(array));
        assert!(spare.arrays.is_empty(), "the array still has an owner");
        spare.recycle(Ref::Cells(other));
        let Ref::Cells(made) = spare.make() else { panic!("an array") };
        assert_eq!(Rc::as_ptr(&made), address);
        assert!(made.len == 0 && made.f.is_empty());
    }

    #[test]
    fn only_plain_numbers_are_kept() {
        let mut spare = SpareArrays::default();
        spare.recycle(Ref::Cells(Rc::new(Cells::integers(vec![1, 2, 3]))));
        spare.recycle(Ref::Cells(Rc::new(Cells::numbers(vec![0.0; LARGEST + 1]))));
        spare.recycle(Ref::Null);
        let mut with_slots = Cells::numbers(vec![1.0, 2.0, 3.0]);
        with_slots.make_slots();
        spare.recycle(Ref::Cells(Rc::new(with_slots)));
        assert!(spare.arrays.is_empty());
        (0..2 * MOST).for_each(|_| spare.recycle(Ref::Cells(Rc::new(Cells::numbers(vec![1.0, 2.0, 3.0])))));
        assert_eq!(spare.arrays.len(), MOST);
    }
}
