//! Rare: the functions of the machine that machine code calls in rare cases by functions that preserve all machine
//! registers, so that the values of the usual path stay in theirs.

use super::Helpers;
use super::pages::Pages;
use std::rc::Rc;

/// A function of the machine that is called in rare cases.
#[derive(Clone, Copy, Debug)]
pub struct RareFunction {
    /// The address of the function.
    pub address: usize,
    /// Whether the first argument is an array whose numbers the function modifies. They are looked up again afterwards.
    pub modifies_numbers: bool,
}

/// The functions of the machine that are called in rare cases. A function takes the context and two arguments; its outcome is in
/// the context afterwards.
#[derive(Clone, Copy, Debug)]
pub struct RareFunctions {
    /// Executes a single step.
    pub step: RareFunction,
    /// Allocates memory for nodes.
    pub extend_tape: RareFunction,
    /// Checks the limits of tangent or adjoint code.
    pub poll: RareFunction,
    /// Allocates memory for the value stack.
    pub grow: RareFunction,
    /// Copies a reference to a register of tangent or adjoint code.
    pub share: RareFunction,
    /// Moves a reference to such a register.
    pub take: RareFunction,
    /// Drops the reference in a register.
    pub drop: RareFunction,
    /// Adds the number that was passed to an array of adjoints.
    pub accumulate: RareFunction,
    /// Appends the number that was passed to an array.
    pub append_number: RareFunction,
    /// Sets a number in an array to the number that was passed.
    pub set_number: RareFunction,
}

impl RareFunctions {
    /// Returns the functions.
    pub fn of(helpers: &Helpers) -> RareFunctions {
        let plain = |function: *const ()| RareFunction { address: function as usize, modifies_numbers: false };
        let modifying = |function: *const ()| RareFunction { address: function as usize, modifies_numbers: true };
        RareFunctions {
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

/// The machine code that calls a given function of the machine and preserves all machine registers.
#[derive(Clone, Debug)]
pub struct RareThunks {
    /// Calls a function.
    pub plain: Rc<Pages>,
    /// Calls a function that modifies the numbers of an array, and looks them up afterwards.
    pub modifying: Rc<Pages>,
}

impl RareThunks {
    /// Returns the address of the machine code that calls a function.
    pub fn address(&self, function: RareFunction) -> usize {
        let pages = if function.modifies_numbers { &self.modifying } else { &self.plain };
        pages.start().addr()
    }
}
