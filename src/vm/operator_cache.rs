//! Operator cache: remembers what an operator at one place of the program has looked up, for its next application.

use crate::value::shape::TangentId;
use crate::value::walk::Walk;
use crate::value::{Bank, Closure, ClosureSignature, Signature};
use crate::vm::transformed_code::TransformedCode;
use hashbrown::Equivalent;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// What an operator has looked up.
#[derive(Debug, Default)]
pub struct OperatorCache {
    /// The tangent or adjoint code that was used last, and the signature of its function object.
    last: RefCell<Option<(Signature, Rc<TransformedCode>)>>,
    argument: OnceCell<Option<SameComponents>>,
    result: OnceCell<Option<SameComponents>>,
}

/// The components of values whose tangent vectors have the same components.
#[derive(Debug)]
pub struct SameComponents {
    /// The banks of the components, in order.
    pub order: Rc<[Bank]>,
    /// The number of numbers.
    pub numbers: usize,
    /// The number of references.
    pub references: usize,
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

    /// Returns the components of the argument of the operator, whose tangent type is given; `None` if its tangent vectors have
    /// other components.
    pub(crate) fn argument(&self, walk: Walk<'_>, id: TangentId) -> Option<&SameComponents> {
        self.argument.get_or_init(|| SameComponents::of(walk, id)).as_ref()
    }

    /// Returns the components of the result of the differentiated function, under the same condition.
    pub(crate) fn result(&self, walk: Walk<'_>, id: TangentId) -> Option<&SameComponents> {
        self.result.get_or_init(|| SameComponents::of(walk, id)).as_ref()
    }
}

impl SameComponents {
    fn of(walk: Walk<'_>, id: TangentId) -> Option<SameComponents> {
        let order = walk.tangents.components_in_order(walk.shapes, id)?;
        let references = order.iter().filter(|bank| **bank == Bank::R).count();
        Some(SameComponents { numbers: order.len() - references, references, order })
    }
}
