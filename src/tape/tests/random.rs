//! Random program tests: the derivatives of random programs agree with Taylor arithmetic.

use super::*;
use proptest::prelude::*;

/// A step of a random program: it applies a primitive to earlier numbers.
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
            // The result and its derivatives stay within bounds.
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
        // The sine bounds the growth by products of products.
        numbers.push(if y.value.abs() > 3.0 { k.f("sin", &[y]) } else { y });
    }
    numbers[numbers.len() - 1]
}

/// The derivatives computed on numbers alone: polynomials truncated at order 3 in one variable.
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

    /// Returns the Taylor polynomial of `f(self)` from the Taylor coefficients of `f` at the constant term of `self`.
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
            for sequence in mode_sequences(order) {
                let mut k = Calculus::new();
                let got = k.nested(&sequence, c(x), &mut |k, x| run(k, &program, &[x, c(y)])).value;
                let scale = expected.abs().max(1.0);
                prop_assert!((got - expected).abs() <= 1e-7 * scale, "{sequence:?}: {got}, expected {expected}");
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
