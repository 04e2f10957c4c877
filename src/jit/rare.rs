//! Rare: the functions of the machine that machine code calls in rare cases by functions that preserve all machine
//! registers, so that the values of the usual path stay in theirs.

use super::Helpers;

/// A function of the machine that is called in rare cases.
#[derive(Clone, Copy, Debug)]
pub struct RareFunction {
    /// The address of the function.
    pub address: usize,
    /// Whether the first argument is an array whose numbers the function modifies. They are looked up again afterwards.
    pub modifies_numbers: bool,
}

/// Something for each of these functions. A function takes the context and two arguments; its outcome is in the context
/// afterwards.
#[derive(Clone, Debug)]
pub struct Rare<T> {
    /// Executes a single step.
    pub step: T,
    /// Allocates memory for nodes.
    pub extend_tape: T,
    /// Checks the limits of tangent or adjoint code.
    pub poll: T,
    /// Allocates memory for the value stack.
    pub grow: T,
    /// Copies a reference to a register of tangent or adjoint code.
    pub share: T,
    /// Moves a reference to such a register.
    pub take: T,
    /// Drops the reference in a register.
    pub drop: T,
    /// Adds the number that was passed to an array of adjoints.
    pub accumulate: T,
    /// Appends the number that was passed to an array.
    pub append_number: T,
    /// Sets a number in an array to the number that was passed.
    pub set_number: T,
}

impl Rare<RareFunction> {
    /// Returns the functions.
    pub fn of(helpers: &Helpers) -> Rare<RareFunction> {
        let plain = |function: *const ()| RareFunction { address: function as usize, modifies_numbers: false };
        let modifying = |function: *const ()| RareFunction { address: function as usize, modifies_numbers: true };
        Rare {
            step: plain(helpers.step as *const ()),
            extend_tape: plain(helpers.extend_tape as *const ()),
            poll: plain(helpers.poll as *const ()),
            grow: plain(helpers.grow as *const ()),
            share: plain(helpers.share as *const ()),
            take: plain(helpers.take as *const ()),
            drop: plain(helpers.drop as *const ()),
            accumulate: modifying(helpers.accumulate as *const ()),
            append_number: modifying(helpers.append_passed as *const ()),
            set_number: modifying(helpers.set_number as *const ()),
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
            poll: f(&self.poll)?,
            grow: f(&self.grow)?,
            share: f(&self.share)?,
            take: f(&self.take)?,
            drop: f(&self.drop)?,
            accumulate: f(&self.accumulate)?,
            append_number: f(&self.append_number)?,
            set_number: f(&self.set_number)?,
        })
    }
}
