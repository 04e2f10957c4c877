//! Rare: the functions of the machine that machine code calls in rare cases by functions that preserve all machine
//! registers, so that the values of the usual path stay in theirs.

use super::Helpers;

/// Something for each of these functions. A function takes the context and two arguments; its outcome is in the context
/// afterwards.
#[derive(Clone, Debug)]
pub struct Rare<T> {
    /// Executes a single step.
    pub step: T,
    /// Allocates memory for nodes.
    pub extend_tape: T,
    /// Adds the number that was passed to an array of adjoints.
    pub accumulate: T,
    /// Appends the number that was passed to an array.
    pub append_number: T,
    /// Sets a number in an array to the number that was passed.
    pub set_number: T,
}

impl Rare<usize> {
    /// Returns the addresses of the functions.
    pub fn of(helpers: &Helpers) -> Rare<usize> {
        Rare {
            step: helpers.step as *const () as usize,
            extend_tape: helpers.extend_tape as *const () as usize,
            accumulate: helpers.accumulate as *const () as usize,
            append_number: helpers.append_passed as *const () as usize,
            set_number: helpers.set_number as *const () as usize,
        }
    }
}

impl<T> Rare<T> {
    /// Applies a function to each.
    ///
    /// # Errors
    /// Fails if the function fails.
    pub fn map<U, E>(&self, mut f: impl FnMut(&T) -> Result<U, E>) -> Result<Rare<U>, E> {
        Ok(Rare {
            step: f(&self.step)?,
            extend_tape: f(&self.extend_tape)?,
            accumulate: f(&self.accumulate)?,
            append_number: f(&self.append_number)?,
            set_number: f(&self.set_number)?,
        })
    }
}
