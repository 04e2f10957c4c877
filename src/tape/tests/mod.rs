//! Tape tests: levels and tapes without the machine; expressions are applied to numbers directly.

mod derivatives;
mod escape;
mod random;
mod recording;

use super::*;
use crate::native::primitive;

/// The levels of a test, with helpers that let a test read like the formula that it tests.
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

    /// Records `body` at `x`; returns its value, and its differential.
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

    /// Returns the derivative of `body` at `x` in the direction `dx`.
    fn along(&mut self, x: &[Num], dx: &[Num], body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num) -> Num {
        self.0.open(Direction::Forward).unwrap();
        let x: Vec<Num> = x.iter().zip(dx).map(|(x, dx)| self.0.dual(*x, *dx).unwrap()).collect();
        let y = body(self, &x);
        let k = self.0.depth() - 1;
        let tangent = self.0.tangent(k, y);
        self.0.close();
        tangent
    }

    /// Returns the derivative of a function of one number, in one of three modes.
    fn derivative(&mut self, mode: DerivativeMode, x: Num, body: &mut dyn FnMut(&mut Calculus, Num) -> Num) -> Num {
        let body: &mut dyn FnMut(&mut Calculus, &[Num]) -> Num = &mut |c, x| body(c, x[0]);
        match mode {
            DerivativeMode::Reverse => self.gradient(&[x], body)[0],
            DerivativeMode::Forward => self.along(&[x], &[Num::constant(1.0)], body),
            DerivativeMode::Differential => {
                let (_, map) = self.record(&[x], body);
                map.push_forward(&mut self.0, &[Num::constant(1.0)]).unwrap()[0]
            }
        }
    }

    fn nested(&mut self, modes: &[DerivativeMode], x: Num, body: &mut dyn FnMut(&mut Calculus, Num) -> Num) -> Num {
        match modes {
            [] => body(self, x),
            [mode, inner @ ..] => self.derivative(*mode, x, &mut |c, x| c.nested(inner, x, body)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DerivativeMode {
    Reverse,
    Forward,
    Differential,
}

const MODES: [DerivativeMode; 3] = [DerivativeMode::Reverse, DerivativeMode::Forward, DerivativeMode::Differential];

/// Returns all lists of `n` modes.
fn mode_sequences(n: usize) -> Vec<Vec<DerivativeMode>> {
    (0..n).fold(vec![vec![]], |all, _| {
        all.iter()
            .flat_map(|sequence: &Vec<DerivativeMode>| MODES.iter().map(|w| [sequence.as_slice(), &[*w]].concat()))
            .collect()
    })
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn c(x: f64) -> Num {
    Num::constant(x)
}
