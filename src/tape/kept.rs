//! What adjoint code keeps on the way there for the way back: last in, first out.

use super::node::Stop;

/// Bytes that are kept for the next run.
const KEPT: usize = 12 << 20;

/// Entries that the first room is for.
const FIRST: usize = 1 << 10;

/// Numbers and integers.
#[derive(Debug, Default)]
pub struct Kept {
    numbers: Vec<f64>,
    integers: Vec<i64>,
}

impl Kept {
    /// Nothing is kept; the room stays, unless it is large.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.integers.clear();
        self.numbers.shrink_to(KEPT / size_of::<f64>());
        self.integers.shrink_to(KEPT / size_of::<i64>());
    }

    /// Keeps a number; `None`, and nothing done, when there has to be [more room](Kept::make_room) first.
    #[inline(always)]
    pub fn keep_number(&mut self, x: f64) -> Option<()> {
        keep(&mut self.numbers, x)
    }

    /// Keeps an integer, likewise.
    #[inline(always)]
    pub fn keep_integer(&mut self, n: i64) -> Option<()> {
        keep(&mut self.integers, n)
    }

    /// The number that was kept last.
    #[inline(always)]
    pub fn recall_number(&mut self) -> f64 {
        self.numbers.pop().unwrap_or(0.0)
    }

    /// The integer that was kept last.
    #[inline(always)]
    pub fn recall_integer(&mut self) -> i64 {
        self.integers.pop().unwrap_or(0)
    }

    /// Makes room for one entry more of each kind, unless all together would take more than `limit` bytes.
    ///
    /// # Errors
    /// [`Stop`] when they would.
    pub fn make_room(&mut self, limit: u64) -> Result<(), Stop> {
        let larger = |capacity: usize, len: usize| if len < capacity { capacity } else { (2 * capacity).max(FIRST) };
        let numbers = larger(self.numbers.capacity(), self.numbers.len());
        let integers = larger(self.integers.capacity(), self.integers.len());
        if (8 * (numbers + integers)) as u64 > limit {
            return Err(Stop::Bytes(limit));
        }
        self.numbers.reserve_exact(numbers - self.numbers.len());
        self.integers.reserve_exact(integers - self.integers.len());
        Ok(())
    }
}

#[inline(always)]
fn keep<T>(all: &mut Vec<T>, entry: T) -> Option<()> {
    if all.len() == all.capacity() {
        return None;
    }
    all.push(entry);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_last_is_recalled_first() {
        let mut kept = Kept::default();
        assert_eq!(kept.keep_number(1.0), None);
        kept.make_room(1 << 20).unwrap();
        assert_eq!(
            (kept.keep_number(1.0), kept.keep_number(2.0), kept.keep_integer(3)),
            (Some(()), Some(()), Some(()))
        );
        assert_eq!((kept.recall_number(), kept.recall_number(), kept.recall_integer()), (2.0, 1.0, 3));
        assert_eq!((kept.recall_number(), kept.recall_integer()), (0.0, 0));
    }

    #[test]
    fn there_is_a_limit() {
        let mut kept = Kept::default();
        assert!(kept.make_room(100).is_err());
        kept.make_room(16 * FIRST as u64).unwrap();
        while kept.keep_number(1.0).is_some() {}
        assert!(kept.make_room(16 * FIRST as u64).is_err());
    }
}
