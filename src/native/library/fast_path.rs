//! Fast paths: the usual cases of native functions, which the dispatch loop calls on the window without a context.

use crate::value::Ref;
use crate::value::shape::ScalarKind;

/// The usual case of a native function. It returns the number of steps that it counts as; or `None` where it does not
/// apply: then it has changed nothing, and the function itself is called.
pub type FastPath = fn(&mut Window<'_>) -> Option<i64>;

/// The number of bytes of a new object that count as one step.
pub const BYTES_PER_STEP: usize = 64;

/// The registers of a call in original code: first the arguments, then the results in their place.
#[derive(Debug)]
pub struct Window<'a> {
    /// The registers of numbers.
    pub f: &'a mut [f64],
    /// The registers of integers.
    pub i: &'a mut [i64],
    /// The registers of references.
    pub r: &'a mut [Ref],
    /// The scalar kinds of the generic arguments.
    pub kinds: &'a [ScalarKind],
    /// The number of components of the arguments in each bank.
    pub params: [u16; 3],
    /// The number of components of the results in each bank.
    pub results: [u16; 3],
}

impl Window<'_> {
    /// Clears the references that are not results.
    #[inline(always)]
    pub fn clear_arguments(&mut self) {
        let (from, to) = (usize::from(self.results[2]), usize::from(self.params[2]).min(self.r.len()));
        for reference in self.r.get_mut(from..to).unwrap_or(&mut []) {
            if !matches!(reference, Ref::Null) {
                *reference = Ref::Null;
            }
        }
    }
}
