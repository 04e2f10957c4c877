//! The derivatives that are compared with hand-written Rust, with JAX, and with a minimal tape.

use super::{Workload, adbench, by_hand, simulations, tape, workload};

/// A workload and its peers.
pub struct Row {
    /// The program, with the computation in Rust.
    pub workload: Workload,
    /// The name of the program in `benches/gradients/peers.py`.
    pub peer: &'static str,
    /// The number of repetitions in JAX.
    pub count_in_jax: usize,
    /// The computation on a minimal tape in Rust.
    pub tape: Option<fn(usize) -> f64>,
    /// The largest multiple of JAX's time that is aimed at.
    pub at_most_jax: Option<f64>,
    /// The largest multiple of the tape's time that is aimed at.
    pub at_most_tape: Option<f64>,
}

macro_rules! row {
    (
        $name:literal, $file:literal, $arguments:literal,
        [$count:literal, $by_hand_count:literal, $jax_count:literal],
        $by_hand:expr, $at_most_rust:expr, $at_most_jax:expr
        $(, tape $tape:expr, $at_most_tape:expr)?
    ) => {
        Row {
            peer: $file,
            count_in_jax: $jax_count,
            at_most_jax: $at_most_jax,
            $(tape: Some($tape), at_most_tape: $at_most_tape,)?
            ..Row {
                workload: workload!($name, $file, $arguments, $count, $by_hand_count, $by_hand, $at_most_rust),
                peer: "",
                count_in_jax: 0,
                tape: None,
                at_most_jax: None,
                at_most_tape: None,
            }
        }
    };
}

/// All rows, with the numbers of units of work in a repetition of dscript, Rust and JAX, which takes some milliseconds.
pub const GRADIENTS: &[Row] = &[
    row!(
        "logistic map, 1000 steps",
        "logistic-gradient",
        "",
        [300, 500, 200],
        by_hand::logistic_gradient,
        Some(1.6),
        Some(0.4)
    ),
    row!("pendulum, 1000 steps", "pendulum-1000", "", [50, 50, 30], simulations::pendulum_gradient, None, Some(1.0)),
    row!("building, 20 steps", "building", "", [1_000, 10_000, 200], simulations::building_gradient, None, Some(0.06)),
    row!(
        "Rosenbrock, 100",
        "rosenbrock-gradient",
        "",
        [5_000, 50_000, 300],
        by_hand::rosenbrock_gradient,
        None,
        Some(0.04)
    ),
    row!(
        "Rosenbrock, 100, Hessian",
        "rosenbrock-hessian",
        "",
        [5, 2_000, 200],
        by_hand::rosenbrock_hessian,
        None,
        Some(2.2)
    ),
    row!(
        "Rosenbrock, 100, sparse",
        "rosenbrock-sparse-hessian",
        "",
        [5, 2_000, 200],
        by_hand::rosenbrock_hessian,
        None,
        Some(0.5)
    ),
    row!("third derivative", "third-derivative", "", [100, 50_000, 500], by_hand::third_derivative, None, Some(0.25)),
    row!(
        "mixture, 2 dimensions",
        "gmm",
        "2 5 1000",
        [1, 20, 20],
        adbench::mixture_gradient::<2>,
        Some(1.5),
        None,
        tape tape::mixture_gradient::<2>,
        Some(1.5)
    ),
    row!(
        "mixture, 10 dimensions",
        "gmm",
        "10 5 1000",
        [1, 10, 5],
        adbench::mixture_gradient::<10>,
        Some(1.5),
        None,
        tape tape::mixture_gradient::<10>,
        Some(1.5)
    ),
    row!(
        "1000 bundle adjustments",
        "bundle-adjustment",
        "",
        [1, 50, 10],
        adbench::adjustment_jacobians,
        Some(8.0),
        None
    ),
    row!(
        "squares, 100,000",
        "squares-gradient",
        "100000",
        [20, 50, 30],
        by_hand::squares_gradient::<100_000>,
        Some(1.5),
        None
    ),
    row!(
        "squares, 1,000,000",
        "squares-gradient",
        "1000000",
        [3, 5, 5],
        by_hand::squares_gradient::<1_000_000>,
        Some(1.5),
        None
    ),
];
