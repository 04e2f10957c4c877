//! Tied masks: masks of tensors that change at the current point.

use crate::native::tensor::TensorKink;
use crate::tensor::Tensor;
use std::rc::{Rc, Weak};

/// The masks that were computed by comparing equal scalars of which one varies.
#[derive(Debug, Default)]
pub struct TiedMasks(Vec<TiedMask>);

#[derive(Debug)]
struct TiedMask {
    mask: Weak<Tensor>,
    kink: TensorKink,
    /// The number that the machine assigns to the source location of the comparison.
    place: u32,
}

/// The maximum number of masks that are known at a time.
const MAX_MASKS: usize = 1000;

impl TiedMasks {
    /// Adds a mask, with two equal scalars that were compared at a source location.
    pub fn add(&mut self, mask: &Rc<Tensor>, kink: TensorKink, place: u32) {
        self.0.retain(|known| known.mask.strong_count() > 0);
        if self.0.len() < MAX_MASKS {
            self.0.push(TiedMask { mask: Rc::downgrade(mask), kink, place });
        }
    }

    /// Returns the equal scalars of a mask, and the source location of their comparison.
    pub fn find(&self, mask: &Rc<Tensor>) -> Option<(TensorKink, u32)> {
        let is_it = |known: &&TiedMask| std::ptr::eq(known.mask.as_ptr(), Rc::as_ptr(mask));
        self.0.iter().find(is_it).map(|known| (known.kink.clone(), known.place))
    }
}
