//! Opaque tangent vectors: vectors whose components cannot be counted beforehand, passed as one number.
//!
//! In: a vector. Out: a number that represents it: a NaN that no operation produces, with the index of the vector in a
//! table. A sweep and the slots of a level can therefore carry it like any other adjoint or tangent.
//!
//! Promises: a vector is found until all vectors are [forgotten](forget), or until it is [taken](take_unique) by its only user.
//! Not here: the addition of vectors (`vm`), the types that need them
//! ([`TangentKind::Opaque`](crate::value::shape::TangentKind::Opaque)).

use crate::tensor::Tensor;
use crate::value::shape::TangentId;
use crate::value::{Cells, Slot};
use std::cell::RefCell;
use std::rc::Rc;

/// A stored opaque tangent vector.
#[derive(Clone, Debug)]
pub enum OpaqueVector {
    /// A vector of a type of the program.
    Cells {
        /// The tangent type of the vector's own type.
        of: TangentId,
        /// The components of the vector.
        cells: Rc<Cells>,
    },
    /// A tensor, with the slot of the tensor as a whole.
    Tensor(Rc<Tensor>, Slot),
}

/// The bits that all numbers that represent vectors have in common, without the sign.
const MARK: u64 = 0x7FFA_0000_0000_0000;
const SHARED: u64 = 0xFFFF_0000_0000_0000;

/// The number of a vector that is not stored.
pub const UNSTORED: f64 = f64::from_bits(MARK | !SHARED);

/// A place of the table.
enum Place {
    /// A vector that several nodes or slots may refer to.
    Shared(OpaqueVector),
    /// A tensor that only one node of a sweep refers to.
    Unique(Rc<Tensor>, Slot),
    /// The place of a tensor that was taken.
    Taken,
}

thread_local! {
    static VECTORS: RefCell<Vec<Place>> = const { RefCell::new(vec![]) };
}

/// Stores a vector of a type of the program and returns the number that represents it.
pub fn keep(of: TangentId, cells: Cells) -> f64 {
    store(Place::Shared(OpaqueVector::Cells { of, cells: Rc::new(cells) }))
}

/// Stores a tensor and returns the number that represents it.
pub fn keep_tensor(tensor: Rc<Tensor>, slot: Slot) -> f64 {
    store(Place::Shared(OpaqueVector::Tensor(tensor, slot)))
}

/// Stores a tensor to which only one node of a sweep refers, and returns the number that represents it.
pub fn keep_unique(tensor: Rc<Tensor>, slot: Slot) -> f64 {
    store(Place::Unique(tensor, slot))
}

/// Takes the tensor that a number represents out of the table, if only one node refers to it. The memory of the tensor can then
/// be used again.
pub fn take_unique(number: f64) -> Option<(Rc<Tensor>, Slot)> {
    let at = place(number)?;
    VECTORS.with_borrow_mut(|all| {
        let found = all.get_mut(at).filter(|place| matches!(place, Place::Unique(..)))?;
        match std::mem::replace(found, Place::Taken) {
            Place::Unique(tensor, slot) => Some((tensor, slot)),
            Place::Shared(_) | Place::Taken => None,
        }
    })
}

fn store(vector: Place) -> f64 {
    let place = VECTORS.with_borrow_mut(|all| {
        all.push(vector);
        all.len() as u64 - 1
    });
    f64::from_bits(MARK | place & !SHARED)
}

/// Returns the index of the vector that a number represents.
fn place(number: f64) -> Option<usize> {
    is(number).then_some((number.to_bits() & !SHARED) as usize)
}

/// Whether a number represents an opaque vector.
pub fn is(number: f64) -> bool {
    // The sign of the number is ignored.
    number.is_nan() && number.to_bits() & SHARED & !(1 << 63) == MARK
}

/// Returns the opaque vector that a number represents; `None` for any other number.
pub fn find(number: f64) -> Option<OpaqueVector> {
    let at = place(number)?;
    VECTORS.with_borrow(|all| match all.get(at)? {
        Place::Shared(vector) => Some(vector.clone()),
        Place::Unique(tensor, slot) => Some(OpaqueVector::Tensor(Rc::clone(tensor), *slot)),
        Place::Taken => None,
    })
}

/// Clears the table of opaque vectors, when no sweep is active and no level is live.
pub fn forget() {
    VECTORS.with_borrow_mut(Vec::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_found_by_its_number() {
        let numbers = [1.0, 2.0].map(|x| keep(TangentId(7), Cells::numbers(vec![x])));
        for (number, x) in numbers.into_iter().zip([1.0, 2.0]) {
            for number in [number, -number, number + 0.0, -0.0 + number] {
                assert!(matches!(find(number), Some(OpaqueVector::Cells { cells, .. }) if cells.f[0] == x));
            }
        }
        for number in [0.0, 1.0, f64::NAN, f64::INFINITY, f64::INFINITY - f64::INFINITY] {
            assert!(!is(number));
        }
        forget();
        assert!(is(numbers[0]) && find(numbers[0]).is_none());
    }

    #[test]
    fn a_tensor_is_taken_by_its_only_user() {
        let tensor = || Rc::new(Tensor::scalar(2.0));
        let (shared, unique) = (keep_tensor(tensor(), Slot::NONE), keep_unique(tensor(), Slot::NONE));
        assert!(take_unique(shared).is_none() && find(shared).is_some());
        assert!(matches!(find(unique), Some(OpaqueVector::Tensor(..))));
        let taken = take_unique(unique).map(|(tensor, _)| Rc::strong_count(&tensor));
        assert_eq!(taken, Some(1));
        assert!(find(unique).is_none() && take_unique(unique).is_none() && take_unique(1.0).is_none());
        forget();
    }
}
