//! Recent sums: the deferred sums, of which only a few exist at a time.
//!
//! A deferred sum keeps the tensors alive that it is computed from, and a program may collect sums (the losses of its batches) that
//! it reads much later.

use super::storage::Storage;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// The largest number of deferred sums.
const MAX_SUMS: usize = 4;

thread_local! {
    static SUMS: RefCell<VecDeque<Weak<Storage>>> = const { RefCell::new(VecDeque::new()) };
}

/// Adds a deferred sum, and computes the oldest one if there are too many.
pub(super) fn add(sum: &Rc<Storage>) {
    let oldest = SUMS.with_borrow_mut(|sums| {
        sums.push_back(Rc::downgrade(sum));
        if sums.len() > MAX_SUMS { sums.pop_front() } else { None }
    });
    if let Some(oldest) = oldest.and_then(|oldest| oldest.upgrade()) {
        Storage::buffer(&oldest);
    }
}
