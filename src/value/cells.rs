//! The one kind of storage: numbers with their slots, integers and references side by side.

use super::{Ref, Slot};

/// Numbers, integers and references; elements of an array, fields of a record, contents of a box, captures of a
/// closure. Element `k` of an array with stride `(nf, ni, nr)` has its numbers at `f[k·nf..]`, and so on.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// How many elements; 1 for records, boxes and captures.
    pub len: usize,
    /// Numbers.
    pub f: Vec<f64>,
    /// Integers.
    pub i: Vec<i64>,
    /// References.
    pub r: Vec<Ref>,
    /// Tangent slots beside `f`: empty, or as long as `f`. Made when the first one is stored.
    pub slots: Vec<Slot>,
}
