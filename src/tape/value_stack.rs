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

impl ValueStack {
    /// Returns the number of entries for which memory is allocated.
    pub fn room(&self) -> usize {
        self.numbers.capacity() + self.integers.capacity()
    }
}

/// The memory of one of the stacks.
#[derive(Clone, Copy, Debug)]
pub struct StackMemory {
    /// The address of the first entry.
    pub bottom: usize,
    /// The address after the last entry.
    pub top: usize,
    /// The address after the memory that is allocated.
    pub end: usize,
}

impl StackMemory {
    fn of<T>(all: &mut Vec<T>) -> StackMemory {
        let bottom = all.as_mut_ptr().addr();
        StackMemory { bottom, top: bottom + size_of_val(&all[..]), end: bottom + all.capacity() * size_of::<T>() }
    }
}

impl ValueStack {
    /// Returns the memory of the numbers and of the integers, for machine code that pushes and pops entries itself.
    pub fn memory(&mut self) -> [StackMemory; 2] {
        [StackMemory::of(&mut self.numbers), StackMemory::of(&mut self.integers)]
    }

    /// Sets the numbers of entries after machine code has pushed and popped entries.
    ///
    /// # Safety
    /// The entries below the addresses `tops` must be in the memory of the stacks, and initialized.
    #[allow(unsafe_code)]
    pub unsafe fn set_tops(&mut self, tops: [usize; 2]) {
        // SAFETY: the caller guarantees that as many entries are initialized.
        unsafe {
            self.numbers.set_len((tops[0] - self.numbers.as_ptr().addr()) / size_of::<f64>());
            self.integers.set_len((tops[1] - self.integers.as_ptr().addr()) / size_of::<i64>());
        }
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
