//! Release: the destruction of nested objects without recursion.
//!
//! Otherwise, dropping a list of a million links would need a million Rust frames. Every container passes its
//! references to [`release`], which drops them from a work list.

use super::Ref;
use std::cell::RefCell;

/// The references that have not been dropped yet.
struct ReleaseQueue {
    /// Whether a call of [`release`] is active.
    busy: bool,
    list: Vec<Ref>,
}

thread_local! {
    static QUEUE: RefCell<ReleaseQueue> = const { RefCell::new(ReleaseQueue { busy: false, list: vec![] }) };
}

/// Drops references; the outermost call also drops the references of objects that are destroyed meanwhile.
pub fn release(references: &mut [Ref]) {
    // An object without owned objects cannot start a chain: the common case needs no list.
    let is_single = |reference: &Ref| match reference {
        Ref::Null | Ref::Text(_) | Ref::Tensor(_) => true,
        Ref::Cells(cells) => cells.r.is_empty(),
        _ => false,
    };
    if references.iter().all(is_single) {
        return;
    }
    let first = QUEUE.try_with(|queue| {
        let mut queue = queue.borrow_mut();
        // The list is processed from its end, so the first reference is dropped first.
        queue.list.extend(references.iter_mut().rev().map(std::mem::take));
        !std::mem::replace(&mut queue.busy, true)
    });
    match first {
        Ok(true) => {}
        Ok(false) => return,
        // The thread ends, and the work list no longer exists: the references are leaked, because dropping them might
        // recurse deeply.
        Err(_) => return references.iter_mut().for_each(|r| std::mem::forget(std::mem::take(r))),
    }
    while let Ok(Some(next)) = QUEUE.try_with(|w| w.borrow_mut().list.pop()) {
        drop(next);
    }
    let _ = QUEUE.try_with(|queue| {
        let mut queue = queue.borrow_mut();
        queue.busy = false;
        // The memory that the work list needed for one long chain is released.
        queue.list.shrink_to(RETAINED_CAPACITY);
    });
}

/// The capacity of the work list that is retained between calls.
const RETAINED_CAPACITY: usize = 1024;

#[cfg(test)]
mod tests {
    use crate::value::{Cells, Closure, Ref};
    use std::rc::Rc;

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        let mut chain = Ref::Null;
        for k in 0..1_000_000_u32 {
            let cells = Cells::references(vec![chain]);
            chain = match k % 2 {
                0 => Ref::Cells(Rc::new(cells)),
                _ => Ref::Closure(Rc::new(Closure { function: k, captures: cells })),
            };
        }
        drop(chain);
    }
}
