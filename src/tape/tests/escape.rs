//! Escape tests: values that outlive the level in which they were computed.

use super::*;
use crate::value::{BoxCells, Cells, Components};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn what_is_stored_keeps_its_link_outside() {
    // A captured variable is assigned x · y in an inner derivative by y; afterwards it still varies with x.
    for sequence in mode_sequences(2) {
        let mut k = Calculus::new();
        let d = k.derivative(sequence[0], c(2.0), &mut |k, x| {
            let variable =
                Rc::new(BoxCells { cells: RefCell::new(Cells::default()), shape: None, finalizer: Default::default() });
            k.derivative(sequence[1], c(5.0), &mut |k, y| {
                let product = k.mul(x, y);
                *variable.cells.borrow_mut() =
                    Cells::record(Components { f: &[product.value], slots: &[product.slot], ..Components::default() });
                k.0.log_store(&variable);
                y
            });
            let cells = variable.cells.borrow();
            Num { value: cells.f[0], slot: cells.slot(0) }
        });
        assert_eq!(d.value, 5.0, "{sequence:?}");
    }
}

#[test]
fn a_pullback_that_is_stored_keeps_its_links() {
    // Inside d/dy, the pullback of z ↦ x y z is stored; after the level of y has ended, the pullback still varies with
    // x.
    for sequence in mode_sequences(2) {
        let mut k = Calculus::new();
        let d = k.derivative(sequence[0], c(2.0), &mut |k, x| {
            let variable =
                Rc::new(BoxCells { cells: RefCell::new(Cells::default()), shape: None, finalizer: Default::default() });
            k.derivative(sequence[1], c(5.0), &mut |k, y| {
                let (_, map) = k.record(&[c(1.0)], &mut |k, z| {
                    let xy = k.mul(x, y);
                    k.mul(xy, z[0])
                });
                let map = crate::value::Ref::Machine(Rc::new(map));
                *variable.cells.borrow_mut() = Cells::record(Components { r: &[map], ..Components::default() });
                k.0.log_store(&variable);
                y
            });
            let cells = variable.cells.borrow();
            let crate::value::Ref::Machine(map) = &cells.r[0] else { panic!() };
            let map = map.downcast_ref::<LinearMap>().unwrap();
            map.pull_back(&mut k.0, &[c(1.0)]).unwrap()[0]
        });
        assert_eq!(d.value, 5.0, "{sequence:?}");
    }
}
