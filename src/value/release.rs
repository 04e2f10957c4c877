//! Dropping objects that hold objects, without recursion.
//!
//! A list of a million links would otherwise need a million Rust frames to go away. Every container hands its
//! references to [`release`], which drops them from a work list.

use super::Ref;
use std::cell::RefCell;

thread_local! {
    /// What waits to be dropped; `None` while nobody is at it.
    static WAITING: RefCell<Option<Vec<Ref>>> = const { RefCell::new(None) };
}

/// Drops references; those of objects that go away meanwhile are put on the list of the outermost call.
pub fn release(references: Vec<Ref>) {
    // An object without owned objects in it cannot start a chain: the common case needs no list.
    if references.iter().all(|r| matches!(r, Ref::Null | Ref::Text(_))) {
        return;
    }
    let first = WAITING.try_with(|waiting| match &mut *waiting.borrow_mut() {
        Some(list) => {
            list.extend(references);
            false
        }
        empty => {
            *empty = Some(references);
            true
        }
    });
    if first != Ok(true) {
        return;
    }
    while let Ok(Some(next)) = WAITING.try_with(|w| w.borrow_mut().as_mut().and_then(Vec::pop)) {
        drop(next);
    }
    let _ = WAITING.try_with(|w| w.borrow_mut().take());
}

#[cfg(test)]
mod tests {
    use crate::value::{Cells, Closure, Ref};
    use std::rc::Rc;

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        let mut chain = Ref::Null;
        for k in 0..1_000_000_u32 {
            let cells = Cells { len: 1, f: vec![], i: vec![], r: vec![chain], slots: vec![] };
            chain = match k % 2 {
                0 => Ref::Cells(Rc::new(cells)),
                _ => Ref::Closure(Rc::new(Closure { function: k, captures: cells })),
            };
        }
        drop(chain);
    }
}
