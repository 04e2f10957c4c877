//! Tests of levels and tapes without the machine: expressions are applied to numbers directly.

use super::*;
use crate::native::field::{Field, IntegerParam, Test};
use crate::native::{PrimitiveId, Value, primitive, table};
use crate::value::{BoxCells, Cells, Components};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Levels with small helpers, so that a test reads like the formula that it is about.
struct Calculus(Levels);

impl Calculus {
    fn new() -> Calculus {
        Calculus(Levels::new(1 << 30))
    }

    fn f(&mut self, name: &str, x: &[Num]) -> Num {
        let id = primitive(&format!("double.{name}")).unwrap();
        self.0.record(id, x).unwrap()
    }

    fn mul(&mut self, a: Num, b: Num) -> Num {
        self.f("mul", &[a, b])
    }

    fn add(&mut self, a: Num, b: Num) -> Num {
        self.f("add", &[a, b])
    }

    /// The differential of `body` at `x`, and its value.
    fn record(&mut self, x: &[Num], body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num) -> (Num, LinearMap) {
        self.0.open(Direction::Reverse).unwrap();
        let x: Vec<Num> = x.iter().map(|x| self.0.leaf(*x).unwrap()).collect();
        let mut y = [body(self, &x)];
        let map = LinearMap::close(&mut self.0, &mut y);
        (y[0], map)
    }

    fn gradient(&mut self, x: &[Num], body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num) -> Vec<Num> {
        let (_, map) = self.record(x, body);
        map.pull_back(&mut self.0, &[Num::constant(1.0)]).unwrap()
    }

    /// The derivative along `dx`.
    fn along(&mut self, x: &[Num], dx: &[Num], body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num) -> Num {
        self.0.open(Direction::Forward).unwrap();
        let x: Vec<Num> = x.iter().zip(dx).map(|(x, dx)| self.0.dual(*x, *dx).unwrap()).collect();
        let y = body(self, &x);
        let k = self.0.depth() - 1;
        let tangent = self.0.tangent(k, y);
        self.0.close();
        tangent
    }

    /// The derivative of a function of one number, by one of three ways.
    fn derivative(&mut self, way: Way, x: Num, body: &mut dyn FnMut(&mut Calculus, Num) -> Num) -> Num {
        let body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num = &mut |c, x| body(c, x[0]);
        match way {
            Way::Reverse => self.gradient(&[x], body)[0],
            Way::Forward => self.along(&[x], &[Num::constant(1.0)], body),
            Way::Differential => {
                let (_, map) = self.record(&[x], body);
                map.push_forward(&mut self.0, &[Num::constant(1.0)]).unwrap()[0]
            }
        }
    }

    fn nested(&mut self, ways: &[Way], x: Num, body: &mut dyn FnMut(&mut Calculus, Num) -> Num) -> Num {
        match ways {
            [] => body(self, x),
            [way, inner @ ..] => self.derivative(*way, x, &mut |c, x| c.nested(inner, x, body)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Reverse,
    Forward,
    Differential,
}

const WAYS: [Way; 3] = [Way::Reverse, Way::Forward, Way::Differential];

/// All lists of `n` ways.
fn mixes(n: usize) -> Vec<Vec<Way>> {
    (0..n).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|mix: &Vec<Way>| WAYS.iter().map(|w| [mix.as_slice(), &[*w]].concat())).collect()
    })
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn c(x: f64) -> Num {
    Num::constant(x)
}

#[test]
fn a_node_is_24_bytes() {
    assert_eq!(size_of::<Node>(), 24);
}

#[test]
fn both_modes_agree_on_every_primitive_and_so_does_the_next_order() {
    for (id, p) in table::all().iter().enumerate() {
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

/// Compares second derivatives with differences of the first, and the mixes of modes with one another.
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
    // x³ sin x, to order 3, in closed form.
    let x = 1.3_f64;
    let (s, cos) = x.sin_cos();
    let expected = [
        x.powi(3) * s,
        3.0 * x * x * s + x.powi(3) * cos,
        6.0 * x * s + 6.0 * x * x * cos - x.powi(3) * s,
        (6.0 - 9.0 * x * x) * s + (18.0 * x - x.powi(3)) * cos,
    ];
    for (order, expected) in expected.iter().enumerate() {
        for mix in mixes(order) {
            let mut calculus = Calculus::new();
            let y = calculus.nested(&mix, c(x), &mut |c, x| {
                let id = primitive("double.powi").unwrap();
                let (cube, sine) = (c.0.record_with(id, &[x], 3).unwrap(), c.f("sin", &[x]));
                c.mul(cube, sine)
            });
            assert!(near(y.value, *expected), "{mix:?}: {} {expected}", y.value);
        }
    }
}

#[test]
fn perturbations_are_not_confused() {
    // d/dx (x · d/dy (x + y)) = 1, at any y.
    for mix in mixes(2) {
        let mut calculus = Calculus::new();
        let y = calculus.derivative(mix[0], c(1.0), &mut |k, x| {
            let inner = k.derivative(mix[1], c(1.0), &mut |k, y| k.add(x, y));
            k.mul(x, inner)
        });
        assert_eq!(y.value, 1.0, "{mix:?}");
        // d/dx at 0 of (d/dy y sin y at x) is 2: an adjoint of 0 that moves outside is not nothing.
        let y = calculus.derivative(mix[0], c(0.0), &mut |k, x| {
            k.derivative(mix[1], x, &mut |k, y| {
                let s = k.f("sin", &[y]);
                k.mul(y, s)
            })
        });
        assert_eq!(y.value, 2.0, "{mix:?}");
    }
    // Three deep: d/dx (d/dy (y · d/dz (x y z))) = 2 y at y = 3.
    for mix in mixes(3) {
        let mut calculus = Calculus::new();
        let v = calculus.derivative(mix[0], c(5.0), &mut |k, x| {
            k.derivative(mix[1], c(3.0), &mut |k, y| {
                let inner = k.derivative(mix[2], c(7.0), &mut |k, z| {
                    let xy = k.mul(x, y);
                    k.mul(xy, z)
                });
                k.mul(y, inner)
            })
        });
        assert_eq!(v.value, 6.0, "{mix:?}");
    }
}

#[test]
fn a_pullback_lives_longer_than_its_level_and_records_outside() {
    let mut k = Calculus::new();
    for way in WAYS {
        // d/dx of the pullback of y ↦ x y² at y = x, called twice after its level, with seed x: x · 2 x · x = 2 x³.
        let d = k.derivative(way, c(1.5), &mut |k, x| {
            let (_, map) = k.record(&[x], &mut |k, y| {
                let square = k.mul(y[0], y[0]);
                k.mul(x, square)
            });
            let once = map.pull_back(&mut k.0, &[x]).unwrap()[0];
            let twice = map.pull_back(&mut k.0, &[x]).unwrap()[0];
            assert_eq!(once.value, twice.value);
            twice
        });
        assert_eq!(d.value, 6.0 * 1.5 * 1.5, "{way:?}");
    }
    // Called inside of a level that was opened later: d/ds of s · 6 x at x = 1.5.
    let (_, map) = k.record(&[c(1.5)], &mut |k, x| {
        let square = k.mul(x[0], x[0]);
        k.mul(c(3.0), square)
    });
    for way in WAYS {
        let d = k.derivative(way, c(2.0), &mut |k, s| map.pull_back(&mut k.0, &[s]).unwrap()[0]);
        assert_eq!(d.value, 9.0, "{way:?}");
    }
}

#[test]
fn a_zero_adjoint_stops_and_a_true_product_does_not() {
    let mut k = Calculus::new();
    for way in WAYS {
        let dead = k.derivative(way, c(0.0), &mut |k, x| {
            let root = k.f("sqrt", &[x]);
            k.mul(c(0.0), root)
        });
        assert_eq!(dead.value, 0.0, "0 · √x, {way:?}");
        let true_product = k.derivative(way, c(0.0), &mut |k, x| {
            let zero = k.mul(c(0.0), x);
            k.f("sqrt", &[zero])
        });
        assert!(true_product.value.is_nan(), "√(0 · x), {way:?}");
        let no_value = k.derivative(way, c(0.0), &mut |k, x| {
            let log = k.f("log", &[x]);
            k.mul(x, log)
        });
        assert!(no_value.value.is_nan(), "x log x, {way:?}");
        let unused = k.derivative(way, c(0.0), &mut |k, x| {
            k.f("log", &[x]);
            k.mul(x, x)
        });
        assert_eq!(unused.value, 0.0, "{way:?}");
    }
    // A direction that does not move y at all never meets the infinite partial derivative of √y.
    let along = k.along(&[c(1.0), c(0.0)], &[c(1.0), c(0.0)], &mut |k, x| {
        let root = k.f("sqrt", &[x[1]]);
        k.add(x[0], root)
    });
    assert_eq!(along.value, 1.0);
}

#[test]
fn constants_get_no_partial() {
    let mut k = Calculus::new();
    for way in WAYS {
        let d = k.derivative(way, c(-2.0), &mut |k, x| k.f("pow", &[x, c(2.0)]));
        assert_eq!(d.value, -4.0, "{way:?}");
    }
    // ∂²/∂x∂y xʸ at (2, 0) is 1/2: nothing wider than the kink itself is cut away.
    for mix in mixes(2) {
        for swapped in [false, true] {
            let at = if swapped { [c(0.0), c(2.0)] } else { [c(2.0), c(0.0)] };
            let d = k.derivative(mix[0], at[0], &mut |k, a| {
                k.derivative(mix[1], at[1], &mut |k, b| k.f("pow", &if swapped { [b, a] } else { [a, b] }))
            });
            assert!(near(d.value, 0.5), "{mix:?} {swapped}: {}", d.value);
        }
    }
    let d = k.derivative(Way::Reverse, c(0.0), &mut |k, x| k.f("pow", &[x, c(0.0)]));
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
    // In between, the work is cancelled.
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
    // Inner levels and kept pullbacks too.
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
fn what_is_stored_keeps_its_link_outside() {
    // A captured variable is assigned x · y in an inner derivative by y; afterwards it still moves with x.
    for mix in mixes(2) {
        let mut k = Calculus::new();
        let d = k.derivative(mix[0], c(2.0), &mut |k, x| {
            let variable =
                Rc::new(BoxCells { cells: RefCell::new(Cells::default()), shape: None, finalizer: Default::default() });
            k.derivative(mix[1], c(5.0), &mut |k, y| {
                let product = k.mul(x, y);
                *variable.cells.borrow_mut() =
                    Cells::record(Components { f: &[product.value], slots: &[product.slot], ..Components::default() });
                k.0.log_store(&variable);
                y
            });
            let cells = variable.cells.borrow();
            Num { value: cells.f[0], slot: cells.slot(0) }
        });
        assert_eq!(d.value, 5.0, "{mix:?}");
    }
}

#[test]
fn a_pullback_that_is_stored_keeps_its_links() {
    // Inside d/dy, the pullback of z ↦ x y z is stored; after that level it still moves with x.
    for mix in mixes(2) {
        let mut k = Calculus::new();
        let d = k.derivative(mix[0], c(2.0), &mut |k, x| {
            let variable =
                Rc::new(BoxCells { cells: RefCell::new(Cells::default()), shape: None, finalizer: Default::default() });
            k.derivative(mix[1], c(5.0), &mut |k, y| {
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
        assert_eq!(d.value, 5.0, "{mix:?}");
    }
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
        for mix in mixes(order) {
            let mut k = Calculus::new();
            assert_eq!(k.nested(&mix, c(x), body).value, *expected, "{mix:?}");
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

/// A random program: each step applies a primitive to earlier numbers.
#[derive(Clone, Debug)]
struct Step {
    name: &'static str,
    a: usize,
    b: usize,
}

fn programs() -> impl Strategy<Value = Vec<Step>> {
    let names = prop::sample::select(vec!["add", "sub", "mul", "sin", "cos", "tanh", "atan", "bump", "quotient"]);
    prop::collection::vec((names, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12).prop_map(
        |steps| {
            let steps = steps.into_iter().enumerate();
            steps.map(|(k, (name, a, b))| Step { name, a: a.index(k + 2), b: b.index(k + 2) }).collect()
        },
    )
}

fn run(k: &mut Calculus, program: &[Step], x: &[Num]) -> Num {
    let mut numbers = vec![x[0], x[1]];
    for step in program {
        let (a, b) = (numbers[step.a], numbers[step.b]);
        let y = match step.name {
            "add" | "sub" | "mul" => k.f(step.name, &[a, b]),
            // Both stay within bounds.
            "bump" => {
                let square = k.mul(a, a);
                let minus = k.f("neg", &[square]);
                k.f("exp", &[minus])
            }
            "quotient" => {
                let square = k.mul(b, b);
                let above = k.add(square, c(1.0));
                k.f("div", &[a, above])
            }
            name => k.f(name, &[a]),
        };
        // Kept from growing without bound by products of products.
        numbers.push(if y.value.abs() > 3.0 { k.f("sin", &[y]) } else { y });
    }
    numbers[numbers.len() - 1]
}

/// The same derivative by numbers alone: polynomials truncated at order 3 in one variable.
#[derive(Clone, Copy, Debug)]
struct Jet([f64; 4]);

impl Jet {
    fn times(self, o: Jet) -> Jet {
        let mut out = [0.0; 4];
        for i in 0..4 {
            for j in 0..4 - i {
                out[i + j] += self.0[i] * o.0[j];
            }
        }
        Jet(out)
    }

    fn plus(self, o: Jet, scale: f64) -> Jet {
        Jet([0, 1, 2, 3].map(|i| self.0[i] + scale * o.0[i]))
    }

    /// `f(self)` from the Taylor coefficients of `f` at its constant term.
    fn through(self, taylor: [f64; 4]) -> Jet {
        let delta = Jet([0.0, self.0[1], self.0[2], self.0[3]]);
        let mut power = Jet([1.0, 0.0, 0.0, 0.0]);
        let mut sum = Jet([0.0; 4]);
        for t in taylor {
            sum = sum.plus(power, t);
            power = power.times(delta);
        }
        sum
    }

    fn apply(self, name: &str) -> Jet {
        let x = self.0[0];
        self.through(match name {
            "sin" => [x.sin(), x.cos(), -x.sin() / 2.0, -x.cos() / 6.0],
            "cos" => [x.cos(), -x.sin(), -x.cos() / 2.0, x.sin() / 6.0],
            "exp" => [x.exp(), x.exp(), x.exp() / 2.0, x.exp() / 6.0],
            "tanh" => {
                let t = x.tanh();
                let d = 1.0 - t * t;
                [t, d, -t * d, d * (3.0 * t * t - 1.0) / 3.0]
            }
            "atan" => {
                let q = 1.0 / (1.0 + x * x);
                [x.atan(), q, -x * q * q, (3.0 * x * x - 1.0) * q * q * q / 3.0]
            }
            "inverse" => [1.0 / x, -1.0 / x.powi(2), 1.0 / x.powi(3), -1.0 / x.powi(4)],
            _ => unreachable!("{name}"),
        })
    }
}

fn run_jet(program: &[Step], x: [Jet; 2]) -> Jet {
    let mut numbers = vec![x[0], x[1]];
    for step in program {
        let (a, b) = (numbers[step.a], numbers[step.b]);
        let y = match step.name {
            "add" => a.plus(b, 1.0),
            "sub" => a.plus(b, -1.0),
            "mul" => a.times(b),
            "bump" => Jet([0.0; 4]).plus(a.times(a), -1.0).apply("exp"),
            "quotient" => a.times(b.times(b).plus(Jet([1.0, 0.0, 0.0, 0.0]), 1.0).apply("inverse")),
            name => a.apply(name),
        };
        numbers.push(if y.0[0].abs() > 3.0 { y.apply("sin") } else { y });
    }
    numbers[numbers.len() - 1]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_agree_with_taylor_arithmetic(
        program in programs(), x in -1.5..1.5_f64, y in -1.5..1.5_f64,
    ) {
        let jet = run_jet(&program, [Jet([x, 1.0, 0.0, 0.0]), Jet([y, 0.0, 0.0, 0.0])]).0;
        let expected = [jet[0], jet[1], 2.0 * jet[2], 6.0 * jet[3]];
        for (order, expected) in expected.iter().enumerate() {
            for mix in mixes(order) {
                let mut k = Calculus::new();
                let got = k.nested(&mix, c(x), &mut |k, x| run(k, &program, &[x, c(y)])).value;
                let scale = expected.abs().max(1.0);
                prop_assert!((got - expected).abs() <= 1e-7 * scale, "{mix:?}: {got}, expected {expected}");
            }
        }
    }

    #[test]
    fn pullback_and_differential_are_transposes(
        program in programs(), x in -1.5..1.5_f64, y in -1.5..1.5_f64, dx in -2.0..2.0_f64, dy in -2.0..2.0_f64,
    ) {
        let mut k = Calculus::new();
        let body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num = &mut |k, x| run(k, &program, x);
        let (_, map) = k.record(&[c(x), c(y)], body);
        let adjoints = map.pull_back(&mut k.0, &[c(0.7)]).unwrap();
        let tangent = map.push_forward(&mut k.0, &[c(dx), c(dy)]).unwrap()[0].value;
        let forward = k.along(&[c(x), c(y)], &[c(dx), c(dy)], body).value;
        prop_assert!(near(0.7 * tangent, adjoints[0].value * dx + adjoints[1].value * dy));
        prop_assert!(near(tangent, forward));
    }
}

#[test]
fn a_partial_is_generic_over_the_field() {
    // The bounds of the trait are what partial derivatives are written with; a new kind of number needs nothing else.
    fn partial<T: Field>(x: T) -> T {
        T::select(
            Test::Less(x.clone(), T::constant(0.0)),
            || -x.clone(),
            || x.clone().powi(T::Integer::zero().offset(2)),
        )
    }
    assert_eq!((partial(-2.0), partial(3.0)), (2.0, 9.0));
}
