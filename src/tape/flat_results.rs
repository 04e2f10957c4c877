//! Flat results: results of roundings of tensors at a jump, which do not vary, and count as a kink only where they are used.
//!
//! A reverse sweep visits a rounding only if its result is used. A forward level finds out later than the rounding.

use super::Num;
use super::levels::Levels;
use super::node::RecordError;
use crate::native::tensor::TensorKink;
use crate::value::Slot;
use hashbrown::HashMap;

/// The results of roundings at a jump, by their slots in forward levels.
#[derive(Debug, Default)]
pub struct FlatResults(HashMap<(u64, u64), FlatResult>);

/// A scalar at a jump, and the number that the machine assigns to the source location of the rounding.
pub type FlatResult = (TensorKink, u32);

/// The maximum number of results that are known at a time.
const MAX_RESULTS: usize = 1000;

impl FlatResults {
    /// Adds a result.
    pub fn add(&mut self, slot: Slot, result: FlatResult) {
        if self.0.len() < MAX_RESULTS {
            self.0.insert((slot.epoch, slot.payload), result);
        }
    }

    /// Returns the result with a slot.
    pub fn find(&self, slot: Slot) -> Option<FlatResult> {
        self.0.get(&(slot.epoch, slot.payload)).cloned()
    }

    /// Removes all results: the levels of their slots have ended.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Levels {
    /// Returns the tangent that a result of a function has in the forward level `k`.
    ///
    /// # Errors
    /// [`RecordError::Kink`] when the result is that of a rounding at a jump, and the program is to stop there.
    pub fn tangent_of_result(&mut self, k: usize, y: Num) -> Result<Num, RecordError> {
        let epoch = self.epoch_at(k);
        if let Some(observer) = &mut self.observer
            && Some(y.slot.epoch) == epoch
        {
            observer.used(y.slot)?;
        }
        Ok(self.tangent(k, y))
    }
}
