//! Fast paths: the usual cases of native functions, which the dispatch loop calls on the window without a context.

use crate::value::Ref;
use crate::value::shape::ScalarKind;
use serde::{Deserialize, Serialize};

/// The usual case of a native function. It returns the number of steps that it counts as; or `None` where it does not
/// apply: then it has changed nothing, and the function itself is called.
pub type FastPath = fn(&mut Window<'_>) -> Option<i64>;

/// The code of a native function that is called on the window itself.
#[derive(Clone, Copy, Debug)]
pub enum Direct {
    /// A pure function.
    Pure(PureOperation),
    /// The fast path of a function.
    FastPath(FastPath),
}

/// The implementation of a pure function.
#[derive(Clone, Copy, Debug)]
pub enum PureOperation {
    /// Returns one integer or Boolean, or `None` if the arguments are of another kind, which compiled code never
    /// passes.
    Query(fn(&[Ref], &[i64]) -> Option<i64>),
    /// Replaces a string by its part at a string index, and the index by the next index. Returns `None` if the
    /// arguments are of another kind, which compiled code never passes.
    Advance(fn(&mut Ref, &mut i64) -> Option<()>),
}

/// The signature of a call of a native function, by which the function selects its fast path.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct NativeSignature {
    /// The scalar kinds of the generic arguments.
    pub kinds: Vec<ScalarKind>,
    /// The number of components of the arguments in each bank.
    pub params: [u16; 3],
    /// The number of components of the results in each bank.
    pub results: [u16; 3],
}

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
    /// The signature of the call.
    pub signature: &'a NativeSignature,
}

impl Window<'_> {
    /// Clears the references that are not results.
    #[inline(always)]
    pub fn clear_arguments(&mut self) {
        let NativeSignature { params, results, .. } = self.signature;
        let (from, to) = (usize::from(results[2]), usize::from(params[2]).min(self.r.len()));
        for reference in self.r.get_mut(from..to).unwrap_or(&mut []) {
            if !matches!(reference, Ref::Null) {
                *reference = Ref::Null;
            }
        }
    }
}

impl Direct {
    /// Calls the function on the window; returns the number of steps that it counts as, or `None` where it does not
    /// apply: then it has changed nothing.
    #[inline(always)]
    pub fn apply(self, w: &mut Window<'_>) -> Option<i64> {
        match self {
            Direct::Pure(PureOperation::Query(function)) => query(w, function),
            Direct::Pure(PureOperation::Advance(function)) => {
                function(w.r.first_mut()?, w.i.first_mut()?)?;
                Some(0)
            }
            Direct::FastPath(function) => function(w),
        }
    }
}

/// Applies a function of the strings and integers in the window; the result replaces the first integer.
#[inline(always)]
fn query(w: &mut Window<'_>, function: fn(&[Ref], &[i64]) -> Option<i64>) -> Option<i64> {
    let [_, integers, texts] = w.signature.params.map(usize::from);
    let texts = w.r.get_mut(..texts)?;
    let value = function(texts, w.i.get(..integers)?)?;
    *w.i.first_mut()? = value;
    texts.iter_mut().for_each(|text| *text = Ref::Null);
    Some(0)
}
