//! Operator cache: remembers the tangent or adjoint code that an operator used last at one place of the program, so that it is not
//! looked up for each function object that is created there.

use crate::value::{Closure, ClosureSignature, Signature};
use crate::vm::transformed_code::TransformedCode;
use hashbrown::Equivalent;
use std::cell::RefCell;
use std::rc::Rc;

/// The code that an operator used last, and the signature of its function object.
#[derive(Debug, Default)]
pub struct OperatorCache {
    last: RefCell<Option<(Signature, Rc<TransformedCode>)>>,
}

impl OperatorCache {
    /// Returns the code that was used last, if it is the code of a function object and has not been discarded.
    pub(crate) fn get(&self, closure: &Closure) -> Option<Rc<TransformedCode>> {
        let last = self.last.borrow();
        let (signature, code) = last.as_ref()?;
        let is_valid = !code.is_discarded.get() && ClosureSignature::of(closure).equivalent(signature);
        is_valid.then(|| Rc::clone(code))
    }

    /// Remembers the code of a function object.
    pub(crate) fn set(&self, closure: &Closure, code: &Rc<TransformedCode>) {
        self.last.replace(Some((Signature::of(closure), Rc::clone(code))));
    }
}
