//! Recording tests: the content of a tape, its limits, and its listing.

use super::*;

#[test]
fn a_node_is_24_bytes() {
    assert_eq!(size_of::<Node>(), 24);
}

#[test]
fn long_tapes_are_swept_over_chunks() {
    let mut k = Calculus::new();
    let n = 200_000;
    let (y, map) = k.record(&[c(1.0)], &mut |k, x| {
        (0..n).fold(x[0], |y, _| {
            let y = k.mul(y, c(1.0 + 1e-6));
            k.add(y, c(0.0))
        })
    });
    let back = map.pull_back(&mut k.0, &[c(1.0)]).unwrap()[0].value;
    let forth = map.push_forward(&mut k.0, &[c(1.0)]).unwrap()[0].value;
    assert!(near(back, y.value) && near(forth, y.value));
    assert_eq!(map.tape.records(), 2 * n);
    // The work is canceled during the sweep.
    let mut sweep = Sweep::new(&mut k.0, &map.tape, Direction::Reverse);
    assert_eq!(sweep.run(&mut k.0, &|| true), Ok(Progress::Interrupted));
    assert_eq!(sweep.run(&mut k.0, &|| false), Ok(Progress::Done));
}

#[test]
fn memory_is_limited_and_given_back() {
    let mut k = Calculus(Levels::new(4 << 20));
    k.0.open(Direction::Reverse).unwrap();
    let mut x = k.0.leaf(c(1.0)).unwrap();
    let mul = primitive("double.mul").unwrap();
    let full = loop {
        match k.0.record(mul, &[x, x]) {
            Ok(y) => x = y,
            Err(full) => break full,
        }
    };
    assert_eq!(full, RecordError::Bytes(4 << 20));
    k.0.abandon();
    assert_eq!((k.0.mode(), k.0.pool().borrow().used()), (Mode::Inactive, 0));
    // Inner levels and stored pullbacks count towards the limit, too.
    let maps: Vec<LinearMap> = (0..300)
        .map(|_| {
            let mut inner = None;
            k.gradient(&[c(2.0)], &mut |k, x| {
                let (y, map) = k.record(x, &mut |k, y| k.mul(y[0], x[0]));
                inner = Some(map);
                y
            });
            inner.unwrap()
        })
        .collect();
    assert!(k.0.pool().borrow().used() < 4 << 20, "{}", k.0.pool().borrow().used());
    drop(maps);
    assert_eq!(k.0.pool().borrow().used(), 0);
}

#[test]
fn too_many_levels_are_an_error() {
    let mut levels = Levels::new(1 << 20);
    let error = (0..).find_map(|_| levels.open(Direction::Forward).err()).unwrap();
    assert!(matches!(error, RecordError::Levels(_)));
}

#[test]
fn a_scalar_product_is_one_node_in_every_mix() {
    // d/dx of Σ (x, x², 3) · (x, 2, x) = 2 x + 4 x + 3, and its partial derivative 6.
    let body: &mut dyn FnMut(&mut Calculus, Num) -> Num = &mut |k, x| {
        let square = k.mul(x, x);
        k.0.dot(&[x, square, c(3.0)], &[x, c(2.0), x]).unwrap()
    };
    let x = 1.5;
    for (order, expected) in [x * x + 2.0 * x * x + 3.0 * x, 6.0 * x + 3.0, 6.0, 0.0].iter().enumerate() {
        for sequence in mode_sequences(order) {
            let mut k = Calculus::new();
            assert_eq!(k.nested(&sequence, c(x), body).value, *expected, "{sequence:?}");
        }
    }
    let mut k = Calculus::new();
    let (_, map) = k.record(&[c(2.0), c(3.0)], &mut |k, x| k.0.dot(x, x).unwrap());
    assert_eq!(map.tape.records(), 1);
    assert_eq!(map.to_string(), "%1 … %2  inputs\n%3  + 2 · %1 + 3 · %2 + 2 · %1 + 3 · %2 \noutput 0: %3\n");
}

#[test]
fn a_tape_can_be_read() {
    let mut k = Calculus::new();
    let (_, map) = k.record(&[c(3.0)], &mut |k, x| {
        let square = k.mul(x[0], x[0]);
        k.f("neg", &[square])
    });
    assert_eq!(map.to_string(), "%1  input\n%2  + 3 · %1 + 3 · %1\n%3  + -1 · %2\noutput 0: %3\n");
}
