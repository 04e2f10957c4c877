//! The log-likelihood of a mixture of Gaussian distributions on a minimal tape: what recording costs at least.
//!
//! A node has 24 bytes: two partials and two operands. The sweep carries the adjoint of the next node in a register, because
//! reading a number just after it was written to memory is slow.

use super::adbench::{Mixture, MixtureData, mixture_checksum};
use std::hint::black_box;

/// A recorded operation. An operand that is missing is the node itself, with a partial of 0, so that no branch depends on the
/// number of operands.
#[derive(Clone, Copy)]
struct Node {
    partials: [f64; 2],
    operands: [u32; 2],
}

/// A number that may be recorded.
#[derive(Clone, Copy)]
struct Var {
    value: f64,
    node: u32,
}

#[derive(Default)]
struct Tape {
    nodes: Vec<Node>,
    adjoints: Vec<f64>,
}

impl Tape {
    fn record(&mut self, value: f64, partials: [f64; 2], operands: [u32; 2]) -> Var {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { partials, operands });
        Var { value, node }
    }

    fn unary(&mut self, value: f64, partial: f64, x: Var) -> Var {
        self.record(value, [partial, 0.0], [x.node, self.nodes.len() as u32])
    }

    fn add(&mut self, x: Var, y: Var) -> Var {
        self.record(x.value + y.value, [1.0, 1.0], [x.node, y.node])
    }

    fn sub(&mut self, x: Var, y: Var) -> Var {
        self.record(x.value - y.value, [1.0, -1.0], [x.node, y.node])
    }

    fn mul(&mut self, x: Var, y: Var) -> Var {
        self.record(x.value * y.value, [y.value, x.value], [x.node, y.node])
    }

    fn scale(&mut self, factor: f64, x: Var) -> Var {
        self.unary(factor * x.value, factor, x)
    }

    fn exp(&mut self, x: Var) -> Var {
        let value = x.value.exp();
        self.unary(value, value, x)
    }

    fn ln(&mut self, x: Var) -> Var {
        self.unary(x.value.ln(), 1.0 / x.value, x)
    }

    fn input(&mut self, value: f64) -> Var {
        self.record(value, [0.0; 2], [self.nodes.len() as u32; 2])
    }

    /// Forgets all nodes, and records the inputs.
    fn start(&mut self, xs: &[f64]) -> Vec<Var> {
        self.nodes.clear();
        xs.iter().map(|&x| self.input(x)).collect()
    }

    /// Computes the adjoints of all nodes; `result` is the last node.
    fn sweep(&mut self, result: Var) {
        self.adjoints.clear();
        self.adjoints.resize(self.nodes.len(), 0.0);
        let mut carried = 1.0;
        for (i, node) in self.nodes.iter().enumerate().take(result.node as usize + 1).rev() {
            let adjoint = self.adjoints[i] + carried;
            self.adjoints[i] = adjoint;
            let before = (i as u32).wrapping_sub(1);
            carried = 0.0;
            for (partial, operand) in node.partials.into_iter().zip(node.operands) {
                let change = partial * adjoint;
                if operand == before {
                    carried += change;
                } else {
                    self.adjoints[operand as usize] += change;
                }
            }
        }
    }
}

pub fn mixture_gradient<const DIMENSION: usize>(count: usize) -> f64 {
    let (data, mixture) = MixtureData::new(black_box(DIMENSION), 5, 1000);
    let mut tape = Tape::default();
    let mut sum = 0.0;
    for i in 0..count {
        let (value, slope) = black_box(log_likelihood(&mut tape, &data, black_box(&mixture)));
        sum += mixture_checksum(i, value, &slope);
    }
    sum
}

fn log_sum_exp(tape: &mut Tape, xs: &[Var]) -> Var {
    let mut largest = xs[0];
    for x in xs {
        if x.value > largest.value {
            largest = *x;
        }
    }
    let mut sum: Option<Var> = None;
    for x in xs {
        let difference = tape.sub(*x, largest);
        let term = tape.exp(difference);
        sum = Some(sum.map_or(term, |sum| tape.add(sum, term)));
    }
    let logarithm = tape.ln(sum.unwrap_or(largest));
    tape.add(logarithm, largest)
}

fn sum_of_squares(tape: &mut Tape, xs: &[Var]) -> Var {
    let mut sum = tape.mul(xs[0], xs[0]);
    for x in &xs[1..] {
        let square = tape.mul(*x, *x);
        sum = tape.add(sum, square);
    }
    sum
}

fn log_likelihood(tape: &mut Tape, data: &MixtureData, mixture: &Mixture) -> (f64, Mixture) {
    let MixtureData { dimension, components, points } = data;
    let (dimension, components, width) = (*dimension, *components, data.width());
    let count = (points.len() / dimension) as f64;
    let inputs = tape.start(&[&mixture.alphas[..], &mixture.means, &mixture.icf].concat());
    let (alphas, rest) = inputs.split_at(components);
    let (means, icf) = rest.split_at(components * dimension);

    let (mut diagonals, mut traces) = (Vec::new(), Vec::new());
    for k in 0..components {
        let mut trace = icf[k * width];
        for i in 0..dimension {
            diagonals.push(tape.exp(icf[k * width + i]));
            if i > 0 {
                trace = tape.add(trace, icf[k * width + i]);
            }
        }
        traces.push(trace);
    }
    let (mut centered, mut transformed, mut terms) = (Vec::new(), Vec::new(), Vec::new());
    let mut total: Option<Var> = None;
    for point in points.chunks_exact(dimension) {
        terms.clear();
        for k in 0..components {
            centered.clear();
            transformed.clear();
            for i in 0..dimension {
                let mean = means[k * dimension + i];
                let difference = tape.unary(point[i] - mean.value, -1.0, mean);
                centered.push(difference);
                transformed.push(tape.mul(diagonals[k * dimension + i], difference));
            }
            let mut below = icf[k * width + dimension..].iter();
            for (i, x) in centered.iter().enumerate() {
                for (y, factor) in transformed[i + 1..].iter_mut().zip(&mut below) {
                    let product = tape.mul(*factor, *x);
                    *y = tape.add(*y, product);
                }
            }
            let distance = sum_of_squares(tape, &transformed);
            let prior = tape.add(alphas[k], traces[k]);
            let half = tape.scale(0.5, distance);
            terms.push(tape.sub(prior, half));
        }
        let likelihood = log_sum_exp(tape, &terms);
        total = Some(total.map_or(likelihood, |total| tape.add(total, likelihood)));
    }
    let weight = log_sum_exp(tape, alphas);
    let weight = tape.scale(-count, weight);
    let total = total.map_or(weight, |total| tape.add(total, weight));
    let below: Vec<Var> = icf.chunks_exact(width).flat_map(|icf| &icf[dimension..]).copied().collect();
    let prior = sum_of_squares(tape, &[diagonals, below].concat());
    let prior = tape.scale(0.5, prior);
    let result = tape.add(total, prior);
    tape.sweep(result);
    let slopes = |xs: &[Var]| xs.iter().map(|x| tape.adjoints[x.node as usize]).collect();
    let slope = Mixture { alphas: slopes(alphas), means: slopes(means), icf: slopes(icf) };
    (data.constant() + result.value, slope)
}
