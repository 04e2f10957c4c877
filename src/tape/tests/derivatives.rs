//! Derivative tests: every primitive in both modes, nested derivatives, and the rules for zeros and constants.

use super::*;
use crate::native::field::{Field, IntegerParam, Test};
use crate::native::{PrimitiveId, Value, primitive_table};

#[test]
fn both_modes_agree_on_every_primitive_and_so_does_the_next_order() {
    for (id, p) in primitive_table::all().iter().enumerate() {
        if p.domain.is_empty() {
            continue;
        }
        let id = PrimitiveId(id as u16);
        let orders: &[i64] = if matches!(p.value, Value::FI(_)) { &[0, 1, 2, 3] } else { &[0] };
        for (x, n) in p.domain.chunks(p.numbers()).flat_map(|x| orders.iter().map(move |n| (x, *n))) {
            let mut calculus = Calculus::new();
            let numbers: Vec<Num> = x.iter().map(|x| c(*x)).collect();
            let body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num = &mut |k, x| k.0.record_with(id, x, n).unwrap();
            let (_, map) = calculus.record(&numbers, body);
            let gradient = map.pull_back(&mut calculus.0, &[c(1.0)]).unwrap();
            for (k, partial) in gradient.iter().enumerate() {
                let seed: Vec<Num> = (0..x.len()).map(|j| c(f64::from(j == k))).collect();
                let forward = calculus.along(&numbers, &seed, body);
                let differential = map.push_forward(&mut calculus.0, &seed).unwrap()[0];
                let same = |a: f64| a == partial.value || (a.is_nan() && partial.value.is_nan());
                assert!(same(forward.value), "{}{x:?} {} {}", p.name, forward.value, partial.value);
                assert!(same(differential.value), "{}{x:?}", p.name);
            }
            if !gradient.iter().all(|g| g.value.is_finite()) {
                continue;
            }
            second_order(&mut calculus, p.name, x, body);
        }
    }
}

/// Compares second derivatives with finite differences of the first derivatives, and the sequences of modes with one
/// another.
fn second_order(calculus: &mut Calculus, name: &str, x: &[f64], body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num) {
    for along in 0..x.len() {
        let h = 1e-5 * x[along].abs().max(1.0);
        let mut partials_at = |by: f64| -> Vec<f64> {
            let moved: Vec<Num> = x.iter().enumerate().map(|(j, x)| c(x + if j == along { by } else { 0.0 })).collect();
            calculus.gradient(&moved, body).iter().map(|g| g.value).collect()
        };
        let (above, here, below) = (partials_at(h), partials_at(0.0), partials_at(-h));
        let seed: Vec<Num> = (0..x.len()).map(|j| c(f64::from(j == along))).collect();
        let numbers: Vec<Num> = x.iter().map(|x| c(*x)).collect();
        for k in 0..x.len() {
            let forward_over_reverse = calculus.along(&numbers, &seed, &mut |c, x| c.gradient(x, body)[k]).value;
            let reverse_over_reverse = calculus.gradient(&numbers, &mut |c, x| c.gradient(x, body)[k])[along].value;
            let unit: Vec<Num> = (0..x.len()).map(|j| c(f64::from(j == k))).collect();
            let reverse_over_forward = calculus.gradient(&numbers, &mut |c, x| c.along(x, &unit, body))[along].value;
            assert!(near(forward_over_reverse, reverse_over_reverse), "{name}{x:?} {k}");
            assert!(near(forward_over_reverse, reverse_over_forward), "{name}{x:?} {k}");
            let difference = (above[k] - below[k]) / (2.0 * h);
            if difference.is_finite() && above[k].is_finite() && below[k].is_finite() {
                let scale = here[k].abs().max(difference.abs()).max(1.0);
                assert!(
                    (difference - forward_over_reverse).abs() <= 1e-7 * scale,
                    "{name}{x:?} operand {k} along {along}: {forward_over_reverse}, difference {difference}"
                );
            }
        }
    }
}

#[test]
fn derivatives_nest_in_every_mix() {
    // The derivatives of x³ sin x up to order 3 are known in closed form.
    let x = 1.3_f64;
    let (s, cos) = x.sin_cos();
    let expected = [
        x.powi(3) * s,
        3.0 * x * x * s + x.powi(3) * cos,
        6.0 * x * s + 6.0 * x * x * cos - x.powi(3) * s,
        (6.0 - 9.0 * x * x) * s + (18.0 * x - x.powi(3)) * cos,
    ];
    for (order, expected) in expected.iter().enumerate() {
        for sequence in mode_sequences(order) {
            let mut calculus = Calculus::new();
            let y = calculus.nested(&sequence, c(x), &mut |c, x| {
                let id = primitive("double.powi").unwrap();
                let (cube, sine) = (c.0.record_with(id, &[x], 3).unwrap(), c.f("sin", &[x]));
                c.mul(cube, sine)
            });
            assert!(near(y.value, *expected), "{sequence:?}: {} {expected}", y.value);
        }
    }
}

#[test]
fn perturbations_are_not_confused() {
    // d/dx (x · d/dy (x + y)) = 1, at any y.
    for sequence in mode_sequences(2) {
        let mut calculus = Calculus::new();
        let y = calculus.derivative(sequence[0], c(1.0), &mut |k, x| {
            let inner = k.derivative(sequence[1], c(1.0), &mut |k, y| k.add(x, y));
            k.mul(x, inner)
        });
        assert_eq!(y.value, 1.0, "{sequence:?}");
        // d/dx at 0 of (d/dy y sin y at x) is 2: an adjoint of 0 that varies outside is not skipped.
        let y = calculus.derivative(sequence[0], c(0.0), &mut |k, x| {
            k.derivative(sequence[1], x, &mut |k, y| {
                let s = k.f("sin", &[y]);
                k.mul(y, s)
            })
        });
        assert_eq!(y.value, 2.0, "{sequence:?}");
    }
    // Three derivatives are nested: d/dx (d/dy (y · d/dz (x y z))) = 2 y at y = 3.
    for sequence in mode_sequences(3) {
        let mut calculus = Calculus::new();
        let v = calculus.derivative(sequence[0], c(5.0), &mut |k, x| {
            k.derivative(sequence[1], c(3.0), &mut |k, y| {
                let inner = k.derivative(sequence[2], c(7.0), &mut |k, z| {
                    let xy = k.mul(x, y);
                    k.mul(xy, z)
                });
                k.mul(y, inner)
            })
        });
        assert_eq!(v.value, 6.0, "{sequence:?}");
    }
}

#[test]
fn a_pullback_lives_longer_than_its_level_and_records_outside() {
    let mut k = Calculus::new();
    for mode in MODES {
        // d/dx of the pullback of y ↦ x y² at y = x, which is called twice after its level has ended, with seed x: x ·
        // 2 x · x = 2 x³.
        let d = k.derivative(mode, c(1.5), &mut |k, x| {
            let (_, map) = k.record(&[x], &mut |k, y| {
                let square = k.mul(y[0], y[0]);
                k.mul(x, square)
            });
            let once = map.pull_back(&mut k.0, &[x]).unwrap()[0];
            let twice = map.pull_back(&mut k.0, &[x]).unwrap()[0];
            assert_eq!(once.value, twice.value);
            twice
        });
        assert_eq!(d.value, 6.0 * 1.5 * 1.5, "{mode:?}");
    }
    // The pullback is called inside a level that was opened later: d/ds of s · 6 x at x = 1.5.
    let (_, map) = k.record(&[c(1.5)], &mut |k, x| {
        let square = k.mul(x[0], x[0]);
        k.mul(c(3.0), square)
    });
    for mode in MODES {
        let d = k.derivative(mode, c(2.0), &mut |k, s| map.pull_back(&mut k.0, &[s]).unwrap()[0]);
        assert_eq!(d.value, 9.0, "{mode:?}");
    }
}

#[test]
fn a_zero_adjoint_stops_and_a_true_product_does_not() {
    let mut k = Calculus::new();
    for mode in MODES {
        let dead = k.derivative(mode, c(0.0), &mut |k, x| {
            let root = k.f("sqrt", &[x]);
            k.mul(c(0.0), root)
        });
        assert_eq!(dead.value, 0.0, "0 · √x, {mode:?}");
        let true_product = k.derivative(mode, c(0.0), &mut |k, x| {
            let zero = k.mul(c(0.0), x);
            k.f("sqrt", &[zero])
        });
        assert!(true_product.value.is_nan(), "√(0 · x), {mode:?}");
        let no_value = k.derivative(mode, c(0.0), &mut |k, x| {
            let log = k.f("log", &[x]);
            k.mul(x, log)
        });
        assert!(no_value.value.is_nan(), "x log x, {mode:?}");
        let unused = k.derivative(mode, c(0.0), &mut |k, x| {
            k.f("log", &[x]);
            k.mul(x, x)
        });
        assert_eq!(unused.value, 0.0, "{mode:?}");
    }
    // A direction in which y does not vary never meets the infinite partial derivative of √y.
    let along = k.along(&[c(1.0), c(0.0)], &[c(1.0), c(0.0)], &mut |k, x| {
        let root = k.f("sqrt", &[x[1]]);
        k.add(x[0], root)
    });
    assert_eq!(along.value, 1.0);
}

#[test]
fn constants_get_no_partial() {
    let mut k = Calculus::new();
    for mode in MODES {
        let d = k.derivative(mode, c(-2.0), &mut |k, x| k.f("pow", &[x, c(2.0)]));
        assert_eq!(d.value, -4.0, "{mode:?}");
    }
    // ∂²/∂x∂y xʸ at (2, 0) is 1/2: only the kink itself is excluded.
    for sequence in mode_sequences(2) {
        for swapped in [false, true] {
            let at = if swapped { [c(0.0), c(2.0)] } else { [c(2.0), c(0.0)] };
            let d = k.derivative(sequence[0], at[0], &mut |k, a| {
                k.derivative(sequence[1], at[1], &mut |k, b| k.f("pow", &if swapped { [b, a] } else { [a, b] }))
            });
            assert!(near(d.value, 0.5), "{sequence:?} {swapped}: {}", d.value);
        }
    }
    let d = k.derivative(DerivativeMode::Reverse, c(0.0), &mut |k, x| k.f("pow", &[x, c(0.0)]));
    assert_eq!(d.value, 0.0);
}

#[test]
fn a_tangent_of_single_precision_is_rounded() {
    let mut k = Calculus::new();
    let round = primitive("float.round").unwrap();
    let third = 1.0 / 3.0;
    let d = k.along(&[c(1.0)], &[c(third)], &mut |k, x| k.0.record(round, x).unwrap());
    assert_eq!(d.value, f64::from(third as f32));
}

#[test]
fn a_partial_is_generic_over_the_field() {
    // The bounds of the trait suffice to write partial derivatives; a new kind of number needs nothing else.
    fn partial<T: Field>(x: T) -> T {
        T::select(
            Test::Less(x.clone(), T::constant(0.0)),
            || -x.clone(),
            || x.clone().powi(T::Integer::zero().offset(2)),
        )
    }
    assert_eq!((partial(-2.0), partial(3.0)), (2.0, 9.0));
}
