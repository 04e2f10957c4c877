//! Value stack: the numbers and integers that adjoint code records in its forward pass for its reverse pass.

use super::node::RecordError;

/// The number of bytes of capacity that stay allocated for the next run.
const RETAINED: usize = 12 << 20;

/// The number of entries in the first allocation of a stack.
const INITIAL_CAPACITY: usize = 1 << 10;

/// The value stack, which consists of a stack of numbers and a stack of integers.
#[derive(Debug, Default)]
pub struct ValueStack {
    numbers: Vec<f64>,
    integers: Vec<i64>,
}

impl ValueStack {
    /// Empties both stacks. Their memory stays allocated, unless it is large.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.integers.clear();
        self.numbers.shrink_to(RETAINED / size_of::<f64>());
        self.integers.shrink_to(RETAINED / size_of::<i64>());
    }

    /// Pushes a number; returns `None`, without a change, when [memory](ValueStack::make_room) must be allocated first.
    #[inline(always)]
    pub fn push_number(&mut self, x: f64) -> Option<()> {
        push(&mut self.numbers, x)
    }

    /// Pushes an integer; returns `None`, without a change, when memory must be allocated first.
    #[inline(always)]
    pub fn push_integer(&mut self, n: i64) -> Option<()> {
        push(&mut self.integers, n)
    }

    /// Pops the last number and returns it; 0 when the stack is empty.
    #[inline(always)]
    pub fn pop_number(&mut self) -> f64 {
        self.numbers.pop().unwrap_or(0.0)
    }

    /// Pops the last integer and returns it; 0 when the stack is empty.
    #[inline(always)]
    pub fn pop_integer(&mut self) -> i64 {
        self.integers.pop().unwrap_or(0)
    }

    /// Allocates memory for one more entry of each kind, unless all entries together would take more than `limit`
    /// bytes.
    ///
    /// # Errors
    /// [`RecordError`] when the limit would be exceeded.
    pub fn make_room(&mut self, limit: u64) -> Result<(), RecordError> {
        let larger =
            |capacity: usize, len: usize| if len < capacity { capacity } else { (2 * capacity).max(INITIAL_CAPACITY) };
        let numbers = larger(self.numbers.capacity(), self.numbers.len());
        let integers = larger(self.integers.capacity(), self.integers.len());
        if (8 * (numbers + integers)) as u64 > limit {
            return Err(RecordError::Bytes(limit));
        }
        self.numbers.reserve_exact(numbers - self.numbers.len());
        self.integers.reserve_exact(integers - self.integers.len());
        Ok(())
    }
}

#[inline(always)]
fn push<T>(all: &mut Vec<T>, entry: T) -> Option<()> {
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
    fn the_last_value_is_popped_first() {
        let mut stack = ValueStack::default();
        assert_eq!(stack.push_number(1.0), None);
        stack.make_room(1 << 20).unwrap();
        assert_eq!(
            (stack.push_number(1.0), stack.push_number(2.0), stack.push_integer(3)),
            (Some(()), Some(()), Some(()))
        );
        assert_eq!((stack.pop_number(), stack.pop_number(), stack.pop_integer()), (2.0, 1.0, 3));
        assert_eq!((stack.pop_number(), stack.pop_integer()), (0.0, 0));
    }

    #[test]
    fn there_is_a_limit() {
        let mut stack = ValueStack::default();
        assert!(stack.make_room(100).is_err());
        stack.make_room(16 * INITIAL_CAPACITY as u64).unwrap();
        while stack.push_number(1.0).is_some() {}
        assert!(stack.make_room(16 * INITIAL_CAPACITY as u64).is_err());
    }
}
