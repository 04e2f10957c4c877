//! Sparse matrices: what the machine keeps of the last sparse matrix for the next one.

use crate::tape::linear_map::known_pattern::KnownPattern;
use crate::tape::linear_map::sparsity::Groups;
use crate::value::Ref;
use std::rc::Rc;

/// What the machine keeps of the last sparse matrix for the next one, which often has the same pattern.
#[derive(Debug, Default)]
pub(crate) struct SparseMatrices {
    pub(crate) pattern: KnownPattern,
    /// The columns of each row, and the arrays of row indices and column indices.
    pub(crate) indices: Option<(Rc<Groups>, [Ref; 2])>,
}
