//! Release: frees nested objects without recursion.
//!
//! A list of a million links would otherwise need a million Rust frames to go away. Every container hands its
//! references to [`release`], which drops them from a work list.

use super::Ref;
use std::cell::RefCell;

/// What waits to be dropped.
struct Waiting {
    /// Whether somebody is at it.
    busy: bool,
    list: Vec<Ref>,
}

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(Waiting { busy: false, list: vec![] }) };
}

/// Drops references; those of objects that go away meanwhile are put on the list of the outermost call.
pub fn release(references: &mut [Ref]) {
    // An object without owned objects in it cannot start a chain: the common case needs no list.
    if references.iter().all(|r| matches!(r, Ref::Null | Ref::Text(_))) {
        return;
    }
    let first = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        // The first one is to go away first.
        waiting.list.extend(references.iter_mut().rev().map(std::mem::take));
        !std::mem::replace(&mut waiting.busy, true)
    });
    match first {
        Ok(true) => {}
        Ok(false) => return,
        // The thread ends, and the list is gone: whatever is left is not dropped, which might go deep.
        Err(_) => return references.iter_mut().for_each(|r| std::mem::forget(std::mem::take(r))),
    }
    while let Ok(Some(next)) = WAITING.try_with(|w| w.borrow_mut().list.pop()) {
        drop(next);
    }
    let _ = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        waiting.busy = false;
        // What one long chain needed is not kept for ever.
        waiting.list.shrink_to(KEPT);
    });
}

/// So many places of the list are kept for the next time.
const KEPT: usize = 1024;

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
